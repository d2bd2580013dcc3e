"""Presence of any number of unknown displays waits for their first heartbeat."""

from typing import Any

import pytest

import bridge.batches
from bridge.batches import AT_ONCE, EARLY_AT_ONCE, EARLY_MAX, Urgent
from bridge.inbox import Arrival, Inbox
from bridge.storing import BatchOutcome

ROLLOUT = 10_000


INBOX = Inbox("signage", "signage/service/canary")
TOPIC = "signage/11111111-1111-4111-8111-111111111111/presence"


class Clock:
    now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(bridge.batches, "time", made)
    return made


def say(urgent: Urgent, clock: Clock, count: int) -> int:
    """Let `count` unknown displays publish `online`. Returns how many were refused."""
    refused = 0
    for _ in range(0, count, AT_ONCE):
        urgent.bulk_came()  # heartbeats come too
        arrivals = [Arrival(TOPIC, b'{"state": "online"}', 1, clock.now) for _ in range(AT_ONCE)]
        batch = urgent.batch(arrivals, INBOX)
        refused += store(urgent, batch, set())
    return refused


def store(urgent: Urgent, batch: list[Any], stored: set[int]) -> int:
    """Treat unknown clients like `Writer._admit`. Returns how many may not wait."""
    patient_from = urgent.patient_from
    early = [one for one in batch if one.arrival.heard > patient_from and id(one) not in stored]
    urgent.committed(BatchOutcome(early=early))
    return len(batch) - len(early)


def test_a_first_rollout_of_ten_thousand_is_not_refused_and_tried_again_in_pieces(clock: Clock) -> None:
    urgent = Urgent()
    assert say(urgent, clock, ROLLOUT) == 0

    known, largest = 0, 0
    while known < ROLLOUT:  # the test's timeout ends an endless loop
        clock.now += 1.0
        batch = urgent.batch([], INBOX)
        largest, known = max(largest, len(batch)), known + len(batch)
        urgent.committed(BatchOutcome())

    assert largest == EARLY_AT_ONCE
    assert clock.now - 1_000.0 == ROLLOUT / EARLY_AT_ONCE


def test_more_than_the_memory_is_meant_for_are_refused(clock: Clock) -> None:
    urgent = Urgent()

    assert say(urgent, clock, EARLY_MAX + 5 * AT_ONCE) > 0
