"""Fleets, ticks in virtual time, and queries for their effects, for the tests of recovery."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from msgspec.structs import asdict
from sqlalchemy import Connection

from shared import config
from shared.clients import statuses_operations
from shared.clients import store as clients_store
from shared.clients.reports import operations as reports
from shared.clients.reports.rules import HealthReport
from shared.commands import operations as commands
from shared.commands.acks import operations as acks
from shared.commands.outbox import operations as outbox
from shared.commands.proofs_operations import record_new_starts
from shared.commands.rules import Ack, Attempt, Sighting
from shared.config import Config
from shared.leadership import store as leadership_store
from shared.leadership.rules import listening
from shared.recovery import operations, store
from shared.recovery.breakers import operations as breakers
from shared.recovery.operations import RecoveryReport
from shared.tables import bridge_status, client_commands, client_heartbeats, clients
from shared.vocabulary import CommandState, PublishAnswer, ScreenHealthStatus
from shared.words.reader import english
from tests.stores.commands_world import TIMINGS, add_client

ON = config.load({"CRASH_RECOVERY_ENABLED": "true"})
OFF = config.load({})


def hear(connection: Connection, at: datetime, since: timedelta = timedelta(days=3)) -> None:
    """Record that the bridge has listened for `since`, and that its canary returned at `at`."""
    connection.execute(sa.update(bridge_status).values(connected_since=at - since, canary_at=at))


def crash(connection: Connection, now: datetime, crashed_for: float = 60, **facts: Any) -> str:
    """Add a client with a fresh heartbeat whose player crashed `crashed_for` seconds ago. Returns its uuid."""
    since = now - timedelta(seconds=crashed_for)
    return add_client(connection, now, process_status="crashed", process_status_since=since, status="crashed", **facts)


def fleet(connection: Connection, heard_at: datetime, number: int, site: str | None = None, **facts: Any) -> list[str]:
    """Add `number` running clients with their last heartbeat at `heard_at`. Returns their uuids."""
    columns = {"process_status": "running", "status": "running", "presence": "online", **facts}
    statement = sa.text(
        f"""
        WITH made AS (
            INSERT INTO clients (uuid, registered_by, site, process_status, status, presence, process_status_since)
            SELECT gen_random_uuid()::text, 'enrolment', CAST(:site AS text), CAST(:process_status AS process_status),
                :status, :presence, CAST(:at AS timestamptz) - interval '2 hours'
            FROM generate_series(1, :number) RETURNING uuid)
        INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at, boot_id, app_instance)
        SELECT uuid, CAST(:at AS timestamptz), '{BOOT}', '{START}' FROM made RETURNING client_uuid
        """
    )
    parameters = {**columns, "at": heard_at, "number": number, "site": site}
    return list(connection.execute(statement, parameters).scalars())


BOOT, START = "boot-1", "start-1"


def beat(connection: Connection, uuids: Sequence[str] | str, at: datetime) -> None:
    """Record a heartbeat of these clients at `at`."""
    named = [uuids] if isinstance(uuids, str) else list(uuids)
    mine = client_heartbeats.c.client_uuid == sa.any_(sa.literal(named, sa.ARRAY(sa.Text)))
    connection.execute(sa.update(client_heartbeats).where(mine).values(last_heartbeat_at=at))


def others_beat(connection: Connection, clients_left_out: Sequence[str], at: datetime) -> None:
    """Record a heartbeat of all other clients at `at`."""
    theirs = client_heartbeats.c.client_uuid != sa.all_(sa.literal(list(clients_left_out), sa.ARRAY(sa.Text)))
    connection.execute(sa.update(client_heartbeats).where(theirs).values(last_heartbeat_at=at))


def become(connection: Connection, client: str, at: datetime, process_status: str) -> None:
    """Record a heartbeat with a new process status."""
    values = {"process_status": process_status, "process_status_since": at, "status": process_status}
    connection.execute(sa.update(clients).where(clients.c.uuid == client).values(**values))
    beat(connection, client, at)


def running(connection: Connection, now: datetime, **facts: Any) -> str:
    """Add a display whose heartbeats report a running player. Returns its uuid."""
    at = now - timedelta(hours=2)
    of_player = {"process_status": "running", "process_status_since": at, "status": "running"}
    return add_client(connection, now, **of_player, **facts)


def tell(connection: Connection, at: datetime, uuids: Sequence[str] | str, screen: str) -> None:
    """Store a health report of each of these displays with this state of the screen."""
    named = [uuids] if isinstance(uuids, str) else uuids
    said = [HealthReport(uuid, 0.0, {}, ScreenHealthStatus(screen)) for uuid in named]
    reports.record_health(connection, at, 0.0, said, [])


def tell_twice(connection: Connection, at: datetime, uuids: Sequence[str] | str, screen: str) -> None:
    """Store two reports in a row, the last one at `at`."""
    tell(connection, at - timedelta(seconds=30), uuids, screen)
    tell(connection, at, uuids, screen)


def recover(connection: Connection, now: datetime, settings: Config = ON) -> RecoveryReport:
    return operations.recover(connection, now, settings, TIMINGS)


def look(connection: Connection, at: datetime, *heard: Sequence[str] | str) -> RecoveryReport:
    """Run a round at `at`, while the bridge listens and these clients were just heard."""
    hear(connection, at)
    for uuids in heard:
        beat(connection, uuids, at)
    return recover(connection, at)


def sent(connection: Connection, report: RecoveryReport) -> list[tuple[str, str]]:
    """(client, action) of the commands of one round, ordered by client."""
    rows = connection.execute(
        sa.select(client_commands.c.client_uuid, client_commands.c.action).where(
            client_commands.c.id.in_(report.command_ids)
        )
    )
    return sorted((row.client_uuid, row.action) for row in rows)


def finish(connection: Connection, at: datetime, report: RecoveryReport, state: str = "succeeded") -> None:
    """Record ACKs, and after a success the new boots and starts, that end the commands of this round."""
    rows = connection.execute(
        sa.select(client_commands.c.client_uuid, client_commands.c.id).where(
            client_commands.c.id.in_(report.command_ids)
        )
    ).all()
    boots = {name: f"boot of {name}" if state == "succeeded" else None for _, name in rows}
    said = [Ack(client, name, CommandState(state), boot_id=boots[name]) for client, name in rows]
    acks.record_acks(connection, at, said, TIMINGS)
    seen = [Sighting(client, boots[name], f"start of {name}") for client, name in rows if boots[name]]
    record_new_starts(connection, at, seen)


def answer(connection: Connection, at: datetime, report: RecoveryReport, code: PublishAnswer) -> None:
    """Record the broker's answer to the commands of this round."""
    claimed = outbox.claim_due(connection, at, only_ids=list(report.command_ids))
    attempts = [Attempt(one.id, one.lease_until, one.attempts, code, may_have_left=code < 0x80) for one in claimed]
    outbox.record_publish_answers(connection, at, attempts, TIMINGS)


@dataclass
class History:
    """Ticks, and their commands."""

    connection: Connection
    at: datetime
    acts: list[tuple[int, str]] = field(default_factory=list)
    """(minute, action) of the commands to all clients."""
    minute: int = 0
    every: int = 1
    """Minutes from one tick to the next."""

    def tick(self, heard: Sequence[str] | str = (), *, done: bool = True) -> RecoveryReport:
        """Run a tick while the bridge listens and these clients were just heard. `done`: its commands succeed."""
        hear(self.connection, self.at)
        beat(self.connection, heard, self.at)
        commands.expire(self.connection, self.at)
        sweep(self.connection, self.at)
        report = recover(self.connection, self.at)
        self.acts += [(self.minute, action) for _, action in sent(self.connection, report)]
        if done:
            finish(self.connection, self.at, report)
        self.minute += self.every
        self.at += timedelta(minutes=self.every)
        return report

    def ticks(self, minutes: int, heard: Sequence[str] | str = (), *, done: bool = True) -> None:
        for _ in range(0, minutes, self.every):
            self.tick(heard, done=done)

    def told(self, client: str) -> dict[str, Any]:
        """What people see about recovery of this client, ten seconds after the last tick."""
        return told(self.connection, self.at - timedelta(minutes=self.every) + timedelta(seconds=10), client)


def sweep(connection: Connection, at: datetime) -> None:
    """Update the shown states, as the bridge and the tick do."""
    bridge = listening(leadership_store.bridge_status(connection), at)
    uuids = statuses_operations.candidates(connection, at, 180, bridge)
    statuses_operations.sweep(connection, at, 180, bridge, uuids)


def decisions(connection: Connection, client: str) -> list[tuple[str, str | None]]:
    """(decision, state in its evidence) of this client, the oldest first."""
    rows = store.events_page(connection, client, 100, None)
    return [(row.decision, row.evidence["state"]) for row in reversed(rows)]


def open_breakers(connection: Connection) -> set[str | None]:
    """Sites with an open breaker; None is the whole fleet."""
    return {site for _, site in breakers.standing(connection, ON)}


def breaker_decisions(connection: Connection) -> list[tuple[str, str | None]]:
    """(decision, site) about breakers, the oldest first."""
    rows = store.events_page(connection, None, 1000, None)
    return [(row.decision, row.evidence["site"]) for row in reversed(rows) if row.client_uuid is None]


def told(connection: Connection, now: datetime, client: str, settings: Config = ON) -> dict[str, Any]:
    """What people see about recovery of this client."""
    sweep(connection, now)
    shown_client = clients_store.get(connection, client)
    assert shown_client is not None
    state = operations.states_of(connection, now, settings, [shown_client])[client]
    return asdict(state) | {"why": english(state.why)}


def rung(connection: Connection, client: str) -> tuple[int, int, int]:
    """(step, restarts, reboots) of this client."""
    row = store.ladder_of(connection, client)
    return (0, 0, 0) if row is None else (row.step, row.restarts, row.reboots)
