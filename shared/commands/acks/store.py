"""SQL of what displays say of their commands: ACKs, and heartbeats or silence that prove an effect. All guarded."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import JSONB

from shared.commands.rules import (
    ALREADY_REBOOTED,
    CANCELLED,
    DISPROVED,
    REBOOT_DID_NOT_HAPPEN,
    REBOOT_SHOWS_WITHIN,
    RUNNING,
    SUCCEEDED,
    TOO_LATE,
    Ack,
    Move,
    Sighting,
)
from shared.commands.store import NOBODYS, OPEN, end, guard
from shared.tables import client_commands, client_heartbeats, clients
from shared.vocabulary import COMMAND_RANKS, ClientStatus, CommandAction, CommandState, ConfirmedBy, Presence

c = client_commands.c
CONFIRM_WITHIN: Final = timedelta(minutes=15)  # after an ACKed success: longer than any display takes to boot
HEARTBEATS: Final = client_heartbeats  # what displays said last, wherever `seen` is asked for
UNEXPLAINED: Final = (CommandState.FAILED.value, CommandState.REJECTED.value)  # what a reason belongs to
HEARD_OF: Final = c.rank >= COMMAND_RANKS[CommandState.RECEIVED]  # the display has said that it has it


def known(connection: Connection, command_ids: Collection[str]) -> dict[str, RowMapping]:
    """What tells whether an ACK of these commands could matter, by id."""
    query = sa.select(c.id, c.client_uuid, c.state, c.late_state, c.confirmed_by, c.outcome_reason, c.traceparent)
    rows = connection.execute(query.where(c.id == sa.any_(sa.literal(list(command_ids), sa.ARRAY(sa.Text)))))
    return {row["id"]: row for row in rows.mappings()}


def traced(connection: Connection, command_ids: Collection[str]) -> Sequence[RowMapping]:
    """What log lines tell of these commands: id, client_uuid, state, outcome_reason and traceparent; by id."""
    asked = sa.literal(list(command_ids), sa.ARRAY(sa.Text))
    query = sa.select(c.id, c.client_uuid, c.state, c.outcome_reason, c.traceparent)
    return connection.execute(query.where(c.id == sa.any_(asked)).order_by(c.id)).mappings().all()


def receive(
    connection: Connection, now: datetime, move: Move, acks: Sequence[Ack], result: Mapping[CommandAction, timedelta]
) -> Sequence[RowMapping]:
    """`received` or `running`: those that moved, and whether this was the first word of the display.

    The time for a result starts with that first word.
    """
    a = _acks(acks)
    deadline = sa.case({action.value: now + result[action] for action in CommandAction}, value=c.action)
    stamps: dict[str, Any] = {
        "received_at": sa.func.coalesce(c.received_at, now),
        "result_deadline": sa.func.coalesce(c.result_deadline, deadline),
    }
    if move is RUNNING:
        stamps["running_at"] = now
    statement = (
        sa.update(client_commands)
        .where(OPEN, guard(move), c.id == a.c.id, c.client_uuid == a.c.client_uuid)
        .values(state=move.to.value, outcome_reason=None, **stamps)
        .returning(c.id, (c.received_at == now).label("first_word"))
    )
    return connection.execute(statement).mappings().all()


def finish(connection: Connection, now: datetime, results: Sequence[Ack]) -> list[str]:
    """A display's result: ids of those that it ended."""
    a = _acks(results)
    by_ack = sa.case((a.c.state == CommandState.SUCCEEDED.value, ConfirmedBy.ACK.value), else_=None)
    statement = (
        sa.update(client_commands)
        .where(OPEN, guard(SUCCEEDED), c.id == a.c.id, c.client_uuid == a.c.client_uuid)
        .values(state=a.c.state, finished_at=now, outcome_reason=a.c.reason, confirmed_by=by_ack)
        .returning(c.id)
    )
    return list(connection.execute(statement).scalars())


def keep_late(connection: Connection, now: datetime, results: Sequence[Ack]) -> list[str]:
    """Keep, once, a result that came after its command was given up; ids of those kept."""
    a = _acks(results)
    over = c.state.in_([state.value for state in TOO_LATE])
    statement = (
        sa.update(client_commands)
        .where(over, c.late_state.is_(None), c.id == a.c.id, c.client_uuid == a.c.client_uuid)
        .values(late_state=a.c.state, late_at=now)
        .returning(c.id)
    )
    return list(connection.execute(statement).scalars())


def confirm_by_ack(connection: Connection, results: Sequence[Ack]) -> list[str]:
    """The display says so too: successes known by evidence are now known by both."""
    a = _acks(results)
    by_evidence = (c.state == CommandState.SUCCEEDED.value, c.confirmed_by == ConfirmedBy.EVIDENCE.value)
    statement = (
        sa.update(client_commands)
        .where(*by_evidence, c.id == a.c.id, c.client_uuid == a.c.client_uuid, a.c.state == c.state)
        .values(confirmed_by=ConfirmedBy.BOTH.value)
        .returning(c.id)
    )
    return list(connection.execute(statement).scalars())


def keep_reasons(connection: Connection, results: Sequence[Ack]) -> list[str]:
    """The display says why, after a heartbeat had only said that it did not work; ids of those that had no reason."""
    a = _acks(results)
    unexplained = (c.state.in_(UNEXPLAINED), c.outcome_reason.is_(None), a.c.state == c.state)
    statement = (
        sa.update(client_commands)
        .where(*unexplained, c.id == a.c.id, c.client_uuid == a.c.client_uuid)
        .values(outcome_reason=a.c.reason)
        .returning(c.id)
    )
    return list(connection.execute(statement).scalars())


def succeed_by_evidence(connection: Connection, now: datetime, seen: sa.FromClause) -> list[str]:
    """End what a new boot or a new start of the player proves done; ids of those ended.

    A reboot must have been sent (or may have been, unanswered); a restart must have been received.
    `seen` has client_uuid, boot_id and app_instance: `sightings`, or the heartbeats as they stand.
    """
    may_have_it = sa.or_(c.rank >= COMMAND_RANKS[CommandState.SENT], c.unanswered_at.is_not(None))
    done = sa.or_(sa.and_(_rebooted(seen), may_have_it), sa.and_(_restarted(seen), HEARD_OF))
    return _succeeded(connection, now, c.client_uuid == seen.c.client_uuid, done)


def succeed_by_silence(connection: Connection, now: datetime) -> list[str]:
    """End each received shutdown whose display has left or fallen silent since; ids of those ended."""
    left = sa.and_(
        clients.c.presence == Presence.OFFLINE.value,
        clients.c.presence_at >= c.received_at,
        clients.c.presence_at >= sa.func.coalesce(client_heartbeats.c.last_heartbeat_at, clients.c.presence_at),
    )
    silent = sa.and_(clients.c.status == ClientStatus.STALE.value, clients.c.status_since >= c.received_at)
    theirs = sa.and_(c.client_uuid == clients.c.uuid, client_heartbeats.c.client_uuid == clients.c.uuid)
    asked_for = sa.and_(c.action == CommandAction.SHUTDOWN_HOST.value, HEARD_OF)
    return _succeeded(connection, now, theirs, asked_for, sa.or_(left, silent))


def _succeeded(connection: Connection, now: datetime, *which: sa.ColumnElement[bool]) -> list[str]:
    values = {"finished_at": now, "outcome_reason": None, "confirmed_by": ConfirmedBy.EVIDENCE.value}
    statement = sa.update(client_commands).where(OPEN, guard(SUCCEEDED), *which)
    ended = statement.values(state=SUCCEEDED.to.value, **values).returning(c.id)
    return list(connection.execute(ended).scalars())


def disprove_reboots(connection: Connection, now: datetime) -> Sequence[RowMapping]:
    """Fail the reboots that a display began long ago, while its heartbeats still tell of the boot from before."""
    beats = client_heartbeats.c
    same_boot = sa.exists().where(
        beats.client_uuid == c.client_uuid,
        beats.boot_id == c.if_boot_id,
        beats.last_heartbeat_at >= c.running_at + REBOOT_SHOWS_WITHIN,
    )
    begun = sa.and_(c.action == CommandAction.REBOOT_HOST.value, c.running_at <= now - REBOOT_SHOWS_WITHIN)
    return end(connection, now, DISPROVED, sa.literal(REBOOT_DID_NOT_HAPPEN), sa.and_(begun, same_boot))


def confirm_by_evidence(connection: Connection, now: datetime, seen: sa.FromClause) -> list[str]:
    """A success that only the display's ACK told is now proven by its effect as well."""
    by_ack = (c.state == CommandState.SUCCEEDED.value, c.confirmed_by == ConfirmedBy.ACK.value)
    statement = (
        sa.update(client_commands)
        .where(*by_ack, c.finished_at > now - CONFIRM_WITHIN, c.client_uuid == seen.c.client_uuid)
        .where(sa.or_(_rebooted(seen), _restarted(seen)))
        .values(confirmed_by=ConfirmedBy.BOTH.value)
        .returning(c.id)
    )
    return list(connection.execute(statement).scalars())


def cancel_overtaken(connection: Connection, now: datetime, seen: sa.FromClause) -> Sequence[RowMapping]:
    """A reboot that provably nobody has is pointless once its display has booted by itself."""
    booted = sa.exists().where(c.client_uuid == seen.c.client_uuid, _rebooted(seen))
    return end(connection, now, CANCELLED, sa.literal(ALREADY_REBOOTED), sa.and_(NOBODYS, booted))


def clients_with_evidence(connection: Connection, now: datetime) -> list[str]:
    """The clients of open commands about which their heartbeats or their silence may say something."""
    beats = client_heartbeats.c
    told = sa.or_(
        _rebooted(client_heartbeats),
        sa.and_(_restarted(client_heartbeats), HEARD_OF),
        sa.and_(c.action == CommandAction.REBOOT_HOST.value, c.running_at <= now - REBOOT_SHOWS_WITHIN),
        sa.and_(c.action == CommandAction.SHUTDOWN_HOST.value, HEARD_OF),
    )
    query = sa.select(c.client_uuid).where(OPEN, beats.client_uuid == c.client_uuid, told)
    return list(connection.execute(query).scalars())


def _rebooted(seen: sa.FromClause) -> sa.ColumnElement[bool]:
    """A reboot was asked for and the boot is another one; false where either boot is unknown."""
    return sa.and_(c.action == CommandAction.REBOOT_HOST.value, c.if_boot_id != seen.c.boot_id)


def _restarted(seen: sa.FromClause) -> sa.ColumnElement[bool]:
    return sa.and_(c.action == CommandAction.RESTART_APP.value, c.if_app_instance != seen.c.app_instance)


def _acks(acks: Sequence[Ack]) -> sa.TableValuedAlias:
    rows = [{"id": k.command_id, "client_uuid": k.client_uuid, "state": k.state, "reason": k.reason} for k in acks]
    return _recordset("a", rows, ("id", "client_uuid", "state", "reason"))


def sightings(said: Sequence[Sighting]) -> sa.TableValuedAlias:
    """What heartbeats said, as a table with client_uuid, boot_id and app_instance."""
    rows = [{"client_uuid": s.client_uuid, "boot_id": s.boot_id, "app_instance": s.app_instance} for s in said]
    return _recordset("s", rows, ("client_uuid", "boot_id", "app_instance"))


def _recordset(name: str, rows: Sequence[Mapping[str, Any]], columns: tuple[str, ...]) -> sa.TableValuedAlias:
    """`rows` as a table of texts, in one parameter (executemany is 20 times slower)."""
    typed = (sa.column(column, sa.Text) for column in columns)
    return (
        sa.func.jsonb_to_recordset(sa.literal(rows, JSONB))
        .table_valued(*typed)
        .render_derived(name=name, with_types=True)
    )
