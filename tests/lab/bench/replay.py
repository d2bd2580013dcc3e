"""Record what a connection sends to Postgres, and replay it on another database: the time of the statements alone.

The same bytes are sent, one round trip each. Both databases must have the same rows at the start.
"""

import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Connection

HEAD_BYTES: Final = 5
"""The head of each message: its kind, and its length without the kind."""
length_at: Final = struct.Struct("!i").unpack_from
ENDS_A_TURN: Final = frozenset({b"S", b"Q"})  # Sync, Query: Postgres answers, and ends with Z
READY: Final = b"Z"
REFUSED: Final = b"E"
AT_ONCE: Final = 1 << 18


class _Overheard:
    """A socket, or a file made of it, that records what is sent."""

    def __init__(self, end: Any, kept: list[bytes]) -> None:
        self._end = end
        self._kept = kept

    def sendall(self, data: bytes) -> None:
        self._kept.append(bytes(data))
        self._end.sendall(data)

    def write(self, data: bytes) -> int:
        self._kept.append(bytes(data))
        written: int = self._end.write(data)
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._end, name)


def overhear(connection: Connection) -> Callable[[], list[bytes]]:
    """Record what this connection sends. Returns a function that gives the round trips since its last call."""
    raw: Any = connection.connection.dbapi_connection
    kept: list[bytes] = []
    raw._usock, raw._sock = _Overheard(raw._usock, kept), _Overheard(raw._sock, kept)

    def since() -> list[bytes]:
        said = list(_turns(b"".join(kept)))
        kept.clear()
        return said

    return since


def _turns(sent: bytes) -> Iterator[bytes]:
    """Split into round trips."""
    begin = at = 0
    while at < len(sent):
        kind = sent[at : at + 1]
        at += 1 + length_at(sent, at + 1)[0]
        if kind in ENDS_A_TURN:
            yield sent[begin:at]
            begin = at
    assert begin == len(sent), "a turn was left open"


def say_again(connection: Connection, turns: Sequence[bytes]) -> float:
    """Replay these round trips. Returns the seconds that Postgres took. Raises RuntimeError if it refuses one."""
    raw: Any = connection.connection.dbapi_connection
    end: socket.socket = raw._usock
    began = time.monotonic()
    for turn in turns:
        end.sendall(turn)
        _wait(end)
    return time.monotonic() - began


def _wait(end: socket.socket) -> None:
    """Read the whole answer of a round trip."""
    data, at = b"", 0
    while True:
        while len(data) - at < HEAD_BYTES or len(data) - at <= length_at(data, at + 1)[0]:
            data, at = data[at:] + _received(end), 0
        kind, size = data[at : at + 1], length_at(data, at + 1)[0]
        if kind == REFUSED:
            raise RuntimeError(data[at + HEAD_BYTES : at + 1 + size].replace(b"\0", b" ").decode(errors="replace"))
        if kind == READY:
            return
        at += 1 + size


def _received(end: socket.socket) -> bytes:
    data = end.recv(AT_ONCE)
    if not data:
        raise RuntimeError("Postgres hung up")
    return data
