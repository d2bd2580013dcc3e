"""What a field of a request was expected to be, in words: found from its type, not from the text of an error."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import inspect

from shared.words.sentences import Sentence, sentence


@sentence
def field_text(*, least: int | None, most: int | None) -> Sentence:
    """`least` and `most` count characters."""


@sentence
def field_form(*, pattern: str) -> Sentence: ...
@sentence
def field_whole_number(*, least: int | None, most: int | None) -> Sentence: ...
@sentence
def field_number() -> Sentence: ...
@sentence
def field_list(*, least: int | None, most: int | None) -> Sentence: ...
@sentence
def field_object() -> Sentence: ...
@sentence
def field_flag() -> Sentence: ...
@sentence
def field_one_of(*, choices: list[str]) -> Sentence: ...
@sentence
def field_date() -> Sentence: ...
@sentence
def field_time() -> Sentence: ...


def expected(shape: type[Any], path: str) -> Sentence | None:
    """What the field at this path of `shape` may be, such as `hours[0].begins`; None where no sentence says it."""
    steps = re.findall(r"[^.\[\]]+|\[[^\]]*\]", path)
    found = [one for one in _at(inspect.type_info(shape), steps) if not isinstance(one, inspect.NoneType)]
    make = _WORDS.get(type(found[0])) if len(found) == 1 else None
    return make(found[0]) if make else None


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


def _text(info: inspect.StrType) -> Sentence:
    if info.pattern is not None:
        return field_form(pattern=info.pattern)
    return field_text(least=info.min_length or None, most=info.max_length)


def _list(info: inspect.ListType | inspect.VarTupleType) -> Sentence:
    return field_list(least=info.min_length or None, most=info.max_length)


_WORDS: Final[Mapping[type[inspect.Type], Callable[[Any], Sentence]]] = {
    inspect.StrType: _text,
    inspect.IntType: lambda info: field_whole_number(least=info.ge, most=info.le),
    inspect.FloatType: lambda _: field_number(),
    inspect.ListType: _list,
    inspect.VarTupleType: _list,
    inspect.StructType: lambda _: field_object(),
    inspect.DictType: lambda _: field_object(),
    inspect.BoolType: lambda _: field_flag(),
    inspect.EnumType: lambda info: field_one_of(choices=[str(one.value) for one in info.cls]),
    inspect.LiteralType: lambda info: field_one_of(choices=[str(one) for one in info.values]),
    inspect.DateType: lambda _: field_date(),
    inspect.DateTimeType: lambda _: field_time(),
}
