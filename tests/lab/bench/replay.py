"""What a connection said to Postgres, said again to another database: what its statements take without who makes them.

Bytes as they were sent, one round trip each. Both databases must stand alike when the first of them is said.
"""

import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import Connection

HEAD_BYTES: Final = 5
"""Of each message, before what it says: its kind, and the length of all but that."""
length_at: Final = struct.Struct("!i").unpack_from
ENDS_A_TURN: Final = frozenset({b"S", b"Q"})  # Sync, Query: Postgres answers now, and says Z at the end
READY: Final = b"Z"
REFUSED: Final = b"E"
AT_ONCE: Final = 1 << 18


class _Overheard:
    """A socket, or the file that was made of it; what is sent is kept."""

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
    """From now on keep what this connection sends; each call answers what came since the last, a turn each."""
    raw: Any = connection.connection.dbapi_connection
    kept: list[bytes] = []
    raw._usock, raw._sock = _Overheard(raw._usock, kept), _Overheard(raw._sock, kept)

    def since() -> list[bytes]:
        said = list(_turns(b"".join(kept)))
        kept.clear()
        return said

    return since


def _turns(sent: bytes) -> Iterator[bytes]:
    """Cut into what Postgres answers at once."""
    begin = at = 0
    while at < len(sent):
        kind = sent[at : at + 1]
        at += 1 + length_at(sent, at + 1)[0]
        if kind in ENDS_A_TURN:
            yield sent[begin:at]
            begin = at
    assert begin == len(sent), "a turn was left open"


def say_again(connection: Connection, turns: Sequence[bytes]) -> float:
    """Seconds that Postgres took for these, one after another. Raises RuntimeError where it refuses one."""
    raw: Any = connection.connection.dbapi_connection
    end: socket.socket = raw._usock
    began = time.monotonic()
    for turn in turns:
        end.sendall(turn)
        _wait(end)
    return time.monotonic() - began


def _wait(end: socket.socket) -> None:
    """Read the answer of one turn to its end."""
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
