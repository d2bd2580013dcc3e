"""Availability within opening hours: half hours of a day, and the days of a month."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.availability import rules
from shared.availability.rules import Spent
from shared.availability.segments_rules import Segment
from shared.vocabulary import ClientStatus

START = datetime(2026, 3, 10, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MARCH = rules.days_of(date(2026, 3, 1), date(2026, 3, 31), ZoneInfo("UTC"))
RUNNING, LATE, CRASHED = ClientStatus.RUNNING, ClientStatus.LATE, ClientStatus.CRASHED
STALE, UNKNOWN = ClientStatus.STALE, ClientStatus.UNKNOWN


def at(hours: float) -> datetime:
    return START + hours * HOUR


def strip(*steps: tuple[float, ClientStatus], ends: float = 24) -> list[Segment]:
    """States that begin at these hours, each until the next."""
    edges = [*(hours for hours, _ in steps), ends]
    return [Segment(at(edges[n]), at(edges[n + 1]), status) for n, (_, status) in enumerate(steps)]


def test_a_half_hour_shows_the_worst_state_in_it() -> None:
    found = rules.slots(strip((0, RUNNING), (1.2, CRASHED), (1.3, STALE), (2, LATE)), [], at(0), at(24))

    assert found[:5] == [RUNNING, RUNNING, CRASHED, STALE, LATE]
    assert len(found) == 48


def test_what_happens_while_the_shop_is_closed_is_not_shown() -> None:
    found = rules.slots(strip((0, CRASHED), (9.25, RUNNING)), [(at(0), at(9)), (at(20), at(24))], at(0), at(24))

    assert found[:18] == [None] * 18
    assert found[18:40] == [CRASHED, *[RUNNING] * 21]
    assert found[40:] == [None] * 8


def test_before_a_display_existed_there_is_no_state() -> None:
    found = rules.slots(strip((12, RUNNING)), [], at(0), at(24))

    assert (found[:24], found[24:]) == ([None] * 24, [RUNNING] * 24)


@pytest.mark.parametrize(
    ("first", "last", "zone", "hours", "note"),
    [
        ("2026-02-01", "2026-02-28", "UTC", 28 * 24, "February"),
        ("2026-03-23", "2026-03-29", "Europe/Rome", 7 * 24 - 1, "clocks go forward on Sunday"),
        ("2026-10-01", "2026-10-31", "Europe/Rome", 31 * 24 + 1, "clocks go back"),
        ("2026-12-28", "2027-01-03", "Pacific/Kiritimati", 7 * 24, "a week of two years, fourteen hours ahead"),
        ("2026-12-01", "2026-12-01", "UTC", 24, "one day"),
    ],
)
def test_the_days_of_a_period_follow_each_other_at_local_midnights(
    first: str, last: str, zone: str, hours: int, note: str
) -> None:
    days = rules.days_of(date.fromisoformat(first), date.fromisoformat(last), ZoneInfo(zone))

    assert days[-1].ends - days[0].begins == hours * HOUR, note
    assert all(one.ends == other.begins for one, other in pairwise(days))
    assert all(one.begins.astimezone(ZoneInfo(zone)).date() == one.date for one in days)


def test_a_day_counts_open_time_only_and_unknown_time_apart() -> None:
    days = MARCH[9:11]
    states = strip((-5, RUNNING), (10, LATE), (11, CRASHED), (12, UNKNOWN), (13, RUNNING), ends=30)

    first, second = rules.by_day(states, [(at(-9), at(9)), (at(20), at(33))], days)

    assert first == Spent(up=9 * HOUR, down=HOUR, unknown=HOUR, closed=13 * HOUR)
    assert second == Spent(closed=6 * HOUR)


def test_a_day_that_has_not_come_has_no_time() -> None:
    assert rules.by_day([], [], MARCH) == [Spent()] * 31


@pytest.mark.parametrize(
    ("spent", "displays", "known_for"),
    [
        (Spent(up=168 * HOUR), 1, None),
        (Spent(up=160 * HOUR, unknown=8 * HOUR), 1, None),
        (Spent(up=159 * HOUR, unknown=9 * HOUR), 1, 159 * HOUR),
        (Spent(up=HOUR / 5), 1, HOUR / 5),
        (Spent(up=60 * HOUR, down=10 * HOUR, closed=98 * HOUR), 1, None),
        (Spent(up=168 * HOUR, down=2 * HOUR), 2, 85 * HOUR),
        (Spent(closed=168 * HOUR), 1, None),
        (Spent(), 1, timedelta()),
    ],
)
def test_a_figure_says_for_how_long_its_displays_are_known(
    spent: Spent, displays: int, known_for: timedelta | None
) -> None:
    assert spent.known_for(7 * DAY, displays) == known_for


SPANS = st.lists(st.integers(0, 96), min_size=2, max_size=12, unique=True).map(sorted)


@given(SPANS, SPANS, st.lists(st.sampled_from(list(ClientStatus)), min_size=12, max_size=12))
def test_every_moment_counts_once(states: list[int], shut: list[int], words: list[ClientStatus]) -> None:
    days = MARCH[9:13]
    whole = [Segment(at(a / 2), at(b / 2), words[n]) for n, (a, b) in enumerate(pairwise(states))]
    closed = [(at(a / 2), at(b / 2)) for a, b in zip(shut[::2], shut[1::2], strict=False)]

    total = sum(rules.by_day(whole, closed, days), Spent())
    parts = list(rules.open_parts(whole, closed))

    assert total.up + total.down + total.unknown + total.closed == whole[-1].ends - whole[0].begins
    assert total.up + total.down + total.unknown == sum((part.ends - part.begins for part in parts), timedelta())
    assert all(part.ends <= begins or part.begins >= ends for part in parts for begins, ends in closed)
