"""SQL of ACKs. Every UPDATE is guarded."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy import Connection

from shared.commands.endings_store import guard, undone
from shared.commands.proofs_store import SHOWS_OPPOSITE
from shared.commands.rules import (
    NO_PICTURE,
    RECEIVED,
    RUNNING,
    SUCCEEDED,
    TOO_LATE,
    Ack,
    AckedCommand,
    Move,
)
from shared.commands.store import OPEN
from shared.postgres import query
from shared.postgres.fragments import occupies
from shared.postgres.many import ManyRows
from shared.postgres.query import Query, among, moment, one_of
from shared.tables import client_commands, client_heartbeats, clients
from shared.vocabulary import CommandAction, CommandState, ConfirmedBy

c = client_commands.c
UNEXPLAINED: Final = (CommandState.FAILED.value, CommandState.REJECTED.value)  # states with a reason
ACKS: Final = ManyRows("acks", Ack)
THEIRS: Final = (c.id == ACKS.c.command_id, c.client_uuid == ACKS.c.client_uuid)
"""The commands that these ACKs name, of the clients that sent them."""
FROM_BOOT: Final = {
    "acked_boot_id": sa.func.coalesce(ACKS.c.boot_id, c.acked_boot_id),
    "acked_app_instance": sa.func.coalesce(ACKS.c.app_instance, c.acked_app_instance),
}
"""The boot and player that the ACK comes from; ACKs repeated in heartbeats or health reports lack them."""


DUE_SINCE: Final = sa.func.greatest(sa.func.coalesce(c.sent_at, c.created_at), clients.c.presence_at)
ACKED = Query(
    lambda: (
        sa.select(*(c[name] for name in AckedCommand.__struct_fields__ if name != "due_since"))
        .add_columns(DUE_SINCE.label("due_since"))
        .join(clients, clients.c.uuid == c.client_uuid)
        .where(one_of(c.id, "ids"))
    ),
    AckedCommand,
)


def acked(connection: Connection, command_ids: Collection[str]) -> dict[str, AckedCommand]:
    """The facts that decide whether an ACK of these commands can matter, by id."""
    return {command.id: command for command in ACKED.all(connection, ids=list(command_ids))}


class Received(Struct, frozen=True):
    """A command that moved, and whether this was the display's first ACK."""

    id: str
    first_word: bool


def _by(action: CommandAction) -> str:
    """The name of the parameter for this action's result deadline."""
    return f"{action.value}_by"


def _receiving(move: Move) -> sa.Executable:
    now = moment("now")
    by_action = {action.value: moment(_by(action)) for action in CommandAction}
    deadline = sa.case(by_action, value=c.action, else_=sa.func.greatest(*by_action.values()))
    stamps: dict[str, Any] = {
        **FROM_BOOT,
        "received_at": sa.func.coalesce(c.received_at, now),
        "result_deadline": sa.func.coalesce(c.result_deadline, deadline),
    }
    if move is RUNNING:
        stamps["running_at"] = now
    return (
        sa.update(client_commands)
        .where(OPEN, guard(move), *THEIRS)
        .values(state=move.to.value, outcome_reason=None, **stamps)
        .returning(c.id, (c.received_at == now).label("first_word"))
    )


RECEIVE: Final = {move: Query(partial(_receiving, move), Received) for move in (RECEIVED, RUNNING)}


def receive(
    connection: Connection, now: datetime, move: Move, acks: Sequence[Ack], result: Mapping[CommandAction, timedelta]
) -> list[Received]:
    """Move commands to `received` or `running`. Returns those that moved.

    The result deadline counts from the display's first ACK.
    """
    deadlines = {_by(action): now + result[action] for action in CommandAction}
    return RECEIVE[move].all(connection, now=now, **ACKS.of(acks), **deadlines)


UNSEEN: Final = sa.and_(  # a stored picture would have ended the command
    c.action == CommandAction.SCREENSHOT.value, ACKS.c.state == CommandState.SUCCEEDED.value
)
DONE: Final = sa.and_(ACKS.c.state == CommandState.SUCCEEDED.value, ~UNSEEN)
RESULT: Final = sa.case((UNSEEN, CommandState.FAILED.value), else_=ACKS.c.state)


@query.rows(
    lambda: undone(
        sa.update(client_commands)
        .where(OPEN, guard(SUCCEEDED), *THEIRS)
        .values(
            state=RESULT,
            finished_at=moment("now"),
            outcome_reason=sa.case((UNSEEN, NO_PICTURE), else_=ACKS.c.reason),
            confirmed_by=sa.case((DONE, ConfirmedBy.ACK.value), else_=None),
            **FROM_BOOT,
        ),
        refused=sa.or_(
            ACKS.c.state == CommandState.REJECTED.value,
            sa.and_(ACKS.c.state == CommandState.FAILED.value, c.running_at.is_(None)),  # never begun
        ),
    ),
    ACKS,
)
def finish(connection: Connection, now: datetime, results: Sequence[Ack]) -> list[str]:
    """Write the results of displays; the ids of the commands that ended by them. No screenshot without a picture."""


beats = client_heartbeats.c
other: Final = client_commands.alias("k")
UNDER_WAY: Final = sa.exists().where(other.c.client_uuid == beats.client_uuid, sa.literal_column(occupies("k")))


@query.rows(
    lambda: (
        sa.update(client_heartbeats)
        .where(*THEIRS, beats.client_uuid == c.client_uuid, beats.boot_id == c.if_boot_id, ~UNDER_WAY)
        .where(
            sa.or_(
                ACKS.c.boot_id != beats.boot_id,
                sa.and_(beats.app_instance == c.if_app_instance, ACKS.c.app_instance != beats.app_instance),
            )
        )
        .values(boot_id=ACKS.c.boot_id, app_instance=sa.func.coalesce(ACKS.c.app_instance, beats.app_instance))
        .returning(beats.client_uuid)
    ),
    ACKS,
)
def correct_boots(connection: Connection, refused: Sequence[Ack]) -> list[str]:
    """Replace the boot that these commands were bound to by the boot that their ACKs come from.

    The stored heartbeat names an old boot, and new heartbeats do not arrive: the display would refuse every further
    command. A heartbeat stored meanwhile is not overwritten. Nor is that of a client with
    a command under way beside a refused screenshot: the change could seem to prove it. Returns the changed clients.
    """


OF_BOOTS: Final = (CommandAction.REBOOT_HOST, CommandAction.SHUTDOWN_HOST)
STILL_OLD: Final = sa.exists().where(
    beats.client_uuid == c.client_uuid,
    sa.case(
        (
            c.action == CommandAction.RESTART_APP.value,
            beats.app_instance.in_([c.if_app_instance, c.acked_app_instance]),
        ),
        else_=sa.and_(among(c.action, OF_BOOTS), beats.boot_id.in_([c.if_boot_id, c.acked_boot_id])),
    ),
)
"""SQL: the heartbeats are of the player's start, or the boot, that the command was to end or in which it began."""
BELIED: Final = sa.and_(ACKS.c.state == CommandState.SUCCEEDED.value, sa.or_(STILL_OLD, SHOWS_OPPOSITE))


@query.rows(
    lambda: undone(
        sa.update(client_commands)
        .where(among(c.state, TOO_LATE), c.late_state.is_(None), *THEIRS, ~BELIED)
        .values(late_state=RESULT, late_at=moment("now"), **FROM_BOOT),
        refused=ACKS.c.state == CommandState.REJECTED.value,
    ),
    ACKS,
)
def keep_late(connection: Connection, now: datetime, results: Sequence[Ack]) -> list[str]:
    """Store, once, each result that came after its command expired or timed out. Returns the ids of the commands.

    A success that the display's own reports belie is not kept; health repeats it, in case it becomes true.
    """


@query.rows(
    lambda: (
        sa.update(client_commands)
        .where(c.state == CommandState.SUCCEEDED.value, c.confirmed_by == ConfirmedBy.EVIDENCE.value)
        .where(*THEIRS, ACKS.c.state == c.state)
        .values(confirmed_by=ConfirmedBy.BOTH.value)
        .returning(c.id)
    ),
    ACKS,
)
def confirm_by_ack(connection: Connection, results: Sequence[Ack]) -> list[str]:
    """Confirm by ACK the successes that only a proof has shown."""


@query.rows(
    lambda: (
        sa.update(client_commands)
        .where(among(c.state, UNEXPLAINED), c.outcome_reason.is_(None), ACKS.c.state == c.state, *THEIRS)
        .values(outcome_reason=ACKS.c.reason)
        .returning(c.id)
    ),
    ACKS,
)
def keep_reasons(connection: Connection, results: Sequence[Ack]) -> list[str]:
    """Add the display's reason to failures that a heartbeat has shown. Returns the ids of the changed commands."""
