"""Fold the names in a request, once, before its shape is checked.

A shape marks them: `Annotated[str, msgspec.Meta(extra=NAME)]`. Its limits then count the folded name, so a name of
which nothing is left is refused like an empty one. In a list each name stands once. What is too long before it is
folded stays as it is, and so is refused, as the OpenAPI document says.
"""

from collections.abc import Sized
from functools import cache
from typing import Any, Final

from msgspec import inspect

from shared.names import folded

NAME: Final = {"is_name": True}


def with_folded_names(values: Any, shape: Any) -> Any:
    """The values of a request, not converted yet, with every name folded that `shape` marks."""
    return _folded(values, _info(shape)) if has_names(shape) else values


@cache
def has_names(shape: Any) -> bool:
    """Whether the shape marks a name."""
    return _has_names(_info(shape))


@cache
def _info(shape: Any) -> inspect.Type:
    return inspect.type_info(shape)


def _folded(value: Any, info: inspect.Type) -> Any:
    if isinstance(info, inspect.Metadata):
        if not _is_name(info):
            return _folded(value, info.type)
        return folded(value) if isinstance(value, str) and _fits(value, info.type) else value
    if isinstance(info, inspect.UnionType):
        for part in info.types:
            value = _folded(value, part)
    if isinstance(info, inspect.StructType) and isinstance(value, dict):
        types = {field.encode_name: field.type for field in info.fields}
        return {name: _folded(one, types[name]) if name in types else one for name, one in value.items()}
    if isinstance(info, inspect.ListType) and isinstance(value, list):
        each = [_folded(one, info.item_type) for one in value]
        is_of_names = isinstance(info.item_type, inspect.Metadata) and _is_name(info.item_type)
        is_list = is_of_names and _fits(value, info) and all(isinstance(one, str) for one in each)
        return list(dict.fromkeys(each)) if is_list else each
    return value


def _fits(value: Sized, info: Any) -> bool:
    return info.max_length is None or len(value) <= info.max_length


def _has_names(info: inspect.Type) -> bool:
    if isinstance(info, inspect.Metadata):
        return _is_name(info) or _has_names(info.type)
    if isinstance(info, inspect.UnionType):
        return any(map(_has_names, info.types))
    if isinstance(info, inspect.StructType):
        return any(_has_names(field.type) for field in info.fields)
    return isinstance(info, inspect.ListType) and _has_names(info.item_type)


def _is_name(info: inspect.Metadata) -> bool:
    return (info.extra or {}).get("is_name") is True
