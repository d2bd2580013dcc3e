"""Receivers of notifications in tests: a real HTTP server and a real SMTP server, which can misbehave on request."""

import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.serving import serving


@dataclass(frozen=True)
class Posted:
    """One request to a webhook."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answer = tuple[int, dict[str, str]]


class Receiver(ThreadingHTTPServer):
    """Records each POST and answers with the status `answer` (default 200); None: an endless slow answer."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.posted: list[Posted] = []
        self.answer: Callable[[Posted], Answer | None] = lambda _posted: (200, {})
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: tests have senders that hang up."""


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:  # http.server's name
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        posted = Posted(self.path, {n.lower(): v for n, v in self.headers.items()}, body)
        self.server.posted.append(posted)
        answer = self.server.answer(posted)
        if answer is None:
            self._trickle()
            return
        status, headers = answer
        self.send_response(status)
        for name, value in {"Content-Length": "0", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _trickle(self) -> None:
        """Send a header line now and then, so that no single read times out."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not self.server.over.wait(0.2):  # rarely enough: a client accepts at most a hundred headers
            self.wfile.write(b"X-Wait: a little\r\n")
            self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass


@contextmanager
def receiver() -> Iterator[Receiver]:
    """A running receiver of a webhook, during the block."""
    with serving(Receiver()) as server:
        try:
            yield server
        finally:
            server.over.set()


class ConnectProxy(socketserver.ThreadingTCPServer):
    """An HTTP proxy that answers each CONNECT with `status`, and leads all of them to one receiver."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, leads_to: Receiver) -> None:
        super().__init__(("127.0.0.1", 0), _Tunnel)
        self.leads_to = ("127.0.0.1", int(leads_to.server_address[1]))
        self.asked: list[str] = []
        self.logins: list[str | None] = []
        self.status = b"200 Connection established"

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Tunnel(socketserver.StreamRequestHandler):
    server: ConnectProxy

    def handle(self) -> None:
        verb, target, _ = self.rfile.readline().decode().split(" ")
        assert verb == "CONNECT"
        heads = dict(line.decode().rstrip().split(": ", 1) for line in iter(self.rfile.readline, b"\r\n"))
        self.server.asked.append(target)
        self.server.logins.append(heads.get("Proxy-Authorization"))
        self.wfile.write(b"HTTP/1.1 " + self.server.status + b"\r\n\r\n")
        if not self.server.status.startswith(b"200"):
            return
        with socket.create_connection(self.server.leads_to) as onward:
            back = threading.Thread(target=_pump, args=(onward, self.connection), daemon=True)
            back.start()
            _pump(self.connection, onward)
            back.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while block := source.recv(65_536):
            sink.sendall(block)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextmanager
def connect_proxy(leads_to: Receiver) -> Iterator[ConnectProxy]:
    """A running proxy on loopback, during the block."""
    with serving(ConnectProxy(leads_to)) as proxy:
        yield proxy


class Mailbox(socketserver.ThreadingTCPServer):
    """A mail server: received mails, and its answer to RCPT (250 accepts)."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.mails: list[bytes] = []
        self.rcpt = b"250 ok"

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Conversation(socketserver.StreamRequestHandler):
    """The part of RFC 5321 that one mail needs."""

    server: Mailbox

    def handle(self) -> None:
        self._say(b"220 mail.test ESMTP")
        while line := self.rfile.readline():
            verb = line[:4].upper()
            if verb == b"DATA":
                self._say(b"354 go on")
                self.server.mails.append(b"".join(iter(self.rfile.readline, b".\r\n")))
            self._say(self.server.rcpt if verb == b"RCPT" else b"221 bye" if verb == b"QUIT" else b"250 ok")
            if verb == b"QUIT":
                return

    def _say(self, words: bytes) -> None:
        self.wfile.write(words + b"\r\n")


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    """A running mail server on loopback, during the block."""
    with serving(Mailbox()) as box:
        yield box
