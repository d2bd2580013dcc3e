"""Values as types, by msgspec, in any thread.

msgspec looks at a type when it first meets it. A second thread that meets the same type meanwhile reads what is half
written, and the process dies (msgspec 0.22.0). So the first look is one thread's at a time.
"""

from threading import Lock
from typing import Any, Final, TypeVar

import msgspec

from shared.words.sentences import from_row

T = TypeVar("T")
_LOOKING: Final = Lock()
_known: Final[set[Any]] = set()


def convert(value: Any, shape: type[T], *, strict: bool = True, from_attributes: bool = False) -> T:
    """`msgspec.convert`. Raises msgspec.ValidationError for a value that does not fit."""
    _know(shape)
    return msgspec.convert(value, shape, strict=strict, from_attributes=from_attributes, dec_hook=from_row)


def decode(text: bytes | str, shape: type[T], *, strict: bool = True) -> T:
    """`msgspec.json.decode` with a type. Raises msgspec.DecodeError."""
    _know(shape)
    return msgspec.json.decode(text, type=shape, strict=strict, dec_hook=from_row)


def _know(shape: Any) -> None:
    if shape not in _known:
        with _LOOKING:
            msgspec.json.Decoder(shape)
            _known.add(shape)
