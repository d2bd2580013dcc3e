"""Reconnects to the broker or the database have growing, bounded and random pauses."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

import bridge.duties
import bridge.leader
from bridge.duties import Due
from bridge.leader import FIRST_BACK_OFF_SECONDS, LONGEST_BACK_OFF_SECONDS, Leader

NOW = 100.0
BRIDGES = 50
FAILURES = 12


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (bridge.duties, bridge.leader):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: NOW))


def waits_for_the_broker() -> list[float]:
    due, waits = Due(), []
    for _ in range(FAILURES):
        due.connect_later()
        waits.append(due.connect - NOW)
    due.steady()
    due.connect_later()
    return [*waits, due.connect - NOW]


def waits_for_the_database() -> list[float]:
    leader, waits = Leader(cast("Any", None), "this one"), []
    for _ in range(FAILURES):
        leader.away(None)
        waits.append(leader._not_before - NOW)
    leader._failures = 0  # like after each success
    leader.away(None)
    return [*waits, leader._not_before - NOW]


@pytest.mark.parametrize("waits", [waits_for_the_broker, waits_for_the_database])
def test_each_wait_is_longer_to_a_bound_and_the_bridges_do_not_come_back_in_step(waits: Any) -> None:
    fleet = [waits() for _ in range(BRIDGES)]

    *growing, again = zip(*fleet, strict=True)
    means = [sum(one) / BRIDGES for one in growing]
    assert means[0] < means[1] < means[2] < means[3]
    assert all(max(one) <= LONGEST_BACK_OFF_SECONDS for one in growing)
    assert all(min(one) >= FIRST_BACK_OFF_SECONDS / 2 for one in growing)
    assert min(growing[-1]) >= LONGEST_BACK_OFF_SECONDS / 2
    assert max(again) < min(growing[-1])  # after a success the next failure counts as the first
    for one in growing:
        assert len(set(one)) == BRIDGES
        assert max(one) - min(one) > max(one) / 5  # spread over a large part of the pause
