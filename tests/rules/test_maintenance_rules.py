"""When a maintenance window is active, also around changes of the clocks."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import MaintenanceTimesRefused, TimeZoneUnknown
from shared.maintenance import rules
from shared.maintenance.rules import QuietWindow, Schedule, WeeklyRecurrence, WindowTime
from shared.vocabulary import MaintenanceState, Weekday

ROME = ZoneInfo("Europe/Rome")
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SUNDAYS = WeeklyRecurrence("Europe/Rome", frozenset({Weekday.SUNDAY}))
ACTIVE, PLANNED, OVER = MaintenanceState.ACTIVE, MaintenanceState.PLANNED, MaintenanceState.OVER


def rome(month: int, day: int, hour: int, minute: int = 0, fold: int = 0) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=ROME, fold=fold)


def utc(month: int, day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


def on_sundays(begins: datetime, ends: datetime, until: date | None = None) -> Schedule:
    return Schedule(begins, ends, WeeklyRecurrence("Europe/Rome", frozenset({Weekday.SUNDAY}), until))


def test_a_single_window_is_on_from_its_start_up_to_its_end() -> None:
    window = Schedule(NOW, NOW + HOUR)
    moments = (NOW - timedelta.resolution, NOW, NOW + HOUR - timedelta.resolution, NOW + HOUR)

    assert [rules.state_at(window, at) for at in moments] == [PLANNED, ACTIVE, ACTIVE, OVER]
    assert rules.next_occurrence(window, NOW - HOUR) == WindowTime(NOW, NOW + HOUR)
    assert rules.next_occurrence(window, NOW) is None


def test_a_window_that_somebody_ended_is_on_no_more() -> None:
    ended = Schedule(NOW, NOW + HOUR, ended_at=NOW + HOUR / 2)

    assert rules.occurrence_at(ended, NOW + HOUR / 4) is not None
    assert rules.occurrence_at(ended, NOW + HOUR / 2) is None
    assert rules.state_at(ended, NOW + 2 * HOUR) is MaintenanceState.ENDED


def test_a_repeated_window_keeps_its_local_times_when_summer_comes() -> None:
    nightly = on_sundays(rome(3, 22, 22), rome(3, 23, 4))  # the clocks change on 29 March

    before = rules.occurrence_at(nightly, rome(3, 22, 23))
    after = rules.next_occurrence(nightly, rome(3, 23, 12))

    assert before == WindowTime(utc(3, 22, 21), utc(3, 23, 3))
    assert after == WindowTime(utc(3, 29, 20), utc(3, 30, 2))


def test_a_window_over_the_night_of_the_change_is_an_hour_shorter_or_longer() -> None:
    spring = on_sundays(rome(3, 22, 1), rome(3, 22, 5))
    autumn = on_sundays(rome(10, 18, 1), rome(10, 18, 5))

    shorter = rules.occurrence_at(spring, rome(3, 29, 4))
    longer = rules.occurrence_at(autumn, rome(10, 25, 4))

    assert shorter is not None
    assert shorter.ends_at - shorter.starts_at == 3 * HOUR
    assert longer is not None
    assert longer.ends_at - longer.starts_at == 5 * HOUR


def test_an_hour_that_does_not_exist_is_read_widely_and_never_left_out() -> None:
    within = on_sundays(rome(3, 22, 2, 15), rome(3, 22, 2, 45))

    found = rules.next_occurrence(within, rome(3, 28, 12))

    assert found == WindowTime(utc(3, 29, 0, 15), utc(3, 29, 1, 45))


def test_an_hour_that_comes_twice_is_quiet_both_times() -> None:
    within = on_sundays(rome(10, 18, 2, 15), rome(10, 18, 2, 45))

    found = rules.next_occurrence(within, rome(10, 24, 12))

    assert found == WindowTime(utc(10, 25, 0, 15), utc(10, 25, 1, 45))


def test_the_last_repetition_begins_on_the_last_day_at_the_latest() -> None:
    until_wednesday = on_sundays(rome(3, 1, 22), rome(3, 2, 4), date(2026, 3, 18))

    assert rules.last_end(until_wednesday) == utc(3, 16, 3)
    assert rules.state_at(until_wednesday, utc(3, 16, 2)) is ACTIVE
    assert rules.state_at(until_wednesday, utc(3, 16, 3)) is OVER
    assert rules.next_occurrence(until_wednesday, utc(3, 16, 3)) is None
    assert rules.last_end(on_sundays(rome(3, 1, 22), rome(3, 2, 4))) is None


def test_of_overlapping_repetitions_the_one_that_ends_last_counts() -> None:
    days = WeeklyRecurrence("UTC", frozenset({Weekday.MONDAY, Weekday.TUESDAY}))
    long = Schedule(utc(3, 2, 0), utc(3, 5, 0), days)  # three days from each Monday and each Tuesday

    found = rules.occurrence_at(long, utc(3, 3, 12))

    assert found == WindowTime(utc(3, 3, 0), utc(3, 6, 0))


WEEKDAYS = st.sets(st.sampled_from(list(Weekday)), min_size=1).map(frozenset)
ZONES = st.sampled_from(
    ["Europe/Rome", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC", "Asia/Tehran"]
)
MINUTES = st.integers(0, 3 * 366 * 24 * 60)
BEGIN = datetime(2010, 6, 1, tzinfo=UTC)  # Samoa skipped a day in 2011


@given(MINUTES, st.integers(1, 7 * 24 * 60), WEEKDAYS, ZONES, MINUTES)
def test_what_is_found_near_a_moment_is_what_going_through_every_day_finds(
    start: int, length: int, weekdays: frozenset[Weekday], zone: str, later: int
) -> None:
    begins = BEGIN + timedelta(minutes=start)
    recurrence = WeeklyRecurrence(zone, weekdays)
    window = Schedule(begins, begins + timedelta(minutes=length), recurrence)
    at = begins + timedelta(minutes=later % (60 * 24 * 60))

    every = every_occurrence(window, recurrence, at + 9 * DAY)
    on = [o for o in every if o.starts_at <= at < o.ends_at]
    coming = [o for o in every if o.starts_at > max(at, begins - DAY)]

    assert rules.occurrence_at(window, at) == max(on, key=lambda o: o.ends_at, default=None)
    found = rules.next_occurrence(window, at)
    assert found is not None
    assert found.starts_at == min(o.starts_at for o in coming)
    assert all(o.ends_at > o.starts_at for o in every)


def every_occurrence(window: Schedule, recurrence: WeeklyRecurrence, last: datetime) -> list[WindowTime]:
    """All occurrences from the first day on: start and end by local time on each of the weekdays."""
    zone = ZoneInfo(recurrence.time_zone)
    wall = [at.astimezone(zone).replace(tzinfo=None) for at in (window.starts_at, window.ends_at)]
    found, day = [], 0
    while (begins := wall[0] + day * DAY).replace(tzinfo=UTC) < last + DAY:
        if list(Weekday)[begins.weekday()] in recurrence.weekdays:
            both = [
                (local.replace(tzinfo=zone), local.replace(tzinfo=zone, fold=1))
                for local in (begins, wall[1] + day * DAY)
            ]
            found.append(WindowTime(min(t.astimezone(UTC) for t in both[0]), max(t.astimezone(UTC) for t in both[1])))
        day += 1
    return found


REFUSED = [
    (Schedule(NOW, NOW), "after starts_at", "no length"),
    (Schedule(NOW, NOW - HOUR), "after starts_at", "backwards"),
    (Schedule(NOW - 2 * HOUR, NOW - HOUR), "in the future", "over before it is planned"),
    (Schedule(NOW, NOW + 93 * DAY), "92 days", "forgotten for good"),
    (Schedule(NOW + 2000 * DAY, NOW + 2001 * DAY), "five years", "a mistyped year"),
    (Schedule(rome(3, 15, 1), rome(3, 22, 2), SUNDAYS), "7 days", "longer than its repetition"),
    (Schedule(rome(3, 16, 1), rome(3, 16, 2), SUNDAYS), "monday", "on another day"),
    (
        on_sundays(rome(3, 15, 1), rome(3, 15, 2), date(2026, 3, 14)),
        "day of starts_at or later",
        "ends before it begins",
    ),
    (on_sundays(rome(3, 1, 1), rome(3, 1, 2), date(2026, 3, 9)), "in the future", "its last time is over"),
    (on_sundays(rome(3, 15, 1), rome(3, 15, 2), date.max), "within five years", "repeats to the end of time"),
    (Schedule(datetime.min.replace(tzinfo=UTC), NOW, SUNDAYS), "within five years", "from the beginning of time"),
    (Schedule(NOW, datetime.max.replace(tzinfo=UTC), SUNDAYS), "7 days", "to the end of time"),
]


@pytest.mark.parametrize(("schedule", "why", "note"), REFUSED, ids=[note for _, _, note in REFUSED])
def test_times_that_make_no_sense_are_refused_in_words(schedule: Schedule, why: str, note: str) -> None:
    with pytest.raises(MaintenanceTimesRefused, match=why):
        rules.checked(schedule, NOW)


@pytest.mark.parametrize("zone", ["Europe/Atlantis", "../etc/passwd", "/etc/localtime", "Europe", "", "CET ", "\x00"])
def test_a_zone_that_does_not_exist_is_refused(zone: str) -> None:
    with pytest.raises(TimeZoneUnknown):
        rules.checked(Schedule(NOW, NOW + HOUR, WeeklyRecurrence(zone, frozenset(Weekday))), NOW)


def test_a_zone_that_another_machine_knew_is_read_as_utc_and_stops_nothing() -> None:
    window = Schedule(NOW, NOW + HOUR, WeeklyRecurrence("Europe/Atlantis", frozenset(Weekday)))

    assert rules.occurrence_at(window, NOW + DAY) == WindowTime(NOW + DAY, NOW + DAY + HOUR)


def test_a_first_start_that_may_mean_two_times_is_kept_as_the_earlier() -> None:
    twice = on_sundays(rome(10, 25, 2, 30, fold=1), rome(10, 25, 4))

    kept = rules.checked(twice, NOW)

    assert (twice.starts_at.astimezone(UTC), kept.starts_at) == (utc(10, 25, 1, 30), utc(10, 25, 0, 30))


def test_people_read_the_name_and_the_reason() -> None:
    assert "“Rollout” (new players): " in QuietWindow(1, "Rollout", "new players.", "user:anna", NOW).why
    assert "“Rollout”: " in QuietWindow(1, "Rollout", " ", "user:anna", NOW).why
