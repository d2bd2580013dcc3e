"""Clients and commands for the tests of commands, recovery and the tick, on the module's own database."""

import uuid
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared import config
from shared.commands import operations
from shared.commands.acks.operations import AckReport, record_acks
from shared.commands.outbox import operations as outbox
from shared.commands.outbox.operations import PublishReport
from shared.commands.proofs_operations import ProofReport, record_new_starts
from shared.commands.rules import Ack, Attempt, Claimed, CommandRequest, Sighting, Timings
from shared.postgres.door import database_now
from shared.tables import client_commands, client_heartbeats, clients
from shared.typed import convert
from shared.vocabulary import CommandAction, CommandState
from shared.words.reader import english
from shared.words.sentences import Sentence

TIMINGS: Timings = operations.timings(config.load({}))
BOOT = "boot-1"
START = "start-1"
LOCKOUT = TIMINGS.lockout
NOWHERE = "00000000-0000-4000-8000-00000000dead"
RESTART, REBOOT, SHUTDOWN = CommandAction.RESTART_APP, CommandAction.REBOOT_HOST, CommandAction.SHUTDOWN_HOST


def add_client(connection: Connection, now: datetime, **facts: Any) -> str:
    """Add a client with a fresh heartbeat of `boot` and `start` (BOOT and START unless given). Returns its uuid."""
    name = str(uuid.uuid4())
    boot, start = facts.pop("boot", BOOT), facts.pop("start", START)
    connection.execute(sa.insert(clients).values(uuid=name, registered_by="enrolment", **facts))
    connection.execute(
        sa.insert(client_heartbeats).values(client_uuid=name, last_heartbeat_at=now, boot_id=boot, app_instance=start)
    )
    return name


def new_client(engine: Engine, **facts: Any) -> str:
    """The same, committed."""
    with engine.begin() as connection:
        return add_client(connection, database_now(connection), **facts)


def request(client_uuid: str, action: CommandAction = CommandAction.RESTART_APP, **more: Any) -> CommandRequest:
    return CommandRequest(client_uuid, action, **{"requested_by": "anna", "reason": "black screen", **more})


def issued(engine: Engine, wanted: CommandRequest) -> str:
    """Issue a command and commit. Returns its id."""
    with engine.begin() as connection:
        return str(operations.issue(connection, database_now(connection), wanted, TIMINGS).id)


def command(connection: Connection, command_id: str) -> dict[str, Any]:
    """The whole row; its reason in English."""
    row = connection.execute(sa.select(client_commands).where(client_commands.c.id == command_id)).mappings().one()
    return {**row, "reason": row["reason"] and english(convert(row["reason"], Sentence))}


def committed(engine: Engine, command_id: str) -> dict[str, Any]:
    """The whole committed row."""
    with engine.connect() as connection:
        return command(connection, command_id)


def lockout(connection: Connection, client_uuid: str) -> datetime | None:
    until: datetime | None = connection.execute(
        sa.select(clients.c.lockout_until).where(clients.c.uuid == client_uuid)
    ).scalar_one()
    return until


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def issue(connection: Connection, now: datetime, client: str, action: CommandAction = RESTART, **more: Any) -> str:
    return str(operations.issue(connection, now, request(client, action, **more), TIMINGS).id)


def claim(connection: Connection, now: datetime, **only: Any) -> list[Claimed]:
    return outbox.claim_due(connection, now, **only)


def answer(
    connection: Connection, now: datetime, claimed: Claimed, code: int | None, *, left: bool = True
) -> PublishReport:
    attempt = Attempt(claimed.id, claimed.lease_until, claimed.attempts, code, may_have_left=left)
    return outbox.record_publish_answers(connection, now, [attempt], TIMINGS)


def publish(connection: Connection, now: datetime, name: str, code: int | None, *, left: bool = True) -> None:
    """Claim one command and record the result of its publish."""
    [claimed] = claim(connection, now, only_ids=[name])
    answer(connection, now, claimed, code, left=left)


def say(
    connection: Connection, now: datetime, client: str, name: str, *states: str, reason: str | None = None
) -> AckReport:
    acks = [Ack(client, name, CommandState(state), reason) for state in states]
    return record_acks(connection, now, acks, TIMINGS)


def see(connection: Connection, now: datetime, client: str, boot: str | None, start: str | None = START) -> ProofReport:
    return record_new_starts(connection, now, [Sighting(client, boot, start)])


def done(connection: Connection, now: datetime, client: str, name: str) -> None:
    """The display says that it is done, and its heartbeat shows a new boot and a new start of the player."""
    say(connection, now, client, name, "received", "running", "succeeded")
    see(connection, now, client, "boot-2", "start-2")


def state(connection: Connection, name: str) -> tuple[str, str | None]:
    row = command(connection, name)
    return row["state"], row["outcome_reason"]
