"""One client's history: how long each shown state lasted, and a text for each event."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from shared.clients.screens_rules import WORDS as SCREENS
from shared.vocabulary import ClientStatus, EventKind, ScreenHealthStatus

WINDOWS: Final = (timedelta(hours=24), timedelta(days=7), timedelta(days=30))
LONGEST: Final = max(WINDOWS)
SEGMENTS_AT_MOST: Final = 1000  # of one strip; a display that flaps has more segments
SLOTS: Final = 480  # then the strip is made of so many equal slots
TITLE_CHARS: Final = 200
WORST_FIRST: Final = (
    ClientStatus.CRASHED,
    ClientStatus.STALE,
    ClientStatus.LATE,
    ClientStatus.UNKNOWN,
    ClientStatus.STOPPED,
    ClientStatus.STARTING,
    ClientStatus.RUNNING,
)

# --- duration of states ---


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the shown state."""

    at: datetime
    was: ClientStatus
    became: ClientStatus


@dataclass(frozen=True, slots=True)
class Segment:
    """A time in one shown state."""

    begins: datetime
    ends: datetime
    status: ClientStatus


@dataclass(frozen=True, slots=True)
class UptimeShares:
    """Shares of each state in the known time of the last `length`, within opening hours.

    Their sum is 1, or 0 without known time.
    """

    length: timedelta
    shares: Mapping[ClientStatus, float]
    known: timedelta
    unknown: timedelta
    closed: timedelta = timedelta()
    """Time in which the screen was meant to be off: it counts neither for nor against."""


def segments(
    changes: Sequence[Change], start: datetime, now: datetime, present: ClientStatus, *, complete: bool = True
) -> list[Segment]:
    """The states from `start` to `now` without a gap, from the changes in order of time.

    `present`: the state now; without changes it lasted for the whole time. `complete` False: older changes are missing,
    so the time before the first change is unknown.
    """
    before = changes[0].was if changes and complete else present
    if changes and not complete:
        before = ClientStatus.UNKNOWN
    steps = [(start, before), *((change.at, change.became) for change in changes), (now, present)]
    found: list[Segment] = []
    for (begins, status), (ends, _) in pairwise(steps):
        _append(found, Segment(max(start, begins), min(max(start, ends), now), status))
    return found


def _append(found: list[Segment], segment: Segment) -> None:
    """Append a segment that has a length, or extend the last one of the same state."""
    if segment.begins >= segment.ends:
        return
    if found and found[-1].status is segment.status:
        segment = Segment(found.pop().begins, segment.ends, segment.status)
    found.append(segment)


def since(strip: Sequence[Segment], start: datetime) -> list[Segment]:
    """The part of the strip after `start`."""
    return [Segment(max(s.begins, start), s.ends, s.status) for s in strip if s.ends > start]


def window(
    strip: Sequence[Segment], now: datetime, length: timedelta, closed: Sequence[tuple[datetime, datetime]] = ()
) -> UptimeShares:
    """Shares of each state in the last `length`, or since the client exists, without the `closed` times."""
    spent = dict.fromkeys(ClientStatus, timedelta())
    shut = timedelta()
    for segment in since(strip, now - length):
        without = _overlap(segment, closed)
        spent[segment.status] += segment.ends - segment.begins - without
        shut += without
    unknown = spent.pop(ClientStatus.UNKNOWN)
    known = sum(spent.values(), timedelta())
    shares = {status: time / known if known else 0.0 for status, time in spent.items()}
    return UptimeShares(length, shares, known, unknown, shut)


def _overlap(segment: Segment, closed: Sequence[tuple[datetime, datetime]]) -> timedelta:
    """How much of the segment is closed time. `closed` is in order, its times apart from each other."""
    first = max(0, bisect_right(closed, segment.begins, key=lambda one: one[0]) - 1)
    spent = timedelta()
    for begins, ends in closed[first:]:
        if begins >= segment.ends:
            break
        spent += max(min(ends, segment.ends) - max(begins, segment.begins), timedelta())
    return spent


def drawable(strip: Sequence[Segment]) -> list[Segment]:
    """The strip; if it has too many segments, equal slots with the worst state in each."""
    if len(strip) <= SEGMENTS_AT_MOST:
        return list(strip)
    begins, ends = strip[0].begins, strip[-1].ends
    slot = (ends - begins) / SLOTS
    worst: list[ClientStatus | None] = [None] * SLOTS
    for segment in strip:
        first, last = (int((at - begins) / slot) for at in (segment.begins, segment.ends - timedelta.resolution))
        for number in range(first, min(last, SLOTS - 1) + 1):
            worst[number] = worse(worst[number], segment.status)
    found: list[Segment] = []
    for number, status in enumerate(worst):
        until = ends if number == SLOTS - 1 else begins + (number + 1) * slot
        _append(found, Segment(begins + number * slot, until, status or ClientStatus.UNKNOWN))
    return found


def worse(one: ClientStatus | None, other: ClientStatus) -> ClientStatus:
    """The worse of two states; None is no state."""
    return other if one is None else min(one, other, key=WORST_FIRST.index)


# --- texts of events ---

REGISTERED_BY: Final = {
    "enrolment": "Created by an enrolment code.",
    "first_message": "Registered by its first message.",
}
ACTIONS: Final = {
    "restart_app": "Restart",
    "reboot_host": "Reboot",
    "shutdown_host": "Shutdown",
    "screenshot": "Screenshot",
    "screen_on": "Screen on",
    "screen_off": "Screen off",
}
DONE_TO_IT: Final = {  # action of the audit log -> text
    "client.write": "Facts changed",
    "client.delete": "Deleted",
    "client.log_level": "Log level changed for a time",
    "enrolment.create": "Enrolment code issued",
    "enrolment.use": "Enrolled: the display fetched its login",
    "enrolment.rotate": "Password replaced by the display's own",
    "enrolment.delete": "Login revoked",
    "screenshot.send": "Picture of its screen stored",
    "screenshot.look": "A picture of its screen looked at",
    "recovery.hold": "Recovery put on hold",
    "recovery.resume": "Recovery resumed",
    "recovery.exclude": "Excluded from recovery",
    "recovery.include": "Recovered automatically again",
    "quiet_time.create": "Quiet time made",
    "quiet_time.write": "Quiet time changed",
    "quiet_time.end": "Quiet time ended",
}
SCREENS_WITHOUT_FAULT: Final = {
    ScreenHealthStatus.OK: "The screen shows its content again",
    ScreenHealthStatus.OFF: "The screen is off, which is no failure now",
    ScreenHealthStatus.UNKNOWN: "Nobody sees the screen any more",
}
OUTCOMES: Final = {
    "succeeded": "succeeded",
    "failed": "failed",
    "rejected": "was refused by the display",
    "expired": "expired",
    "timed_out": "brought no result in time",
    "cancelled": "was cancelled",
}


def title(kind: EventKind, details: Mapping[str, Any]) -> str:
    """One event as a text of at most 200 characters."""
    text = _TITLES[kind](details)
    return text if len(text) <= TITLE_CHARS else text[: TITLE_CHARS - 1] + "…"


def _registered(details: Mapping[str, Any]) -> str:
    return REGISTERED_BY.get(details["registered_by"], "Registered.")


def _state(details: Mapping[str, Any]) -> str:
    return f"{str(details['from']).capitalize()} → {details['to']}: {details['cause']}"


def _screen(details: Mapping[str, Any]) -> str:
    word = details["screen"]
    if not details["fails"]:
        return SCREENS_WITHOUT_FAULT.get(word, "The screen fails no more")
    unplanned = ", and nobody planned that" if word == ScreenHealthStatus.OFF else ""
    return f"The screen {SCREENS.get(word, f'is {word}')}{unplanned}"


def _log(details: Mapping[str, Any]) -> str:
    return f"{str(details['level']).capitalize()}: {details['message']}"


def _command(details: Mapping[str, Any]) -> str:
    what = ACTIONS.get(details["action"], details["action"])
    match details["step"]:
        case "asked":
            return f"{what} asked for by {details['requested_by']}" + _because(details["reason"])
        case "received":
            return f"{what} received by the display"
        case "late":
            return f"{what}: the display said {details['late_state']} after it was over"
        case _:
            why = details["outcome_reason"] or (
                f"confirmed by {details['confirmed_by']}" if details["confirmed_by"] else ""
            )
            return f"{what} {OUTCOMES.get(details['state'], details['state'])}" + _because(why)


def _because(why: str) -> str:
    return f" ({why})" if why else ""


def _recovery(details: Mapping[str, Any]) -> str:
    done = "does nothing" if details["decision"] == "none" else f"asks for {details['decision']}"
    return f"Recovery {done}: {details['why']}"


def _audit(details: Mapping[str, Any]) -> str:
    what = DONE_TO_IT.get(details["action"], details["action"])
    return f"{what}, by {details['actor']}"


_TITLES: Final = {
    EventKind.REGISTERED: _registered,
    EventKind.STATE: _state,
    EventKind.SERVICE_FAILED: lambda details: f"Service {details['unit']} failed",
    EventKind.SERVICE_CLEARED: lambda details: f"Failure of {details['unit']} acknowledged by {details['by']}",
    EventKind.SCREEN: _screen,
    EventKind.LOG: _log,
    EventKind.COMMAND: _command,
    EventKind.RECOVERY: _recovery,
    EventKind.AUDIT: _audit,
}
