"""What happens when displays talk whose heartbeats do not come."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.clients import signs_rules, signs_store
from shared.clients.signs_rules import SignsMemory

MOST_REMEMBERED: Final = 200_000  # of senders, who need not be clients: twice the largest fleet


def record(
    connection: Connection,
    now: datetime,
    clock: float,
    talked: Mapping[str, float],
    beats: Mapping[str, tuple[float, int]],
    known: SignsMemory,
    stale_seconds: int,
) -> dict[str, float]:
    """Store the signs that are due; what to remember of them once they are committed.

    Of a fleet that is well: none, once its heartbeats are remembered.

    `talked`: who sent anything else than a heartbeat that was stored, and when that was heard; `beats`: the heartbeats
    that were, each with its interval in seconds.
    """
    if len(known.signs) > MOST_REMEMBERED:
        known.signs.clear()
    due = signs_rules.due(talked, beats, known, stale_seconds)
    if due:
        signs_store.record(connection, now, clock, due, stale_seconds)
    return due
