"""/healthz and /readyz: a small thread that only reads what the bridge's own thread left for it.

healthz: this process does its work (a standby waits, a leader's batches commit). A backlog is no fault of it: a
restart would only make it longer.
readyz: this process is the one that listens, and hears in time: its canary comes back.
"""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

LOOP_SILENT_SECONDS: Final = 60.0  # above what one batch may take on a database that hangs
REQUEST_SECONDS: Final = 5.0
CANARY_PERIODS_SECONDS: Final = 30.0  # three canaries


@dataclass(frozen=True)
class Snapshot:
    """How the bridge stood at the end of one turn of its loop; all times monotonic."""

    at: float
    epoch: int | None  # None: standing by
    is_connected: bool
    committed_at: float
    canary_at: float
    waiting: int  # messages not yet acknowledged
    counters: dict[str, int]

    def faults(self, now: float) -> list[str]:
        """What is wrong with this process, in words."""
        if now - self.at > LOOP_SILENT_SECONDS:
            return ["the loop stands still"]
        if self.epoch is None:
            return []
        found = [] if self.is_connected else ["not connected to the broker"]
        if now - self.committed_at > CANARY_PERIODS_SECONDS:
            found.append("no batch is committed")
        return found

    def lateness(self, now: float) -> list[str]:
        """Why what it hears may be old, in words. With much waiting, canaries expire in the broker's queue."""
        late = self.epoch is not None and now - self.canary_at > CANARY_PERIODS_SECONDS
        return ["the canary does not come back"] if late else []

    def body(self, now: float) -> dict[str, Any]:
        """What is answered."""
        return {
            "state": "standby" if self.epoch is None else "leading",
            "epoch": self.epoch,
            "faults": [*self.faults(now), *self.lateness(now)],
            "connected": self.is_connected,
            "waiting": self.waiting,
            "counters": self.counters,
        }


class Snapshots:
    """Where the bridge leaves its latest snapshot; assigning it is atomic."""

    latest: Snapshot | None = None


class _Handler(BaseHTTPRequestHandler):
    timeout = REQUEST_SECONDS  # of the socket: a stalled caller holds one thread for so long
    server_version = "bridge"
    sys_version = ""

    def __init__(self, snapshots: Snapshots, *args: Any) -> None:
        self._snapshots = snapshots
        super().__init__(*args)

    def do_GET(self) -> None:
        answer = {"/healthz": self._health, "/readyz": self._readiness}.get(self.path)
        if answer is None:
            self._send(404, {"faults": ["there is only /healthz and /readyz"]})
        else:
            self._send(*answer())

    def _health(self) -> tuple[int, dict[str, Any]]:
        snapshot, now = self._snapshots.latest, time.monotonic()
        if snapshot is None:
            return 503, {"faults": ["starting"]}
        return 503 if snapshot.faults(now) else 200, snapshot.body(now)

    def _readiness(self) -> tuple[int, dict[str, Any]]:
        status, body = self._health()
        return (503 if body.get("epoch") is None or body["faults"] else status), body

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        """Probes are not worth a line."""


def serve(host: str, port: int, snapshots: Snapshots) -> Callable[[], None]:
    """Answer on a thread of its own; call what this returns to end it. Raises OSError when the port is taken."""
    server = ThreadingHTTPServer((host, port), partial(_Handler, snapshots))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="health", daemon=True).start()

    def stop() -> None:
        server.shutdown()
        server.server_close()

    return stop
