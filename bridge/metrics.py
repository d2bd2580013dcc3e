"""/metrics: the bridge's snapshot in the text format of Prometheus. Never a uuid as a label."""

import math
from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from bridge.counters import BATCH_SECONDS_BOUNDS
from bridge.snapshot import Snapshot
from shared.vocabulary import DeadLetterReason

PREFIX: Final = "signage_bridge_"
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
COUNTED: Final = {
    "received": "messages taken from the broker and committed",
    "stored": "messages of known clients that were stored",
    "bad_fields": "fields that were not what the contract says, and were taken as null",
    "duplicate_logs": "numbered log messages that were stored before",
    "missing_logs": "numbers of log messages that never came and are not waited for any more",
    "unknown_acks": "ACKs of commands never issued, or of another client's",
    "dropped": "messages without acknowledgement for which there was no room",
    "dropped_logs": "plain log messages over their client's budget, which are lost",
    "deferred_logs": "numbered log messages over their client's budget, which come again",
    "batches": "batches committed",
}
"""A counter of the snapshot -> what it means; each grows from zero when this process begins to lead."""


def text(snapshot: Snapshot | None, now: float) -> bytes:
    """The metrics at `now` (monotonic seconds); none before the bridge's first turn."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Metrics(snapshot, now))
    return generate_latest(registry)


class _Metrics(Collector):
    """What the library asks for the metrics of one snapshot."""

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
