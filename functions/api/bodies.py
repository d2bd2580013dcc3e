"""Parse JSON bodies and query parameters, and encode answers. For lists see `pages.py`.

Incoming shapes are msgspec Structs (`Body`, `QueryParameters`). A value that does not fit is answered 400, naming the
field and the expected value. Every text is scrubbed, so that no statement gets a text that Postgres cannot store. Times
in answers are RFC 3339 in UTC with Z. Names are folded (`folding.py`).
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Final, NoReturn, TypeVar

import msgspec
from flask import Request

from functions.api import fields
from functions.api.folding import has_names, with_folded_names
from functions.problems import BadRequest, InvalidField, MalformedJson
from shared import typed
from shared.errors import UnsupportedMediaType
from shared.postgres.door import scrub
from shared.words.sentences import as_given

T = TypeVar("T")

Time = Annotated[datetime, msgspec.Meta(tz=True, description="RFC 3339 with a zone")]

# The end of every pattern: `$` would also match before a final line feed.
END: Final = r"(?![\s\S])"
Uuid = Annotated[str, msgspec.Meta(pattern=rf"^[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}{END}")]


class Body(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Base of every JSON body: an unknown field is refused by name."""


class QueryParameters(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Base of every set of query parameters: an unknown parameter is refused by name."""


class NoQuery(QueryParameters):
    """No parameters."""


class Answer(msgspec.Struct, kw_only=True):
    """Base of JSON answers that extend no row of a store. Fields may be added, none renamed."""


def parse_body(request: Request, shape: type[T]) -> T:
    """The JSON body of `request` as `shape`, scrubbed. Raises UnsupportedMediaType, MalformedJson or InvalidField.

    The first wrong field ends it: what fits no shape is never walked in Python.
    """
    if request.mimetype != "application/json":
        raise UnsupportedMediaType("body_must_be_json")
    try:
        return _in_calendar(_decoded(request.get_data(), shape))
    except msgspec.ValidationError as error:
        if _NO_OBJECT.fullmatch(str(error)):
            raise MalformedJson("body_must_be_object") from None
        _refuse(scrub(str(error)), shape)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise MalformedJson from None


def _decoded(body: bytes, shape: type[T]) -> T:
    """`body` as `shape`, scrubbed and folded, with 5.0 as 5.

    Raises msgspec.DecodeError, RecursionError or UnicodeDecodeError.
    """
    try:
        fitted = typed.decode(body, shape)
    except msgspec.ValidationError as error:
        if not _FLOAT_FOR_INT.match(str(error)):
            raise
        typed.decode(body, shape, strict=False)  # takes 5.0, too: is anything else wrong?
    else:  # no other text of valid JSON has something to scrub
        if b"\\u0000" not in body and not has_names(shape):  # type: ignore[arg-type]
            return fitted
    return typed.convert(with_folded_names(scrubbed(msgspec.json.decode(body)), shape), shape)


def parse_query(request: Request, shape: type[T]) -> T:
    """The query parameters of `request` as `shape`, scrubbed. Only a list field may be repeated.

    Raises InvalidField, which names the parameter and the expected value.
    """
    lists = _list_fields(shape)  # type: ignore[arg-type]  # a class can be hashed
    values: dict[str, Any] = {}
    for name, given in request.args.lists() if request.query_string else ():
        if name not in lists and len(given) > 1:
            raise InvalidField.at(name, "field_once")
        values[name] = given if name in lists else given[0]
    return _fit(scrubbed(values), shape)


def scrubbed(value: Any) -> Any:
    """A tree of JSON values with every text and key scrubbed for the database, and 5.0 as 5."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {scrub(key): scrubbed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [scrubbed(item) for item in value]
    return value


def answer_of(shape: type[T], row: object, **more: Any) -> T:
    """Copy the fields of `shape` from `row`, a mapping or an object; `more` adds or replaces fields."""
    if isinstance(row, Mapping):
        fields = dict(row)
    else:
        struct: Any = shape
        names = zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True)
        fields = {encoded: getattr(row, name) for name, encoded in names if hasattr(row, name)}
    return typed.convert({**fields, **more}, shape, from_attributes=True)


def _fit(values: Mapping[str, Any], shape: type[T]) -> T:
    _refuse_numbers_as_times(values, shape)
    _refuse_numbers_in_disguise(values, shape)
    try:
        fitted = typed.convert(with_folded_names(values, shape), shape, strict=False)
    except msgspec.ValidationError as error:
        _refuse(str(error), shape)
    return _in_calendar(fitted)


def _in_calendar(fitted: T) -> T:
    """The same Struct. Raises InvalidField for a time that is outside of the calendar in UTC."""
    for field, moment in _times_in(fitted, ""):
        if not is_in_calendar(moment):
            raise InvalidField.at(field, "field_in_calendar")
    return fitted


def _times_in(value: Any, field: str) -> Iterator[tuple[str, datetime]]:
    """Every time in this value, with the name of its field: `failures[2].service_failed_at`."""
    if isinstance(value, datetime):
        yield field, value
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _times_in(one, f"{field}[{number}]")
    elif isinstance(value, msgspec.Struct):
        for name, shown in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            yield from _times_in(getattr(value, name), f"{field}.{shown}" if field else shown)


def _refuse_numbers_as_times(values: Mapping[str, Any], shape: type[Any]) -> None:
    """Refuse a number as a time of the query: msgspec would take it for seconds since 1970. Raises InvalidField."""
    for name in _time_fields(shape) & values.keys():  # type: ignore[arg-type]  # a class can be hashed
        if not re.match(r"\d{4}-", values[name], re.ASCII):
            raise InvalidField.at(name, fields.field_time())


def _refuse_numbers_in_disguise(values: Mapping[str, Any], shape: type[Any]) -> None:
    """Refuse 1e2 and 5.0, which msgspec takes for whole numbers. Raises InvalidField."""
    for name in _whole_fields(shape) & values.keys():  # type: ignore[arg-type]  # a class can be hashed
        if not re.fullmatch(r"-?[0-9]+", values[name]):
            raise InvalidField.at(name, fields.field_whole_number(least=None, most=None))


def is_in_calendar(moment: datetime) -> bool:
    """Whether this time is within the calendar in UTC too: its zone may move it beyond year 1 or 9999."""
    try:
        moment.astimezone(UTC)
    except OverflowError:
        return False
    return True


_NO_OBJECT = re.compile("Expected `object`, got `[^`]*`")
_FLOAT_FOR_INT = re.compile(r"Expected `[^`]*\bint\b[^`]*`, got `float`")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<field>.*?)`(?: - at `\$(?P<at>.*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<field>.*?)`(?: - at `\$(?P<at>.*)`)?", re.DOTALL)
_WRONG = re.compile(r"(?P<what>.*?)(?: - at `(?:key in )?\$(?P<at>.*)`)?", re.DOTALL)


def _refuse(message: str, shape: type[Any]) -> NoReturn:
    """Raise InvalidField with the field and the expected value from msgspec's message."""
    if match := _UNKNOWN.fullmatch(message):
        raise InvalidField.at(_field(match["at"], match["field"]), "field_unknown")
    if match := _MISSING.fullmatch(message):
        raise InvalidField.at(_field(match["at"], match["field"]), "field_missing")
    if match := _WRONG.fullmatch(message):
        field = _field(match["at"], "")
        own = as_given(text=f"expected {match['what'].replace('`', '').removeprefix('Expected ')}"[:500])
        raise InvalidField.at(field, fields.expected(shape, field) or own)
    raise BadRequest


def _field(path: str | None, name: str) -> str:
    return f"{path or ''}.{name}".strip(".")[:200]


@cache
def _list_fields(shape: Any) -> set[str]:
    return _fields_of(shape, msgspec.inspect.ListType) | _fields_of(shape, msgspec.inspect.VarTupleType)


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


def pretty_json(value: Any) -> str:
    """`value` as JSON in the format of the repository's files: indented, keys sorted, a newline at the end."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
