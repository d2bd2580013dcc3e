"""Peers that do not keep to the manners of HTTP: raw requests, bodies without end, connections that stall."""

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
# To a function that does not know who asks: 600 MB are announced and none is sent; a first line goes on and on.
ENDLESS: Final = (
    (b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 600000000\r\n\r\n", 401),
    (b"GET /" + b"a" * 100_000, 414),
)


def exchange(port: int, request: bytes, seconds: float = PATIENCE_SECONDS) -> bytes | None:
    """All that comes back until the server hangs up; None when it neither answers nor hangs up."""
    answer = bytearray()
    with socket.create_connection((LOOPBACK, port), seconds) as connection:
        try:
            connection.sendall(request)
            while piece := connection.recv(65_536):
                answer += piece
        except TimeoutError:
            return None
        except ConnectionError:  # it hung up while something of ours was still on its way
            pass
    return bytes(answer)


def status_of(answer: bytes) -> int:
    """The status of a raw answer; 0 for none."""
    first = answer.split(b"\r\n", 1)[0].split(b" ")
    return int(first[1]) if len(first) > 1 and first[0].startswith(b"HTTP/") and first[1].isdigit() else 0


@dataclass(frozen=True)
class Poured:
    """How sending far too much ended."""

    status: int
    """Of the answer; 0 when there was none."""
    accepted: int
    """Bytes that the kernel had taken from us when the answer came; those that wait in its buffers are among them."""
    seconds: float


def pour(port: int, head: bytes, size: int, *, framed: bool = False) -> Poured:
    """Send `head` and then up to `size` bytes as fast as they are taken, until there is an answer.

    `framed` sends them as chunks, so that nobody is told how many there will be.
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
    """Connections that begin a request and never end it: each is given another byte now and then."""

    port: int
    heads: tuple[bytes, ...]
    """What each begins with, in turn."""
    count: int
    connections: list[socket.socket] = field(default_factory=list)
    reopened: int = 0

    def __post_init__(self) -> None:
        """Opens them all."""
        self.connections = [self._open(number) for number in range(self.count)]

    def _open(self, number: int) -> socket.socket:
        connection = socket.create_connection((LOOPBACK, self.port), PATIENCE_SECONDS)
        connection.sendall(self.heads[number % len(self.heads)])
        connection.setblocking(False)
        return connection

    def trickle(self) -> None:
        """One more byte on each; those that were hung up on come again."""
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
    """Whether the peer is still there, having been sent some more."""
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
    """So many of them for as long as the block lasts."""
    made = Stalled(port, heads, count)
    try:
        yield made
    finally:
        made.close()
