"""Postgres' protocol, version 3, as far as `prepared.py` writes and reads it itself: bytes in, bytes out."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from struct import Struct
from types import NoneType
from typing import Any, Final

from pg8000.converters import DATE, PG_TYPES, TIMESTAMP, TIMESTAMPTZ, array_out

_SIZE: Final = Struct("!i").pack
_COUNT: Final = Struct("!H").pack

# --- what is said ---

UNNAMED: Final = b"\x00"
"""The name of a statement that the next one without a name replaces."""
EXECUTE: Final = b"E" + _SIZE(9) + b"\x00" + _SIZE(0)
SYNC: Final = b"S" + _SIZE(4)
DESCRIBE_PORTAL: Final = b"D" + _SIZE(6) + b"P\x00"


def parse_message(name: bytes, text: bytes, oids: Sequence[int]) -> bytes:
    """Prepare `text`, whose parameters have these types (-1: Postgres finds out), under a name."""
    types = b"".join(_SIZE(0 if oid == -1 else oid) for oid in oids)
    return _message(b"P", name + text + b"\x00" + _COUNT(len(oids)) + types)


def bind_message(name: bytes, parameters: Sequence[str | None], encoding: str) -> bytes:
    """Give a prepared statement its values. Raises UnicodeEncodeError for text that cannot be said."""
    parts = [b"\x00", name, _COUNT(0), _COUNT(len(parameters))]
    for value in parameters:
        if value is None:
            parts.append(_SIZE(-1))
        else:
            encoded = value.encode(encoding)
            parts += (_SIZE(len(encoded)), encoded)
    parts.append(_COUNT(0))
    return _message(b"B", b"".join(parts))


def close_message(name: bytes) -> bytes:
    """Forget what was prepared under this name, or nothing where nothing was."""
    return _message(b"C", b"S" + name)


def plain_messages(text: str) -> bytes:
    """All messages of a statement without parameters and rows."""
    bound = _message(b"B", b"\x00\x00" + _COUNT(0) + _COUNT(0) + _COUNT(0))
    return parse_message(UNNAMED, text.encode(), ()) + bound + EXECUTE


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + _SIZE(len(body) + 4) + body


# --- what comes back ---

HEAD_BYTES: Final = 5
"""Of each message, before what it says: its kind, and the length of all but that."""
length_at: Final = Struct("!i").unpack_from
NOTHING_TO_DO: Final = frozenset({b"1", b"2", b"3"})
"""Kinds of messages that only say yes: parsed, bound, closed."""


def _quickly(read: Callable[[str], Any], kind: int) -> Callable[[str], Any]:
    """`read`, and pg8000's own way for what Python's calendar does not have (infinity, years before 1)."""
    slowly = PG_TYPES[kind]

    def either(text: str) -> Any:
        try:
            return read(text)
        except ValueError:
            return slowly(text)

    return either


READERS: Final = {
    # pg8000 reads times with strptime, 10 us each where these take 0.2
    TIMESTAMPTZ: _quickly(datetime.fromisoformat, TIMESTAMPTZ),
    TIMESTAMP: _quickly(datetime.fromisoformat, TIMESTAMP),
    DATE: _quickly(date.fromisoformat, DATE),
}


# --- values ---

_TEXT_OR_NONE: Final = frozenset({str, NoneType})
_NUMBER_OR_NONE: Final = frozenset({int, float, NoneType})


def array(values: list[Any]) -> str:
    """A list as Postgres reads an array. Texts are all quoted: pg8000 looks at each letter to see which need it, some
    10 us for a uuid, and takes the text `null` for no value.
    """
    kinds = set(map(type, values))
    if kinds <= _NUMBER_OR_NONE:
        return f"{{{','.join(['NULL' if value is None else repr(value) for value in values])}}}"
    if kinds <= _TEXT_OR_NONE:
        return f"{{{','.join(['NULL' if value is None else _quoted(value) for value in values])}}}"
    said: str = array_out(values)
    return said


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


WRITERS: Final = {list: array}
