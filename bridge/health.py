"""/healthz, /readyz and /metrics: a small thread that only reads what the bridge's own thread left for it.

healthz: this process does its work (a standby waits, a leader's batches commit). A backlog is no fault of it: a
restart would only make it longer.
readyz: this process is the one that listens, and hears in time: its canary comes back.
"""

import json
import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from bridge import metrics
from bridge.snapshot import Snapshots

REQUEST_SECONDS: Final = 5.0


class _Handler(BaseHTTPRequestHandler):
    timeout = REQUEST_SECONDS  # of the socket: a stalled caller holds one thread for so long
    server_version = "bridge"
    sys_version = ""

    def __init__(self, snapshots: Snapshots, *args: Any) -> None:
        self._snapshots = snapshots
        super().__init__(*args)

    def do_GET(self) -> None:
        answer = {"/healthz": self._health, "/readyz": self._readiness}.get(self.path)
        if self.path == "/metrics":
            self._send(200, metrics.CONTENT_TYPE, metrics.text(self._snapshots.latest, time.monotonic()))
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
