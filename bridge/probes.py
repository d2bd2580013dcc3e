"""The bridge's HTTP probes (/healthz, /readyz, /metrics), and the bridge's own checks of the broker.

A thread of its own answers. It only reads the snapshot that the bridge's thread left.
healthz: this process does its work: a standby waits, a leader commits batches. A backlog is not a fault, because a
restart would make it longer.
readyz: this process leads, and its canary comes back in time.
metrics: the snapshot in the text format of Prometheus. A uuid is never a label.
"""

import json
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from bridge.status import BATCH_SECONDS_BOUNDS, Snapshot, Snapshots
from shared.outside.mqtt import DEFAULT_PORTS, connack
from shared.vocabulary import DeadLetterReason

PREFIX: Final = "signage_bridge_"
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
COUNTED: Final = {
    "received": "messages taken from the broker and committed",
    "stored": "messages of known clients that were stored",
    "bad_fields": "fields that broke the contract and were taken as null",
    "duplicate_logs": "numbered log messages that were stored before",
    "missing_logs": "numbered log messages that never came and were given up",
    "unknown_acks": "ACKs of commands never issued, or of another client's commands",
    "dropped": "messages without acknowledgement for which there was no room",
    "dropped_logs": "plain log messages over their client's budget, which are lost",
    "deferred_logs": "numbered log messages over their client's budget, which come again",
    "batches": "batches committed",
}
"""Each counter and its meaning. It grows from zero when this process begins to lead."""


def text(snapshot: Snapshot | None, now: float) -> bytes:
    """The metrics at `now` (monotonic seconds); empty before the bridge's first snapshot."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Metrics(snapshot, now))
    return generate_latest(registry)


class _Metrics(Collector):
    """The collector of prometheus_client for one snapshot."""

    def __init__(self, snapshot: Snapshot | None, now: float) -> None:
        self._snapshot = snapshot
        self._now = now

    def collect(self) -> Iterator[Metric]:
        """Every metric."""
        if self._snapshot is None:
            return
        for name, meaning in COUNTED.items():
            yield CounterMetricFamily(PREFIX + name, meaning, value=self._snapshot.counters[name])
        yield _dead_letters(self._snapshot)
        yield _batch_seconds(self._snapshot)
        yield from _gauges(self._snapshot, self._now)


def _dead_letters(snapshot: Snapshot) -> Metric:
    metric = CounterMetricFamily(PREFIX + "dead_letters", "messages that were put aside", labels=("reason",))
    for reason in DeadLetterReason:
        metric.add_metric((reason.value,), snapshot.dead_letters.get(reason.value, 0))
    return metric


def _batch_seconds(snapshot: Snapshot) -> Metric:
    batches = snapshot.batch_seconds
    bounds = [*(str(bound) for bound in BATCH_SECONDS_BOUNDS), "+Inf"]
    buckets = [(bound, float(count)) for bound, count in zip(bounds, batches.up_to, strict=True)]
    meaning = "how long it took to write and commit a batch"
    return HistogramMetricFamily(PREFIX + "batch_seconds", meaning, buckets=buckets, sum_value=batches.total_seconds)


def _gauges(snapshot: Snapshot, now: float) -> Iterator[Metric]:
    def gauge(name: str, meaning: str, value: float) -> Metric:
        return GaugeMetricFamily(PREFIX + name, meaning, value=value)

    yield gauge("unacknowledged", "messages that came and are not acknowledged yet", snapshot.waiting)
    yield gauge("leader", "1 while this process leads, 0 while it stands by", snapshot.epoch is not None)
    yield gauge("connected", "1 while both sessions at the broker are open", snapshot.is_connected)
    yield gauge("healthy", "1 while /healthz answers 200", not snapshot.faults(now))
    if snapshot.epoch is not None:
        yield gauge("epoch", "the number of this leader", snapshot.epoch)
        age = now - snapshot.canary_at if snapshot.canary_at > -math.inf else math.inf
        yield gauge("canary_age_seconds", "since the last canary came back; +Inf before the first", age)


REQUEST_SECONDS: Final = 5.0


class _Handler(BaseHTTPRequestHandler):
    timeout = REQUEST_SECONDS  # the socket's timeout: a stalled caller holds a thread no longer
    server_version = "bridge"
    sys_version = ""

    def __init__(self, snapshots: Snapshots, *args: Any) -> None:
        self._snapshots = snapshots
        super().__init__(*args)

    def do_GET(self) -> None:
        answer = {"/healthz": self._health, "/readyz": self._readiness}.get(self.path)
        if self.path == "/metrics":
            self._send(200, CONTENT_TYPE, text(self._snapshots.latest, time.monotonic()))
        elif answer is None:
            self._send_json(404, {"faults": ["there is only /healthz, /readyz and /metrics"]})
        else:
            self._send_json(*answer())

    def _health(self) -> tuple[int, dict[str, Any]]:
        snapshot, now = self._snapshots.latest, time.monotonic()
        if snapshot is None:
            return 503, {"faults": ["starting"]}
        return 503 if snapshot.faults(now) else 200, snapshot.body(now)

    def _readiness(self) -> tuple[int, dict[str, Any]]:
        status, body = self._health()
        return (503 if body.get("epoch") is None or body["faults"] else status), body

    def _send_json(self, status: int, body: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(body).encode())

    def _send(self, status: int, content_type: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        """Log nothing: probes come all the time."""


def serve(host: str, port: int, snapshots: Snapshots) -> Callable[[], None]:
    """Answer probes on a thread of its own. Returns a function that ends it. Raises OSError when the port is taken."""
    server = ThreadingHTTPServer((host, port), partial(_Handler, snapshots))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="health", daemon=True).start()

    def stop() -> None:
        server.shutdown()
        server.server_close()

    return stop


PROBE_SECONDS: Final = 5.0
REACH_SECONDS: Final = 1.0


def can_be_reached(url: str) -> bool:
    """Whether the broker takes a connection within a second."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname, parts.port or DEFAULT_PORTS[parts.scheme]), REACH_SECONDS).close()
    except OSError:
        return False
    return True


def refuses_anonymous(url: str) -> bool | None:
    """Whether the broker refuses a CONNECT without a login; None when it does not answer."""
    code = connack(url, PROBE_SECONDS)
    return None if code is None else code != 0
