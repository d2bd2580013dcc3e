"""Use case of signs of life: messages of displays whose heartbeats are missing."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.clients import signs_rules, signs_store
from shared.clients.signs_rules import SignsMemory

MOST_REMEMBERED: Final = 200_000  # senders, which may be no clients: twice the largest fleet


def record(
    connection: Connection,
    now: datetime,
    clock: float,
    talked: Mapping[str, float],
    beats: Mapping[str, tuple[float, int]],
    known: SignsMemory,
    stale_seconds: int,
) -> dict[str, float]:
    """Store the signs that are due. Returns the signs to remember after the commit.

    With a healthy fleet, whose heartbeats are remembered, none are due.

    `talked`: uuid -> when a message was heard that is no stored heartbeat. `beats`: uuid -> when the stored heartbeat
    was heard, and its interval in seconds. `clock`: the bridge's monotonic clock, in seconds.
    """
    if len(known.signs) > MOST_REMEMBERED:
        known.signs.clear()
    due = signs_rules.due(talked, beats, known, stale_seconds)
    if due:
        signs_store.record(connection, now, clock, due, stale_seconds)
    return due
