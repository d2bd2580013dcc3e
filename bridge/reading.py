"""Bytes that a display sent become the document that the contract names, or are refused by name.

A payload that is as its Struct says is decoded in one step. Of every other one the parts that are not as the Struct
says are dropped and counted. A document that is none, or lacks what gives it meaning, is refused whole.
No text leaves this module with a NUL or a lone surrogate. Nothing here raises anything but `Unreadable`.
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
INTEGER_MAX: Final = 2**64 - 1  # what fits 64 bits, signed or not
INTEGER_DIGITS: Final = 21  # with its sign; more do not fit 64 bits
PARTS_DROPPED: Final = 16  # one by one; then each try drops a whole field
TRIES: Final = 64  # more than PARTS_DROPPED and the fields of any document
NUL: Final = b"\\u0000"  # as JSON escapes it; a bare one is no JSON

NOT_AS_ITS_STRUCT: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a decoder raises of a payload that is not as its Struct says."""
_any_json: Final = msgspec.json.Decoder()
_path_in: Final = re.compile(r" - at `\$([\w.\[\]]+)`$", re.ASCII).search
_steps_of: Final = re.compile(r"\.(\w+)|\[(\d+)\]", re.ASCII).findall

D = TypeVar("D", bound=Document)
Part = tuple[str | int, ...]
"""Where a part of a document is: names of fields and places in lists, from outside in."""


class Unreadable(Exception):
    """The document is not taken."""

    def __init__(self, reason: DeadLetterReason, detail: str | None = None) -> None:
        """`detail` says in words which part was not right."""
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class DocumentReader(Generic[D]):
    """Reads payloads as one Struct of the contract."""

    def __init__(self, document: type[D]) -> None:
        """`document` is the Struct."""
        self._document = document
        self._decoder = msgspec.json.Decoder(document)

    def read(self, payload: bytes) -> tuple[D, int]:
        """The document, and how many of its parts were bad. Raises Unreadable."""
        document = self.as_it_should_be(payload)
        return self.mended(json_object(payload)) if document is None else (document, 0)

    def as_it_should_be(self, payload: bytes) -> D | None:
        """The document; None where a part of it is not as the Struct says, or holds what must be scrubbed."""
        if NUL in payload:
            return None
        try:
            return self._decoder.decode(payload)
        except NOT_AS_ITS_STRUCT:
            return None

    def mended(self, values: dict[str, Any]) -> tuple[D, int]:
        """As `read`, of a decoded object: the parts that msgspec names are dropped until it names none.

        A bad part costs no more than itself. Where the document cannot be without it, what holds it is dropped.
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
    """The part that the error's path names; the empty one is the whole document."""
    path = _path_in(str(error))
    return tuple(name or int(place) for name, place in _steps_of(path[1])) if path else ()


def _drop(known: dict[str, Any], part: Part) -> Part:
    """Take this part out of the document, and return it. A place in a list becomes null.

    Where null is in the list already, the list is taken out; an empty part cannot be.
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
    """The JSON object of version 1 that this payload is, scrubbed.

    Raises:
        Unreadable: it is none, or goes beyond the limits of depth and numbers.
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
    """Refuse what is nested too deep and whole numbers beyond 64 bits."""
    if depth > DEPTH_MAX:
        raise Unreadable(DeadLetterReason.TOO_DEEP)
    for inner in value.values() if type(value) is dict else value:
        kind = type(inner)
        if kind is dict or kind is list:
            check(inner, depth + 1)
        elif kind is int and not INTEGER_MIN <= inner <= INTEGER_MAX:
            raise Unreadable(DeadLetterReason.BAD_NUMBER)


def _decode_slowly(payload: bytes) -> Any:
    """Decode what msgspec refuses: find out why, or take what is legal JSON after all (lone surrogates)."""
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
"""What follows a number must be there: where a document was cut within a number, the rest is another number."""
STAMP_NAMES: Final = (b'"install_id"', b'"boot_seq"', b'"seq"')


def legible_stamp(payload: bytes) -> Stamp | None:
    """The stamp of a document that was refused: None where it is not whole, or could be meant in two ways.

    A numbered log message that can never be stored must be passed over: its display would send it for ever, and the
    mark would never come past it.
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
    """The stamp in bytes that are no JSON: only where each name is there once. Another one may be an inner object's."""
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
