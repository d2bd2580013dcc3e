"""What a row of the checklist can say, and what the check did to provoke it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from deploy.displays.conformance.record import Record


class Outcome(StrEnum):
    """`not seen`: the client was given no occasion, or took none."""

    PASS = "pass"  # noqa: S105 - a word, no password
    FAIL = "FAIL"
    NOT_SEEN = "not seen"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How it went, with what was seen in words."""

    outcome: Outcome
    detail: str = ""


@dataclass(slots=True)
class Tried:
    """What the check gave the client and when; None or empty: it did not."""

    uuid: str = ""
    prefix: str = ""
    answer_seconds: float = 10.0  # that a client has for an answer
    unknown_id: str = ""  # of a command with an action that nobody knows
    unknown_at: float | None = None
    repeated_at: float | None = None  # the same again
    retained_id: str = ""
    retained_at: float | None = None
    garbage_at: float | None = None
    after_garbage_at: float | None = None  # the unknown one once more
    precondition_id: str = ""
    precondition_at: float | None = None
    version_id: str = ""
    version_at: float | None = None
    late_id: str = ""  # a command that lives one second
    late_at: float | None = None
    restart_id: str = ""
    restart_replayed_at: float | None = None
    restart_settled_at: float | None = None
    reboot_id: str = ""
    reboot_settled_at: float | None = None
    cut_at: float | None = None
    refused: int = 0  # attempts to connect that were refused after the cut
    level: str = ""  # the log level that was ordered
    level_at: float | None = None
    level_seen_from: float | None = None  # a report after this and before `level_short_at` must say it
    level_short_at: float | None = None  # when it was ordered for a second only
    level_over_from: float | None = None  # a report after this must not say it
    retained_level: str = ""
    why_not: dict[str, str] = field(default_factory=dict)  # row -> why it was not tried


Judge = Callable[[Record, Tried], Verdict]


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: what is asked in plain words, the words of docs/protocol.md that ask it, and who judges."""

    name: str
    question: str
    sentence: str
    judge: Judge


def judged(broken: Iterable[str], seen: object, what: str, not_seen: str = "") -> Verdict:
    """A failure with its first reason; else a pass where something was seen."""
    reason = next(iter(broken), None)
    if reason is not None:
        return Verdict(Outcome.FAIL, reason)
    return Verdict(Outcome.PASS, what) if seen else Verdict(Outcome.NOT_SEEN, not_seen)
