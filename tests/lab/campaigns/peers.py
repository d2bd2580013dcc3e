"""Misbehaving HTTP peers: raw requests, endless bodies, stalled connections."""

import contextlib
import select
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from deploy.parts.layout import LOOPBACK

PIECE: Final = b"a" * 65_536
PATIENCE_SECONDS: Final = 60.0
CLOSED: Final = b""
# Requests without credentials: one announces 600 MB and sends nothing; one has an endless first line.
ENDLESS: Final = (
    (b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 600000000\r\n\r\n", 401),
    (b"GET /" + b"a" * 100_000, 414),
)


def exchange(port: int, request: bytes, seconds: float = PATIENCE_SECONDS) -> bytes | None:
    """Send a request. Returns all that comes until the server closes; None if it neither answers nor closes."""
    answer = bytearray()
    with socket.create_connection((LOOPBACK, port), seconds) as connection:
        try:
            connection.sendall(request)
            while piece := connection.recv(65_536):
                answer += piece
        except TimeoutError:
            return None
        except ConnectionError:  # the server closed before it had read everything
            pass
    return bytes(answer)


def status_of(answer: bytes) -> int:
    """The status of a raw answer; 0 without one."""
    first = answer.split(b"\r\n", 1)[0].split(b" ")
    return int(first[1]) if len(first) > 1 and first[0].startswith(b"HTTP/") and first[1].isdigit() else 0


@dataclass(frozen=True)
class Poured:
    """The result of sending far too much."""

    status: int
    """The status of the answer; 0 without one."""
    accepted: int
    """Bytes that the kernel had accepted when the answer came, including those in its buffers."""
    seconds: float


def pour(port: int, head: bytes, size: int, *, framed: bool = False) -> Poured:
    """Send `head` and then up to `size` bytes as fast as possible, until an answer comes.

    `framed` sends them as chunks, without a length.
    """
    piece = b"%x\r\n%s\r\n" % (len(PIECE), PIECE) if framed else PIECE
    began, sent, answer, waiting = time.monotonic(), -len(head), bytearray(), memoryview(head)
    with (
        socket.create_connection((LOOPBACK, port), PATIENCE_SECONDS) as connection,
        contextlib.suppress(ConnectionError),
    ):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, len(PIECE))
        connection.setblocking(False)
        while b"\r\n" not in answer and time.monotonic() - began < PATIENCE_SECONDS:
            more = [connection] if sent + len(waiting) < size or waiting else []
            readable, writable, _ = select.select([connection], more, [], 1)
            if readable:
                if not (said := connection.recv(65_536)):
                    break
                answer += said
            elif writable:
                waiting = waiting or memoryview(piece)
                taken = connection.send(waiting)
                sent, waiting = sent + taken, waiting[taken:]
    return Poured(status_of(bytes(answer)), max(0, sent), time.monotonic() - began)


@dataclass
class Stalled:
    """Connections with requests that never end: each gets another byte now and then."""

    port: int
    heads: tuple[bytes, ...]
    """The beginnings of the requests, in turn."""
    count: int
    connections: list[socket.socket] = field(default_factory=list)
    reopened: int = 0

    def __post_init__(self) -> None:
        """Open all connections."""
        self.connections = [self._open(number) for number in range(self.count)]

    def _open(self, number: int) -> socket.socket:
        connection = socket.create_connection((LOOPBACK, self.port), PATIENCE_SECONDS)
        connection.sendall(self.heads[number % len(self.heads)])
        connection.setblocking(False)
        return connection

    def trickle(self) -> None:
        """Send one more byte on each; reopen closed connections."""
        for number, connection in enumerate(self.connections):
            if _takes(connection, b"a"):
                continue
            connection.close()
            self.connections[number] = self._open(number)
            self.reopened += 1

    def close(self) -> None:
        for connection in self.connections:
            connection.close()


def _takes(connection: socket.socket, more: bytes) -> bool:
    """Send some bytes. Returns whether the connection is still open."""
    try:
        with contextlib.suppress(BlockingIOError):
            if connection.recv(65_536) == CLOSED:
                return False
        with contextlib.suppress(BlockingIOError):
            connection.send(more)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def stalled(port: int, heads: tuple[bytes, ...], count: int) -> Iterator[Stalled]:
    """`count` stalled connections during the block."""
    made = Stalled(port, heads, count)
    try:
        yield made
    finally:
        made.close()
