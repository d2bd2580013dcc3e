"""Conversions of values to and from Postgres, where pg8000's own are slow or wrong."""

from collections.abc import Callable
from datetime import date, datetime
from types import NoneType
from typing import Any, Final

from pg8000.converters import DATE, PG_TYPES, TIMESTAMP, TIMESTAMPTZ, array_out, datetime_out

_TEXT_OR_NONE: Final = (str, NoneType)
_TIME_OR_NONE: Final = frozenset({datetime, NoneType})
_NUMBER_OR_NONE: Final = frozenset({int, float, bool, NoneType})


def _quickly(read: Callable[[str], Any], kind: int) -> Callable[[str], Any]:
    """`read`, or pg8000's conversion for times that Python does not have (infinity, years before 1)."""
    slowly = PG_TYPES[kind]

    def either(text: str) -> Any:
        try:
            return read(text)
        except ValueError:
            return slowly(text)

    return either


READERS: Final = {
    # pg8000 parses times with strptime: 10 us each; these take 0.2 us
    TIMESTAMPTZ: _quickly(datetime.fromisoformat, TIMESTAMPTZ),
    TIMESTAMP: _quickly(datetime.fromisoformat, TIMESTAMP),
    DATE: _quickly(date.fromisoformat, DATE),
}
"""The conversion of a text from Postgres, by the number of its type."""


def array(values: list[Any]) -> str:
    """A list in the syntax of a Postgres array.

    Every text is quoted. pg8000 checks each letter instead (10 us for a uuid) and reads the text `null` as NULL.
    """
    kinds = set(map(type, values))
    if kinds <= _NUMBER_OR_NONE:
        return f"{{{','.join(['NULL' if value is None else repr(value) for value in values])}}}"
    if kinds <= _TIME_OR_NONE:
        return f"{{{','.join(['NULL' if value is None else datetime_out(value) for value in values])}}}"
    if all(issubclass(kind, _TEXT_OR_NONE) for kind in kinds):
        return f"{{{','.join(['NULL' if value is None else _quoted(value) for value in values])}}}"
    written: str = array_out(values)
    return written


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


WRITERS: Final = {list: array}
"""The conversion of a value for Postgres, by its Python type."""
