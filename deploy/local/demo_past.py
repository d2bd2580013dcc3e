"""`python -m deploy.local.demo_past`: gives the demo's displays 35 days behind them, in an empty database.

So the first look shows bars, figures of last week and an incident of yesterday. All of it is made up by the seed of the
fleet; a database that has a display keeps what it has. Environment: DATABASE_URL, DEMO_DISPLAYS, DEMO_SEED.
"""

import os
import random
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy import Connection, Table

from displays.simulated.behaviours import Role, cast
from shared import config
from shared.clients.reports import rules as states
from shared.incidents import causes_rules
from shared.postgres import door
from shared.recovery import words_rules as recovery
from shared.tables import (
    client_commands,
    client_state_changes,
    clients,
    incident_members,
    incidents,
    recovery_events,
)
from shared.vocabulary import ClientStatus, CommandAction, IncidentKind, RecoveryBasis, Symptom
from shared.words.sentences import Sentence, to_row

DAYS: Final = 35
MOST: Final = 300  # displays that get a past: it is to take less than five seconds
DAY: Final = timedelta(days=1)
DARK_SITE: Final = "Lyon"
DARK_FOR: Final = timedelta(minutes=47)
RUNNING, STALE, CRASHED, UNKNOWN = ClientStatus.RUNNING, ClientStatus.STALE, ClientStatus.CRASHED, ClientStatus.UNKNOWN


class Fault(Struct, frozen=True):
    """A display did not play from one moment to another: it was silent, or its player crashed and was restarted."""

    status: ClientStatus
    began_at: datetime
    ended_at: datetime


def main() -> int:
    """Write the past in one transaction."""
    engine = door.make_engine(config.load(required=("DATABASE_URL",)), "demo_past")
    with door.transaction(engine) as connection:
        if connection.execute(sa.select(sa.exists().select_from(clients))).scalar_one() is False:
            roles = cast(int(os.environ.get("DEMO_DISPLAYS") or 50), int(os.environ.get("DEMO_SEED") or 1), 30)
            write(connection, door.database_now(connection), roles[:MOST])
    engine.dispose()
    return 0


def write(connection: Connection, now: datetime, roles: list[Role]) -> None:
    """Insert the displays, their states, restarts, and the incident of the dark site."""
    dark_from = now.replace(hour=14, minute=10, second=0, microsecond=0) - DAY
    rows: dict[Table, list[dict[str, Any]]] = {
        table: [] for table in (clients, client_state_changes, client_commands, recovery_events)
    }
    for role in roles:
        born = now - DAYS * DAY - timedelta(seconds=role.seed % 3600)
        rows[clients].append(
            {
                "uuid": role.uuid,
                "name": role.name,
                "site": role.site,
                "tags": list(role.tags),
                "registered_by": "enrolment",
                "created_at": born,
                "status_since": now,
            }
        )
        dark = [Fault(STALE, dark_from, dark_from + DARK_FOR)] if role.site == DARK_SITE else []
        faults = sorted([*faults_of(role, born, now), *dark], key=lambda fault: fault.began_at)
        changes = [(born, UNKNOWN, RUNNING, states.player_running())]
        for fault in faults:
            changes += changes_of(fault)
        changes.append((now, RUNNING, UNKNOWN, states.not_known_while_silent()))
        rows[client_state_changes] += [
            {"client_uuid": role.uuid, "at": at, "from_status": was, "to_status": became, "cause": in_row(cause)}
            for at, was, became, cause in changes
        ]
        for fault in faults:
            if fault.status is CRASHED:
                command, decision = restart(role, fault)
                rows[client_commands].append(command)
                rows[recovery_events].append(decision)
    for table, values in rows.items():
        if values:
            connection.execute(sa.insert(table), values)
    write_incident(connection, dark_from, [role for role in roles if role.site == DARK_SITE])


def faults_of(role: Role, born: datetime, now: datetime) -> Iterator[Fault]:
    """About one in six days; each is over before the next begins, and none touches the day of the dark site."""
    rng = random.Random(role.seed)  # noqa: S311 - a story, not a secret
    at = born + rng.expovariate(1 / 6) * DAY
    while at < now - 2 * DAY:
        crashed = rng.random() < 0.6
        lasts = timedelta(minutes=rng.uniform(1, 4) if crashed else rng.uniform(5, 90))
        yield Fault(CRASHED if crashed else STALE, at, at + lasts)
        at += lasts + (0.2 + rng.expovariate(1 / 6)) * DAY


def changes_of(fault: Fault) -> list[tuple[datetime, ClientStatus, ClientStatus, Sentence]]:
    """The changes of state of a fault, each with its cause."""
    why = states.player_crashed() if fault.status is CRASHED else states.no_heartbeat_for(seconds=180)
    return [
        (fault.began_at, RUNNING, fault.status, why),
        (fault.ended_at, fault.status, RUNNING, states.player_running()),
    ]


def restart(role: Role, fault: Fault) -> tuple[dict[str, Any], dict[str, Any]]:
    """The restart that mended a crash, and recovery's decision."""
    at, action = fault.began_at + timedelta(seconds=30), CommandAction.RESTART_APP
    command_id = str(uuid.uuid5(uuid.UUID(role.uuid), at.isoformat()))
    why = in_row(recovery.command_sent(basis=RecoveryBasis.CRASHED, screen=None, action=action, attempt=1, attempts=4))
    command = {
        "id": command_id,
        "client_uuid": role.uuid,
        "action": action,
        "state": "succeeded",
        "source": "recovery",
        "requested_by": "recovery",
        "reason": why,
        "created_at": at,
        "expires_at": at + timedelta(minutes=2),
        "sent_at": at,
        "received_at": at + timedelta(seconds=1),
        "running_at": at + timedelta(seconds=1),
        "finished_at": fault.ended_at,
        "confirmed_by": "ack",
    }
    decision = {
        "at": at,
        "client_uuid": role.uuid,
        "decision": action,
        "why": why,
        "evidence": {},
        "command_id": command_id,
    }
    return command, decision


def in_row(said: Sentence) -> Any:
    """A sentence as a jsonb column takes it, with the sentences in it."""
    return msgspec.to_builtins(said, enc_hook=to_row)


def write_incident(connection: Connection, at: datetime, roles: list[Role]) -> None:
    """The site was dark for a while."""
    if len(roles) < 3:
        return
    ended, n = at + DARK_FOR, len(roles)
    facts = causes_rules.Facts(IncidentKind.SITE, DARK_SITE, n, {Symptom.SILENT: n}, at, at, sites=1, unit=None)
    made = sa.insert(incidents).values(
        kind=IncidentKind.SITE,
        key=DARK_SITE,
        began_at=at,
        opened_at=at + timedelta(minutes=3),
        closed_at=ended,
        cause=in_row(causes_rules.cause(facts)),
        group_size=n,
        members=n,
        peak=n,
    )
    incident_id = connection.execute(made.returning(incidents.c.id)).scalar_one()
    member = {"incident_id": incident_id, "joined_at": at + timedelta(minutes=3), "left_at": ended, "failed_at": at}
    connection.execute(
        sa.insert(incident_members),
        [{**member, "client_uuid": role.uuid, "symptom": Symptom.SILENT} for role in roles],
    )


if __name__ == "__main__":
    raise SystemExit(main())
