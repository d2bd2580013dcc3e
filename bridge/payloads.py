"""Bytes that a display sent -> a message, or a refusal by name. Nothing here raises anything but `Refused`.

A field that is not what the contract says becomes null and is counted; a document that is none, or lacks
what gives it meaning, is refused as a whole. Every text is scrubbed before it leaves this module.
"""

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, NoReturn, TypeVar

import msgspec

from shared.postgres.door import scrub
from shared.vocabulary import DeadLetterReason

DEPTH_MAX: Final = 32
INTEGER_MIN: Final = -(2**63)
INTEGER_MAX: Final = 2**64 - 1  # what fits 64 bits, signed or not
LONG: Final = 2**63 - 1  # what a bigint column takes
VERSION: Final = 1
FIRST_MOMENT: Final = 0.0  # 1970
LAST_MOMENT: Final = 4_102_444_800.0  # 2100
MILLISECONDS_FROM: Final = 100_000_000_000  # as seconds that would be the year 5138
STAMP_ID_CHARS: Final = 128

_decode = msgspec.json.Decoder().decode
Word = TypeVar("Word")


class Refused(Exception):
    """The document is not taken."""

    def __init__(self, reason: DeadLetterReason, detail: str | None = None) -> None:
        """`detail` says in words which part was not right."""
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class Fields:
    """The fields of one document, each read as what it should be; `bad` counts those that were not."""

    __slots__ = ("bad", "values")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.bad = 0

    def text(self, name: str, max_chars: int) -> str | None:
        """A text of 1 to `max_chars` characters."""
        value = self.values.get(name)
        if value is None or (type(value) is str and 0 < len(value) <= max_chars):
            return value
        self.bad += 1
        return None

    def word(self, name: str, words: Mapping[str, Word]) -> Word | None:
        """One of `words`."""
        value = self.values.get(name)
        if value is None:
            return None
        if type(value) is str and value in words:
            return words[value]
        self.bad += 1
        return None

    def whole(self, name: str, low: int, high: int) -> int | None:
        """A whole number; true and false are none."""
        value = self.values.get(name)
        if value is None or (type(value) is int and low <= value <= high):
            return value
        self.bad += 1
        return None

    def number(self, name: str, low: float, high: float) -> float | None:
        """A number; true and false are none."""
        value = self.values.get(name)
        if value is None:
            return None
        if type(value) in {int, float} and low <= value <= high:
            return float(value)
        self.bad += 1
        return None

    def moment(self, name: str) -> float | None:
        """A time as ISO 8601, epoch seconds or milliseconds, in seconds since 1970."""
        value = self.values.get(name)
        if value is None:
            return None
        seconds = seconds_of(value)
        if seconds is None:
            self.bad += 1
        return seconds

    def inner(self, name: str) -> "Fields | None":
        """An object inside; its bad fields count only where `also` takes them over."""
        value = self.values.get(name)
        if value is None:
            return None
        if type(value) is dict:
            return Fields(value)
        self.bad += 1
        return None

    def items(self, name: str) -> list[Any] | None:
        """A list."""
        value = self.values.get(name)
        if value is None or type(value) is list:
            return value
        self.bad += 1
        return None

    def stamp(self) -> tuple[str, int, int] | tuple[None, None, None]:
        """install_id, boot_seq and seq: all of them, or none when one is missing or bad."""
        install_id = self.text("install_id", STAMP_ID_CHARS)
        boot_seq = self.whole("boot_seq", 0, LONG)
        seq = self.whole("seq", 1, LONG)
        if install_id is None or boot_seq is None or seq is None:
            return None, None, None
        return install_id, boot_seq, seq

    def also(self, other: "Fields") -> None:
        """Count the bad fields of an inner object too."""
        self.bad += other.bad


def document(payload: bytes) -> Fields:
    """The JSON object that this payload is, version 1.

    Raises:
        Refused: it is none, or goes beyond the parser's limits.
    """
    try:
        values = _decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        values = _decode_slowly(payload)
    if type(values) is not dict:
        raise Refused(DeadLetterReason.NOT_AN_OBJECT)
    _check(values, 1)
    if b"\\u" in payload:  # the only way in for NUL and lone surrogates
        values = _scrubbed(values)
    _check_version(values.get("v"))
    return Fields(values)


def _check_version(version: Any) -> None:
    if version is None:
        return
    if type(version) not in {int, float} or version < VERSION:
        raise Refused(DeadLetterReason.BAD_FIELD, "v is no version")
    if version > VERSION:
        raise Refused(DeadLetterReason.UNSUPPORTED_VERSION, f"v is {version}")


def _check(value: Any, depth: int) -> None:
    """Refuse what is nested too deep and whole numbers beyond 64 bits."""
    if depth > DEPTH_MAX:
        raise Refused(DeadLetterReason.TOO_DEEP)
    for inner in value.values() if type(value) is dict else value:
        kind = type(inner)
        if kind is dict or kind is list:
            _check(inner, depth + 1)
        elif kind is int and not INTEGER_MIN <= inner <= INTEGER_MAX:
            raise Refused(DeadLetterReason.BAD_NUMBER)


def _decode_slowly(payload: bytes) -> Any:
    """What the fast decoder refused: find out why, or take what is legal JSON after all (lone surrogates)."""
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(DeadLetterReason.NOT_UTF8, f"byte {error.start}") from None
    try:
        return json.loads(text, parse_constant=_bad_number, parse_float=_finite, parse_int=_short)
    except RecursionError:
        raise Refused(DeadLetterReason.TOO_DEEP) from None
    except ValueError as error:
        raise Refused(DeadLetterReason.NOT_JSON, str(error)[:200]) from None


def _bad_number(_word: str) -> NoReturn:
    raise Refused(DeadLetterReason.BAD_NUMBER)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _bad_number(digits)


def _short(digits: str) -> int:
    return int(digits) if len(digits) <= 21 else _bad_number(digits)


def _scrubbed(value: Any) -> Any:
    if type(value) is str:
        return scrub(value)
    if type(value) is dict:
        return {scrub(key): _scrubbed(inner) for key, inner in value.items()}
    return [_scrubbed(inner) for inner in value] if type(value) is list else value


def seconds_of(value: Any) -> float | None:
    """Seconds since 1970 of a time that a display told, or None when it is none between 1970 and 2100."""
    if type(value) is str and len(value) <= 40:
        seconds = _seconds_of_iso(value)
    elif type(value) in {int, float}:
        seconds = value / 1000 if value >= MILLISECONDS_FROM else float(value)
    else:
        return None
    return seconds if seconds is not None and FIRST_MOMENT <= seconds < LAST_MOMENT else None


_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*", re.ASCII)


def _seconds_of_iso(text: str) -> float | None:
    """As `seconds_of`; a time without a zone is taken for UTC."""
    try:
        moment = datetime.fromisoformat(text) if _ISO.fullmatch(text) else None
    except ValueError:
        return None
    if moment is None:
        return None
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError):  # the first or last day of the calendar, moved by its zone
        return None


def bare_text_or_document(payload: bytes) -> "str | Fields":
    """A payload that may be an object or, without JSON, a text.

    Raises:
        Refused: neither; JSON that is no object and no string is refused too.
    """
    try:
        text = payload.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise Refused(DeadLetterReason.NOT_UTF8, f"byte {error.start}") from None
    if text.startswith(("{", "[")):
        return document(payload)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    if type(value) is not str:
        raise Refused(DeadLetterReason.NOT_AN_OBJECT)
    return scrub(value)
