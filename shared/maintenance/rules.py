"""When a maintenance window is on: once, or each week at the local time of a time zone.

A repeated window begins and ends at the same local time each week, so it may last an hour more or less when the clocks
change. If a local time comes twice, or not at all, the longer window counts: an hour too long is better than a command
while a person works on the display.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shared.errors import MaintenanceTimesRefused, TimeZoneUnknown
from shared.vocabulary import MaintenanceScope, MaintenanceState, Weekday

LONGEST: Final = timedelta(days=92)  # longer than building work; a forgotten window ends by itself
LONGEST_REPEATED: Final = timedelta(days=7)  # then the next one begins
FURTHEST: Final = timedelta(days=5 * 366)  # a later time is a typing mistake
DAYS: Final = tuple(Weekday)  # in the order of `date.weekday`: Monday is 0


@dataclass(frozen=True)
class WeeklyRecurrence:
    """Each week on these days, from the first start on; `until` is the last local date on which it begins."""

    time_zone: str
    weekdays: Collection[Weekday]
    until: date | None = None


@dataclass(frozen=True)
class Schedule:
    """When a window is on. The times are those of its first occurrence."""

    starts_at: datetime
    ends_at: datetime
    recurrence: WeeklyRecurrence | None = None
    ended_at: datetime | None = None
    """When a person ended it for good."""


@dataclass(frozen=True)
class PlannedWindow:
    """A window to store. `site` is for scope `site`; `starts_at` and `ends_at` are of the first occurrence."""

    name: str
    reason: str
    scope: MaintenanceScope
    site: str | None
    starts_at: datetime
    ends_at: datetime
    time_zone: str | None
    """None: it does not repeat."""
    weekdays: list[Weekday] | None
    repeat_until: date | None
    last_ends_at: datetime | None
    """The end of its last occurrence; None: there is no last one."""
    created_by: str
    created_at: datetime


@dataclass(frozen=True)
class KeptWindow(PlannedWindow):
    """A stored window."""

    id: int
    ended_at: datetime | None
    ended_by: str | None

    @property
    def schedule(self) -> Schedule:
        """Its times."""
        recurrence = None
        if self.time_zone is not None:
            recurrence = WeeklyRecurrence(self.time_zone, frozenset(self.weekdays or ()), self.repeat_until)
        return Schedule(self.starts_at, self.ends_at, recurrence, self.ended_at)


@dataclass(frozen=True)
class WindowTime:
    """One occurrence of a window: [start, end)."""

    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True)
class QuietWindow:
    """The window that covers a client now: reason, author and end."""

    window_id: int
    name: str
    reason: str
    by: str
    until: datetime

    @property
    def why(self) -> str:
        """The reason as one sentence for people, without the end."""
        because = f" ({self.reason.strip().rstrip('.')})" if self.reason.strip() else ""
        return f"In the maintenance window “{self.name}”{because}: nothing is sent by itself until it ends."


def occurrence_at(schedule: Schedule, now: datetime) -> WindowTime | None:
    """The occurrence that is on now (of several the one that ends last); None without one."""
    if schedule.ended_at is not None and schedule.ended_at <= now:
        return None
    found = [o for o in _around(schedule, now) if o.starts_at <= now < o.ends_at]
    return max(found, key=lambda occurrence: occurrence.ends_at, default=None)


def next_occurrence(schedule: Schedule, now: datetime) -> WindowTime | None:
    """The first occurrence that begins after now; None without one."""
    if schedule.ended_at is not None:
        return None
    return next((o for o in _around(schedule, max(now, schedule.starts_at)) if o.starts_at > now), None)


def last_end(schedule: Schedule) -> datetime | None:
    """When its last occurrence ends; None for one that repeats without end."""
    recurrence = schedule.recurrence
    if recurrence is None:
        return schedule.ends_at
    if recurrence.until is None:
        return None
    last_week = datetime.combine(recurrence.until, time(), UTC) - timedelta(days=6)
    return max(occurrence.ends_at for occurrence in _around(schedule, max(last_week, schedule.starts_at)))


def state_at(schedule: Schedule, now: datetime) -> MaintenanceState:
    """The state of the window."""
    if schedule.ended_at is not None and schedule.ended_at <= now:
        return MaintenanceState.ENDED
    if occurrence_at(schedule, now) is not None:
        return MaintenanceState.ACTIVE
    over = last_end(schedule)
    return MaintenanceState.OVER if over is not None and over <= now else MaintenanceState.PLANNED


def checked(schedule: Schedule, now: datetime) -> Schedule:
    """The schedule to store: an ambiguous first start becomes the earlier one.

    Raises:
        MaintenanceTimesRefused: it is invalid; the text says why.
        TimeZoneUnknown: there is no such time zone.
    """
    length = schedule.ends_at - schedule.starts_at
    if length <= timedelta():
        raise MaintenanceTimesRefused("ends_at must be after starts_at.")
    if abs(schedule.starts_at - now) > FURTHEST:
        raise MaintenanceTimesRefused("starts_at must be within five years.")
    if schedule.recurrence is None:
        return _checked_single(schedule, length, now)
    return _checked_repeated(schedule, schedule.recurrence, length, now)


def _checked_single(schedule: Schedule, length: timedelta, now: datetime) -> Schedule:
    if length > LONGEST:
        raise MaintenanceTimesRefused(f"A window lasts {LONGEST.days} days at most.")
    if schedule.ends_at <= now:
        raise MaintenanceTimesRefused("ends_at must be in the future.")
    return schedule


def _checked_repeated(schedule: Schedule, recurrence: WeeklyRecurrence, length: timedelta, now: datetime) -> Schedule:
    first = schedule.starts_at.astimezone(_known_zone(recurrence.time_zone)).date()
    if length > LONGEST_REPEATED:
        raise MaintenanceTimesRefused(f"A repeated window lasts {LONGEST_REPEATED.days} days at most.")
    if DAYS[first.weekday()] not in recurrence.weekdays:
        day = DAYS[first.weekday()].value
        raise MaintenanceTimesRefused(f"starts_at is a {day} in {recurrence.time_zone}: weekdays must name that day.")
    if recurrence.until is not None and not first <= recurrence.until <= first + FURTHEST:
        raise MaintenanceTimesRefused("recurrence.until must be the day of starts_at or later, within five years.")
    kept = replace(schedule, starts_at=min(o.starts_at for o in _around(schedule, schedule.starts_at)))
    over = last_end(kept)
    if over is not None and over <= now:
        raise MaintenanceTimesRefused("The last repetition must end in the future.")
    return kept


def _known_zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a malformed name is a ValueError, a folder's an OSError
        raise TimeZoneUnknown(f"There is no time zone {name[:100]!r}; name one such as Europe/Rome.") from None


def _zone(name: str) -> ZoneInfo:
    """The time zone; UTC when this machine does not know it, although the checking machine did."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def _around(schedule: Schedule, moment: datetime) -> Sequence[WindowTime]:
    """All occurrences that may be on at that time, and at least the next one, in order."""
    if schedule.recurrence is None:
        return (WindowTime(schedule.starts_at, schedule.ends_at),)
    return tuple(_repeated(schedule, schedule.recurrence, moment))


def _repeated(schedule: Schedule, recurrence: WeeklyRecurrence, moment: datetime) -> Iterator[WindowTime]:
    """The occurrences from the earliest that may still be on up to a week and a day ahead."""
    zone = _zone(recurrence.time_zone)
    begins, ends = (at.astimezone(zone).replace(tzinfo=None, fold=0) for at in (schedule.starts_at, schedule.ends_at))
    today = moment.astimezone(zone).date()
    for number in range(-(ends - begins).days - 2, 9):
        day = today + timedelta(days=number)
        is_within = begins.date() <= day and (recurrence.until is None or day <= recurrence.until)
        if is_within and DAYS[day.weekday()] in recurrence.weekdays:
            local = datetime.combine(day, begins.time())
            yield WindowTime(min(_readings(local, zone)), max(_readings(local + (ends - begins), zone)))


def _readings(local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Both UTC times of a local time; they are equal unless the clocks change at it."""
    first, second = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return first, second
