"""Use cases of reports that repeat the stored report."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Generic

from msgspec import Struct, field
from sqlalchemy import Connection

from shared.clients.repeats import rules, store
from shared.clients.reports.rules import HealthReport, Heartbeat


class ReportsMemory(Struct):
    """The newest stored report of each client. Remember only committed reports; to forget is always safe."""

    heartbeats: dict[str, tuple[int, int]] = field(default_factory=dict)
    health: dict[str, tuple[int, int]] = field(default_factory=dict)
    clients: set[str] = field(default_factory=set)  # recalled; some have no report that could be repeated
    cursor: str | None = None  # the start of the next query for changes

    def forget(self, uuids: Collection[str]) -> None:
        """Forget these clients."""
        self.clients.difference_update(uuids)
        for uuid in uuids:
            self.heartbeats.pop(uuid, None)
            self.health.pop(uuid, None)


def forget_changed(connection: Connection, memory: ReportsMemory) -> str:
    """Forget every client that changed since the last call. Returns the next cursor, to set after the commit."""
    changes = store.changes(connection, memory.cursor, store.FEW)
    if len(changes.uuids) == store.FEW:
        changes = store.changes(connection, memory.cursor)
    memory.forget(changes.uuids)
    memory.cursor = memory.cursor or changes.cursor  # the first call: nothing is remembered yet
    return changes.cursor


def recall(connection: Connection, uuids: Collection[str], memory: ReportsMemory) -> set[str]:
    """Remember the stored reports of these uuids before a write. Returns the uuids that are clients.

    Before the first `forget_changed` it remembers nothing: a change in between would never be forgotten.
    """
    stored = store.recall(connection, uuids) if memory.cursor is not None else []
    memory.heartbeats |= rules.remembered([one.heartbeat() for one in stored], rules.likeness_of_heartbeat)
    memory.health |= rules.remembered([one.health() for one in stored], rules.likeness_of_health)
    found = {one.uuid for one in stored}
    memory.clients |= found
    return found


class SortedReports(Struct, Generic[rules.Report], frozen=True):
    """The reports of a batch, sorted by the memory without a query."""

    all: Collection[rules.Report]
    same: int  # how many clients only repeat the remembered report
    others: list[rules.Report]  # the reports of all other clients
    columns: dict[str, str]  # the newest reports of those clients, as parameters of the UPDATE
    known: dict[str, tuple[int, int]]  # the memory of those clients after the commit


def sorted_heartbeats(
    reports: Collection[Heartbeat], memory: ReportsMemory, odd: Collection[str] = ()
) -> SortedReports[Heartbeat]:
    """Find the clients whose heartbeats only repeat the remembered one. A client in `odd` never does."""
    same, others = rules.split(reports, memory.heartbeats, rules.likeness_of_heartbeat, odd)
    return SortedReports(reports, len(same), others, store.columns(same), rules.still_known(same, memory.heartbeats))


def sorted_health(
    reports: Collection[HealthReport], memory: ReportsMemory, odd: Collection[str] = ()
) -> SortedReports[HealthReport]:
    """Find the clients whose health reports only repeat the remembered one."""
    same, others = rules.split(reports, memory.health, rules.likeness_of_health, odd)
    return SortedReports(
        reports, len(same), others, store.columns_of_health(same), rules.still_known(same, memory.health)
    )


def repeat_heartbeats(
    connection: Connection, now: datetime, clock: float, reports: SortedReports[Heartbeat], memory: ReportsMemory
) -> SortedReports[Heartbeat]:
    """Write the heartbeats that repeat the remembered one.

    A client whose stored heartbeat differs from the memory moves to `others` of the result. The memory forgets all
    `others`: `record_heartbeats` stores their heartbeats, and the memory gets them after the commit.
    """
    if reports.same and store.touch_heartbeats(connection, now, clock, reports.columns) < reports.same:
        odd = _odd(reports, store.untouched_heartbeats(connection, reports.columns))
        reports = sorted_heartbeats(reports.all, memory, odd)
    _forget(memory.heartbeats, reports)
    return reports


def repeat_health(
    connection: Connection, now: datetime, clock: float, reports: SortedReports[HealthReport], memory: ReportsMemory
) -> SortedReports[HealthReport]:
    """Write the health reports that repeat the remembered one; otherwise like `repeat_heartbeats`."""
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
