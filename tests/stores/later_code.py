"""Rows with words that no code of today knows, as code put back finds them after later code has run."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection

from shared.tables import client_commands, command_batch_members, command_batches
from shared.vocabulary import COMMAND_RANKS, TERMINAL_RANK, CommandState
from tests.stores.recovery_world import crash

ACTION: Final = "polish_screen"
SOURCE: Final = "the_moon"
LOOSENED: Final = (
    "ALTER TABLE client_commands DROP CONSTRAINT ck_client_commands_action",
    "ALTER TABLE client_commands DROP CONSTRAINT ck_client_commands_source",
    "ALTER TABLE command_batches DROP CONSTRAINT ck_command_batches_action",
)


@dataclass(frozen=True)
class Later:
    """What later code has left."""

    commands: dict[CommandState, str]
    """The id of a command in each state."""
    clients: dict[CommandState, str]
    """The crashed client of each."""
    batch: str


def leave(connection: Connection, now: datetime) -> Later:
    """Store them; this database takes other words from now on."""
    for statement in LOOSENED:
        connection.execute(sa.text(statement))
    clients = {state: crash(connection, now, capabilities=["restart_app"]) for state in CommandState}
    commands = {state: str(uuid.uuid4()) for state in CommandState}
    for state in CommandState:
        what = {"action": ACTION, "source": SOURCE, "requested_by": "user:later", "state": state.value}
        times = {"created_at": now, "expires_at": now + timedelta(minutes=1)}
        if COMMAND_RANKS[state] == TERMINAL_RANK:
            times["finished_at"] = now
        row = {"id": commands[state], "client_uuid": clients[state], **what, **times}
        connection.execute(sa.insert(client_commands).values(**row))
    return Later(commands, clients, _batch(connection, now, clients[CommandState.SUCCEEDED]))


def _batch(connection: Connection, now: datetime, client: str) -> str:
    """A running batch with one member whose turn has not come."""
    name = str(uuid.uuid4())
    asked = {"requested_by": "user:later", "max_unproven": "10%", "waves": 1, "created_at": now}
    connection.execute(sa.insert(command_batches).values(id=name, action=ACTION, state="running", wave=1, **asked))
    member = {"batch_id": name, "client_uuid": client, "position": 0, "wave": 1, "outcome": "waiting"}
    connection.execute(sa.insert(command_batch_members).values(**member))
    return name
