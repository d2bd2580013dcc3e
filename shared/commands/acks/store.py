"""SQL of what displays say of their commands: ACKs, and heartbeats or silence that prove an effect. All guarded."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection

from shared.clients.reports.rules import LATE_AT_LEAST
from shared.commands.endings_store import NOBODYS, Ended, ending, guard, undone
from shared.commands.rules import (
    ALREADY_REBOOTED,
    CANCELLED,
    DISPROVED,
    REBOOT_DID_NOT_HAPPEN,
    REBOOT_SHOWS_WITHIN,
    RECEIVED,
    RUNNING,
    SUCCEEDED,
    TOO_LATE,
    Ack,
    Known,
    Move,
    Sighting,
)
from shared.commands.store import OPEN
from shared.postgres.many import ManyRows
from shared.postgres.query import Query
from shared.postgres.statements import among, moment, one_of
from shared.tables import client_commands, client_heartbeats, clients
from shared.vocabulary import COMMAND_RANKS, ClientStatus, CommandAction, CommandState, ConfirmedBy, Presence

c = client_commands.c
CONFIRM_WITHIN: Final = timedelta(minutes=15)  # after an ACKed success: longer than any display takes to boot
UNEXPLAINED: Final = (CommandState.FAILED.value, CommandState.REJECTED.value)  # what a reason belongs to
HEARD_OF: Final = c.rank >= COMMAND_RANKS[CommandState.RECEIVED]  # the display has said that it has it
ACKS: Final = ManyRows("acks", Ack)
THEIRS: Final = (c.id == ACKS.c.command_id, c.client_uuid == ACKS.c.client_uuid)
"""The commands that these ACKs name, of the clients that sent them."""
FROM_BOOT: Final = {
    "acked_boot_id": sa.func.coalesce(ACKS.c.boot_id, c.acked_boot_id),
    "acked_app_instance": sa.func.coalesce(ACKS.c.app_instance, c.acked_app_instance),
}
"""Where the display answers from; an ACK that a heartbeat or health report repeats does not say it."""
SEEN: Final = ManyRows("seen", Sighting)
Said = Sequence[Sighting] | None
"""What heartbeats said; None: what those that are stored say."""


KNOWN = Query(lambda: sa.select(*(c[field.name] for field in fields(Known))).where(one_of(c.id, "ids")), Known)


def known(connection: Connection, command_ids: Collection[str]) -> dict[str, Known]:
    """What tells whether an ACK of these commands could matter, by id."""
    return {command.id: command for command in KNOWN.all(connection, ids=list(command_ids))}


@dataclass(frozen=True)
class Traced:
    """What log lines tell of a command."""

    id: str
    client_uuid: str
    state: CommandState
    outcome_reason: str | None
    traceparent: str | None


TRACED = Query(
    lambda: sa.select(*(c[field.name] for field in fields(Traced))).where(one_of(c.id, "ids")).order_by(c.id), Traced
)


def traced(connection: Connection, command_ids: Collection[str]) -> list[Traced]:
    """What log lines tell of these commands, by id."""
    return TRACED.all(connection, ids=list(command_ids))


@dataclass(frozen=True)
class Received:
    """A command that moved, and whether this was the first word of the display."""

    id: str
    first_word: bool


def _by(action: CommandAction) -> str:
    """The parameter that says until when such a command may take."""
    return f"{action.value}_by"


def _receiving(move: Move) -> sa.Executable:
    now = moment("now")
    deadline = sa.case({action.value: moment(_by(action)) for action in CommandAction}, value=c.action)
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
    """`received` or `running`: those that moved.

    The time for a result starts with the display's first word.
    """
    deadlines = {_by(action): now + result[action] for action in CommandAction}
    return RECEIVE[move].all(connection, now=now, **ACKS.of(acks), **deadlines)


FINISH = Query(
    lambda: undone(
        sa.update(client_commands)
        .where(OPEN, guard(SUCCEEDED), *THEIRS)
        .values(
            state=ACKS.c.state,
            finished_at=moment("now"),
            outcome_reason=ACKS.c.reason,
            confirmed_by=sa.case((ACKS.c.state == CommandState.SUCCEEDED.value, ConfirmedBy.ACK.value), else_=None),
            **FROM_BOOT,
        ),
        refused=sa.or_(
            ACKS.c.state == CommandState.REJECTED.value,
            sa.and_(ACKS.c.state == CommandState.FAILED.value, c.running_at.is_(None)),  # never begun
        ),
    ),
    str,
)


def finish(connection: Connection, now: datetime, results: Sequence[Ack]) -> list[str]:
    """Write the results of displays; the ids of the commands that ended by them."""
    return FINISH.all(connection, now=now, **ACKS.of(results))


beats = client_heartbeats.c
CORRECT_BOOTS = Query(
    lambda: (
        sa.update(client_heartbeats)
        .where(*THEIRS, beats.client_uuid == c.client_uuid, beats.boot_id == c.if_boot_id)
        .where(
            sa.or_(
                ACKS.c.boot_id != beats.boot_id,
                sa.and_(beats.app_instance == c.if_app_instance, ACKS.c.app_instance != beats.app_instance),
            )
        )
        .values(boot_id=ACKS.c.boot_id, app_instance=sa.func.coalesce(ACKS.c.app_instance, beats.app_instance))
        .returning(beats.client_uuid)
    ),
    str,
)


def correct_boots(connection: Connection, refused: Sequence[Ack]) -> list[str]:
    """Replace the boot that these commands were bound to by the boot that their ACKs come from.

    The stored heartbeat names a boot that is over, and the display's heartbeats do not get through: every further
    command would be refused like this one. A heartbeat that was stored meanwhile knows better. Each of these ACKs
    must have ended its command just now: then the client has no other one that the change could seem to prove.
    Answers the clients whose boot was changed.
    """
    return CORRECT_BOOTS.all(connection, **ACKS.of(refused))


KEEP_LATE = Query(
    lambda: undone(
        sa.update(client_commands)
        .where(among(c.state, TOO_LATE), c.late_state.is_(None), *THEIRS)
        .values(late_state=ACKS.c.state, late_at=moment("now"), **FROM_BOOT),
        refused=ACKS.c.state == CommandState.REJECTED.value,
    ),
    str,
)


def keep_late(connection: Connection, now: datetime, results: Sequence[Ack]) -> list[str]:
    """Keep, once, each result that came after its command was given up; the ids of these commands."""
    return KEEP_LATE.all(connection, now=now, **ACKS.of(results))


CONFIRM_BY_ACK = Query(
    lambda: (
        sa.update(client_commands)
        .where(c.state == CommandState.SUCCEEDED.value, c.confirmed_by == ConfirmedBy.EVIDENCE.value)
        .where(*THEIRS, ACKS.c.state == c.state)
        .values(confirmed_by=ConfirmedBy.BOTH.value)
        .returning(c.id)
    ),
    str,
)


def confirm_by_ack(connection: Connection, results: Sequence[Ack]) -> list[str]:
    """Confirm by ACK the successes that only evidence showed until now."""
    return CONFIRM_BY_ACK.all(connection, **ACKS.of(results))


KEEP_REASONS = Query(
    lambda: (
        sa.update(client_commands)
        .where(among(c.state, UNEXPLAINED), c.outcome_reason.is_(None), ACKS.c.state == c.state, *THEIRS)
        .values(outcome_reason=ACKS.c.reason)
        .returning(c.id)
    ),
    str,
)


def keep_reasons(connection: Connection, results: Sequence[Ack]) -> list[str]:
    """Add the display's reason to failures that a heartbeat had shown; the ids of the commands that had none."""
    return KEEP_REASONS.all(connection, **ACKS.of(results))


def _rebooted(seen: sa.FromClause) -> sa.ColumnElement[bool]:
    """A reboot was asked for and the boot is another one; false where either boot is unknown."""
    return sa.and_(c.action == CommandAction.REBOOT_HOST.value, c.if_boot_id != seen.c.boot_id)


def _restarted(seen: sa.FromClause) -> sa.ColumnElement[bool]:
    return sa.and_(c.action == CommandAction.RESTART_APP.value, c.if_app_instance != seen.c.app_instance)


def _succeeding(*which: sa.ColumnElement[bool]) -> Query[str]:
    values = {"finished_at": moment("now"), "outcome_reason": None, "confirmed_by": ConfirmedBy.EVIDENCE.value}
    statement = sa.update(client_commands).where(OPEN, guard(SUCCEEDED), *which)
    return Query(lambda: statement.values(state=SUCCEEDED.to.value, **values).returning(c.id), str)


def _succeed_by_evidence(seen: sa.FromClause) -> Query[str]:
    may_have_it = sa.or_(c.rank >= COMMAND_RANKS[CommandState.SENT], c.unanswered_at.is_not(None))
    done = sa.or_(sa.and_(_rebooted(seen), may_have_it), sa.and_(_restarted(seen), HEARD_OF))
    return _succeeding(c.client_uuid == seen.c.client_uuid, done)


SUCCEED_BY_WORD, SUCCEED_BY_STORED = _succeed_by_evidence(SEEN.table), _succeed_by_evidence(client_heartbeats)


def succeed_by_evidence(connection: Connection, now: datetime, said: Said) -> list[str]:
    """End what a new boot or a new start of the player proves done; the ids of the ended commands.

    A reboot must have been sent (or may have been, unanswered); a restart must have been received.
    """
    query = SUCCEED_BY_STORED if said is None else SUCCEED_BY_WORD
    return query.all(connection, now=now, **_seen(said))


LEFT: Final = sa.and_(
    clients.c.presence == Presence.OFFLINE.value,
    clients.c.presence_at >= c.received_at,
    clients.c.presence_at >= sa.func.coalesce(beats.last_heartbeat_at, clients.c.presence_at),
)
HEARD_UNTIL: Final = clients.c.status_since + LATE_AT_LEAST  # silent since: its last heartbeat may be as much older
FELL_SILENT: Final = sa.and_(clients.c.status == ClientStatus.STALE.value, c.received_at <= HEARD_UNTIL)
SUCCEED_BY_SILENCE = _succeeding(
    c.client_uuid == clients.c.uuid,
    beats.client_uuid == clients.c.uuid,
    c.action == CommandAction.SHUTDOWN_HOST.value,
    HEARD_OF,
    sa.or_(LEFT, FELL_SILENT),
)


def succeed_by_silence(connection: Connection, now: datetime) -> list[str]:
    """End each received shutdown whose display has left or fallen silent since; the ids."""
    return SUCCEED_BY_SILENCE.all(connection, now=now)


BEGUN_LONG_AGO: Final = sa.and_(c.action == CommandAction.REBOOT_HOST.value, c.running_at <= moment("shown_since"))
"""A reboot that must have shown by now."""
SAME_BOOT: Final = sa.exists().where(
    beats.client_uuid == c.client_uuid,
    beats.boot_id == c.if_boot_id,
    beats.last_heartbeat_at >= c.running_at + REBOOT_SHOWS_WITHIN,
)
DISPROVE_REBOOTS = Query(
    lambda: ending(DISPROVED, sa.literal(REBOOT_DID_NOT_HAPPEN), sa.and_(BEGUN_LONG_AGO, SAME_BOOT)), Ended
)


def disprove_reboots(connection: Connection, now: datetime) -> list[Ended]:
    """Fail the reboots that a display began long ago, while its heartbeats still tell of the boot from before."""
    return DISPROVE_REBOOTS.all(connection, now=now, shown_since=now - REBOOT_SHOWS_WITHIN)


CONFIRM_BY_EVIDENCE = Query(
    lambda: (
        sa.update(client_commands)
        .where(c.state == CommandState.SUCCEEDED.value, c.confirmed_by == ConfirmedBy.ACK.value)
        .where(c.finished_at > moment("since"), c.client_uuid == SEEN.c.client_uuid)
        .where(sa.or_(_rebooted(SEEN.table), _restarted(SEEN.table)))
        .values(confirmed_by=ConfirmedBy.BOTH.value)
        .returning(c.id)
    ),
    str,
)


def confirm_by_evidence(connection: Connection, now: datetime, said: Sequence[Sighting]) -> list[str]:
    """Confirm by evidence the successes that only the display's ACK showed until now."""
    return CONFIRM_BY_EVIDENCE.all(connection, since=now - CONFIRM_WITHIN, **SEEN.of(said))


def _cancel_overtaken(seen: sa.FromClause) -> Query[Ended]:
    booted = sa.exists().where(c.client_uuid == seen.c.client_uuid, _rebooted(seen))
    return Query(lambda: ending(CANCELLED, sa.literal(ALREADY_REBOOTED), sa.and_(NOBODYS, booted)), Ended)


CANCEL_OVERTAKEN_BY_WORD, CANCEL_OVERTAKEN_BY_STORED = (
    _cancel_overtaken(SEEN.table),
    _cancel_overtaken(client_heartbeats),
)


def cancel_overtaken(connection: Connection, now: datetime, said: Said) -> list[Ended]:
    """A reboot that provably nobody has is pointless once its display has booted by itself."""
    query = CANCEL_OVERTAKEN_BY_STORED if said is None else CANCEL_OVERTAKEN_BY_WORD
    return query.all(connection, now=now, **_seen(said))


CLIENTS_WITH_EVIDENCE = Query(
    lambda: (
        sa.select(c.client_uuid)
        .where(OPEN, beats.client_uuid == c.client_uuid)
        .where(
            sa.or_(
                _rebooted(client_heartbeats),
                sa.and_(_restarted(client_heartbeats), HEARD_OF),
                BEGUN_LONG_AGO,
                sa.and_(c.action == CommandAction.SHUTDOWN_HOST.value, HEARD_OF),
            )
        )
    ),
    str,
)


def clients_with_evidence(connection: Connection, now: datetime) -> list[str]:
    """The clients of open commands about which their heartbeats or their silence may say something."""
    return CLIENTS_WITH_EVIDENCE.all(connection, shown_since=now - REBOOT_SHOWS_WITHIN)


def _seen(said: Said) -> dict[str, Any]:
    return {} if said is None else SEEN.of(said)
