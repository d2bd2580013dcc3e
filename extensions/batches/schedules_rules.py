"""When a schedule sends its commands: once, or each week at the local time of a time zone. Pure.

Where the clocks change, a local time is read by the clock as it was before the change. So a time that does not exist
happens once, as much later as the clocks jumped (02:30 is 03:30), and a time that comes twice happens the first time
only.

A time that the scheduler misses by more than the grace is recorded as missed and never made up for.
"""

import re
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from extensions.batches import rules as batch_rules
from extensions.batches.rules import BatchRequest, Wave
from shared.clients import zones_rules
from shared.errors import ScheduleTimesRefused
from shared.vocabulary import BatchState, CommandAction, ScheduleOutcome, ScheduleState, Weekday
from shared.words.facts import By, Moment, in_zone
from shared.words.sentences import Sentence, sentence, together

DAY: Final = timedelta(days=1)
GRACE: Final = timedelta(minutes=10)  # how late a batch may be made
FURTHEST: Final = 5 * 366 * DAY  # a later time is a typing mistake
DAYS: Final = tuple(Weekday)  # in the order of `date.weekday`: Monday is 0
WEEKLY: Final = frozenset({"weekdays", "local_time", "until"})
"""The fields of weekly times."""
CLOCK: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII)


class When(Struct, frozen=True, kw_only=True):
    """The times of a schedule: either `at`, or each of `weekdays` at `local_time` of `time_zone`.

    `local_time`: HH:MM; `until`: the last local date, None without an end. With `at` the zone only words the time.
    """

    time_zone: str
    at: datetime | None = None
    weekdays: tuple[Weekday, ...] = ()
    local_time: str | None = None
    until: date | None = None


class WantedSchedule(Struct, frozen=True, kw_only=True):
    """A schedule to make: the batch that is made at each time, and the times."""

    request: BatchRequest
    when: When


class KeptSchedule(Struct, frozen=True, kw_only=True):
    """A stored schedule, without the clients that it names, and what became of its last time."""

    id: str
    action: str
    """A CommandAction, or a word that later code has stored."""
    reason: str
    filter: dict[str, Any] | None
    """Whom it is for; None: the clients that it names."""
    named: int
    """How many clients it names."""
    waves: list[Wave]
    max_unproven: str
    ttl_seconds: int | None
    time_zone: str
    at: datetime | None
    weekdays: list[Weekday]
    local_time: str | None
    until: date | None
    next_at: datetime | None
    """None: no time is left."""
    created_by: str
    created_at: datetime
    cancelled_at: datetime | None
    cancelled_by: str | None
    last_due_at: datetime | None
    last_outcome: ScheduleOutcome | None
    last_why: Sentence | None
    last_batch_id: str | None
    last_batch_state: BatchState | None
    last_batch_reason: Sentence | None

    @property
    def when(self) -> When:
        """Its times."""
        return When(
            time_zone=self.time_zone,
            at=self.at,
            weekdays=tuple(self.weekdays),
            local_time=self.local_time,
            until=self.until,
        )

    @property
    def is_over(self) -> bool:
        """Whether nothing happens any more: no time is left, or a person cancelled it."""
        return self.next_at is None or self.cancelled_at is not None

    def request(self, clients: Collection[str]) -> BatchRequest:
        """The batch that is made at each of its times; `clients` are those that it names."""
        return BatchRequest(
            action=CommandAction(self.action),
            requested_by=self.created_by,
            reason=self.reason,
            waves=tuple(self.waves),
            max_unproven=limit_of(self.max_unproven),
            ttl=None if self.ttl_seconds is None else timedelta(seconds=self.ttl_seconds),
            clients=tuple(clients) if self.filter is None else None,
            filter=self.filter,
        )


class ScheduleRun(Struct, frozen=True):
    """What became of one time of a schedule. `why`: the reason why it was missed, for people."""

    due_at: datetime
    outcome: ScheduleOutcome
    why: Sentence | None = None
    batch_id: str | None = None


class Turn(Struct, frozen=True):
    """What a schedule does now: the times that it missed, the time whose batch is made, and its next time."""

    missed: tuple[datetime, ...]
    due: datetime | None
    next_at: datetime | None


def turn(when: When, next_at: datetime, now: datetime, grace: timedelta) -> Turn:
    """What a schedule does now whose next time `next_at` has come. Raises TimeZoneUnknown."""
    times = passed(when, next_at, now)
    due = times[-1] if now - times[-1] <= grace else None
    return Turn(tuple(at for at in times if at != due), due, next_time(when, now))


def passed(when: When, next_at: datetime | None, now: datetime) -> list[datetime]:
    """The times from `next_at` on that have come, in order. Raises TimeZoneUnknown."""
    if next_at is None or next_at > now:
        return []
    return [next_at, *_times_after(when, next_at, now)]


def next_time(when: When, after: datetime) -> datetime | None:
    """The first time after `after`; None when no time is left. Raises TimeZoneUnknown."""
    return next(_times_after(when, after), None)


def _times_after(when: When, after: datetime, up_to: datetime | None = None) -> Iterator[datetime]:
    """The times after `after`, in order."""
    if when.at is not None:
        times = iter((when.at,))
    else:
        times = _weekly(when, after.astimezone(zones_rules.known(when.time_zone)).date() - 2 * DAY)
    for at in times:
        if up_to is not None and at > up_to:
            return
        if at > after:
            after = at  # a zone that skips a day gives the same time for both days
            yield at


def _weekly(when: When, day: date) -> Iterator[datetime]:
    """The times from this local date on, without end or up to the last date."""
    zone, clock = zones_rules.known(when.time_zone), time.fromisoformat(when.local_time or "00:00")
    while day <= (when.until or date.max - 2 * DAY):
        if DAYS[day.weekday()] in when.weekdays:
            yield datetime.combine(day, clock, zone).astimezone(UTC)  # fold 0: by the clock before the change
        day += DAY


def checked(when: When, now: datetime) -> When:
    """These times as they are stored: each weekday once, in order.

    Raises:
        ScheduleTimesRefused: they are invalid; the text says why.
        TimeZoneUnknown: there is no such time zone.
    """
    zones_rules.known(when.time_zone)
    if (when.at is None) == (not when.weekdays):
        raise ScheduleTimesRefused("schedule_once_or_weekly")
    if when.at is not None:
        return _checked_once(when, when.at, now)
    if not CLOCK.fullmatch(when.local_time or ""):
        raise ScheduleTimesRefused("schedule_local_time")
    if when.until is not None and when.until > now.date() + FURTHEST:
        raise ScheduleTimesRefused("schedule_until_too_far")
    kept = replace(when, weekdays=tuple(day for day in Weekday if day in when.weekdays))
    if next_time(kept, now) is None:
        raise ScheduleTimesRefused("schedule_has_no_time")
    return kept


def _checked_once(when: When, at: datetime, now: datetime) -> When:
    if when.local_time is not None or when.until is not None:
        raise ScheduleTimesRefused("schedule_once_takes_no_weekly")
    if not now < at <= now + FURTHEST:
        raise ScheduleTimesRefused("schedule_at_in_future")
    return when


def batch_id(schedule_id: str, due_at: datetime) -> str:
    """The id of the batch of this time.

    It is always the same, and with it the ids of its commands (`batches.rules.command_id`). So a database that was
    restored and has forgotten the batch makes it again, and no display does twice what it has already done.
    """
    return str(uuid.uuid5(uuid.UUID(schedule_id), due_at.astimezone(UTC).isoformat()))


def limit_of(text: str) -> int | str:
    """A stored limit as a batch takes it: a number, or a share."""
    return int(text) if text.isdecimal() else text


def check_batch(waves: Sequence[Wave], max_unproven: int | str) -> None:
    """Raises InvalidWaves when a batch with these waves and this limit could never be made."""
    batch_rules.check_limit(max_unproven)
    batch_rules.wave_sizes(waves, 0)


def missed(due_at: datetime, why: Sentence) -> ScheduleRun:
    """A time that was missed."""
    return ScheduleRun(due_at, ScheduleOutcome.MISSED, why)


def why_late(due_at: datetime, now: datetime) -> Sentence:
    """Why a time was missed that the scheduler came too late for."""
    return scheduler_late(minutes=max(1, round((now - due_at) / timedelta(minutes=1))))


@sentence
def scheduler_late(*, minutes: int) -> Sentence: ...
@sentence
def changed_before(*, by: By) -> Sentence: ...
@sentence
def cancelled_before(*, by: By) -> Sentence: ...
@sentence
def schedule_cancelled(*, by: By) -> Sentence: ...
@sentence
def schedule_next(*, at: Moment) -> Sentence: ...
@sentence
def schedule_held() -> Sentence: ...
@sentence
def schedule_held_back() -> Sentence: ...
@sentence
def schedule_running() -> Sentence: ...
@sentence
def schedule_missed(*, at: Moment) -> Sentence: ...
@sentence
def schedule_done(*, at: Moment) -> Sentence: ...


def is_held(state: BatchState | None, reason: Sentence | None) -> bool:
    """Whether a batch waits for a quiet time, or for a person who paused it."""
    return state is BatchState.PAUSED or (state is BatchState.RUNNING and reason is not None)


def state_of(one: KeptSchedule) -> ScheduleState:
    """The state of a schedule."""
    if one.cancelled_at is not None:
        return ScheduleState.CANCELLED
    if is_held(one.last_batch_state, one.last_batch_reason):
        return ScheduleState.HELD
    if one.last_batch_state is BatchState.RUNNING:
        return ScheduleState.RUNNING
    if one.next_at is not None:
        return ScheduleState.PLANNED
    return ScheduleState.MISSED if one.last_outcome is ScheduleOutcome.MISSED else ScheduleState.DONE


def words(one: KeptSchedule) -> Sentence:
    """The state of a schedule as sentences for people."""
    if one.cancelled_at is not None:
        return schedule_cancelled(by=one.cancelled_by)
    zone = zones_rules.or_utc(one.time_zone).key
    told = _last_words(one, state_of(one), zone)
    if one.next_at is not None:
        told.append(schedule_next(at=in_zone(one.next_at, zone)))
    return together(told)


def _last_words(one: KeptSchedule, state: ScheduleState, zone: str) -> list[Sentence]:
    if state is ScheduleState.HELD:
        return [schedule_held(), one.last_batch_reason] if one.last_batch_reason else [schedule_held_back()]
    if state is ScheduleState.RUNNING:
        return [schedule_running()]
    if one.last_due_at is None:
        return []
    at = in_zone(one.last_due_at, zone)
    if one.last_why is not None:
        return [schedule_missed(at=at), one.last_why]
    return [schedule_done(at=at)] if one.next_at is None else []


def changed(when: When, changes: Mapping[str, Any]) -> When:
    """These times with some of them changed. Raises ScheduleTimesRefused: once stays once, and weekly stays weekly."""
    of_the_other = WEEKLY if when.at is not None else {"at"}
    if of_the_other & changes.keys():
        raise ScheduleTimesRefused("schedule_stays_as_it_is")
    return replace(when, **changes)
