"""Heartbeats show that two devices use one login."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from shared.clients.logins_rules import MANY, NAMES, Seen, Sight, sharing

BEGAN = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
U = "3b4f2a6e-7f0c-5d0e-9a4c-0f3f2f9c1d11"


def told(names: Sequence[str], every: float) -> set[str]:
    """The clients that count as shared, after heartbeats with these device names, `every` seconds apart."""
    seen, found = Seen(), set[str]()
    for number in range(1, len(names)):
        name, before = names[number], names[number - 1]
        if name != before:
            at, before_at = (BEGAN + timedelta(seconds=every * n) for n in (number, number - 1))
            found |= sharing([Sight(U, at, name, before, before_at, is_old=False)], seen)
    return found


@pytest.mark.parametrize("interval", [5, 30, 600, 1200, 3600])
def test_two_devices_that_beat_in_turns_are_seen_whatever_their_interval(interval: int) -> None:
    assert told("ABA", interval / 2) == {U}


def test_reboots_one_after_another_are_one_device() -> None:
    assert told("AAABBCCCD", 30) == set()


def test_a_display_that_takes_another_name_each_time_costs_no_more_than_a_few() -> None:
    seen = Seen()
    for number in range(1_000):
        at = BEGAN + timedelta(seconds=number)
        sharing([Sight(U, at, f"{number + 1}", f"{number}", at - timedelta(seconds=1), is_old=False)], seen)

    assert len(seen.last[U]) == NAMES


def test_of_very_many_clients_those_of_long_ago_are_forgotten() -> None:
    seen, second = Seen(), timedelta(seconds=1)
    for number in range(MANY + 2):
        at = BEGAN if number < MANY else BEGAN + timedelta(hours=3)
        sharing([Sight(f"client {number}", at, "B", "A", at - second, is_old=False)], seen)

    assert set(seen.last) == {f"client {MANY}", f"client {MANY + 1}"}


def test_a_device_that_comes_back_after_hours_was_changed_by_a_person() -> None:
    assert told("ABA", timedelta(hours=3).total_seconds()) == set()
