"""What comes in and what goes out: JSON bodies, query parameters, cursors, and answers as Structs.

Incoming shapes are msgspec Structs (`Body`, `QueryParameters`); what does not fit is a 400 that names the field and
what was expected. Every text is scrubbed before anybody sees it, so that nothing unstorable can reach a
statement. Times leave as RFC 3339 in UTC with Z.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Final, Generic, NoReturn, TypeVar

import msgspec
from flask import Request

from functions.problems import BadRequest, InvalidField, MalformedJson
from shared.errors import UnsupportedMediaType
from shared.postgres.door import scrub

T = TypeVar("T")
R = TypeVar("R")
LONGEST_CURSOR: Final = 1024
TIME: Final = "an RFC 3339 time with a timezone, such as 2026-03-01T12:00:00Z"

Limit = Annotated[int, msgspec.Meta(ge=1, le=100, description="how many items at most")]
LongLimit = Annotated[int, msgspec.Meta(ge=1, le=1000, description="how many rows at most")]
CursorText = Annotated[
    str, msgspec.Meta(max_length=LONGEST_CURSOR, description="`next_cursor` of the page before; opaque")
]
Time = Annotated[datetime, msgspec.Meta(tz=True, description="RFC 3339 with a zone")]

# Every pattern ends so: `$` lets a line end through.
END: Final = r"(?![\s\S])"
Uuid = Annotated[str, msgspec.Meta(pattern=rf"^[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}{END}")]


class Body(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Base of every JSON body: an unknown field is refused by name."""


class QueryParameters(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Base of every set of query parameters: an unknown parameter is refused by name."""


class NoQuery(QueryParameters):
    """No parameters."""


class PageQuery(QueryParameters):
    """The parameters of every list."""

    limit: Limit = 25
    cursor: CursorText | None = None


class Answer(msgspec.Struct, kw_only=True):
    """Base of every JSON answer. Fields may be added, none renamed."""


class LongPageQuery(QueryParameters):
    """The parameters of a list that is mostly short, so that one page mostly has all of it."""

    limit: LongLimit = 1000
    cursor: CursorText | None = None


class Page(Answer, Generic[T]):
    """One page of a list; `next_cursor` is null on the last one."""

    items: list[T]
    next_cursor: str | None


def parse_body(request: Request, shape: type[T]) -> T:
    """The JSON body of `request` as `shape`, scrubbed. Raises UnsupportedMediaType or a 400 by name."""
    if request.mimetype != "application/json":
        raise UnsupportedMediaType("The body must be JSON, sent as Content-Type: application/json.")
    try:
        raw = msgspec.json.decode(request.get_data(cache=False))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise MalformedJson from None
    if not isinstance(raw, dict):
        raise MalformedJson("The body must be a JSON object.")
    return _fit(scrubbed(raw), shape, strict=True)


def parse_query(request: Request, shape: type[T]) -> T:
    """The query parameters of `request` as `shape`, scrubbed; a list field takes a parameter repeated.

    Raises InvalidField naming the parameter and what was expected.
    """
    lists = _list_fields(shape)  # type: ignore[arg-type]  # a class can be hashed
    values: dict[str, Any] = {}
    for name, given in request.args.lists() if request.query_string else ():
        if name not in lists and len(given) > 1:
            raise InvalidField(errors=[{"field": name, "expected": "one value"}])
        values[name] = given if name in lists else given[0]
    return _fit(scrubbed(values), shape, strict=False)


def scrubbed(value: Any) -> Any:
    """`value`, a tree of JSON values, with every text and key scrubbed for the database, and 5.0 as what it is: 5."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {scrub(key): scrubbed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [scrubbed(item) for item in value]
    return value


def encode_cursor(values: Sequence[Any]) -> str:
    """An opaque cursor that holds `values`: texts, numbers and times."""
    return base64.urlsafe_b64encode(msgspec.json.encode(list(values))).decode().rstrip("=")


def decode_cursor(cursor: str | None, *kinds: Any) -> tuple[Any, ...] | None:
    """The values that `encode_cursor` put in, each of its kind; None without a cursor.

    Raises InvalidField for a cursor that was not made by this list.
    """
    if cursor is None:
        return None
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        values: tuple[Any, ...] = msgspec.json.decode(raw, type=tuple[kinds])  # type: ignore[valid-type]
    except (binascii.Error, ValueError, RecursionError):
        raise _bad_cursor() from None
    if not all(_is_usable(value) for value in values):
        raise _bad_cursor()
    return values


def page(rows: Sequence[R], limit: int, keys: Callable[[R], Sequence[Any]], shape: Callable[[R], T]) -> Page[T]:
    """A page of `rows`, which the store was asked for with `limit + 1`: one more says that there is a next page.

    `keys` gives the values of a row that its list is ordered by; `shape` makes the item.
    """
    return Page(items=[shape(row) for row in rows[:limit]], next_cursor=_next_cursor(rows, limit, keys))


def page_of(items: list[T], limit: int, keys: Callable[[T], Sequence[Any]]) -> Page[T]:
    """As `page`, of rows that came as what they are told as."""
    return Page(items=items[:limit], next_cursor=_next_cursor(items, limit, keys))


def _next_cursor(rows: Sequence[R], limit: int, keys: Callable[[R], Sequence[Any]]) -> str | None:
    return encode_cursor(keys(rows[limit - 1])) if len(rows) > limit else None


def answer_of(shape: type[T], row: object, **more: Any) -> T:
    """`row`, a mapping or an object, as `shape`: fields by name, `more` beside or instead. Others are left out."""
    if isinstance(row, Mapping):
        # SQLAlchemy's column names may be a subclass of str, which msgspec takes for no text
        fields = {str(name): value for name, value in row.items()}
    else:
        struct: Any = shape
        names = zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True)
        fields = {encoded: getattr(row, name) for name, encoded in names if hasattr(row, name)}
    return msgspec.convert({**fields, **more}, shape, from_attributes=True)


def to_json(value: Any) -> bytes:
    """`value` as JSON bytes, times in UTC with Z."""
    return msgspec.json.encode(value)


def _fit(values: Mapping[str, Any], shape: type[T], *, strict: bool) -> T:
    if not strict:
        _refuse_numbers_as_times(values, shape)
        _refuse_numbers_in_disguise(values, shape)
    try:
        fitted = msgspec.convert(values, shape, strict=strict)
    except msgspec.ValidationError as error:
        _refuse(str(error), shape)
    struct: Any = fitted
    for name, field in zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True):
        value = getattr(struct, name)
        if isinstance(value, datetime) and not _is_in_calendar(value):
            expected = "a time between the years 1 and 9999 in UTC"
            raise InvalidField(f"{field}: expected {expected}.", errors=[{"field": field, "expected": expected}])
    return fitted


def _refuse_numbers_as_times(values: Mapping[str, Any], shape: type[Any]) -> None:
    """A number in a query is text that looks like one, which msgspec would take for seconds since 1970."""
    for name in _time_fields(shape) & values.keys():  # type: ignore[arg-type]  # a class can be hashed
        if not re.match(r"\d{4}-", values[name], re.ASCII):
            raise InvalidField(f"{name}: expected {TIME}.", errors=[{"field": name, "expected": TIME}])


def _refuse_numbers_in_disguise(values: Mapping[str, Any], shape: type[Any]) -> None:
    """Raise InvalidField for 1e2 and 5.0, which msgspec takes for whole numbers."""
    for name in _whole_fields(shape) & values.keys():  # type: ignore[arg-type]  # a class can be hashed
        if not re.fullmatch(r"-?[0-9]+", values[name]):
            raise InvalidField(
                f"{name}: expected a whole number.", errors=[{"field": name, "expected": "a whole number"}]
            )


def _is_in_calendar(moment: datetime) -> bool:
    """Whether it has a date in UTC: near both ends of the calendar the zone decides."""
    try:
        moment.astimezone(UTC)
    except OverflowError:
        return False
    return True


_UNKNOWN = re.compile(r"Object contains unknown field `(?P<field>.*?)`(?: - at `\$(?P<at>.*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<field>.*?)`(?: - at `\$(?P<at>.*)`)?", re.DOTALL)
_WRONG = re.compile(r"(?P<what>.*?)(?: - at `(?:key in )?\$(?P<at>.*)`)?", re.DOTALL)


def _refuse(message: str, shape: type[Any]) -> NoReturn:
    """Raise InvalidField from msgspec's sentence, which says what was expected and where."""
    if match := _UNKNOWN.fullmatch(message):
        found = {"field": _field(match["at"], match["field"]), "expected": "no such field"}
    elif match := _MISSING.fullmatch(message):
        found = {"field": _field(match["at"], match["field"]), "expected": "this field is required"}
    elif match := _WRONG.fullmatch(message):
        field = _field(match["at"], "")
        found = {"field": field, "expected": _expected(match["what"].replace("`", ""), shape, field)}
    else:
        raise BadRequest
    word = "" if found["expected"] in {"no such field", "this field is required"} else "expected "
    raise InvalidField(f"{found['field'] or 'body'}: {word}{found['expected']}."[:500], errors=[found])


def _expected(what: str, shape: type[Any], field: str) -> str:
    """What would have been right, where msgspec's sentence says only what was wrong."""
    if what.startswith("Invalid enum value") and (choices := _choices(msgspec.inspect.type_info(shape), field)):
        return "one of " + ", ".join(choices)
    if what.startswith("Invalid RFC3339"):
        return TIME
    return what.removeprefix("Expected ")


def _choices(info: msgspec.inspect.Type, field: str) -> list[str]:
    """The values that the field at this path may have; none where it is no closed list."""
    if isinstance(info, msgspec.inspect.UnionType):
        return [choice for part in info.types for choice in _choices(part, field)]
    if isinstance(info, msgspec.inspect.ListType):
        return _choices(info.item_type, field)
    if isinstance(info, msgspec.inspect.StructType):
        name, _, rest = re.sub(r"\[[^]]*\]", "", field).partition(".")
        return [choice for f in info.fields if f.encode_name == name for choice in _choices(f.type, rest)]
    if isinstance(info, msgspec.inspect.EnumType):
        return [str(member.value) for member in info.cls]
    return [str(value) for value in info.values] if isinstance(info, msgspec.inspect.LiteralType) else []


def _field(path: str | None, name: str) -> str:
    return f"{path or ''}.{name}".strip(".")[:200]


@cache
def _list_fields(shape: Any) -> set[str]:
    fields = msgspec.structs.fields(shape)
    return {f.encode_name for f in fields if _is_list(msgspec.inspect.type_info(f.type))}


@cache
def _time_fields(shape: Any) -> set[str]:
    return _fields_of(shape, msgspec.inspect.DateTimeType)


@cache
def _whole_fields(shape: Any) -> set[str]:
    return _fields_of(shape, msgspec.inspect.IntType)


def _fields_of(shape: Any, kind: type[msgspec.inspect.Type]) -> set[str]:
    fields = msgspec.structs.fields(shape)
    return {f.encode_name for f in fields if _may_be(msgspec.inspect.type_info(f.type), kind)}


def _may_be(info: msgspec.inspect.Type, kind: type[msgspec.inspect.Type]) -> bool:
    if isinstance(info, msgspec.inspect.Metadata):
        return _may_be(info.type, kind)
    if isinstance(info, msgspec.inspect.UnionType):
        return any(_may_be(part, kind) for part in info.types)
    return isinstance(info, kind)


def _is_list(info: msgspec.inspect.Type) -> bool:
    if isinstance(info, msgspec.inspect.UnionType):
        return any(_is_list(part) for part in info.types)
    return isinstance(info, msgspec.inspect.ListType | msgspec.inspect.VarTupleType | msgspec.inspect.SetType)


def _is_usable(value: Any) -> bool:
    """No text that the database refuses, no number beyond a bigint, no time without a zone."""
    if isinstance(value, str):
        return scrub(value) == value
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return not isinstance(value, datetime) or (value.tzinfo is not None and _is_in_calendar(value))


def _bad_cursor() -> InvalidField:
    return InvalidField(
        "cursor: expected the next_cursor of a page of this list.",
        errors=[{"field": "cursor", "expected": "the next_cursor of a page of this list"}],
    )


def pretty_json(value: Any) -> str:
    """`value` as the files of the repository hold it: indented, keys sorted, a newline at the end."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
