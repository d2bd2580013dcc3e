"""How long each shown state of a display lasted: segments without gaps, and what is drawn of them."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from msgspec import Struct

from shared.vocabulary import ClientStatus

WINDOWS: Final = (timedelta(hours=24), timedelta(days=7), timedelta(days=30))
LONGEST: Final = max(WINDOWS)
SEGMENTS_AT_MOST: Final = 1000  # of one strip; a display that flaps has more segments
SLOTS: Final = 480  # then the strip is made of so many equal slots
WORST_FIRST: Final = (
    ClientStatus.CRASHED,
    ClientStatus.STALE,
    ClientStatus.LATE,
    ClientStatus.UNKNOWN,
    ClientStatus.STOPPED,
    ClientStatus.STARTING,
    ClientStatus.RUNNING,
)


class Change(Struct, frozen=True):
    """A change of the shown state."""

    at: datetime
    was: ClientStatus
    became: ClientStatus


class Segment(Struct, frozen=True):
    """A time in one shown state."""

    begins: datetime
    ends: datetime
    status: ClientStatus


class UptimeShares(Struct, frozen=True):
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
