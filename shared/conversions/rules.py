"""When a conversion moves, which faults are worth another try, and how long everything may take."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from shared.errors import Encrypted, NoSlides, NotAPresentation, NotConvertible, ServiceError, TooLargeUnpacked
from shared.event_media.contents.rules import MOST_TARGETS, Contents
from shared.vocabulary import CONVERTIBLE_KINDS, ConversionStatus

PENDING, PROCESSING = ConversionStatus.PENDING, ConversionStatus.PROCESSING
READY, FAILED = ConversionStatus.READY, ConversionStatus.FAILED


class ConversionMove(StrEnum):
    """What can happen to a conversion."""

    CLAIM = "claim"  # a worker takes it; from processing only when the lease of the last one is over
    FINISH = "finish"  # its PDF is on the volume
    FAIL = "fail"  # it will not be tried again by itself
    RELEASE = "release"  # a worker gives it back for another try
    REQUEST = "request"  # somebody asks for it again after it failed
    REBUILD = "rebuild"  # somebody wants another PDF, or the one there was has vanished


MOVES: Final[Mapping[ConversionMove, tuple[frozenset[ConversionStatus], ConversionStatus]]] = {
    ConversionMove.CLAIM: (frozenset({PENDING, PROCESSING}), PROCESSING),
    ConversionMove.FINISH: (frozenset({PROCESSING}), READY),
    ConversionMove.FAIL: (frozenset({PROCESSING}), FAILED),
    ConversionMove.RELEASE: (frozenset({PROCESSING}), PENDING),
    ConversionMove.REQUEST: (frozenset({FAILED}), PENDING),
    ConversionMove.REBUILD: (frozenset({READY, FAILED}), PENDING),
}
"""What happens -> (the states that it starts in, the state that it ends in). There are no others."""


class Fault(StrEnum):
    """What can go wrong with a conversion; `error_code` of its row."""

    # Found before the converter is asked: the file will not get better.
    SOURCE_MISSING = "source_missing"
    SOURCE_CHANGED = "source_changed"  # its bytes are not the ones that were uploaded
    NOT_A_PRESENTATION = "not_a_presentation"
    ENCRYPTED = "encrypted"
    TOO_LARGE_UNPACKED = "too_large_unpacked"
    NO_SLIDES = "no_slides"
    # Said by the converter.
    CONVERTER_REFUSED = "converter_refused"  # 400, 413, 415: it will never take this file
    CONVERTER_FAILED = "converter_failed"  # 500, or any answer that it has no reason to give
    TOOK_TOO_LONG = "took_too_long"  # 504, or a 503 that speaks of the document's time
    CONVERTER_BUSY = "converter_busy"  # 502 and every other 503, of whatever stands before it too
    CONVERTER_CUT = "converter_cut"  # the connection broke or fell silent after it had the whole file
    INVALID_PDF = "invalid_pdf"  # 200, but no PDF with pages
    # Nobody looked at the file.
    CONVERTER_UNREACHABLE = "converter_unreachable"  # no connection, or our converter's word that it cannot work now
    QUEUE_FULL = "queue_full"  # 429: the converter has too much to do
    VOLUME_UNAVAILABLE = "volume_unavailable"
    # The worker itself was killed in the middle, again and again.
    ATTEMPTS_USED_UP = "attempts_used_up"


MESSAGES: Final[Mapping[Fault, str]] = {
    Fault.SOURCE_MISSING: "The uploaded file is no longer on the media volume.",
    Fault.SOURCE_CHANGED: "The file on the media volume is not the one that was uploaded.",
    Fault.NOT_A_PRESENTATION: "The file's content is not a presentation, or is damaged.",
    Fault.ENCRYPTED: "The presentation is protected by a password; save it without one and upload it again.",
    Fault.TOO_LARGE_UNPACKED: "The presentation is too large once unpacked.",
    Fault.NO_SLIDES: "The presentation has no slides that can be shown.",
    Fault.CONVERTER_REFUSED: "The converter cannot read this file; it may be damaged.",
    Fault.CONVERTER_FAILED: "The presentation could not be converted; it may be damaged.",
    Fault.TOOK_TOO_LONG: (
        "The presentation takes longer to convert than the {seconds} seconds that one may take "
        "(CONVERSION_DEADLINE_SECONDS)."
    ),
    Fault.CONVERTER_BUSY: "The converter is not available; the conversion waits and is given up when it stays so.",
    Fault.CONVERTER_CUT: "The connection to the converter broke before the PDF was complete.",
    Fault.INVALID_PDF: "The converter's result is not a usable PDF.",
    Fault.CONVERTER_UNREACHABLE: "The converter cannot be reached; the conversion waits for it.",
    Fault.QUEUE_FULL: "The converter has too much to do; the conversion waits for it.",
    Fault.VOLUME_UNAVAILABLE: "The media volume is full or not writable; the conversion waits for it.",
    Fault.ATTEMPTS_USED_UP: "The conversion was interrupted too often and was given up.",
}
"""For people; never with the words of another program. `message` fills in the limit."""

PERMANENT: Final = frozenset(
    {
        Fault.SOURCE_MISSING,
        Fault.SOURCE_CHANGED,
        Fault.NOT_A_PRESENTATION,
        Fault.ENCRYPTED,
        Fault.TOO_LARGE_UNPACKED,
        Fault.NO_SLIDES,
        Fault.CONVERTER_REFUSED,
        Fault.ATTEMPTS_USED_UP,
    }
)
UNTOUCHED: Final = frozenset({Fault.CONVERTER_UNREACHABLE, Fault.QUEUE_FULL, Fault.VOLUME_UNAVAILABLE})
"""Nobody looked at the file, so that the try does not count: an outage must not fail what waits."""
TRIES: Final = {Fault.INVALID_PDF: 2, Fault.TOOK_TOO_LONG: 2}
"""Tries of faults that another try seldom mends."""
OUTAGE: Final = timedelta(hours=1)
"""So long after it was asked for, a conversion waits for a converter that is not available, without losing a try.

Without an end a deck that ends the converter's whole machine, which looks the same from outside, would come for ever.
"""
_TIME_IS_UP: Final = (
    "Service Unavailable: the document was not finished in time",
    "The request exceeded the time limit",
)
"""How our converter and Gotenberg 8.36 say that the document itself took too long."""
_OURS: Final = "Service Unavailable: "
"""How our converter says every other reason for which it cannot work now: it has not looked at the document."""
MOST_LETTERS: Final = 40  # of those without a glyph, in a report
METRIC_COMPATIBLE: Final = {
    "calibri": "Carlito",
    "calibri light": "Carlito",
    "cambria": "Caladea",
    "arial": "Liberation Sans",
    "helvetica": "Liberation Sans",
    "arial narrow": "Liberation Sans Narrow",
    "times new roman": "Liberation Serif",
    "courier new": "Liberation Mono",
}
"""Families that free fonts stand in for, letter by letter as wide."""
STYLE_WORDS: Final = re.compile(
    r"(regular|roman|normal|book|bold|italic|oblique|medium|light|thin|black|heavy|extra|ultra|semi|demi|ps|mt|vf|std|\d)*"
)
_REFUSALS: Final[Mapping[type[ServiceError], Fault]] = {
    NotAPresentation: Fault.NOT_A_PRESENTATION,
    Encrypted: Fault.ENCRYPTED,
    TooLargeUnpacked: Fault.TOO_LARGE_UNPACKED,
    NoSlides: Fault.NO_SLIDES,
}


@dataclass(frozen=True)
class FaultVerdict:
    """What becomes of a conversion after a fault."""

    move: ConversionMove
    """FAIL or RELEASE."""
    counts: bool
    """Does the try count among the attempts?"""


def judge(fault: Fault, attempts: int, max_attempts: int, age: timedelta = OUTAGE) -> FaultVerdict:
    """What becomes of a conversion that met `fault` on its try number `attempts` (from 1), `age` after its request."""
    if fault in UNTOUCHED or (fault is Fault.CONVERTER_BUSY and age < OUTAGE):
        return FaultVerdict(ConversionMove.RELEASE, counts=False)
    allowed = min(max_attempts, TRIES.get(fault, max_attempts))
    is_over = fault in PERMANENT or attempts >= allowed
    return FaultVerdict(ConversionMove.FAIL if is_over else ConversionMove.RELEASE, counts=True)


def message(fault: Fault, deadline: timedelta) -> str:
    """The fault in words for people; `deadline` is D."""
    return MESSAGES[fault].format(seconds=int(deadline.total_seconds()))


def fault_of_answer(status: int, said: str = "") -> Fault:
    """What an answer of the converter other than 200 means."""
    if status in {400, 413, 415}:
        return Fault.CONVERTER_REFUSED
    if status == 429:
        return Fault.QUEUE_FULL
    if status == 504 or (status == 503 and said.startswith(_TIME_IS_UP)):
        return Fault.TOOK_TOO_LONG
    if status == 503 and said.startswith(_OURS):
        return Fault.CONVERTER_UNREACHABLE
    return Fault.CONVERTER_BUSY if status in {502, 503} else Fault.CONVERTER_FAILED


def fault_of_refusal(error: ServiceError) -> Fault:
    """The fault of a file that was refused when it was looked at."""
    return next((fault for kind, fault in _REFUSALS.items() if isinstance(error, kind)), Fault.NOT_A_PRESENTATION)


def check_convertible(kind: str) -> None:
    """Raises NotConvertible for every kind of medium but presentations."""
    if kind not in CONVERTIBLE_KINDS:
        raise NotConvertible


@dataclass(frozen=True)
class Timeouts:
    """The ladder of timeouts that follows from D: each caller waits longer than its callee may take."""

    converter: timedelta
    """D: one document at the converter."""
    connect: timedelta
    request: timedelta
    """The worker's request to the converter."""
    function: timedelta
    """The worker's whole job."""
    dispatch: timedelta
    """The queue's wait for the worker."""
    lease: timedelta
    """After it another worker may take the conversion."""


def timeouts(deadline: timedelta) -> Timeouts:
    """The ladder for D = `deadline`."""

    def above(seconds: int) -> timedelta:
        return deadline + timedelta(seconds=seconds)

    return Timeouts(deadline, timedelta(seconds=5), above(15), above(60), above(80), above(120))


@dataclass(frozen=True)
class Findings:
    """What was seen of a finished conversion; None where it could not be seen."""

    pages: int
    visible_slides: int | None
    hidden_slides: int | None
    embedded_fonts: tuple[str, ...] | None
    """Names of the fonts that the PDF carries, as it spells them."""
    contents: Contents | None
    """What the deck shows and names."""
    has_thumbnail: bool
    letters_missing: tuple[str, ...] = ()
    """Letters that the PDF shows as empty boxes."""


def report(found: Findings) -> dict[str, Any]:
    """What is worth knowing of a finished conversion; `warnings` makes the badge amber, none says that all is there."""
    fonts = _fonts(found.contents, found.embedded_fonts)
    return {
        "pages": found.pages,
        "visible_slides": found.visible_slides,
        "hidden_slides": found.hidden_slides,
        "fonts": fonts,
        "thumbnail": found.has_thumbnail,
        "warnings": [
            *_slides_warnings(found),
            *_letters_warnings(found.letters_missing),
            *_font_warnings(fonts),
            *_unknown_warnings(found, fonts),
            *_contents_warnings(found.contents),
        ],
    }


def _slides_warnings(found: Findings) -> Iterator[dict[str, Any]]:
    if found.visible_slides is not None and found.pages != found.visible_slides:
        yield {"code": "pages_differ", "slides": found.visible_slides, "pages": found.pages}
    if found.hidden_slides:
        yield {"code": "hidden_slides", "slides": found.hidden_slides}


def _letters_warnings(letters: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    if letters:
        yield {"code": "letters_missing", "count": len(letters), "letters": "".join(letters[:MOST_LETTERS])}


def _fonts(contents: Contents | None, embedded: tuple[str, ...] | None) -> dict[str, Any] | None:
    """The fonts that the deck's text names, those of them that the PDF lacks, and those that it has; None: unknown.

    Where a format lists fonts without saying which ones are used, it is known only that none is missing.
    """
    if contents is None or embedded is None:
        return None
    named = contents.fonts if contents.fonts is not None else contents.listed_fonts
    if named is None:
        return None
    missing = _missing(named, embedded)
    if missing and contents.fonts is None:
        return None
    return {"named": sorted(named), "substituted": missing, "embedded": sorted(embedded)}


def _missing(named: set[str], embedded: tuple[str, ...]) -> list[str]:
    """Families of which the PDF carries no font."""
    return sorted(family for family in named if not any(is_font_of(name, family) for name in embedded))


def _unknown_warnings(found: Findings, fonts: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    """The checks that could not be made: a report without them would say that all is there."""
    if found.contents is None:
        yield {"code": "contents_not_known"}
    elif fonts is None:
        embedded = found.embedded_fonts or ()
        missing = _missing(found.contents.listed_fonts or set(), embedded) if embedded else []
        yield {"code": "fonts_not_known", "fonts": missing, "same_widths": _twins(missing, embedded)}


def _font_warnings(fonts: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    if fonts and fonts["substituted"]:
        missing = fonts["substituted"]
        yield {"code": "fonts_substituted", "fonts": missing, "same_widths": _twins(missing, fonts["embedded"])}


def _twins(families: list[str], embedded: Iterable[str]) -> dict[str, str]:
    """Which were replaced by one whose letters have the same widths, so that no line breaks elsewhere?"""
    twins = {family: METRIC_COMPATIBLE.get(family.lower(), "") for family in families}
    return {family: twin for family, twin in twins.items() if any(is_font_of(name, twin) for name in embedded)}


def _contents_warnings(contents: Contents | None) -> Iterator[dict[str, Any]]:
    if contents is None:
        return
    lost = {"videos": contents.videos, "audios": contents.audios, "animated_slides": contents.animated_slides}
    if any(lost.values()):
        yield {"code": "motion_lost", **lost}
    if contents.transitions or contents.advancing_slides:
        yield {"code": "timing_lost", "transitions": contents.transitions, "advancing": contents.advancing_slides}
    if contents.linked_workbooks:
        yield _links("workbooks_not_asked", contents.linked_workbooks)
    if contents.linked_files:
        yield _links("links_not_followed", contents.linked_files)
    if contents.hyperlinks:
        yield _links("hyperlinks", contents.hyperlinks)


def _links(code: str, targets: list[str]) -> dict[str, Any]:
    return {"code": code, "count": len(targets), "targets": targets[:MOST_TARGETS]}


def is_font_of(name: str, family: str) -> bool:
    """Is the font that a PDF calls `name` (`OpenSans-BoldItalic`) of this family (`Open Sans`)?"""
    wanted, found = _letters(family), _letters(name)
    if not wanted or not found.startswith(wanted):
        return False
    return STYLE_WORDS.fullmatch(found[len(wanted) :]) is not None


def _letters(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
