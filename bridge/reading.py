"""Decode the bytes of a display into a document of the contract, or refuse them with a reason.

A payload that fits its Struct is decoded in one step. Otherwise the parts that do not fit are dropped and counted. A
payload that is no document, or lacks a required field, is refused whole.
No text leaves this module with a NUL or a lone surrogate. This module raises nothing but `Unreadable`.
"""

import json
import math
import re
from typing import Any, Final, Generic, NoReturn, TypeVar

import msgspec

from bridge.contract import ID_CHARS, LONG, VERSION, Document, StampedDocument
from shared.clients.failures_rules import Stamp
from shared.postgres.door import scrub
from shared.vocabulary import DeadLetterReason

DEPTH_MAX: Final = 32
INTEGER_MIN: Final = -(2**63)
INTEGER_MAX: Final = 2**64 - 1  # 64 bits, signed or unsigned
INTEGER_DIGITS: Final = 21  # with the sign; a longer number does not fit 64 bits
PARTS_DROPPED: Final = 16  # so many parts are dropped one by one; then each try drops a whole field
TRIES: Final = 64  # more than PARTS_DROPPED and the fields of any document together
NUL: Final = b"\\u0000"  # NUL as JSON escapes it; unescaped it is not legal JSON

NOT_AS_ITS_STRUCT: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The errors of a decoder when a payload does not fit its Struct."""
_any_json: Final = msgspec.json.Decoder()
_path_in: Final = re.compile(r" - at `\$([\w.\[\]]+)`$", re.ASCII).search
_steps_of: Final = re.compile(r"\.(\w+)|\[(\d+)\]", re.ASCII).findall

D = TypeVar("D", bound=Document)
Part = tuple[str | int, ...]
"""The path of a part in a document: field names and list indexes, from outside in."""


class Unreadable(Exception):
    """The payload is refused."""

    def __init__(self, reason: DeadLetterReason, detail: str | None = None) -> None:
        """`detail` tells people which part was wrong."""
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class DocumentReader(Generic[D]):
    """Reads payloads as one Struct of the contract."""

    def __init__(self, document: type[D]) -> None:
        self._document = document
        self._decoder = msgspec.json.Decoder(document)

    def read(self, payload: bytes) -> tuple[D, int]:
        """The document, and how many of its parts were dropped. Raises Unreadable."""
        document = self.as_it_should_be(payload)
        return self.mended(json_object(payload)) if document is None else (document, 0)

    def as_it_should_be(self, payload: bytes) -> D | None:
        """The document; None when a part does not fit the Struct, or a text holds a NUL that must be scrubbed."""
        if NUL in payload:
            return None
        try:
            return self._decoder.decode(payload)
        except NOT_AS_ITS_STRUCT:
            return None

    def mended(self, values: dict[str, Any]) -> tuple[D, int]:
        """Convert a decoded object, like `read`: drop the parts that msgspec refuses until it refuses none.

        Only the bad part is dropped, or the part around it when that needs it. Raises Unreadable.
        """
        known = self._document.known(values)
        if known.get("v") is not None:
            known["v"] = VERSION  # 1.0 is version 1; `json_object` refuses every other one
        bad: set[Part] = set()
        for _ in range(TRIES):
            try:
                return msgspec.convert(known, self._document), len(bad)
            except msgspec.ValidationError as error:
                named = _part_named_in(error)
            part = _drop(known, named if len(bad) < PARTS_DROPPED else named[:1])
            if not part:
                break
            bad = {one for one in bad if one[: len(part)] != part} | {part}
        raise Unreadable(DeadLetterReason.BAD_FIELD, self._document.lacking)


def _part_named_in(error: msgspec.ValidationError) -> Part:
    """The part that the error's path names; an empty path is the whole document."""
    path = _path_in(str(error))
    return tuple(name or int(place) for name, place in _steps_of(path[1])) if path else ()


def _drop(known: dict[str, Any], part: Part) -> Part:
    """Take this part out of the document. Returns the path that was dropped; empty when nothing can be dropped.

    A list item becomes null. When it is null already, the whole list is taken out.
    """
    while part:
        holder: Any = known
        for step in part[:-1]:
            holder = holder[step]
        if type(holder) is dict:
            del holder[part[-1]]
            return part
        if holder[part[-1]] is not None:
            holder[part[-1]] = None
            return part
        part = part[:-1]
    return part


def json_object(payload: bytes) -> dict[str, Any]:
    """Decode a JSON object of version 1, scrubbed.

    Raises:
        Unreadable: the payload is no such object, is nested too deep or has a number beyond 64 bits.
    """
    try:
        values = _any_json.decode(payload)
    except NOT_AS_ITS_STRUCT:
        values = _decode_slowly(payload)
    if type(values) is not dict:
        raise Unreadable(DeadLetterReason.NOT_AN_OBJECT)
    check(values, 1)
    if b"\\u" in payload:  # the only way in for NUL and lone surrogates
        values = _scrubbed(values)
    document: dict[str, Any] = values
    _check_version(document.get("v"))
    return document


def _check_version(version: Any) -> None:
    if version is None:
        return
    if type(version) not in {int, float} or version < VERSION:
        raise Unreadable(DeadLetterReason.BAD_FIELD, "v is no version")
    if version > VERSION:
        raise Unreadable(DeadLetterReason.UNSUPPORTED_VERSION, f"v is {version}")


def check(value: Any, depth: int) -> None:
    """Check the nesting depth, and that whole numbers fit 64 bits. Raises Unreadable."""
    if depth > DEPTH_MAX:
        raise Unreadable(DeadLetterReason.TOO_DEEP)
    for inner in value.values() if type(value) is dict else value:
        kind = type(inner)
        if kind is dict or kind is list:
            check(inner, depth + 1)
        elif kind is int and not INTEGER_MIN <= inner <= INTEGER_MAX:
            raise Unreadable(DeadLetterReason.BAD_NUMBER)


def _decode_slowly(payload: bytes) -> Any:
    """Decode a payload that msgspec refuses: legal JSON with lone surrogates passes. Raises Unreadable."""
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(DeadLetterReason.NOT_UTF8, f"byte {error.start}") from None
    try:
        return json.loads(text, parse_constant=_bad_number, parse_float=_finite, parse_int=_short)
    except RecursionError:
        raise Unreadable(DeadLetterReason.TOO_DEEP) from None
    except ValueError as error:
        raise Unreadable(DeadLetterReason.NOT_JSON, str(error)[:200]) from None


def _bad_number(_word: str) -> NoReturn:
    raise Unreadable(DeadLetterReason.BAD_NUMBER)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _bad_number(digits)


def _short(digits: str) -> int:
    return int(digits) if len(digits) <= INTEGER_DIGITS else _bad_number(digits)


def _scrubbed(value: Any) -> Any:
    if type(value) is str:
        return scrub(value)
    if type(value) is dict:
        return {scrub(key): _scrubbed(inner) for key, inner in value.items()}
    return [_scrubbed(inner) for inner in value] if type(value) is list else value


STAMP: Final = DocumentReader(StampedDocument)
_text_of_stamp: Final = re.compile(rb'"install_id"\s*:\s*"([^"\\\x00-\x1f]+)"').search
_boot_of_stamp: Final = re.compile(rb'"boot_seq"\s*:\s*(\d{1,19})\s*[,}]').search
_seq_of_stamp: Final = re.compile(rb'"seq"\s*:\s*(\d{1,19})\s*[,}]').search
"""The character after a number must be there: in a document cut within a number, the digits are another number."""
STAMP_NAMES: Final = (b'"install_id"', b'"boot_seq"', b'"seq"')


def legible_stamp(payload: bytes) -> Stamp | None:
    """The stamp of a refused document; None when it is incomplete or ambiguous.

    The mark must pass over a numbered log message that can never be stored. Otherwise its display would send it for
    ever.
    """
    try:
        values = _any_json.decode(payload)
    except NOT_AS_ITS_STRUCT:
        return _stamp_in_ruins(payload)
    if type(values) is not dict:
        return None
    document, _ = STAMP.mended(values)
    install_id, boot_seq, seq = document.stamp()
    return None if install_id is None or boot_seq is None or seq is None else (scrub(install_id), boot_seq, seq)


def _stamp_in_ruins(payload: bytes) -> Stamp | None:
    """The stamp in bytes that are not JSON. Each name must occur once: a second one may belong to an inner object."""
    text, boot_seq, seq = _text_of_stamp(payload), _boot_of_stamp(payload), _seq_of_stamp(payload)
    if text is None or boot_seq is None or seq is None or any(payload.count(name) != 1 for name in STAMP_NAMES):
        return None
    try:
        install_id = text[1].decode()
    except UnicodeDecodeError:
        return None
    numbers = int(boot_seq[1]), int(seq[1])
    is_sound = len(install_id) <= ID_CHARS and numbers[0] <= LONG and 1 <= numbers[1] <= LONG
    return (install_id, *numbers) if is_sound else None
