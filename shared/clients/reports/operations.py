"""What happens in the database when displays report, a batch at a time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Final

from sqlalchemy import Connection

from shared.clients import installs_store
from shared.clients.failures_rules import ServiceFailure
from shared.clients.logins_rules import Sight
from shared.clients.reports import health_store, rules, store
from shared.clients.reports.rules import HealthReport, Heartbeat, PresenceSaid
from shared.clients.reports.store import NotableHeartbeat, ProcessChange

INSTALLS_KEPT: Final = 32  # of one client; who comes back from further away counts as new


@dataclass(frozen=True)
class NewStart:
    """A heartbeat with another boot_id or app_instance than the one before: the machine or player started anew."""

    uuid: str
    boot_id: str | None
    app_instance: str | None


@dataclass(frozen=True)
class NewLife:
    """A display whose numbers may have begun again: the machine booted, its counter of boots did not go up."""

    uuid: str
    install_id: str
    boot_seq: int
    """The boots from here on come again."""
    before_at: datetime
    """When the life before was heard last."""
    went_back: bool
    """It is certain: the number of its heartbeat is no higher than the one before."""


@dataclass(frozen=True)
class HeartbeatsRecorded:
    """What a batch of heartbeats did."""

    started: list[NewStart]
    lives: list[NewLife]
    sights: list[Sight]
    """Heartbeats with another name of the device than before, in their order."""
    newest: list[Heartbeat]
    """The heartbeats that are stored now and were their client's only candidate in the batch."""
    old: set[str]
    """The clients whose stored heartbeat is a newer one."""


@dataclass(frozen=True)
class HealthRecorded:
    """What a batch of health reports did."""

    failures: list[ServiceFailure]
    """The failures that they repeat and that count."""
    newest: list[HealthReport]
    """The health reports that are stored now and were their client's only candidate in the batch."""


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
    """Keep the newest heartbeat of each client and what it changes; answer which started anew."""
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
        [sight for row in sorted(found, key=attrgetter("heard")) if (sight := _sight(row)) is not None],
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
    """Of counters that went back, and of other installations: nothing that was numbered before is newer."""
    went_back = [life.uuid for life in lives if life.went_back]
    others = [
        (row.uuid, row.install_id)
        for row in rows
        if row.install_id is not None and row.old_install_id is not None and row.install_id != row.old_install_id
    ]
    if went_back or others:
        health_store.forget_stamps(connection, went_back, others)
        store.note_went_back(connection, now, went_back)


def _sight(row: NotableHeartbeat) -> Sight | None:
    """How the device names itself, where it is another name than before; None where either has none."""
    for name, before in (
        (row.boot_id, row.old_boot_id),
        (row.app_instance, row.old_app_instance),
        (row.install_id, row.old_install_id),
    ):
        if name is not None and before is not None and row.old_at is not None:
            return None if name == before else Sight(row.uuid, row.at, name, before, row.old_at, row.is_old)
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
    """Keep the newest health report of each client; answer the repeated failures that count.

    A failure repeated by a report that is not its client's newest is history, not state.
    """
    candidates = rules.newest(reports)
    newest = {(report.uuid, report.heard) for report in candidates}
    current = [failure for failure in repeats if (failure.uuid, failure.heard) in newest]
    old = health_store.put_health(connection, now, clock, candidates)
    failures = [failure for failure in current if failure.uuid not in old]
    return HealthRecorded(failures, rules.only_ones(candidates, old))


def record_presence(connection: Connection, now: datetime, reports: Sequence[PresenceSaid]) -> set[str]:
    """Write the presence that these messages, in order of arrival, end in; answer the clients that came online."""
    return store.put_presence(connection, now, rules.presence_changes(reports))


def note_went_back(connection: Connection, now: datetime, uuids: Sequence[str]) -> None:
    """Note that the counters of these clients went back, as their log lines show."""
    store.note_went_back(connection, now, uuids)


def note_shared_logins(connection: Connection, now: datetime, uuids: Sequence[str]) -> set[str]:
    """Note that two devices share the login of each of these clients; the clients where this is news."""
    return store.note_shared_login(connection, now, sorted(uuids))


def forget_the_future(connection: Connection, now: datetime) -> int:
    """After the database's clock was set back, let signs of life from the future count as heard now; how many clients.

    Otherwise such a client counts as heard until the clock is there again, even when it is silent. A crash or a
    failure of that time would not end when its display says so.
    """
    return store.forget_the_future(connection, now)
