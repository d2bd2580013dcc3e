"""Weekly hours: on which days, from when to when, at the local time of a time zone.

Hours begin and end at the same local times each week, so they may last an hour more or less when the clocks change. If
a local time comes twice, or not at all, the hours are read widely: from its earlier and to its later reading.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from shared.clients import zones_rules
from shared.errors import QuietTimesRefused
from shared.vocabulary import Weekday

DAY: Final = timedelta(days=1)
AROUND: Final = 9  # days before and after now in which the present and the next hours begin and end
LONGEST_NIGHTS: Final = 7
DAYS: Final = tuple(Weekday)  # in the order of `date.weekday`: Monday is 0
CLOCK: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?", re.ASCII)
MIDNIGHT: Final = "24:00"


class Span(Struct, frozen=True):
    """Hours on some days. `begins` and `ends` are local times, HH:MM or HH:MM:SS; `ends` may be 24:00.

    `nights`: how many midnights lie between them, without that of 24:00 itself.
    """

    days: tuple[Weekday, ...]
    begins: str
    ends: str
    nights: int

    @property
    def start(self) -> timedelta:
        """When it begins, after the midnight of its day."""
        return clock(self.begins)

    @property
    def length(self) -> timedelta:
        """How long it lasts by the clock on the wall."""
        return clock(self.ends) + self.nights * DAY - self.start


class TimeSpan(Struct, frozen=True):
    """A time between two moments: [start, end). Without an end it lasts until a person ends it."""

    starts_at: datetime
    ends_at: datetime | None

    def holds(self, moment: datetime) -> bool:
        """Whether the moment lies in it."""
        return self.starts_at <= moment and (self.ends_at is None or moment < self.ends_at)


def clock(text: str) -> timedelta:
    """A local time as the time since midnight. Raises QuietTimesRefused."""
    if text == MIDNIGHT:
        return DAY
    if (found := CLOCK.fullmatch(text)) is None:
        raise QuietTimesRefused("quiet_clock", facts={"text": text[:20]})
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def span(days: Iterable[Weekday], begins: str, ends: str, nights: int | None) -> Span:
    """A span as it is stored. Without `nights`, an end that is not after the start is on the next day.

    Raises QuietTimesRefused.
    """
    given = set(days)
    passed = int(clock(ends) <= clock(begins)) if nights is None else nights
    kept = Span(tuple(day for day in Weekday if day in given), short(begins), short(ends), passed)
    if not kept.days:
        raise QuietTimesRefused("quiet_hours_need_days")
    if not timedelta() < kept.length <= LONGEST_NIGHTS * DAY:
        raise QuietTimesRefused("quiet_hours_length", facts={"days": LONGEST_NIGHTS})
    return kept


def short(text: str) -> str:
    """A local time without seconds that are zero."""
    return text.removesuffix(":00") if len(text) == len("00:00:00") else text


def around(spans: tuple[Span, ...], zone: str, now: datetime, *, outside: bool) -> Sequence[TimeSpan]:
    """The hours around now, in order and apart from each other; or with `outside` the times between them.

    The first one and the last one may be cut off, nine days from now.
    """
    return _around(spans, zone, now.astimezone(UTC).date(), outside)


@lru_cache(maxsize=4096)
def _around(spans: tuple[Span, ...], zone: str, day: date, outside: bool) -> Sequence[TimeSpan]:
    """All shops with the same hours share one computation a day."""
    midnight = datetime.combine(day, time(), UTC)
    return between(spans, zone, midnight - AROUND * DAY, midnight + (AROUND + 1) * DAY, outside=outside)


def between(
    spans: tuple[Span, ...], zone: str, start: datetime, end: datetime, *, outside: bool = False
) -> Sequence[TimeSpan]:
    """The hours between two moments, in order and apart from each other; or with `outside` the times between them."""
    open_at = joined(_of_days(spans, zones_rules.or_utc(zone), start, end))
    cut = [(max(begins, start), min(ends, end)) for begins, ends in open_at if begins < end and ends > start]
    if not outside:
        return tuple(TimeSpan(begins, ends) for begins, ends in cut)
    edges = [start, *(moment for pair in cut for moment in pair), end]
    return tuple(TimeSpan(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b)


def _of_days(
    spans: tuple[Span, ...], zone: ZoneInfo, start: datetime, end: datetime
) -> Iterator[tuple[datetime, datetime]]:
    first, last = start.astimezone(zone).date() - (LONGEST_NIGHTS + 1) * DAY, end.astimezone(zone).date() + DAY
    for number in range((last - first).days + 1):
        day = first + number * DAY
        for one in spans:
            if DAYS[day.weekday()] in one.days:
                local = datetime.combine(day, time()) + one.start
                yield min(_readings(local, zone)), max(_readings(local + one.length, zone))


def _readings(local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Both UTC times of a local time; they are equal unless the clocks change at it."""
    first, second = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return first, second


def joined(pairs: Iterable[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    """The same times in order; those that touch or overlap are one."""
    found: list[tuple[datetime, datetime]] = []
    for begins, ends in sorted(pairs):
        if found and begins <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], ends))
        else:
            found.append((begins, ends))
    return found
