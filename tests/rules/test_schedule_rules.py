"""When a schedule sends its commands, also around changes of the clocks, and how its state is worded."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from extensions.batches import rules as batch_rules
from extensions.batches import schedules_rules as rules
from extensions.batches.rules import members_wait
from extensions.batches.schedules_rules import KeptSchedule, Turn, When
from shared.errors import InvalidWaves, ScheduleTimesRefused, TimeZoneUnknown
from shared.vocabulary import BatchState, ScheduleOutcome, ScheduleState, Weekday
from shared.words.reader import english

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)  # a Tuesday
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
GRACE = rules.GRACE
BERLIN = "Europe/Berlin"
SCHEDULE = "3f0e8a52-6f43-4d6c-9a55-0a4be0a1c001"


def utc(month: int, day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


def sundays(local_time: str, zone: str = BERLIN, until: date | None = None) -> When:
    return When(time_zone=zone, weekdays=(Weekday.SUNDAY,), local_time=local_time, until=until)


def once(at: datetime) -> When:
    return When(time_zone=BERLIN, at=at)


# --- the times ---


def test_once_is_once() -> None:
    assert rules.next_time(once(NOW), NOW - HOUR) == NOW
    assert rules.next_time(once(NOW), NOW) is None


def test_a_weekly_time_keeps_its_local_time_when_the_clocks_change() -> None:
    when = sundays("04:00")  # the clocks change on 29 March and 25 October

    assert rules.next_time(when, utc(3, 20, 0)) == utc(3, 22, 3)
    assert rules.next_time(when, utc(3, 22, 3)) == utc(3, 29, 2)
    assert rules.next_time(when, utc(10, 24, 0)) == utc(10, 25, 3)


def test_a_time_that_the_clocks_skip_comes_once_and_later_by_what_they_skip() -> None:
    when = sundays("02:30")

    assert rules.next_time(when, utc(3, 28, 12)) == utc(3, 29, 1, 30)  # 03:30 in Berlin
    assert rules.next_time(when, utc(3, 29, 1, 30)) == utc(4, 5, 0, 30)


def test_a_time_that_comes_twice_is_kept_the_first_time_only() -> None:
    when = sundays("02:30")

    assert rules.next_time(when, utc(10, 24, 12)) == utc(10, 25, 0, 30)
    assert rules.next_time(when, utc(10, 25, 0, 30)) == utc(11, 1, 1, 30)


def test_a_day_that_a_zone_skips_makes_no_second_time() -> None:
    """Samoa had no 30 December 2011: its Friday falls on the Saturday."""
    when = When(time_zone="Pacific/Apia", weekdays=(Weekday.FRIDAY, Weekday.SATURDAY), local_time="03:00")
    before = datetime(2011, 12, 29, 0, tzinfo=UTC)

    first = rules.next_time(when, before)

    assert first == datetime(2011, 12, 30, 13, tzinfo=UTC)
    assert rules.next_time(when, first) == datetime(2012, 1, 5, 13, tzinfo=UTC)


def test_the_last_date_is_a_local_one_and_still_counts() -> None:
    when = sundays("00:30", "Asia/Tokyo", date(2026, 3, 15))

    assert rules.next_time(when, NOW) == utc(3, 14, 15, 30)
    assert rules.next_time(when, utc(3, 14, 15, 30)) is None


ZONES = st.sampled_from(
    [BERLIN, "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC", "Asia/Tehran", "Africa/Casablanca"]
)
WEEKDAYS = st.sets(st.sampled_from(list(Weekday)), min_size=1)
BEGIN = datetime(2010, 6, 1, tzinfo=UTC)  # Samoa skipped a day in 2011
MOMENTS = st.integers(0, 3 * 366 * 24 * 60).map(lambda minutes: BEGIN + minutes * MINUTE)
CLOCKS = st.times().map(lambda at: f"{at:%H:%M}")


@given(ZONES, WEEKDAYS, CLOCKS, MOMENTS, st.none() | st.integers(0, 40))
def test_the_next_time_is_the_one_that_going_through_every_day_finds(
    zone: str, weekdays: set[Weekday], clock: str, after: datetime, days_left: int | None
) -> None:
    until = None if days_left is None else after.date() + days_left * DAY
    when = When(time_zone=zone, weekdays=tuple(weekdays), local_time=clock, until=until)

    every = sorted(every_time(when, after.date() - 9 * DAY, after.date() + 50 * DAY))
    coming = [at for at in every if at > after]

    assert rules.next_time(when, after) == (coming[0] if coming else None)
    for at, then in pairwise(coming):
        assert rules.next_time(when, at) == then
        assert rules.next_time(when, then - timedelta.resolution) == then


@given(ZONES, WEEKDAYS, CLOCKS, MOMENTS)
def test_every_date_has_its_time_once(zone: str, weekdays: set[Weekday], clock: str, after: datetime) -> None:
    """On the wall it is the wanted time, or the clocks skipped that and it is later by what they skipped."""
    when = When(time_zone=zone, weekdays=tuple(weekdays), local_time=clock)
    at = rules.next_time(when, after)
    assert at is not None

    local = at.astimezone(ZoneInfo(zone))
    back = local.replace(tzinfo=None) - timedelta(hours=int(clock[:2]), minutes=int(clock[3:]))

    if f"{local:%H:%M}" == clock:
        assert list(Weekday)[local.weekday()] in weekdays
        assert local.fold == 0
    else:
        wanted = datetime.combine(back.date(), datetime.min.time()) + (local.replace(tzinfo=None) - back)
        there = wanted.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).astimezone(ZoneInfo(zone))
        assert there.replace(tzinfo=None) != wanted, "a time that exists was moved"


def every_time(when: When, first: date, last: date) -> set[datetime]:
    """The time of each date, by the clock as it was before a change."""
    zone, (hours, minutes) = ZoneInfo(when.time_zone), map(int, str(when.local_time).split(":"))
    days = [first + number * DAY for number in range((last - first).days)]
    return {
        datetime(day.year, day.month, day.day, hours, minutes, tzinfo=zone).astimezone(UTC)
        for day in days
        if list(Weekday)[day.weekday()] in when.weekdays and (when.until is None or day <= when.until)
    }


# --- a turn ---


@pytest.mark.parametrize("late", [timedelta(), MINUTE, GRACE])
def test_a_time_that_is_late_within_the_grace_is_done(late: timedelta) -> None:
    assert rules.turn(once(NOW), NOW, NOW + late, GRACE) == Turn((), NOW, None)


def test_a_time_beyond_the_grace_is_missed_and_not_made_up_for() -> None:
    assert rules.turn(once(NOW), NOW, NOW + GRACE + timedelta.resolution, GRACE) == Turn((NOW,), None, None)


def test_after_weeks_away_each_time_is_missed_and_the_present_one_is_done() -> None:
    when = sundays("04:00", "UTC")
    first, second, third = utc(3, 1, 4), utc(3, 8, 4), utc(3, 15, 4)

    assert rules.turn(when, first, third + MINUTE, GRACE) == Turn((first, second), third, utc(3, 22, 4))
    assert rules.turn(when, first, third + HOUR, GRACE) == Turn((first, second, third), None, utc(3, 22, 4))


@given(ZONES, WEEKDAYS, CLOCKS, MOMENTS, st.lists(st.integers(1, 3 * 24 * 60), min_size=1, max_size=30))
def test_however_ticks_come_each_time_is_decided_once_and_none_is_left_out(
    zone: str, weekdays: set[Weekday], clock: str, begin: datetime, steps: list[int]
) -> None:
    when = When(time_zone=zone, weekdays=tuple(weekdays), local_time=clock)
    next_at, now, decided = rules.next_time(when, begin), begin, []
    for step in steps:
        now += step * MINUTE
        if next_at is None or next_at > now:
            continue
        turn = rules.turn(when, next_at, now, GRACE)
        assert all(now - at > GRACE for at in turn.missed)
        assert turn.due is None or timedelta() <= now - turn.due <= GRACE
        decided += [*turn.missed, *([] if turn.due is None else [turn.due])]
        next_at = turn.next_at

    assert decided == sorted(decided)
    everything = every_time(when, begin.date() - 2 * DAY, now.date() + 2 * DAY)
    assert decided == sorted(at for at in everything if begin < at <= now)


# --- what is refused ---

WEEKLY = sundays("03:00")
REFUSED = [
    (When(time_zone="UTC"), "either once", "no time at all"),
    (replace(WEEKLY, at=NOW + HOUR), "either once", "both kinds"),
    (When(time_zone="UTC", at=NOW + HOUR, local_time="03:00"), "go with weekdays", "a local time without weekdays"),
    (When(time_zone="UTC", at=NOW + HOUR, until=NOW.date()), "go with weekdays", "once, and until a date"),
    (once(NOW), "in the future", "now"),
    (once(NOW + 2000 * DAY), "five years", "a mistyped year"),
    (once(datetime.max.replace(tzinfo=UTC)), "five years", "the end of time"),
    (replace(WEEKLY, local_time=None), "03:00", "no local time"),
    (replace(WEEKLY, local_time="24:00"), "03:00", "no such hour"),
    (replace(WEEKLY, local_time="3:00"), "03:00", "one digit"),
    (replace(WEEKLY, until=date(2026, 3, 14)), "No time is left", "over before the first time"),
    (replace(WEEKLY, until=date.max), "within five years", "to the end of time"),
]


@pytest.mark.parametrize(("when", "why", "note"), REFUSED, ids=[note for _, _, note in REFUSED])
def test_times_that_make_no_sense_are_refused_in_words(when: When, why: str, note: str) -> None:
    with pytest.raises(ScheduleTimesRefused, match=why):
        rules.checked(when, NOW)


@pytest.mark.parametrize("zone", ["Europe/Atlantis", "../etc/passwd", "/etc/localtime", "Europe", "", "CET ", "\x00"])
def test_a_zone_that_does_not_exist_is_refused_and_never_guessed(zone: str) -> None:
    with pytest.raises(TimeZoneUnknown):
        rules.checked(replace(WEEKLY, time_zone=zone), NOW)
    with pytest.raises(TimeZoneUnknown):
        rules.next_time(replace(WEEKLY, time_zone=zone), NOW)


def test_weekdays_are_kept_once_and_in_order() -> None:
    given_days = (Weekday.SUNDAY, Weekday.MONDAY, Weekday.SUNDAY)

    assert rules.checked(replace(WEEKLY, weekdays=given_days), NOW).weekdays == (Weekday.MONDAY, Weekday.SUNDAY)


def test_once_stays_once_and_weekly_stays_weekly() -> None:
    assert rules.changed(WEEKLY, {"local_time": "05:00", "until": None}).local_time == "05:00"
    assert rules.changed(once(NOW), {"at": NOW + HOUR}).at == NOW + HOUR
    for when, changes in ((WEEKLY, {"at": NOW}), (once(NOW), {"weekdays": (Weekday.MONDAY,)})):
        with pytest.raises(ScheduleTimesRefused, match="stays once or weekly"):
            rules.changed(when, changes)


@pytest.mark.parametrize(("waves", "limit"), [(("rest", 1), "10%"), ((0,), "10%"), (("rest",), "200%")])
def test_waves_that_no_batch_could_have_are_refused(waves: tuple[int | str, ...], limit: str) -> None:
    with pytest.raises(InvalidWaves):
        rules.check_batch(waves, limit)


# --- the same time, the same ids ---


def test_a_time_has_one_batch_and_a_client_one_command_of_it_whoever_makes_them() -> None:
    batch = rules.batch_id(SCHEDULE, NOW)

    assert batch == rules.batch_id(SCHEDULE, NOW.astimezone(ZoneInfo(BERLIN)))
    assert batch != rules.batch_id(SCHEDULE, NOW + DAY)
    assert (
        batch_rules.command_id(batch, "a") == batch_rules.command_id(batch, "a") != batch_rules.command_id(batch, "b")
    )


# --- words ---

KEPT = KeptSchedule(
    id=SCHEDULE,
    action="restart_app",
    reason="",
    filter={"site": "Basel"},
    named=0,
    waves=["rest"],
    max_unproven="10%",
    ttl_seconds=None,
    time_zone=BERLIN,
    at=None,
    weekdays=[Weekday.SUNDAY],
    local_time="03:00",
    until=None,
    next_at=utc(3, 15, 2),
    created_by="user:ada",
    created_at=NOW,
    cancelled_at=None,
    cancelled_by=None,
    last_due_at=None,
    last_outcome=None,
    last_why=None,
    last_batch_id=None,
    last_batch_state=None,
    last_batch_reason=None,
)
LAST: dict[str, Any] = {"last_due_at": utc(3, 8, 2), "last_outcome": ScheduleOutcome.MADE, "last_batch_id": "b"}
MISSED: dict[str, Any] = {**LAST, "last_outcome": ScheduleOutcome.MISSED, "last_why": rules.scheduler_late(minutes=25)}
NEXT = "Next: Sunday 15 March 2026, 03:00 Europe/Berlin."
WORDS = [
    ({}, ScheduleState.PLANNED, NEXT),
    (
        {**MISSED},
        ScheduleState.PLANNED,
        f"Missed on Sunday 8 March 2026, 03:00 {BERLIN}: The scheduler was away: it came 25 minutes too late. {NEXT}",
    ),
    ({**MISSED, "next_at": None}, ScheduleState.MISSED, "The scheduler was away: "),
    ({**LAST, "last_batch_state": BatchState.RUNNING}, ScheduleState.RUNNING, f"on their way. {NEXT}"),
    ({**LAST, "last_batch_state": BatchState.PAUSED}, ScheduleState.HELD, f"Held: its batch is paused. {NEXT}"),
    (
        {**LAST, "last_batch_state": BatchState.RUNNING, "last_batch_reason": members_wait(members=3, at=None)},
        ScheduleState.HELD,
        f"Held: 3 displays wait until somebody ends it: a quiet time holds batches back. {NEXT}",
    ),
    ({**LAST, "last_batch_state": BatchState.FINISHED}, ScheduleState.PLANNED, NEXT),
    ({**LAST, "last_batch_state": BatchState.FINISHED, "next_at": None}, ScheduleState.DONE, "Done on Sunday 8 March"),
    ({**LAST, "next_at": None}, ScheduleState.DONE, "Done on Sunday 8 March"),
    ({"cancelled_at": NOW, "cancelled_by": "user:ben"}, ScheduleState.CANCELLED, "Cancelled by ben."),
    ({"time_zone": "Europe/Atlantis"}, ScheduleState.PLANNED, "Next: Sunday 15 March 2026, 02:00 UTC."),
]


@pytest.mark.parametrize(("facts", "state", "words"), WORDS)
def test_the_state_is_said_in_words(facts: dict[str, Any], state: ScheduleState, words: str) -> None:
    one = replace(KEPT, **facts)

    assert rules.state_of(one) is state
    assert words in english(rules.words(one))


def test_a_miss_says_how_late_the_scheduler_came() -> None:
    assert rules.why_late(NOW, NOW + 25 * MINUTE) == rules.scheduler_late(minutes=25)
