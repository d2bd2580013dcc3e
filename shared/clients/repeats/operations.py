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
    """The newest stored report of each client. Only remember what is committed; to forget is always right."""

    heartbeats: dict[str, tuple[int, int]] = field(default_factory=dict)
    health: dict[str, tuple[int, int]] = field(default_factory=dict)
    clients: set[str] = field(default_factory=set)  # recalled; some have no report that could be repeated
    cursor: str | None = None  # where the next look for changes begins

    def forget(self, uuids: Collection[str]) -> None:
        """Forget these clients."""
        self.clients.difference_update(uuids)
        for uuid in uuids:
            self.heartbeats.pop(uuid, None)
            self.health.pop(uuid, None)


def forget_changed(connection: Connection, memory: ReportsMemory) -> str:
    """Forget every client that changed since the last look; answer the next cursor, to set after the commit."""
    changes = store.changes(connection, memory.cursor, store.FEW)
    if len(changes.uuids) == store.FEW:
        changes = store.changes(connection, memory.cursor)
    memory.forget(changes.uuids)
    memory.cursor = memory.cursor or changes.cursor  # the first look: nothing is remembered of the time before it
    return changes.cursor


def recall(connection: Connection, uuids: Collection[str], memory: ReportsMemory) -> set[str]:
    """Remember the stored reports of these uuids before anything is written; answer which uuids are clients.

    Before the first look for changes it remembers nothing: a change between the two would never be forgotten.
    """
    stored = store.recall(connection, uuids) if memory.cursor is not None else []
    memory.heartbeats |= rules.remembered([one.heartbeat() for one in stored], rules.likeness_of_heartbeat)
    memory.health |= rules.remembered([one.health() for one in stored], rules.likeness_of_health)
    found = {one.uuid for one in stored}
    memory.clients |= found
    return found


@dataclass(frozen=True)
class SortedReports(Generic[rules.Report]):
    """The reports of a batch, sorted by the memory alone, without Postgres."""

    all: Collection[rules.Report]
    same: int  # clients of which every report here only repeats what is known
    others: list[rules.Report]  # the reports of all other clients
    columns: dict[str, str]  # the newest reports of those clients, as parameters of the UPDATE
    known: dict[str, tuple[int, int]]  # what to remember of those clients after the commit


def sorted_heartbeats(
    reports: Collection[Heartbeat], memory: ReportsMemory, odd: Collection[str] = ()
) -> SortedReports[Heartbeat]:
    """Find the clients whose heartbeats only repeat what is known. A client among `odd` never counts as one."""
    same, others = rules.split(reports, memory.heartbeats, rules.likeness_of_heartbeat, odd)
    return SortedReports(reports, len(same), others, store.columns(same), rules.still_known(same, memory.heartbeats))


def sorted_health(
    reports: Collection[HealthReport], memory: ReportsMemory, odd: Collection[str] = ()
) -> SortedReports[HealthReport]:
    """Find the clients whose health reports only repeat what is known."""
    same, others = rules.split(reports, memory.health, rules.likeness_of_health, odd)
    return SortedReports(
        reports, len(same), others, store.columns_of_health(same), rules.still_known(same, memory.health)
    )


def repeat_heartbeats(
    connection: Connection, now: datetime, clock: float, reports: SortedReports[Heartbeat], memory: ReportsMemory
) -> SortedReports[Heartbeat]:
    """Write the heartbeats that repeat what is known.

    A client whose stored heartbeat is another one moves to `others` of the answer. The memory forgets all others:
    their heartbeats are stored the long way, and remembered after the commit.
    """
    if reports.same and store.touch_heartbeats(connection, now, clock, reports.columns) < reports.same:
        odd = _odd(reports, store.untouched_heartbeats(connection, reports.columns))
        reports = sorted_heartbeats(reports.all, memory, odd)
    _forget(memory.heartbeats, reports)
    return reports


def repeat_health(
    connection: Connection, now: datetime, clock: float, reports: SortedReports[HealthReport], memory: ReportsMemory
) -> SortedReports[HealthReport]:
    """Write the health reports that repeat what is known; otherwise like `repeat_heartbeats`."""
    if reports.same and store.touch_health(connection, now, clock, reports.columns) < reports.same:
        odd = _odd(reports, store.untouched_health(connection, reports.columns))
        reports = sorted_health(reports.all, memory, odd)
    _forget(memory.health, reports)
    return reports


def _odd(reports: SortedReports[Any], untouched: set[str]) -> set[str]:
    return untouched.union(report.uuid for report in reports.others)


def _forget(known: dict[str, tuple[int, int]], reports: SortedReports[Any]) -> None:
    for report in reports.others:
        known.pop(report.uuid, None)
