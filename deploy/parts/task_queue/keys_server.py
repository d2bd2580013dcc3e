"""A small HTTP server: the public keys of the local issuer at `/keys`, the queue's health at `/healthz`."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

SILENCE_SECONDS = 5  # an idle connection is closed after this time


class KeysServer(ThreadingHTTPServer):
    """Serves on loopback; port 0 takes a free one."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port: int, key_set: dict[str, Any], is_healthy: Callable[[], bool]) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.key_set = key_set
        self.is_healthy = is_healthy

    def start(self) -> None:
        """Serve in a thread of its own."""
        threading.Thread(target=self.serve_forever, args=(0.1,), name="keys", daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: KeysServer
    timeout: ClassVar[int] = SILENCE_SECONDS
    server_version = "task-emulator"
    sys_version = ""

    def do_GET(self) -> None:
        if self.path == "/keys":
            self._answer(200, self.server.key_set)
        elif self.path == "/healthz":
            healthy = self.server.is_healthy()
            self._answer(200 if healthy else 503, {"status": "ok" if healthy else "not delivering"})
        else:
            self._answer(404, {"status": "not found"})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Log nothing: health probes would fill the log."""
