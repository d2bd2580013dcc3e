"""What happens when displays repeat what they said before."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic

from sqlalchemy import Connection

from shared.clients.repeats import rules, store
from shared.clients.reports.rules import HealthReport, Heartbeat


@dataclass
class ReportsMemory:
    """What was stored of each client. Only what is committed may be remembered; to forget is always right."""

    heartbeats: dict[str, tuple[int, int]] = field(default_factory=dict)
    health: dict[str, tuple[int, int]] = field(default_factory=dict)
    clients: set[str] = field(default_factory=set)  # recalled, though nothing that could be repeated may be known
    cursor: str | None = None  # where to look for changes the next time

    def forget(self, uuids: Collection[str]) -> None:
        """Know nothing of these any more."""
        self.clients.difference_update(uuids)
        for uuid in uuids:
            self.heartbeats.pop(uuid, None)
            self.health.pop(uuid, None)


def forget_changed(connection: Connection, memory: ReportsMemory) -> str:
    """Forget every client that changed since the last look; answer where to look from, once this is committed."""
    changes = store.changes(connection, memory.cursor, store.FEW)
    if len(changes.uuids) == store.FEW:
        changes = store.changes(connection, memory.cursor)
    memory.forget(changes.uuids)
    memory.cursor = memory.cursor or changes.cursor  # the first look: nothing is remembered of the time before it
    return changes.cursor


def recall(connection: Connection, uuids: Collection[str], memory: ReportsMemory) -> set[str]:
    """Remember what is stored of these, and answer which of them are clients; before anything is written.

    None before the first look for changes: what changed between the two would never be forgotten.
    """
    stored = store.recall(connection, uuids) if memory.cursor is not None else []
    memory.heartbeats |= rules.remembered([one.heartbeat() for one in stored], rules.likeness_of_heartbeat)
    memory.health |= rules.remembered([one.health() for one in stored], rules.likeness_of_health)
    found = {one.uuid for one in stored}
    memory.clients |= found
    return found


@dataclass(frozen=True)
class SortedReports(Generic[rules.Report]):
    """Reports of a batch beside what is known, sorted without asking anybody."""

    all: Collection[rules.Report]
    same: int  # clients of which every report here only repeats what is known
    others: list[rules.Report]  # the reports of all other clients
    columns: dict[str, str]  # the newest reports of the former, as they are written
    known: dict[str, tuple[int, int]]  # what to remember of them, once they are committed


def sorted_heartbeats(
    said: Collection[Heartbeat], memory: ReportsMemory, odd: Collection[str] = ()
) -> SortedReports[Heartbeat]:
    """Find the clients whose heartbeats only repeat what is known. Nobody among `odd` is one of them."""
    same, others = rules.split(said, memory.heartbeats, rules.likeness_of_heartbeat, odd)
    return SortedReports(said, len(same), others, store.columns(same), rules.still_known(same, memory.heartbeats))


def sorted_health(
    said: Collection[HealthReport], memory: ReportsMemory, odd: Collection[str] = ()
) -> SortedReports[HealthReport]:
    """As `sorted_heartbeats`."""
    same, others = rules.split(said, memory.health, rules.likeness_of_health, odd)
    return SortedReports(said, len(same), others, store.columns_of_health(same), rules.still_known(same, memory.health))


def repeat_heartbeats(
    connection: Connection, now: datetime, clock: float, told: SortedReports[Heartbeat], memory: ReportsMemory
) -> SortedReports[Heartbeat]:
    """Write the heartbeats that repeat what is known; the same, but for those of which the database knew better.

    The other clients are not known any more: what becomes of them the long way may be remembered once committed.
    """
    if told.same and store.touch_heartbeats(connection, now, clock, told.columns) < told.same:
        odd = _odd(told, store.untouched_heartbeats(connection, told.columns))
        told = sorted_heartbeats(told.all, memory, odd)
    _forget(memory.heartbeats, told)
    return told


def repeat_health(
    connection: Connection, now: datetime, clock: float, told: SortedReports[HealthReport], memory: ReportsMemory
) -> SortedReports[HealthReport]:
    """As `repeat_heartbeats`."""
    if told.same and store.touch_health(connection, now, clock, told.columns) < told.same:
        odd = _odd(told, store.untouched_health(connection, told.columns))
        told = sorted_health(told.all, memory, odd)
    _forget(memory.health, told)
    return told


def _odd(told: SortedReports[Any], untouched: set[str]) -> set[str]:
    return untouched.union(report.uuid for report in told.others)


def _forget(known: dict[str, tuple[int, int]], told: SortedReports[Any]) -> None:
    for report in told.others:
        known.pop(report.uuid, None)
