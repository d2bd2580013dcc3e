"""When a quiet time applies: once, weekly, outside of opening hours, and around changes of the clocks."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.clients import zones_rules
from shared.errors import QuietTimesRefused, TimeZoneUnknown
from shared.quiet import hours_rules, rules
from shared.quiet.hours_rules import Span, TimeSpan
from shared.quiet.rules import AFTER_OPENING, StoredQuietTime, WantedQuietTime
from shared.vocabulary import Quiet, QuietPreset, QuietScope, QuietState, Weekday
from shared.words.reader import english

ROME, LORD_HOWE = "Europe/Rome", "Australia/Lord_Howe"
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
EVERY_DAY = tuple(Weekday)
WORK_DAYS = EVERY_DAY[:5]


def time_of(
    preset: QuietPreset = QuietPreset.HOLD,
    starts: datetime = NOW - 365 * DAY,
    ends: datetime | None = None,
    spans: Iterable[Span] = (),
    zone: str | None = None,
    created: datetime | None = None,
    ended: datetime | None = None,
    number: int = 1,
) -> StoredQuietTime:
    return StoredQuietTime(
        id=number,
        preset=preset,
        quiet=list(rules.MAKES_QUIET.get(preset, (Quiet.COMMANDS,))),
        scope=QuietScope.FLEET,
        site=None,
        tag=None,
        starts_at=starts,
        ends_at=ends,
        spans=tuple(spans),
        time_zone=zone,
        reason="",
        created_by="user:anna",
        created_at=created or starts,
        ended_at=ended,
        ended_by=None if ended is None else "user:ben",
    )


def shop(begins: str, ends: str, days: tuple[Weekday, ...] = EVERY_DAY, zone: str = ROME) -> StoredQuietTime:
    return time_of(QuietPreset.OPENING_HOURS, spans=[hours_rules.span(days, begins, ends, None)], zone=zone)


def nightly(begins: str, ends: str, days: tuple[Weekday, ...] = EVERY_DAY, zone: str = ROME) -> StoredQuietTime:
    return time_of(QuietPreset.MAINTENANCE, spans=[hours_rules.span(days, begins, ends, None)], zone=zone)


def local(zone: str, month: int, day: int, hour: int, minute: int = 0, fold: int = 0) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=ZoneInfo(zone), fold=fold)


def is_quiet(time: StoredQuietTime, at: datetime) -> bool:
    return rules.occurrence_at(time, at) is not None


def test_a_single_one_applies_from_its_start_up_to_its_end() -> None:
    one = time_of(starts=NOW, ends=NOW + HOUR)
    moments = (NOW - timedelta.resolution, NOW, NOW + HOUR - timedelta.resolution, NOW + HOUR)

    states = [rules.state_at(time_of(starts=NOW, ends=NOW + HOUR, created=NOW - DAY), at) for at in moments]
    assert states == [QuietState.PLANNED, QuietState.ON, QuietState.ON, QuietState.OVER]
    assert rules.next_occurrence(one, NOW - HOUR) == TimeSpan(NOW, NOW + HOUR)
    assert rules.next_occurrence(one, NOW) is None


def test_one_without_an_end_lasts_until_somebody_ends_it() -> None:
    assert rules.occurrence_at(time_of(starts=NOW), NOW + 400 * DAY) == TimeSpan(NOW, None)
    ended = time_of(starts=NOW, ended=NOW + HOUR)
    assert [is_quiet(ended, NOW), is_quiet(ended, NOW + HOUR)] == [True, False]
    assert rules.state_at(ended, NOW + HOUR) is QuietState.ENDED


def test_one_that_was_ended_before_it_began_never_applies() -> None:
    never = time_of(starts=NOW + HOUR, created=NOW, ended=NOW + MINUTE)

    assert not is_quiet(never, NOW + 2 * HOUR)
    assert rules.now_quiet([never], NOW + 2 * HOUR, NOW) == rules.QuietNow([], [], [])


def test_one_that_was_made_while_a_tick_decides_applies_to_that_tick() -> None:
    """The tick's time is that of its transaction's begin, before it waited for the lock."""
    assert is_quiet(time_of(starts=NOW + MINUTE), NOW)
    assert not is_quiet(time_of(starts=NOW + MINUTE, created=NOW - MINUTE), NOW)


def test_weekly_hours_keep_their_local_times_when_summer_comes() -> None:
    night = nightly("22:00", "04:00")

    assert rules.occurrence_at(night, local(ROME, 3, 27, 23)) == TimeSpan(
        local(ROME, 3, 27, 22).astimezone(UTC), local(ROME, 3, 28, 4).astimezone(UTC)
    )
    changing = rules.occurrence_at(night, local(ROME, 3, 28, 23))
    assert changing is not None
    assert changing.ends_at is not None
    assert changing.ends_at - changing.starts_at == 5 * HOUR


@pytest.mark.parametrize(
    ("zone", "day", "begins", "ends", "length", "note"),
    [
        (ROME, (3, 29), "01:00", "05:00", 3 * HOUR, "spring: an hour less"),
        (ROME, (10, 25), "01:00", "05:00", 5 * HOUR, "autumn: an hour more"),
        (ROME, (3, 29), "02:15", "02:45", 90 * MINUTE, "an hour that does not exist is read widely"),
        (ROME, (10, 25), "02:15", "02:45", 90 * MINUTE, "an hour that comes twice is read widely"),
        (LORD_HOWE, (4, 5), "00:00", "06:00", 6 * HOUR + 30 * MINUTE, "half an hour more"),
        (LORD_HOWE, (10, 4), "00:00", "06:00", 5 * HOUR + 30 * MINUTE, "half an hour less"),
        (LORD_HOWE, (10, 4), "02:10", "02:20", 40 * MINUTE, "half an hour that does not exist"),
    ],
)
def test_on_the_days_on_which_the_clocks_change(
    zone: str, day: tuple[int, int], begins: str, ends: str, length: timedelta, note: str
) -> None:
    before = local(zone, *day, 0) - MINUTE
    found = rules.next_occurrence(nightly(begins, ends, zone=zone), before)

    assert found is not None, note
    assert found.ends_at is not None
    assert found.ends_at - found.starts_at == length


def test_opening_hours_are_quiet_outside_of_them() -> None:
    closed = shop("09:00", "19:30", WORK_DAYS)
    friday_evening, monday = local(ROME, 3, 13, 19, 30), local(ROME, 3, 16, 9)

    assert not is_quiet(closed, friday_evening - MINUTE)
    assert rules.occurrence_at(closed, local(ROME, 3, 14, 12)) == TimeSpan(
        friday_evening.astimezone(UTC), monday.astimezone(UTC)
    )
    assert not is_quiet(closed, monday)


def test_a_shop_that_opens_over_midnight_is_closed_by_day() -> None:
    bar = shop("20:00", "03:00")

    assert [is_quiet(bar, local(ROME, 3, 11, hour)) for hour in (1, 3, 12, 19, 20, 23)] == [
        False,
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(("begins", "ends"), [("00:00", "24:00"), ("06:00", "06:00")])
def test_a_shop_that_never_closes_is_never_quiet(begins: str, ends: str) -> None:
    always = shop(begins, ends)

    assert not any(is_quiet(always, local(ROME, 3, 28, 12) + number * HOUR) for number in range(60))
    assert rules.next_occurrence(always, NOW) is None


def test_whoever_is_quiet_all_week_is_quiet_until_it_ends() -> None:
    ends = NOW + 30 * DAY
    always = time_of(QuietPreset.MAINTENANCE, ends=ends, spans=[Span(EVERY_DAY, "00:00", "24:00", 0)], zone=ROME)

    found = rules.occurrence_at(always, NOW)

    assert found is not None
    assert found.ends_at == ends


def test_hours_over_several_nights_are_one_time() -> None:
    weekend = time_of(QuietPreset.MAINTENANCE, spans=[Span((Weekday.SATURDAY,), "08:00", "06:00", 2)], zone=ROME)

    assert rules.occurrence_at(weekend, local(ROME, 3, 15, 12)) == TimeSpan(
        local(ROME, 3, 14, 8).astimezone(UTC), local(ROME, 3, 16, 6).astimezone(UTC)
    )


ZONES = st.sampled_from([ROME, LORD_HOWE, "UTC", "America/New_York", "Asia/Kathmandu", "Africa/Casablanca"])
CLOCKS = st.integers(0, 1439).map(lambda minutes: f"{minutes // 60:02}:{minutes % 60:02}")
SPANS = st.lists(
    st.builds(
        hours_rules.span,
        st.lists(st.sampled_from(EVERY_DAY), min_size=1, max_size=7),
        CLOCKS,
        CLOCKS,
        st.none(),
    ),
    min_size=1,
    max_size=4,
).map(tuple)
MOMENTS = st.integers(0, 365 * 24 * 4).map(lambda quarters: NOW + quarters * 15 * MINUTE)


@given(SPANS, ZONES, MOMENTS)
def test_within_and_outside_are_each_others_opposite(spans: tuple[Span, ...], zone: str, at: datetime) -> None:
    within = time_of(QuietPreset.MAINTENANCE, spans=spans, zone=zone)
    outside = time_of(QuietPreset.OPENING_HOURS, spans=spans, zone=zone)

    assert is_quiet(within, at) is not is_quiet(outside, at)


@given(SPANS, ZONES, MOMENTS)
def test_an_occurrence_holds_now_and_the_next_one_comes_after_it(
    spans: tuple[Span, ...], zone: str, at: datetime
) -> None:
    for preset in (QuietPreset.MAINTENANCE, QuietPreset.OPENING_HOURS):
        time = time_of(preset, spans=spans, zone=zone)
        present, coming = rules.occurrence_at(time, at), rules.next_occurrence(time, at)
        if present is not None and present.ends_at is not None:
            assert present.starts_at <= at < present.ends_at
            assert not is_quiet(time, present.ends_at)
            assert is_quiet(time, present.ends_at - timedelta.resolution)
        if coming is not None:
            assert coming.starts_at > at
            assert is_quiet(time, coming.starts_at)


@given(SPANS, ZONES, MOMENTS)
def test_a_local_time_within_the_hours_is_within_them_at_both_changes(
    spans: tuple[Span, ...], zone: str, at: datetime
) -> None:
    """Whoever looks at the clock on the wall sees the hours apply; at the changes they may apply longer."""
    here = at.astimezone(ZoneInfo(zone))
    wall = timedelta(hours=here.hour, minutes=here.minute)
    says_so = any(
        hours_rules.DAYS[(here.date() - back * DAY).weekday()] in one.days
        and one.start <= wall + back * DAY < one.start + one.length
        for one in spans
        for back in (0, 1)
    )

    if says_so:
        assert is_quiet(time_of(QuietPreset.MAINTENANCE, spans=spans, zone=zone), at)


@given(SPANS, ZONES)
def test_closed_times_add_up_with_open_ones(spans: tuple[Span, ...], zone: str) -> None:
    end = NOW + 30 * DAY
    closed = rules.closed_times([time_of(QuietPreset.OPENING_HOURS, spans=spans, zone=zone)], NOW, end)
    opened = hours_rules.between(spans, zone, NOW, end)

    shut = sum((ends - begins for begins, ends in closed), timedelta())
    assert shut + sum(((one.ends_at or end) - one.starts_at for one in opened), timedelta()) == 30 * DAY


def test_closed_times_follow_the_hours_of_their_time_and_count_once() -> None:
    before = time_of(QuietPreset.OPENING_HOURS, ended=NOW, spans=[Span(EVERY_DAY, "08:00", "20:00", 0)], zone="UTC")
    after = time_of(QuietPreset.OPENING_HOURS, starts=NOW, spans=[Span(EVERY_DAY, "10:00", "18:00", 0)], zone="UTC")
    hold = time_of(starts=NOW - DAY)

    closed = rules.closed_times([before, after, after, hold], NOW - 12 * HOUR, NOW + 12 * HOUR)

    midnight = datetime(2026, 3, 10, tzinfo=UTC)
    assert closed == [(midnight, midnight + 8 * HOUR), (midnight + 18 * HOUR, midnight + 24 * HOUR)]


# --- what was a moment ago ---


def test_after_opening_a_shop_has_a_moment_and_is_then_judged_once() -> None:
    opens = local(ROME, 3, 11, 9).astimezone(UTC)
    closed = shop("09:00", "18:00")

    def look(at: datetime) -> tuple[int, int, int]:
        found = rules.now_quiet([closed], at, at - MINUTE)
        return len(found.on), len(found.opened), len(found.woken)

    assert look(opens - MINUTE) == (1, 0, 0)
    assert look(opens) == (0, 1, 0)
    assert look(opens + AFTER_OPENING - MINUTE) == (0, 1, 0)
    assert look(opens + AFTER_OPENING) == (0, 0, 1)
    assert look(opens + AFTER_OPENING + MINUTE) == (0, 0, 0)


def test_a_late_look_finds_what_is_over_since_the_last_one() -> None:
    opens = local(ROME, 3, 11, 9).astimezone(UTC)
    night = shop("09:00", "18:00")
    ended = time_of(QuietPreset.MAINTENANCE, starts=opens - HOUR, ended=opens, number=2)

    found = rules.now_quiet([night, ended], opens + HOUR, opens - HOUR)

    assert [one.time.id for one in found.woken] == [1, 2]
    assert found.woken_ids(Quiet.SCREEN) == [1]


def test_quiet_is_the_union_and_says_why() -> None:
    until = NOW + HOUR
    hold, work = time_of(number=1), time_of(QuietPreset.MAINTENANCE, ends=until, number=2)
    on = rules.last_first(rules.now_quiet([work, hold], NOW).on)

    assert [one.time.id for one in on] == [1, 2]
    assert rules.union(on) == [Quiet.RECOVERY, Quiet.NOTICES, Quiet.COMMANDS]
    assert english(rules.in_words(on)) == (
        "On hold by anna: no automatic restarts."
        " In maintenance by anna: no automatic restarts, no messages, batches wait."
    )
    cut = rules.cut_through(on)
    assert cut is not None
    assert english(cut) == "It goes although the display is on hold by anna and in maintenance by anna."
    assert rules.cut_through([]) is None


# --- what cannot be ---


HOLD, SNOOZE, WORK = QuietPreset.HOLD, QuietPreset.SNOOZE, QuietPreset.MAINTENANCE
NIGHT = (Span(EVERY_DAY, "22:00", "02:00", 1),)
REFUSED: list[tuple[str, QuietPreset, dict[str, Any]]] = [
    ("quiet_end_before_start", WORK, {"ends_at": NOW - HOUR}),
    ("quiet_end_in_past", WORK, {"starts_at": NOW - 3 * HOUR, "ends_at": NOW - 2 * HOUR}),
    ("quiet_start_too_far", WORK, {"starts_at": datetime.min.replace(tzinfo=UTC), "ends_at": NOW + HOUR}),
    ("quiet_end_too_far", WORK, {"ends_at": datetime.max.replace(tzinfo=UTC), "spans": NIGHT, "time_zone": ROME}),
    ("quiet_too_long", WORK, {"ends_at": NOW + 93 * DAY}),
    ("quiet_too_long", SNOOZE, {"ends_at": NOW + 32 * DAY}),
    ("quiet_needs_end", WORK, {}),
    ("quiet_needs_end", SNOOZE, {}),
    ("quiet_needs_reason", HOLD, {"reason": " "}),
    ("leave_out_has_no_end", QuietPreset.LEAVE_OUT, {"ends_at": NOW + HOUR}),
    ("quiet_takes_no_hours", HOLD, {"spans": NIGHT, "time_zone": ROME}),
    ("opening_hours_need_hours", QuietPreset.OPENING_HOURS, {}),
    ("opening_hours_of_many", QuietPreset.OPENING_HOURS, {"scope": QuietScope.CLIENTS, "clients": ("u",)}),
    ("quiet_hours_need_zone", WORK, {"spans": NIGHT}),
    ("quiet_hours_need_zone", WORK, {"ends_at": NOW + HOUR, "time_zone": "UTC"}),
]


@pytest.mark.parametrize(("why", "preset", "facts"), REFUSED)
def test_times_that_do_not_fit_are_refused_in_words(why: str, preset: QuietPreset, facts: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"site": None, "tag": None, "clients": (), "starts_at": None, "ends_at": None}
    usual |= {"scope": QuietScope.FLEET, "spans": (), "time_zone": None, "reason": "x"}

    with pytest.raises(QuietTimesRefused) as refusal:
        rules.checked(WantedQuietTime(preset=preset, quiet=(), **{**usual, **facts}), NOW)

    assert refusal.value.sentence.code == why


@pytest.mark.parametrize(("preset", "quiet"), [(WORK, [Quiet.SCREEN]), (QuietPreset.CUSTOM, None)])
def test_what_is_quiet_is_chosen_with_custom_alone(preset: QuietPreset, quiet: list[Quiet] | None) -> None:
    with pytest.raises(QuietTimesRefused, match="custom"):
        rules.chosen(preset, quiet)


FILES_BESIDE_THE_ZONES = ["localtime", "posixrules", "Factory", "right/Europe/Berlin", "posix/Europe/Berlin"]


@pytest.mark.parametrize(
    "name", ["", "Mars/Olympus", "../etc/passwd", "a\0b", "Europe", "x" * 5000, *FILES_BESIDE_THE_ZONES]
)
def test_a_zone_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(TimeZoneUnknown):
        zones_rules.known(name)


@pytest.mark.parametrize(
    ("begins", "ends", "nights"),
    [
        ("9:00", "10:00", None),
        ("24:00", "10:00", 0),
        ("10:00", "09:00", 0),
        ("09:00", "10:00", 7),
        ("09:00", "٠٩:٠٠", 1),
    ],
)
def test_hours_that_cannot_be_are_refused(begins: str, ends: str, nights: int | None) -> None:
    with pytest.raises(QuietTimesRefused):
        hours_rules.span(EVERY_DAY, begins, ends, nights)


def test_hours_are_stored_in_one_form() -> None:
    one = hours_rules.span([Weekday.SUNDAY, Weekday.MONDAY, Weekday.MONDAY], "22:00:00", "02:00:30", None)

    assert one == Span((Weekday.MONDAY, Weekday.SUNDAY), "22:00", "02:00:30", 1)
