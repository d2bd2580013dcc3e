"""Heartbeats show that two devices use one login."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.clients.logins_rules import MANY, NAMES, WITHIN, OtherName, Seen, sharing

BEGAN = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
U = "3b4f2a6e-7f0c-5d0e-9a4c-0f3f2f9c1d11"


def told(names: Sequence[str], every: float) -> set[str]:
    """The clients that count as shared, after heartbeats with these device names, `every` seconds apart."""
    return set(others_of([(name, BEGAN + timedelta(seconds=every * n)) for n, name in enumerate(names)]))


def others_of(beats: Sequence[tuple[str, datetime]]) -> dict[str, datetime]:
    """Client that counts as shared -> when the other device was heard, after these heartbeats (name, time)."""
    seen, found = Seen(), dict[str, datetime]()
    for (before, before_at), (name, at) in pairwise(beats):
        if name != before:
            shared = sharing([OtherName(U, at, name, before, before_at, is_old=False)], seen)
            found |= {uuid: one.other_at for uuid, one in shared.items()}
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
        sharing([OtherName(U, at, f"{number + 1}", f"{number}", at - timedelta(seconds=1), is_old=False)], seen)

    assert len(seen.last[U]) == NAMES


def test_of_very_many_clients_those_of_long_ago_are_forgotten() -> None:
    seen, second = Seen(), timedelta(seconds=1)
    for number in range(MANY + 2):
        at = BEGAN if number < MANY else BEGAN + timedelta(hours=3)
        sharing([OtherName(f"client {number}", at, "B", "A", at - second, is_old=False)], seen)

    assert set(seen.last) == {f"client {MANY}", f"client {MANY + 1}"}


def test_a_device_that_comes_back_after_hours_was_changed_by_a_person() -> None:
    assert told("ABA", timedelta(hours=3).total_seconds()) == set()


BEATS = st.lists(st.tuples(st.sampled_from("ABC"), st.integers(1, 9_000)), min_size=1, max_size=30)
"""Names of devices, each with the seconds since the heartbeat before."""


def in_time(beats: Sequence[tuple[str, int]]) -> list[tuple[str, datetime]]:
    moments, at = [], BEGAN
    for name, seconds in beats:
        at += timedelta(seconds=seconds)
        moments.append((name, at))
    return moments


@given(BEATS)
def test_two_devices_are_exactly_a_name_that_returns_in_time_after_another_one(beats: list[tuple[str, int]]) -> None:
    moments = in_time(beats)

    expected = any(
        name == again and at_again - at <= WITHIN and any(other != name for other, _ in moments[first + 1 : later])
        for first, (name, at) in enumerate(moments)
        for later, (again, at_again) in enumerate(moments)
        if first < later and all(between != name for between, _ in moments[first + 1 : later])
    )

    assert set(others_of(moments)) == ({U} if expected else set())


@given(st.lists(st.integers(1, 9_000), min_size=1, max_size=30), st.integers(1, 5))
def test_a_crash_loop_of_one_device_is_never_two_however_fast_it_boots(pauses: list[int], beats: int) -> None:
    boots = [(f"boot {number // beats}", seconds) for number, seconds in enumerate(pauses)]

    assert others_of(in_time(boots)) == {}


@given(BEATS)
def test_the_other_device_was_heard_before_the_one_that_returns(beats: list[tuple[str, int]]) -> None:
    moments = in_time(beats)

    for other_at in others_of(moments).values():
        assert BEGAN < other_at < moments[-1][1]
