"""How available displays were while their shops were open: a day in half hours, and a period day by day."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from shared.availability.segments_rules import Segment, worse
from shared.quiet.rules import StoredQuietTime
from shared.vocabulary import ClientStatus, QuietScope

DAY: Final = timedelta(hours=24)
SLOT: Final = timedelta(minutes=30)
KNOWN_ENOUGH: Final = 0.95  # share of the open time; of less, a figure says for how long it is known
UP: Final = frozenset({ClientStatus.RUNNING, ClientStatus.LATE})


class Spent(Struct, frozen=True):
    """How a time was spent. Its four parts add up to the time in which the display existed."""

    up: timedelta = timedelta()
    """Open, and the player ran."""
    down: timedelta = timedelta()
    """Open, and the player did not run."""
    unknown: timedelta = timedelta()
    """Open, and nobody knows."""
    closed: timedelta = timedelta()
    """The screen was meant to be off: it counts neither for nor against."""

    def __add__(self, other: "Spent") -> "Spent":
        """Both together."""
        return Spent(
            self.up + other.up, self.down + other.down, self.unknown + other.unknown, self.closed + other.closed
        )

    def known_for(self, period: timedelta, displays: int = 1) -> timedelta | None:
        """For how long each of so many displays is known, on average. None: for the open time of the period."""
        known = self.up + self.down
        return known / displays if known < KNOWN_ENOUGH * (period * displays - self.closed) else None


class LocalDay(Struct, frozen=True):
    """A day of a period, from midnight to midnight at the local time of a zone."""

    date: date
    begins: datetime
    ends: datetime


def open_parts(strip: Iterable[Segment], closed: Sequence[tuple[datetime, datetime]]) -> Iterator[Segment]:
    """The strip without the closed times. Both are in order, and each without overlaps."""
    for segment in strip:
        begins = segment.begins
        first = max(0, bisect_right(closed, begins, key=lambda one: one[0]) - 1)
        for shut, opens in closed[first:]:
            if shut >= segment.ends:
                break
            if begins < shut:
                yield Segment(begins, shut, segment.status)
            begins = max(begins, opens)
        if begins < segment.ends:
            yield Segment(begins, segment.ends, segment.status)


def slots(
    strip: Sequence[Segment], closed: Sequence[tuple[datetime, datetime]], begins: datetime, ends: datetime
) -> list[ClientStatus | None]:
    """The worst state while open of each half hour from `begins` to `ends`.

    None: the shop was closed for the whole half hour, or the display did not exist.
    """
    found: list[ClientStatus | None] = [None] * ((ends - begins) // SLOT)
    for part in open_parts(strip, closed):
        first = max(0, (part.begins - begins) // SLOT)
        last = (part.ends - begins - timedelta.resolution) // SLOT
        for number in range(first, min(last, len(found) - 1) + 1):
            found[number] = worse(found[number], part.status)
    return found


def days_of(first: date, last: date, zone: ZoneInfo) -> list[LocalDay]:
    """The days from the first until the last, both included."""
    dates = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    midnights = [_midnight(one, zone) for one in (*dates, last + timedelta(days=1))]
    return [LocalDay(one, *midnights[number : number + 2]) for number, one in enumerate(dates)]


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def zone_of(times: Iterable[StoredQuietTime], site: str | None) -> str | None:
    """The time zone of a site: that of its opening hours, else of the fleet's. None without any that still hold."""
    hours = [one for one in times if one.is_outside and one.ended_at is None and one.time_zone is not None]
    own = [one.time_zone for one in hours if one.scope is QuietScope.SITE and one.site == site]
    of_all = [one.time_zone for one in hours if one.scope is QuietScope.FLEET]
    return next(iter([*own, *of_all]), None)


def by_day(
    strip: Sequence[Segment], closed: Sequence[tuple[datetime, datetime]], days: Sequence[LocalDay]
) -> list[Spent]:
    """How each day was spent."""
    lived = _sums(strip, days)
    whole = _sums(open_parts(strip, closed), days)
    return [
        Spent(up, down, unknown, sum(lasted, timedelta()) - up - down - unknown)
        for (up, down, unknown), lasted in zip(whole, lived, strict=True)
    ]


def _sums(parts: Iterable[Segment], days: Sequence[LocalDay]) -> list[list[timedelta]]:
    """For each day the times up, down and unknown."""
    sums = [[timedelta()] * 3 for _ in days]
    for part in parts:
        kind = 0 if part.status in UP else 2 if part.status is ClientStatus.UNKNOWN else 1
        first = max(0, bisect_right(days, part.begins, key=lambda day: day.begins) - 1)
        for number in range(first, len(days)):
            day = days[number]
            if day.begins >= part.ends:
                break
            sums[number][kind] += max(min(day.ends, part.ends) - max(day.begins, part.begins), timedelta())
    return sums
