"""Use cases of reports: what a batch of reports changes in the database."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients import installs_store
from shared.clients.failures_rules import ServiceFailure
from shared.clients.logins_rules import OtherName, SharedLogin
from shared.clients.reports import health_store, rules, store
from shared.clients.reports.rules import HealthReport, Heartbeat, PresenceReport
from shared.clients.reports.store import NotableHeartbeat, ProcessChange

INSTALLS_KEPT: Final = 32  # of one client; an older installation that returns counts as new


class NewStart(Struct, frozen=True):
    """A heartbeat with another boot_id or app_instance than the one before: the machine or player restarted."""

    uuid: str
    boot_id: str | None
    app_instance: str | None


class NewLife(Struct, frozen=True):
    """A display whose numbers may have restarted: the machine booted, but its boot_seq did not increase."""

    uuid: str
    install_id: str
    boot_seq: int
    """From this boot_seq on numbers may come again."""
    before_at: datetime
    """The last heartbeat before the restart."""
    went_back: bool
    """Certain: the heartbeat's seq is not higher than the one before."""


class HeartbeatsRecorded(Struct, frozen=True):
    """The result of a batch of heartbeats."""

    started: list[NewStart]
    lives: list[NewLife]
    other_names: list[OtherName]
    """Heartbeats with another device name than the stored one, in their order."""
    newest: list[Heartbeat]
    """The stored heartbeats that were their client's only candidate in the batch."""
    old: set[str]
    """The clients whose stored heartbeat is newer."""


class HealthRecorded(Struct, frozen=True):
    """The result of a batch of health reports."""

    failures: list[ServiceFailure]
    """The repeated failures that count."""
    newest: list[HealthReport]
    """The stored health reports that were their client's only candidate in the batch."""


def admit(
    connection: Connection, now: datetime, uuids: Sequence[str], registering: Iterable[str], *, auto_register: bool
) -> set[str]:
    """The uuids among `uuids` whose messages may be stored.

    An unknown uuid becomes a client when it is among `registering` (it sent a message that registers) and
    `auto_register` allows it. A deleted client stays deleted.
    """
    strangers = store.strangers(connection, uuids)
    unknown = {row.uuid for row in strangers if not row.deleted}
    new = unknown & set(registering) if auto_register else set()
    if new:
        store.register(connection, now, sorted(new))
    return set(uuids).difference(row.uuid for row in strangers if row.uuid not in new)


def note_installs(connection: Connection, now: datetime, installs: Sequence[tuple[str, str]]) -> None:
    """Remember these (uuid, install_id), in order of arrival; an unknown installation is its client's newest.

    Each client keeps its newest INSTALLS_KEPT: a display that sends a new one with every message fills no disk.
    """
    installs_store.note(connection, now, installs)
    installs_store.forget(connection, sorted({uuid for uuid, _ in installs}), INSTALLS_KEPT)


def record_heartbeats(
    connection: Connection, now: datetime, clock: float, reports: Iterable[Heartbeat]
) -> HeartbeatsRecorded:
    """Store the newest heartbeat of each client and its changes. `clock`: the bridge's monotonic clock, in seconds."""
    candidates = rules.newest(reports)
    found = store.put_heartbeats(connection, now, clock, candidates)
    rows = [row for row in found if not row.is_old]
    changes = [_process_change(row, now) for row in rows if row.differs]
    if changes:
        store.change_process_status(connection, now, changes)
    lives = [life for row in rows if (life := _new_life(row)) is not None]
    _forget_stamps(connection, now, rows, lives)
    old = {row.uuid for row in found if row.is_old}
    return HeartbeatsRecorded(
        [NewStart(row.uuid, row.boot_id, row.app_instance) for row in rows if row.began_anew],
        lives,
        [other for row in sorted(found, key=attrgetter("heard")) if (other := _other_name(row)) is not None],
        rules.only_ones(candidates, old),
        old,
    )


def _new_life(row: NotableHeartbeat) -> NewLife | None:
    if row.install_id is None or row.install_id != row.old_install_id or row.boot_seq is None or row.old_at is None:
        return None
    went_back = (row.boot_seq, row.seq or 0) <= (row.old_boot_seq or 0, row.old_seq or 0)
    other_boot = None not in (row.boot_id, row.old_boot_id) and row.boot_id != row.old_boot_id
    if not went_back and not (row.boot_seq == row.old_boot_seq and other_boot):
        return None
    return NewLife(row.uuid, row.install_id, row.boot_seq, row.old_at, went_back)


def _forget_stamps(
    connection: Connection, now: datetime, rows: Sequence[NotableHeartbeat], lives: Sequence[NewLife]
) -> None:
    """Forget the health stamps of clients whose counter went back or whose installation changed."""
    went_back = [life.uuid for life in lives if life.went_back]
    others = [
        (row.uuid, row.install_id)
        for row in rows
        if row.install_id is not None and row.old_install_id is not None and row.install_id != row.old_install_id
    ]
    if went_back or others:
        health_store.forget_stamps(connection, went_back, others)
        store.note_went_back(connection, now, went_back)


def _other_name(row: NotableHeartbeat) -> OtherName | None:
    """The device's new name if it differs from the stored one; None when one of them is missing."""
    for name, before in (
        (row.boot_id, row.old_boot_id),
        (row.app_instance, row.old_app_instance),
        (row.install_id, row.old_install_id),
    ):
        if name is not None and before is not None and row.old_at is not None:
            return None if name == before else OtherName(row.uuid, row.at, name, before, row.old_at, row.is_old)
    return None


def _process_change(row: NotableHeartbeat, now: datetime) -> ProcessChange:
    status, cause = rules.when_heard(row.process_status)
    is_fresh = now - row.at <= rules.FRESH_FOR
    return ProcessChange(row.uuid, row.process_status, status if is_fresh else None, cause)


def record_health(
    connection: Connection,
    now: datetime,
    clock: float,
    reports: Iterable[HealthReport],
    repeats: Iterable[ServiceFailure],
) -> HealthRecorded:
    """Store the newest health report of each client. Returns also the repeated failures that count.

    A failure repeated by a report that is not its client's newest is history, not state.
    """
    candidates = rules.newest(reports)
    newest = {(report.uuid, report.heard) for report in candidates}
    current = [failure for failure in repeats if (failure.uuid, failure.heard) in newest]
    old = health_store.put_health(connection, now, clock, candidates)
    failures = [failure for failure in current if failure.uuid not in old]
    return HealthRecorded(failures, rules.only_ones(candidates, old))


def record_presence(connection: Connection, now: datetime, reports: Sequence[PresenceReport]) -> set[str]:
    """Write the presence after these messages, in order of arrival. Returns the clients that came online."""
    return store.put_presence(connection, now, rules.presence_changes(reports))


def note_went_back(connection: Connection, now: datetime, uuids: Sequence[str]) -> None:
    """Note that the counters of these clients went back, by their log lines."""
    store.note_went_back(connection, now, uuids)


def note_shared_logins(connection: Connection, now: datetime, shared: Sequence[SharedLogin]) -> set[str]:
    """Note that two devices share these logins. Returns the clients noted now."""
    return store.note_shared_login(connection, now, shared)
