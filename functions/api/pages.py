"""Lists in pages: their query parameters, cursors and answers."""

import base64
import binascii
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Generic, TypeVar

import msgspec

from functions.api.bodies import Answer, QueryParameters, is_in_calendar
from functions.problems import InvalidField
from shared import typed
from shared.postgres.door import scrub

T = TypeVar("T")
R = TypeVar("R")
LONGEST_CURSOR: Final = 1024

Limit = Annotated[int, msgspec.Meta(ge=1, le=100, description="how many items at most")]
LongLimit = Annotated[int, msgspec.Meta(ge=1, le=1000, description="how many rows at most")]
CursorText = Annotated[
    str, msgspec.Meta(max_length=LONGEST_CURSOR, description="`next_cursor` of the page before; opaque")
]


class PageQuery(QueryParameters):
    """The parameters of every list."""

    limit: Limit = 25
    cursor: CursorText | None = None


class LongPageQuery(QueryParameters):
    """The parameters of a list that is mostly short, so that one page mostly has all of it."""

    limit: LongLimit = 1000
    cursor: CursorText | None = None


class Page(Answer, Generic[T]):
    """One page of a list; `next_cursor` is null on the last one."""

    items: list[T]
    next_cursor: str | None


def encode_cursor(values: Sequence[Any]) -> str:
    """An opaque cursor that holds `values`: texts, numbers and times."""
    return base64.urlsafe_b64encode(msgspec.json.encode(list(values))).decode().rstrip("=")


def decode_cursor(cursor: str | None, *kinds: Any) -> tuple[Any, ...] | None:
    """The values that `encode_cursor` put in, of these types; None without a cursor.

    Raises InvalidField for a cursor of another list.
    """
    if cursor is None:
        return None
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        values: tuple[Any, ...] = typed.decode(raw, tuple[kinds])  # type: ignore[valid-type]
    except (binascii.Error, ValueError, RecursionError):
        raise _bad_cursor() from None
    if not all(_is_usable(value) for value in values):
        raise _bad_cursor()
    return values


def page(rows: Sequence[R], limit: int, keys: Callable[[R], Sequence[Any]], shape: Callable[[R], T]) -> Page[T]:
    """A page of `rows`. Ask the store for `limit + 1` rows: one row too many shows that there is a next page.

    `keys` gives the values of a row by which the list is ordered; `shape` makes the item.
    """
    return Page(items=[shape(row) for row in rows[:limit]], next_cursor=_next_cursor(rows, limit, keys))


def page_of(items: list[T], limit: int, keys: Callable[[T], Sequence[Any]]) -> Page[T]:
    """A page of rows that are already items of the answer."""
    return Page(items=items[:limit], next_cursor=_next_cursor(items, limit, keys))


def _next_cursor(rows: Sequence[R], limit: int, keys: Callable[[R], Sequence[Any]]) -> str | None:
    return encode_cursor(keys(rows[limit - 1])) if len(rows) > limit else None


def _is_usable(value: Any) -> bool:
    """Whether the database can take this value: a storable text, a bigint, or a time with a zone."""
    if isinstance(value, str):
        return scrub(value) == value
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return not isinstance(value, datetime) or (value.tzinfo is not None and is_in_calendar(value))


def _bad_cursor() -> InvalidField:
    return InvalidField.at("cursor", "field_page_cursor")
