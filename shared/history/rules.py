"""What happened to one client: how long it stood in each shown state, and each event in words for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from shared.vocabulary import ClientStatus, EventKind

WINDOWS: Final = (timedelta(hours=24), timedelta(days=7), timedelta(days=30))
LONGEST: Final = max(WINDOWS)
SEGMENTS_AT_MOST: Final = 1000  # of one strip; a display that flaps has more
SLOTS: Final = 480  # what such a strip is then made of
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

# --- how long in which state ---


@dataclass(frozen=True, slots=True)
class Change:
    """The shown state became another one."""

    at: datetime
    was: ClientStatus
    became: ClientStatus


@dataclass(frozen=True, slots=True)
class Segment:
    """A time without a change of the shown state."""

    begins: datetime
    ends: datetime
    status: ClientStatus


@dataclass(frozen=True, slots=True)
class UptimeShares:
    """How a client fared in the last `length`: shares of the known time, which add up to 1 unless it is none."""

    length: timedelta
    shares: Mapping[ClientStatus, float]
    known: timedelta
    unknown: timedelta


def segments(
    changes: Sequence[Change], start: datetime, now: datetime, present: ClientStatus, *, complete: bool = True
) -> list[Segment]:
    """The states from `start` to `now` without a gap, from the changes in order of time.

    `present` is the state now, which held all along where there is no change. `complete` is false when
    changes before the first of `changes` were left out: then the time before it is unknown.
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
    """Add a segment that has a length; one that goes on with the same state makes the last one longer."""
    if segment.begins >= segment.ends:
        return
    if found and found[-1].status is segment.status:
        segment = Segment(found.pop().begins, segment.ends, segment.status)
    found.append(segment)


def since(strip: Sequence[Segment], start: datetime) -> list[Segment]:
    """The part of the strip after `start`."""
    return [Segment(max(s.begins, start), s.ends, s.status) for s in strip if s.ends > start]


def window(strip: Sequence[Segment], now: datetime, length: timedelta) -> UptimeShares:
    """How the client fared in the last `length`; a client that is younger has only its own time."""
    spent = dict.fromkeys(ClientStatus, timedelta())
    for segment in since(strip, now - length):
        spent[segment.status] += segment.ends - segment.begins
    unknown = spent.pop(ClientStatus.UNKNOWN)
    known = sum(spent.values(), timedelta())
    shares = {status: time / known if known else 0.0 for status, time in spent.items()}
    return UptimeShares(length, shares, known, unknown)


def drawable(strip: Sequence[Segment]) -> list[Segment]:
    """The strip, or where it has too many segments one of equal slots, each with the worst state that it held."""
    if len(strip) <= SEGMENTS_AT_MOST:
        return list(strip)
    begins, ends = strip[0].begins, strip[-1].ends
    slot = (ends - begins) / SLOTS
    worst: list[ClientStatus | None] = [None] * SLOTS
    for segment in strip:
        first, last = (int((at - begins) / slot) for at in (segment.begins, segment.ends - timedelta.resolution))
        for number in range(first, min(last, SLOTS - 1) + 1):
            worst[number] = _worse(worst[number], segment.status)
    found: list[Segment] = []
    for number, status in enumerate(worst):
        until = ends if number == SLOTS - 1 else begins + (number + 1) * slot
        _append(found, Segment(begins + number * slot, until, status or ClientStatus.UNKNOWN))
    return found


def _worse(one: ClientStatus | None, other: ClientStatus) -> ClientStatus:
    return other if one is None else min(one, other, key=WORST_FIRST.index)


# --- events in words ---

REGISTERED_BY: Final = {
    "enrolment": "Created by an enrolment code.",
    "first_message": "Registered by its first message.",
}
ACTIONS: Final = {"restart_app": "Restart", "reboot_host": "Reboot", "shutdown_host": "Shutdown"}
DONE_TO_IT: Final = {  # action of the audit log: what people call it
    "client.write": "Facts changed",
    "client.delete": "Deleted",
    "client.log_level": "Log level changed for a time",
    "enrolment.create": "Enrolment code issued",
    "enrolment.use": "Enrolled: the display fetched its login",
    "enrolment.rotate": "Password replaced by the display's own",
    "enrolment.delete": "Login revoked",
    "recovery.hold": "Recovery put on hold",
    "recovery.resume": "Recovery resumed",
    "recovery.exclude": "Excluded from recovery",
    "recovery.include": "Recovered automatically again",
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
    """One event in words, at most 200 characters."""
    text = _TITLES[kind](details)
    return text if len(text) <= TITLE_CHARS else text[: TITLE_CHARS - 1] + "…"


def _registered(details: Mapping[str, Any]) -> str:
    return REGISTERED_BY.get(details["registered_by"], "Registered.")


def _state(details: Mapping[str, Any]) -> str:
    return f"{str(details['from']).capitalize()} → {details['to']}: {details['cause']}"


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
    EventKind.LOG: _log,
    EventKind.COMMAND: _command,
    EventKind.RECOVERY: _recovery,
    EventKind.AUDIT: _audit,
}
