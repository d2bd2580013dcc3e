"""When a display's screen is meant to be on: hours, orders, clocks; and the service's side of the same hours."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from displays.client import contract, hours
from displays.client.contract import BadMessage, HoursOrder
from displays.client.hours import Plan, hours_of
from displays.client.screen import ScreenKeeper
from shared.clients import hours_rules
from shared.clients.hours_rules import OpeningHours, OpenTime
from shared.errors import Refused, TimeZoneUnknown
from shared.vocabulary import Weekday

BERLIN = ZoneInfo("Europe/Berlin")
DAILY = {"zone": "Europe/Berlin", "open": [{"days": list(hours.DAYS), "from": "08:00", "until": "20:00"}]}


def at(text: str, fold: int = 0) -> datetime:
    """A local time in Berlin."""
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN, fold=fold)


def daily(opens: str, until: str) -> hours.Hours:
    return hours_of({**DAILY, "open": [{"days": list(hours.DAYS), "from": opens, "until": until}]})


OPEN: list[tuple[str, str, str, int, bool, str]] = [
    ("08:00", "20:00", "2026-11-26T07:59", 0, False, "before it opens"),
    ("08:00", "20:00", "2026-11-26T08:00", 0, True, "the first moment"),
    ("08:00", "20:00", "2026-11-26T20:00", 0, False, "the end is outside"),
    ("18:00", "02:00", "2026-11-26T01:00", 0, True, "the opening of the evening before"),
    ("00:00", "24:00", "2026-11-26T23:59", 0, True, "a whole day"),
    ("02:30", "06:00", "2026-03-29T01:29", 0, False, "the clock jumps over 02:30"),
    ("02:30", "06:00", "2026-03-29T01:30", 0, True, "the longer opening counts"),
    ("02:30", "06:00", "2026-10-25T02:40", 0, True, "of two half past two it opens at the first"),
    ("02:30", "06:00", "2026-10-25T02:10", 1, True, "and does not close when the hour comes again"),
    ("00:00", "02:30", "2026-10-25T02:20", 1, True, "of two half past two it closes at the second"),
    ("00:00", "02:30", "2026-10-25T02:40", 0, True, "not at the first"),
    ("08:00", "20:00", "2026-03-29T08:00", 0, True, "the day has 23 hours, and eight is eight"),
    ("08:00", "20:00", "2026-10-25T07:59", 0, False, "the day has 25 hours, and eight is eight"),
]


@pytest.mark.parametrize(("opens", "until", "moment", "fold", "is_open", "note"), OPEN)
def test_a_display_is_open_by_its_local_time(
    opens: str, until: str, moment: str, fold: int, is_open: bool, note: str
) -> None:
    assert hours.is_open(daily(opens, until), at(moment, fold).astimezone(UTC)) is is_open, note


def test_hours_change_when_they_open_or_close_and_never_if_they_do_not_end() -> None:
    now = at("2026-11-26T12:00").astimezone(UTC)

    assert hours.next_change(daily("08:00", "20:00"), now) == at("2026-11-26T20:00")
    assert hours.next_change(daily("13:00", "20:00"), now) == at("2026-11-26T13:00")
    assert hours.next_change(daily("00:00", "24:00"), now) is None
    assert hours.next_change(hours_of({"zone": "UTC", "open": []}), now) is None
    monday = hours_of({"zone": "UTC", "open": [{"days": ["thursday"], "from": "00:00", "until": "12:00"}]})
    assert hours.next_change(monday, datetime(2026, 11, 26, 12, tzinfo=UTC)) == datetime(2026, 12, 3, tzinfo=UTC)


@given(
    st.integers(0, 2 * 365 * 24 * 60),
    st.lists(
        st.tuples(st.sets(st.sampled_from(hours.DAYS), min_size=1), st.integers(0, 47), st.integers(0, 47)), max_size=3
    ),
    st.sampled_from(["Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "UTC"]),
)
def test_between_two_changes_nothing_changes_and_at_a_change_something_does(
    minutes: int, times: list[tuple[set[str], int, int]], zone: str
) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)

    def clock(half_hours: int) -> str:
        return f"{half_hours // 2:02}:{half_hours % 2 * 30:02}"

    open_times = [{"days": sorted(days), "from": clock(a), "until": clock(b)} for days, a, b in times]
    found = hours_of({"zone": zone, "open": open_times})
    change = hours.next_change(found, now)

    is_open = hours.is_open(found, now)
    if change is None:
        assert all(hours.is_open(found, now + timedelta(hours=step)) is is_open for step in range(0, 170, 7))
    else:
        assert hours.is_open(found, change - timedelta(seconds=1)) is is_open
        assert hours.is_open(found, change) is not is_open


NOW = at("2026-11-26T12:00").astimezone(UTC)
NIGHT = at("2026-11-26T23:00").astimezone(UTC)
PLAN = replace(hours.with_hours(Plan(), "a", DAILY), contact_at=NOW)


def test_the_hours_switch_and_without_any_the_screen_is_on() -> None:
    assert hours.at(PLAN, NOW, is_sure=True)[1].is_on is True
    assert hours.at(PLAN, NIGHT, is_sure=True)[1] == hours.Wish(is_on=False, by="hours", why="off by its hours")
    assert hours.at(Plan(), NIGHT, is_sure=True)[1].is_on is True


def test_an_order_holds_until_the_hours_change_next() -> None:
    plan, wish = hours.at(hours.with_order(PLAN, is_on=False), NOW, is_sure=True)
    assert (wish.is_on, wish.by) == (False, "command")
    assert plan.until == at("2026-11-26T20:00")

    plan, wish = hours.at(plan, at("2026-11-26T19:59").astimezone(UTC), is_sure=True)
    assert wish.by == "command"
    plan, wish = hours.at(plan, NIGHT, is_sure=True)
    assert (plan.ordered, wish.by) == (None, "hours")


def test_an_order_without_hours_holds_until_the_next_order() -> None:
    plan = hours.with_order(replace(Plan(), contact_at=NOW), is_on=False)

    assert hours.at(plan, NOW + timedelta(days=6), is_sure=True)[1].by == "command"
    assert hours.at(hours.with_order(plan, is_on=True), NOW, is_sure=True)[1].is_on is True


def test_other_hours_end_an_order_and_the_same_hours_do_not() -> None:
    plan = hours.with_order(PLAN, is_on=False)

    assert hours.with_hours(plan, "a", DAILY) is plan
    assert hours.with_hours(plan, "b", DAILY).ordered is None
    assert hours.with_hours(plan, None, None).hours is None


@pytest.mark.parametrize(
    ("days", "is_on"), [(7, False), (8, True)], ids=["a week alone", "longer: a screen that nobody can reach is on"]
)
def test_hours_hold_for_a_week_without_the_service(days: int, is_on: bool) -> None:
    plan = replace(PLAN, contact_at=NIGHT - timedelta(days=days))

    assert hours.at(plan, NIGHT, is_sure=True)[1].is_on is is_on


def test_nothing_is_switched_while_the_clock_is_not_trusted() -> None:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    for now, is_sure in ((epoch, True), (NIGHT, False), (NOW - timedelta(days=1), True)):
        assert hours.at(PLAN, now, is_sure=is_sure)[1].is_on is None
    ordered = hours.with_order(PLAN, is_on=False)
    assert hours.at(ordered, epoch, is_sure=True)[1].is_on is False, "an operator needs no clock"
    assert hours.at(ordered, epoch, is_sure=True)[0].until is None, "its end is found when the clock is right"


def test_the_last_contact_is_written_once_an_hour_and_not_by_a_wrong_clock() -> None:
    assert hours.heard(PLAN, NOW + timedelta(minutes=59), is_sure=True) is PLAN
    assert hours.heard(PLAN, NOW + timedelta(hours=1), is_sure=True).contact_at == NOW + timedelta(hours=1)
    assert hours.heard(PLAN, NOW - timedelta(days=2), is_sure=True).contact_at == NOW - timedelta(days=2)
    assert hours.heard(PLAN, datetime(1970, 1, 1, tzinfo=UTC), is_sure=False) is PLAN


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"version": "a"}',
        b'{"version": "a", "hours": null}',
        b'{"version": null, "hours": {"zone": "UTC", "open": []}}',
        b'{"version": "a", "hours": {"zone": "UTC"}}',
        b'{"version": "a", "hours": {"zone": "Europe/Nowhere", "open": []}}',
        b'{"version": "a", "hours": {"zone": "../etc/passwd", "open": []}}',
        b'{"version": "a", "hours": {"zone": "UTC", "open": [{"days": [], "from": "08:00", "until": "09:00"}]}}',
        b'{"version": "a", "hours": {"zone": "UTC", "open": [{"days": ["mon"], "from": "08:00", "until": "9"}]}}',
        b'{"version": "a", "hours": {"zone": "UTC", "open": [{"days": ["monday"], "from": "25:00", "until": "9"}]}}',
        b'{"version": "a", "hours": {"zone": "UTC", "open": [7]}}',
        b'{"v": 2, "version": null, "hours": null}',
        b'{"version": "a", "hours": {}, "x": "' + b"x" * 4096 + b'"}',
    ],
)
def test_bad_hours_leave_the_plan_as_it_is(body: bytes, tmp_path: Path) -> None:
    keeper = ScreenKeeper(tmp_path / "screen.json", _works)
    keeper.take(HoursOrder("kept", DAILY))

    with pytest.raises(BadMessage):
        keeper.take(contract.parse_hours(body))

    assert keeper.kept_version == "kept"


# --- the keeper ---


async def _works(_is_on: bool) -> str | None:
    return None


class Screen:
    """A screen that notes how it was switched; `why` says why it cannot be."""

    def __init__(self, path: Path) -> None:
        self.path, self.switched, self.why = path, list[bool](), None
        self.keeper = self.started()

    why: str | None

    def started(self) -> ScreenKeeper:
        """A new start of the display on the same disk."""
        self.keeper = ScreenKeeper(self.path, self.switch)
        return self.keeper

    async def switch(self, is_on: bool) -> str | None:
        if self.why is None:
            self.switched.append(is_on)
        return self.why

    def look(self, now: datetime) -> bool:
        return asyncio.run(self.keeper.look(now, is_sure=True))

    def obey(self, now: datetime, *, is_on: bool) -> str | None:
        return asyncio.run(self.keeper.obey(now, is_on=is_on, is_sure=True))


@pytest.fixture
def screen(tmp_path: Path) -> Screen:
    screen = Screen(tmp_path / "screen.json")
    screen.keeper.heard(NOW, is_sure=True)
    screen.keeper.take(HoursOrder("a", DAILY))
    return screen


def test_the_screen_is_switched_at_each_change_and_only_then(screen: Screen) -> None:
    for now in (NOW, NIGHT, NIGHT + timedelta(minutes=1), NIGHT + timedelta(hours=10), NIGHT + timedelta(hours=11)):
        screen.look(now)

    assert screen.switched == [False, True]


def test_a_start_in_the_night_switches_off_again_and_one_in_the_morning_switches_on(screen: Screen) -> None:
    screen.look(NIGHT)
    screen.started()
    screen.look(NIGHT)
    screen.started()
    screen.look(NIGHT + timedelta(hours=10))
    screen.started()
    screen.look(NIGHT + timedelta(hours=10))

    assert screen.switched == [False, False, True]
    assert screen.keeper.kept_version == "a"


def test_a_display_that_was_never_told_anything_is_left_alone(tmp_path: Path) -> None:
    screen = Screen(tmp_path / "screen.json")
    screen.look(NIGHT)

    assert screen.switched == []


def test_an_order_survives_a_power_cut_and_ends_with_the_hours(screen: Screen) -> None:
    assert screen.obey(NIGHT, is_on=True) is None
    screen.started()
    screen.look(NIGHT)
    assert screen.keeper.off_by is None
    screen.look(NIGHT + timedelta(hours=10))
    screen.look(NIGHT + timedelta(hours=22))

    assert screen.switched == [True, False]


def test_an_order_that_does_not_work_changes_no_plan(screen: Screen) -> None:
    screen.why = "the television does not answer"

    assert screen.obey(NOW, is_on=False) == "the television does not answer"
    screen.why = None
    screen.look(NOW)

    assert screen.keeper.plan.ordered is None
    assert screen.switched == [True], "it may have gone off halfway"


def test_an_order_after_a_week_alone_is_obeyed(screen: Screen) -> None:
    later = NOW + timedelta(days=30)

    assert screen.obey(later, is_on=False) is None
    screen.look(later)

    assert screen.switched == [False]
    assert screen.keeper.off_by == "command"


def test_hours_that_the_disk_refuses_are_followed_and_not_acknowledged(screen: Screen) -> None:
    screen.path.with_name("screen.json.new").mkdir()
    screen.keeper.take(HoursOrder("b", {"zone": "UTC", "open": []}))

    assert screen.keeper.kept_version == "a"
    assert screen.look(NOW)
    assert screen.switched == [False]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"version": 1}', b"\xff"])
def test_a_damaged_file_is_no_plan(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "screen.json").write_bytes(content)

    assert ScreenKeeper(tmp_path / "screen.json", _works).plan == Plan()


# --- the service's side ---

WEEK = tuple(Weekday)


def test_the_services_hours_are_what_a_display_reads() -> None:
    given = OpeningHours("Europe/Berlin", (OpenTime(WEEK, "08:00", "20:00"),))
    hours_rules.check(given)
    version, document = hours_rules.version_of(given), hours_rules.document(given)
    read = contract.parse_hours(hours_rules.message(version, document))

    assert document == DAILY
    assert read == HoursOrder(version, document)
    assert contract.parse_hours(hours_rules.message(None, None)) == HoursOrder(None, None)


def test_the_longest_hours_fit_into_a_message() -> None:
    given = OpeningHours("America/Argentina/ComodRivadavia", (OpenTime(WEEK, "08:00", "20:00"),) * 21)
    hours_rules.check(given)
    message = hours_rules.message(hours_rules.version_of(given), hours_rules.document(given))

    assert len(message) <= contract.DOWNWARD_MAX_BYTES[contract.HOURS]


def test_a_version_names_the_hours_and_nothing_else() -> None:
    one = OpeningHours("Europe/Berlin", (OpenTime(WEEK, "08:00", "20:00"),))

    assert hours_rules.version_of(one) == hours_rules.version_of(structs.replace(one))
    assert hours_rules.version_of(one) != hours_rules.version_of(structs.replace(one, zone="Europe/Rome"))


@pytest.mark.parametrize(
    ("zone", "times", "error"),
    [
        ("Europe/Nowhere", (), TimeZoneUnknown),
        ("../etc", (), TimeZoneUnknown),
        ("UTC", (OpenTime((), "08:00", "20:00"),), Refused),
        ("UTC", (OpenTime((Weekday.MONDAY, Weekday.MONDAY), "08:00", "20:00"),), Refused),
        ("UTC", (OpenTime(WEEK, "8:00", "20:00"),), Refused),
        ("UTC", (OpenTime(WEEK, "24:00", "20:00"),), Refused),
        ("UTC", (OpenTime(WEEK, "08:00", "08:00"),), Refused),
        ("UTC", (OpenTime(WEEK, "08:00", "20:00"),) * 22, Refused),
    ],
)
def test_hours_that_no_display_could_follow_are_refused(zone: str, times: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        hours_rules.check(OpeningHours(zone, times))


def test_every_service_rule_holds_for_what_the_display_keeps(tmp_path: Path) -> None:
    """A plan survives the disk."""
    plan = hours.at(hours.with_order(PLAN, is_on=False), NOW, is_sure=True)[0]

    assert hours.from_json(json.loads(json.dumps(hours.to_json(plan)))) == plan
