"""What a field of a request was expected to be, in words: found from its type, not from the text of an error."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import inspect

from shared.errors import REFUSALS
from shared.sentences import Phrased


@REFUSALS.phrase
def field_text(*, field: str, least: int | None, most: int | None) -> str:
    """`least` and `most` count characters."""
    return f"{field}: expected a text{_amount(least, most, ' characters')}."


@REFUSALS.phrase
def field_form(*, field: str, pattern: str) -> str:
    """`pattern` is a regular expression."""
    return f"{field}: expected a text that matches {pattern}."


@REFUSALS.phrase
def field_whole_number(*, field: str, least: int | None, most: int | None) -> str:
    return f"{field}: expected a whole number{_amount(least, most)}."


@REFUSALS.phrase
def field_number(*, field: str, least: float | None, most: float | None) -> str:
    return f"{field}: expected a number{_amount(least, most)}."


@REFUSALS.phrase
def field_list(*, field: str, least: int | None, most: int | None) -> str:
    """`least` and `most` count items."""
    return f"{field}: expected a list{_amount(least, most, ' items')}."


@REFUSALS.phrase
def field_object(*, field: str) -> str:
    return f"{field}: expected an object."


@REFUSALS.phrase
def field_flag(*, field: str) -> str:
    return f"{field}: expected true or false."


@REFUSALS.phrase
def field_one_of(*, field: str, choices: list[str]) -> str:
    return f"{field}: expected one of {', '.join(choices)}."


@REFUSALS.phrase
def field_date(*, field: str) -> str:
    return f"{field}: expected a date such as 2026-03-01."


@REFUSALS.phrase
def field_time(*, field: str) -> str:
    return f"{field}: expected an RFC 3339 time with a timezone, such as 2026-03-01T12:00:00Z."


def expected(shape: type[Any], path: str) -> Phrased | None:
    """What the field at this path of `shape` may be, such as `hours[0].begins`; None where no sentence says it."""
    steps = re.findall(r"[^.\[\]]+|\[[^\]]*\]", path)
    found = [one for one in _at(inspect.type_info(shape), steps) if not isinstance(one, inspect.NoneType)]
    make = _WORDS.get(type(found[0])) if len(found) == 1 else None
    return make(path or "body", found[0]) if make else None


def _at(info: inspect.Type, steps: list[str]) -> Iterator[inspect.Type]:
    """The types that a value may have at this path."""
    if isinstance(info, inspect.Metadata):
        yield from _at(info.type, steps)
    elif isinstance(info, inspect.UnionType):
        for part in info.types:
            yield from _at(part, steps)
    elif not steps:
        yield info
    elif isinstance(info, inspect.StructType):
        for field in info.fields:
            if field.encode_name == steps[0]:
                yield from _at(field.type, steps[1:])
    elif isinstance(info, inspect.ListType | inspect.VarTupleType) and steps[0].startswith("["):
        yield from _at(info.item_type, steps[1:])
    elif isinstance(info, inspect.DictType) and steps[0].startswith("["):
        yield from _at(info.value_type, steps[1:])


def _text(field: str, info: inspect.StrType) -> Phrased:
    if info.pattern is not None:
        return field_form(field=field, pattern=info.pattern)
    return field_text(field=field, least=info.min_length, most=info.max_length)


_WORDS: Final[Mapping[type[inspect.Type], Callable[[str, Any], Phrased]]] = {
    inspect.StrType: _text,
    inspect.IntType: lambda field, info: field_whole_number(field=field, least=info.ge, most=info.le),
    inspect.FloatType: lambda field, info: field_number(field=field, least=info.ge, most=info.le),
    inspect.ListType: lambda field, info: field_list(field=field, least=info.min_length, most=info.max_length),
    inspect.VarTupleType: lambda field, info: field_list(field=field, least=info.min_length, most=info.max_length),
    inspect.StructType: lambda field, _: field_object(field=field),
    inspect.DictType: lambda field, _: field_object(field=field),
    inspect.BoolType: lambda field, _: field_flag(field=field),
    inspect.EnumType: lambda field, info: field_one_of(field=field, choices=[str(one.value) for one in info.cls]),
    inspect.LiteralType: lambda field, info: field_one_of(field=field, choices=[str(one) for one in info.values]),
    inspect.DateType: lambda field, _: field_date(field=field),
    inspect.DateTimeType: lambda field, _: field_time(field=field),
}


def _amount(least: float | None, most: float | None, of: str = "") -> str:
    """` of 1 to 20 items`, ` from 10 to 600`; empty without a limit."""
    of = of[:-1] if 1 in {most, least if most is None else most} else of
    if most is None:
        return "" if least is None else f" of at least {least}{of}"
    if not least and of:
        return f" of at most {most}{of}"
    if least is None:
        return f" up to {most}{of}"
    return f" {'of' if of else 'from'} {least} to {most}{of}"
