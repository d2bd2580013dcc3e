"""One HTTP request with a deadline for the whole exchange, like Cloud Tasks and Cloud Scheduler.

The timeout of an ordinary client counts the time between two reads, so a peer that sends a byte now and then holds it
for ever. Here the socket is shut down at the deadline. Redirects are not followed, and nothing is read from the
environment (no proxy, no .netrc).
"""

import contextlib
import http.client
import io
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

BODY_READ_LIMIT = 1 << 20  # bytes of an answer that are read before the connection is closed
BLOCK = 1 << 16


class NoReply(Exception):
    """No complete HTTP answer came: the connection was refused or reset, or it was not HTTP."""


class Refused(NoReply):
    """The connection was refused: no server listens, so the request was not made."""


class DeadlineExceeded(NoReply):
    """The answer was not complete by the deadline."""


@dataclass(frozen=True)
class Reply:
    """The peer's answer, without its body."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""

    @property
    def succeeded(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status <= 299


class _WholeLines(io.BufferedReader):
    """Refuses an incomplete line. http.client takes the end of a connection for the end of the headers, so the half
    answer of a killed worker would count as complete.
    """

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        if not line.endswith(b"\n") and len(line) != size:
            raise ConnectionError("the answer was cut short")
        return line


class _WholeResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = _WholeLines(self.fp.detach())


def request(method: str, url: str, headers: Mapping[str, str], body: bytes, deadline: timedelta) -> Reply:
    """Send a request and wait for the answer, `deadline` in all. Raises DeadlineExceeded, Refused or NoReply."""
    until = time.monotonic() + deadline.total_seconds()
    try:
        return _exchange(method, url, headers, body, until)
    except (OSError, http.client.HTTPException, ValueError) as error:
        if time.monotonic() >= until or isinstance(error, TimeoutError):
            raise DeadlineExceeded(f"no answer within {deadline.total_seconds():g} s") from error
        kind = Refused if isinstance(error, ConnectionRefusedError) else NoReply
        raise kind(f"{type(error).__name__}: {error}"[:200]) from error


def _exchange(method: str, url: str, headers: Mapping[str, str], body: bytes, until: float) -> Reply:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    with contextlib.closing(_connection(parts.scheme, parts.hostname or "", parts.port, until)) as connection:
        connection.connect()
        with _cut_at(connection.sock, until):
            connection.request(method, target, body or None, dict(headers))
            answer = connection.getresponse()
            _drain(answer)
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()})


def _connection(scheme: str, host: str, port: int | None, until: float) -> http.client.HTTPConnection:
    kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
    connection = kind(host, port, timeout=max(0.001, until - time.monotonic()))
    connection.response_class = _WholeResponse
    return connection


@contextlib.contextmanager
def _cut_at(connected: socket.socket, until: float) -> Iterator[None]:
    """Shut the socket down at the monotonic time `until`: reads and writes then fail."""
    timer = threading.Timer(max(0.0, until - time.monotonic()), _shut_down, [connected])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _shut_down(connected: socket.socket) -> None:
    with contextlib.suppress(OSError):  # already closed by the peer
        connected.shutdown(socket.SHUT_RDWR)


def _drain(answer: http.client.HTTPResponse) -> None:
    """Read the body, so that the peer can finish; raises http.client.IncompleteRead when it is cut short."""
    left = BODY_READ_LIMIT
    while left > 0 and (block := answer.read(BLOCK)):
        left -= len(block)
    if left > 0 and answer.length:
        raise http.client.IncompleteRead(b"", answer.length)
