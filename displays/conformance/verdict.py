"""The verdicts of rules, and the record of what the check tried."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from displays.conformance.record import Record


class Outcome(StrEnum):
    """The result of a rule. `not seen`: the situation did not occur."""

    PASS = "pass"  # noqa: S105 - a word, no password
    FAIL = "FAIL"
    NOT_SEEN = "not seen"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a rule, with a detail for people."""

    outcome: Outcome
    detail: str = ""


@dataclass(slots=True)
class Tried:
    """What the check sent to the client, and when. None or empty: not sent."""

    uuid: str = ""
    prefix: str = ""
    answer_seconds: float = 10.0  # a client's time for an answer
    unknown_id: str = ""  # id of a command with an unknown action
    unknown_at: float | None = None
    repeated_at: float | None = None  # the same command again
    retained_id: str = ""
    retained_at: float | None = None
    garbage_at: float | None = None
    after_garbage_at: float | None = None  # the unknown command once more
    precondition_id: str = ""
    precondition_at: float | None = None
    version_id: str = ""
    version_at: float | None = None
    late_id: str = ""  # a command that lives one second
    late_at: float | None = None
    restart_id: str = ""
    restart_replayed_at: float | None = None
    reboot_id: str = ""
    reboot_settled_at: float | None = None
    sends_pictures: bool = False  # it declares `screenshot`
    picture_id: str = ""  # id of the screenshot: the service's if it declares it, else one that it must refuse
    picture: bytes | None = None  # what the service stored for it
    switches_screen: set[str] = field(default_factory=set)  # the actions of its screen that it declares
    screen_ids: dict[str, str] = field(default_factory=dict)  # action -> id: as for `picture_id`
    screen_at: dict[str, float] = field(default_factory=dict)  # action -> when the service was asked for it
    hours_version: str = ""  # name of the opening hours that were given
    hours_at: float | None = None
    cut_at: float | None = None
    refused: int = 0  # refused connection attempts after the cut
    level: str = ""  # the log level that was ordered
    level_at: float | None = None
    level_seen_from: float | None = None  # health after this and before `level_short_at` must have the level
    level_short_at: float | None = None  # when the level was ordered for one second only
    level_over_from: float | None = None  # health after this must not have the level
    retained_level: str = ""
    why_not: dict[str, str] = field(default_factory=dict)  # rule -> why it was not tried


Judge = Callable[[Record, Tried], Verdict]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: what it requires, the sentence of docs/protocol.md, and the function that judges.

    `needs` says what a run must have for the rule to be tried: options, a declared capability, an occasion.
    """

    name: str
    requirement: str
    sentence: str
    judge: Judge
    needs: tuple[str, ...] = ()


def judged(broken: Iterable[str], seen: object, what: str, not_seen: str = "") -> Verdict:
    """FAIL with the first reason in `broken`; otherwise PASS if `seen`, else NOT_SEEN."""
    reason = next(iter(broken), None)
    if reason is not None:
        return Verdict(Outcome.FAIL, reason)
    return Verdict(Outcome.PASS, what) if seen else Verdict(Outcome.NOT_SEEN, not_seen)
