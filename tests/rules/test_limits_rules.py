"""Limits of health: what is passed, for how long it must last, and what ends it."""

import itertools
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.clients.limits_rules import (
    ENDS_AFTER,
    FRESH_FOR,
    LASTS_FOR,
    LIMITS,
    Passing,
    Reading,
    judge,
    unusable,
)
from shared.vocabulary import HealthLimit

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
DISK = LIMITS[HealthLimit.DISK]
BAD: Final = {
    HealthLimit.DISK: 94.0,
    HealthLimit.MEMORY: 97.0,
    HealthLimit.HEAT: 86.0,
    HealthLimit.CERTIFICATE: 9.0,
    HealthLimit.CLOCK: -180.0,
    HealthLimit.VOLTAGE: 1.0,
    HealthLimit.READ_ONLY: 1.0,
    HealthLimit.REFUSED: 2.0,
}
GOOD: Final = {
    HealthLimit.DISK: 40.0,
    HealthLimit.MEMORY: 40.0,
    HealthLimit.HEAT: 40.0,
    HealthLimit.CERTIFICATE: 90.0,
    HealthLimit.CLOCK: 2.0,
    HealthLimit.VOLTAGE: 0.0,
    HealthLimit.READ_ONLY: 0.0,
    HealthLimit.REFUSED: 0.0,
}


def after(
    values: Sequence[float | None], kind: HealthLimit = HealthLimit.DISK, every: timedelta = MINUTE
) -> list[Passing | None]:
    """What is known after each of these values, reported one after the other and judged at once."""
    found: list[Passing | None] = [None]
    for number, value in enumerate(values):
        at = NOW + number * every
        found.append(judge(found[-1], Reading("u", at, **{kind.value: value}), kind, LIMITS[kind], at))
    return found[1:]


def troubles(found: Sequence[Passing | None]) -> int:
    """How often a trouble began."""
    begun = [one is not None and one.passed_at is not None for one in found]
    return sum(now and not before for before, now in zip([False, *begun], begun, strict=False))


def is_on(one: Passing | None) -> bool:
    return one is not None and one.passed_at is not None


@pytest.mark.parametrize("kind", HealthLimit)
def test_a_bad_value_is_a_trouble_when_it_has_lasted_and_over_when_a_good_one_has(kind: HealthLimit) -> None:
    found = after([BAD[kind]] * 6 + [GOOD[kind]] * 16, kind)

    assert [is_on(one) for one in found] == [False] * 5 + [True] * 16 + [False]
    begun = found[5]
    assert begun is not None
    assert (begun.over_since, begun.passed_at, begun.value) == (NOW, NOW + LASTS_FOR, BAD[kind])
    assert begun.limit_at == LIMITS[kind].at


@pytest.mark.parametrize("kind", HealthLimit)
def test_a_report_without_the_value_is_neither_well_nor_bad(kind: HealthLimit) -> None:
    assert after([None] * 30, kind) == [None] * 30
    assert not any(is_on(one) for one in after([BAD[kind], None] * 20, kind))  # it never lasts
    found = after([BAD[kind]] * 6 + [None] * 15 + [BAD[kind]], kind)
    assert all(is_on(one) for one in found[5:])  # a sensor that is mute for a while ends nothing
    assert not is_on(after([BAD[kind]] * 6 + [None] * 16, kind)[-1])


@pytest.mark.parametrize(
    ("kind", "at_the_limit", "almost"),
    [
        (HealthLimit.DISK, 90.0, 89.99),
        (HealthLimit.MEMORY, 95.0, 94.99),
        (HealthLimit.HEAT, 80.0, 79.99),
        (HealthLimit.CERTIFICATE, 14.0, 14.01),
        (HealthLimit.CLOCK, 60.0, 59.99),
        (HealthLimit.CLOCK, -60.0, -59.99),
    ],
)
def test_the_limit_itself_is_passed_and_the_next_better_value_is_not(
    kind: HealthLimit, at_the_limit: float, almost: float
) -> None:
    assert is_on(after([at_the_limit] * 6, kind)[-1])
    assert after([almost] * 6, kind)[-1] is None
    stays = is_on(after([at_the_limit] * 6 + [almost] * 30, kind)[-1])
    assert stays is (kind is not HealthLimit.CERTIFICATE)  # whose days need no margin


def test_a_value_that_swings_around_the_limit_is_one_trouble() -> None:
    """Without the margin and the time this would be thirty troubles."""
    found = after([91.0] * 6 + [89.0, 91.0] * 60)

    assert troubles(found) == 1
    assert is_on(found[-1])


def test_a_value_that_swings_beyond_the_margin_is_one_trouble() -> None:
    """Without the time this would be sixty troubles."""
    assert troubles(after([91.0] * 6 + [70.0, 91.0] * 60)) == 1


def test_a_short_peak_is_no_trouble() -> None:
    assert troubles(after(([99.0] * 5 + [50.0]) * 20)) == 0


def test_a_display_that_was_silent_in_between_begins_again() -> None:
    """Two reports with hours between them prove nothing of the hours."""
    candidate = after([94.0])[0]
    later = NOW + timedelta(hours=3)
    forgotten = judge(candidate, Reading("u", NOW, disk=94.0), HealthLimit.DISK, DISK, NOW + FRESH_FOR + MINUTE)
    again = judge(forgotten, Reading("u", later, disk=94.0), HealthLimit.DISK, DISK, later)

    assert forgotten is not None
    assert forgotten.over_since is None
    assert again is not None
    assert (again.over_since, again.passed_at) == (later, None)


def test_a_display_that_falls_silent_keeps_its_trouble() -> None:
    trouble = after([94.0] * 6)[-1]

    old = Reading("u", NOW + 5 * MINUTE, disk=94.0)
    assert judge(trouble, old, HealthLimit.DISK, DISK, NOW + timedelta(days=3)) == trouble


def test_another_limit_counts_for_the_next_report() -> None:
    higher = replace(DISK, at=99)
    found = after([94.0] * 6)[-1]
    for minute in range(6, 22):
        at = NOW + minute * MINUTE
        found = judge(found, Reading("u", at, disk=94.0), HealthLimit.DISK, higher, at)

    assert not is_on(found)


HOSTILE: Final = [math.nan, math.inf, -math.inf, 1e12, -1e12, 1e308, 5e-324]


@pytest.mark.parametrize("kind", HealthLimit)
@pytest.mark.parametrize("value", HOSTILE[:5])
def test_a_value_that_no_machine_has_is_ignored_with_the_reason(kind: HealthLimit, value: float) -> None:
    why = unusable(kind, value, LIMITS[kind])

    assert why is not None
    assert why.startswith(f"{kind.value}: not a value between")
    assert after([value] * 30, kind) == [None] * 30
    assert unusable(kind, BAD[kind], LIMITS[kind]) is None


VALUES = st.none() | st.floats(-10, 110) | st.sampled_from([86.9, 87.0, 88.0, 89.9, 90.0, 91.0, *HOSTILE])


@given(st.lists(VALUES, max_size=80))
def test_whatever_is_reported_a_trouble_lasts_as_long_as_is_said(values: list[float | None]) -> None:
    found = after(values)

    on = [is_on(one) for one in found]
    for number, (value, is_now) in enumerate(zip(values, on, strict=True)):
        if is_now and not on[number - 1]:
            lasting = values[number - 5 : number + 1]
            assert all(one is not None and 87 <= one <= 100 for one in lasting)  # DISK's limit less its margin
            assert any(one is not None and 90 <= one <= 100 for one in values[: number + 1])
        if number and on[number - 1] and not is_now:
            gone = values[number - 15 : number + 1]
            assert not any(one is not None and 87 <= one <= 100 for one in gone)
            assert value is None or not 87 <= value <= 100


@given(st.lists(VALUES, max_size=40))
def test_the_same_report_judged_twice_changes_nothing_the_second_time(values: list[float | None]) -> None:
    found: Passing | None = None
    for number, value in enumerate(values):
        reading = Reading("u", NOW + number * MINUTE, disk=value)
        found = judge(found, reading, HealthLimit.DISK, DISK, reading.at)
        assert judge(found, reading, HealthLimit.DISK, DISK, reading.at + 10 * timedelta(seconds=1)) == found


@given(st.lists(st.floats(0, 100), min_size=1, max_size=60))
def test_a_second_trouble_never_begins_before_the_first_can_have_ended(values: list[float]) -> None:
    found = after(values)
    starts = [
        number for number, one in enumerate(found) if is_on(one) and (number == 0 or not is_on(found[number - 1]))
    ]

    assert all((b - a) * MINUTE >= ENDS_AFTER + LASTS_FOR for a, b in itertools.pairwise(starts))
