"""Rules of conversions: moves, which faults get another try, and timeouts."""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct

from shared.errors import Encrypted, NoSlides, NotAPresentation, NotConvertible, ServiceError, TooLargeUnpacked
from shared.vocabulary import CONVERTIBLE_KINDS, ConversionStatus

PENDING, PROCESSING = ConversionStatus.PENDING, ConversionStatus.PROCESSING
READY, FAILED = ConversionStatus.READY, ConversionStatus.FAILED


class ConversionMove(StrEnum):
    """The moves of a conversion."""

    CLAIM = "claim"  # a worker takes it; from processing only after the end of the last lease
    FINISH = "finish"  # its PDF is on the volume
    FAIL = "fail"  # no further try by itself
    RELEASE = "release"  # a worker gives it back for another try
    REQUEST = "request"  # a person asks again after it failed
    REBUILD = "rebuild"  # a person wants a new PDF, or the file is missing


MOVES: Final[Mapping[ConversionMove, tuple[frozenset[ConversionStatus], ConversionStatus]]] = {
    ConversionMove.CLAIM: (frozenset({PENDING, PROCESSING}), PROCESSING),
    ConversionMove.FINISH: (frozenset({PROCESSING}), READY),
    ConversionMove.FAIL: (frozenset({PROCESSING}), FAILED),
    ConversionMove.RELEASE: (frozenset({PROCESSING}), PENDING),
    ConversionMove.REQUEST: (frozenset({FAILED}), PENDING),
    ConversionMove.REBUILD: (frozenset({READY, FAILED}), PENDING),
}
"""Move -> (states that it starts in, state that it ends in). There are no other moves."""


class Fault(StrEnum):
    """The faults of a conversion: `error_code` of its row."""

    # Found before the request to the converter; another try cannot help.
    SOURCE_MISSING = "source_missing"
    SOURCE_CHANGED = "source_changed"  # its bytes differ from the uploaded ones
    NOT_A_PRESENTATION = "not_a_presentation"
    ENCRYPTED = "encrypted"
    TOO_LARGE_UNPACKED = "too_large_unpacked"
    NO_SLIDES = "no_slides"
    # Answers of the converter.
    CONVERTER_REFUSED = "converter_refused"  # 400, 413, 415: it will never take this file
    CONVERTER_FAILED = "converter_failed"  # 500, or any unexpected answer
    TOOK_TOO_LONG = "took_too_long"  # 504, or a 503 about the document's time
    CONVERTER_BUSY = "converter_busy"  # 502 and every other 503, also from a proxy
    CONVERTER_CUT = "converter_cut"  # the connection broke or fell silent after it had the whole file
    INVALID_PDF = "invalid_pdf"  # 200, but no PDF with pages
    # The converter did not read the file.
    CONVERTER_UNREACHABLE = "converter_unreachable"  # no connection, or our converter cannot work now
    QUEUE_FULL = "queue_full"  # 429: the converter has too much to do
    VOLUME_UNAVAILABLE = "volume_unavailable"
    # The worker was killed in the middle too often.
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
"""Fault -> text for people, never the text of another program. `message` fills in the limit."""

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
"""Faults that do not count as a try, because the converter did not read the file: an outage must fail nothing."""
MAX_ATTEMPTS: Final = 3
TRIES: Final = {Fault.INVALID_PDF: 2, Fault.TOOK_TOO_LONG: 2}
"""Fewer tries for faults that another try rarely fixes."""
OUTAGE: Final = timedelta(hours=1)
"""For so long after its request a conversion waits for an unavailable converter without losing a try.

The limit is for a deck that ends the converter's whole machine, which looks the same from outside.
"""
_TIME_IS_UP: Final = (
    "Service Unavailable: the document was not finished in time",
    "The request exceeded the time limit",
)
"""Answers of our converter and of Gotenberg 8.36 when the document took too long."""
_BUSY_TO_THE_END: Final = f"{_TIME_IS_UP[0]}, busy to the end"
_OURS: Final = "Service Unavailable: "
"""Start of our converter's answers for every other reason: it has not read the document."""
_REFUSALS: Final[Mapping[type[ServiceError], Fault]] = {
    NotAPresentation: Fault.NOT_A_PRESENTATION,
    Encrypted: Fault.ENCRYPTED,
    TooLargeUnpacked: Fault.TOO_LARGE_UNPACKED,
    NoSlides: Fault.NO_SLIDES,
}


class FaultVerdict(Struct, frozen=True):
    """The consequence of a fault."""

    move: ConversionMove
    """FAIL or RELEASE."""
    counts: bool
    """Whether the try counts."""


def judge(fault: Fault, attempts: int, age: timedelta = OUTAGE, *, is_last: bool = False) -> FaultVerdict:
    """The consequence of `fault` in try number `attempts` (from 1), `age` after the request.

    `is_last`: another try is not worth it.
    """
    if fault in UNTOUCHED or (fault is Fault.CONVERTER_BUSY and age < OUTAGE):
        return FaultVerdict(ConversionMove.RELEASE, counts=False)
    allowed = TRIES.get(fault, MAX_ATTEMPTS)
    is_over = is_last or fault in PERMANENT or attempts >= allowed
    return FaultVerdict(ConversionMove.FAIL if is_over else ConversionMove.RELEASE, counts=True)


def message(fault: Fault, deadline: timedelta) -> str:
    """The fault as a text for people; `deadline` is D."""
    return MESSAGES[fault].format(seconds=int(deadline.total_seconds()))


def fault_of_answer(status: int, said: str = "") -> Fault:
    """The fault of an answer of the converter other than 200."""
    if status in {400, 413, 415}:
        return Fault.CONVERTER_REFUSED
    if status == 429:
        return Fault.QUEUE_FULL
    if status == 504 or (status == 503 and said.startswith(_TIME_IS_UP)):
        return Fault.TOOK_TOO_LONG
    if status == 503 and said.startswith(_OURS):
        return Fault.CONVERTER_UNREACHABLE
    return Fault.CONVERTER_BUSY if status in {502, 503} else Fault.CONVERTER_FAILED


def is_last_try(said: str) -> bool:
    """Whether another try would end the same: our converter says that the document kept it busy until its deadline."""
    return said.startswith(_BUSY_TO_THE_END)


def fault_of_refusal(error: ServiceError) -> Fault:
    """The fault of a file that the inspection refused."""
    return next((fault for kind, fault in _REFUSALS.items() if isinstance(error, kind)), Fault.NOT_A_PRESENTATION)


def check_convertible(kind: str) -> None:
    """Raises NotConvertible unless `kind` is a presentation."""
    if kind not in CONVERTIBLE_KINDS:
        raise NotConvertible


class Timeouts(Struct, frozen=True):
    """The timeouts, derived from D: each caller waits longer than its callee may take."""

    converter: timedelta
    """D: the converter's time for one document."""
    connect: timedelta
    request: timedelta
    """The worker's request to the converter."""
    function: timedelta
    """The worker's whole job."""
    dispatch: timedelta
    """The queue's wait for the worker."""
    lease: timedelta
    """After this time another worker may claim the conversion."""


def timeouts(deadline: timedelta) -> Timeouts:
    """The timeouts for D = `deadline`."""

    def above(seconds: int) -> timedelta:
        return deadline + timedelta(seconds=seconds)

    return Timeouts(deadline, timedelta(seconds=5), above(15), above(60), above(80), above(120))
