"""SQL of what displays say of their commands: ACKs, and heartbeats that prove an effect. Set-wise, guarded."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import JSONB

from shared.commands.rules import (
    ALREADY_REBOOTED,
    CANCELLED,
    RUNNING,
    SUCCEEDED,
    TOO_LATE,
    Ack,
    Move,
    Sighting,
)
from shared.commands.store import NOBODYS, OPEN, end, guard
from shared.tables import client_commands
from shared.vocabulary import COMMAND_RANKS, CommandAction, CommandState, ConfirmedBy

c = client_commands.c
CONFIRM_WITHIN: Final = timedelta(minutes=15)  # after an ACKed success: longer than any display takes to boot


def known(connection: Connection, command_ids: Collection[str]) -> dict[str, RowMapping]:
    """What tells whether an ACK of these commands could matter, by id."""
    query = sa.select(c.id, c.client_uuid, c.state, c.late_state, c.confirmed_by)
    rows = connection.execute(query.where(c.id == sa.any_(sa.literal(list(command_ids), sa.ARRAY(sa.Text)))))
    return {row["id"]: row for row in rows.mappings()}


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


def succeed_by_evidence(connection: Connection, now: datetime, sightings: Sequence[Sighting]) -> list[str]:
    """End what a new boot or a new start of the player proves done; ids of those ended.

    A reboot must have been sent (or may have been, unanswered); a restart must have been received.
    """
    s = _sightings(sightings)
    may_have_it = sa.or_(c.rank >= COMMAND_RANKS[CommandState.SENT], c.unanswered_at.is_not(None))
    has_it = c.rank >= COMMAND_RANKS[CommandState.RECEIVED]
    statement = (
        sa.update(client_commands)
        .where(OPEN, c.client_uuid == s.c.client_uuid)
        .where(sa.or_(sa.and_(_rebooted(s), may_have_it), sa.and_(_restarted(s), has_it)))
        .values(
            state=SUCCEEDED.to.value,
            finished_at=now,
            outcome_reason=None,
            confirmed_by=ConfirmedBy.EVIDENCE.value,
        )
        .returning(c.id)
    )
    return list(connection.execute(statement).scalars())


def confirm_by_evidence(connection: Connection, now: datetime, sightings: Sequence[Sighting]) -> list[str]:
    """A success that only the display's ACK told is now proven by its effect as well."""
    s = _sightings(sightings)
    by_ack = (c.state == CommandState.SUCCEEDED.value, c.confirmed_by == ConfirmedBy.ACK.value)
    statement = (
        sa.update(client_commands)
        .where(*by_ack, c.finished_at > now - CONFIRM_WITHIN, c.client_uuid == s.c.client_uuid)
        .where(sa.or_(_rebooted(s), _restarted(s)))
        .values(confirmed_by=ConfirmedBy.BOTH.value)
        .returning(c.id)
    )
    return list(connection.execute(statement).scalars())


def cancel_overtaken(connection: Connection, now: datetime, sightings: Sequence[Sighting]) -> Sequence[RowMapping]:
    """A reboot that provably nobody has is pointless once its display has booted by itself."""
    s = _sightings(sightings)
    booted = sa.exists().where(c.client_uuid == s.c.client_uuid, _rebooted(s))
    return end(connection, now, CANCELLED, sa.literal(ALREADY_REBOOTED), sa.and_(NOBODYS, booted))


def _rebooted(s: sa.TableValuedAlias) -> sa.ColumnElement[bool]:
    """A reboot was asked for and the boot is another one; false where either boot is unknown."""
    return sa.and_(c.action == CommandAction.REBOOT_HOST.value, c.if_boot_id != s.c.boot_id)


def _restarted(s: sa.TableValuedAlias) -> sa.ColumnElement[bool]:
    return sa.and_(c.action == CommandAction.RESTART_APP.value, c.if_app_instance != s.c.app_instance)


def _acks(acks: Sequence[Ack]) -> sa.TableValuedAlias:
    rows = [{"id": k.command_id, "client_uuid": k.client_uuid, "state": k.state, "reason": k.reason} for k in acks]
    return _recordset("a", rows, ("id", "client_uuid", "state", "reason"))


def _sightings(sightings: Sequence[Sighting]) -> sa.TableValuedAlias:
    rows = [{"client_uuid": s.client_uuid, "boot_id": s.boot_id, "app_instance": s.app_instance} for s in sightings]
    return _recordset("s", rows, ("client_uuid", "boot_id", "app_instance"))


def _recordset(name: str, rows: Sequence[Mapping[str, Any]], columns: tuple[str, ...]) -> sa.TableValuedAlias:
    """`rows` as a table of texts, in one parameter (executemany is 20 times slower)."""
    typed = (sa.column(column, sa.Text) for column in columns)
    return (
        sa.func.jsonb_to_recordset(sa.literal(rows, JSONB))
        .table_valued(*typed)
        .render_derived(name=name, with_types=True)
    )
