"""SQL on commands. Every change of state is one UPDATE that its move guards; nothing is read first and saved later.

A statement that ends a command and releases its lockout does both or neither. Whoever changes more than one
command locks their clients first, in the order of their uuids (`lock_clients`), so that nobody waits in a ring.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping

from shared.commands.rules import (
    CANCELLED,
    EXPIRED,
    LOCKING,
    NEVER_PUBLISHED,
    NO_ACK,
    NO_RESULT,
    NO_SUBSCRIBER,
    TIMED_OUT,
    CommandRequest,
    Move,
    respects_lockout,
)
from shared.tables import client_commands, client_heartbeats, clients
from shared.vocabulary import CommandAction, PublishAnswer

c = client_commands.c

SHOWN = (
    c.id,
    c.client_uuid,
    c.action,
    c.state,
    c.source,
    c.reason,
    c.outcome_reason,
    c.requested_by,
    c.created_at,
    c.expires_at,
    c.sent_at,
    c.received_at,
    c.running_at,
    c.result_deadline,
    c.finished_at,
    c.late_state,
    c.late_at,
    c.confirmed_by,
)
"""What every view of a command shows."""

OPEN: sa.ColumnElement[bool] = sa.literal_column("client_commands.rank < 90")
"""Spelt out, so that the planner sees the partial index of open commands."""

NOBODYS = sa.and_(
    c.sent_at.is_(None),
    c.received_at.is_(None),
    c.running_at.is_(None),
    c.unanswered_at.is_(None),
    c.publish_lease_until.is_(None),
    sa.or_(c.publish_attempted_at.is_(None), c.publish_answer == PublishAnswer.NO_SUBSCRIBER),
)
"""Proof that no display has it: never published, or every publish was answered that nobody listens.

A lease that was never recorded, running or over, is no proof: its publish may have got through.
"""


def get(connection: Connection, command_id: str) -> RowMapping | None:
    """One command, or None."""
    return connection.execute(sa.select(*SHOWN).where(c.id == command_id)).mappings().one_or_none()


def page_of_client(
    connection: Connection, client_uuid: str, limit: int, after: tuple[datetime, str] | None
) -> Sequence[RowMapping]:
    """Up to `limit` commands of one client, the newest first, that come after (created_at, id)."""
    query = sa.select(*SHOWN).where(c.client_uuid == client_uuid)
    if after is not None:
        query = query.where(sa.tuple_(c.created_at, c.id) < sa.tuple_(sa.literal(after[0]), sa.literal(after[1])))
    return connection.execute(query.order_by(c.created_at.desc(), c.id.desc()).limit(limit)).mappings().all()


def open_by_client(connection: Connection, client_uuids: Collection[str]) -> dict[str, RowMapping]:
    """The open command of each of these clients that has one, by uuid."""
    query = sa.select(*SHOWN).where(OPEN, c.client_uuid == sa.any_(_texts(client_uuids)))
    return {row["client_uuid"]: row for row in connection.execute(query).mappings()}


def count_open(connection: Connection, source: str) -> int:
    """How many commands of this source are open."""
    return connection.execute(sa.select(sa.func.count()).where(OPEN, c.source == source)).scalar_one()


def target(connection: Connection, client_uuid: str) -> RowMapping | None:
    """What decides whether a client may get a command now; None when there is no such client."""
    open_command = sa.select(c.id).where(OPEN, c.client_uuid == clients.c.uuid).scalar_subquery()
    query = sa.select(clients.c.capabilities, clients.c.lockout_until, open_command.label("open_command_id"))
    return connection.execute(query.where(*_live(client_uuid))).mappings().one_or_none()


def by_key(connection: Connection, requested_by: str, key: str) -> RowMapping | None:
    """The command for which this caller used this key, with the hash of that request; None when unused."""
    query = sa.select(*SHOWN, c.request_hash).where(c.requested_by == requested_by, c.idempotency_key == key)
    return connection.execute(query).mappings().one_or_none()


def insert(
    connection: Connection, now: datetime, command_id: str, request: CommandRequest, ttl: timedelta, lockout: timedelta
) -> RowMapping | None:
    """The new command, its lockout raised in the same statement; None when the client is gone or locked.

    Raises IntegrityError (uq_client_commands_open, uq_client_commands_idempotency).
    """
    found = _lockable(now, request)
    source: sa.FromClause = found
    if request.action in LOCKING:
        raised = (
            sa.update(clients)
            .where(clients.c.uuid == found.c.uuid)
            .values(lockout_until=now + lockout, lockout_command_id=command_id)
            .returning(clients.c.uuid)
            .cte("raised")
        )
        source = found.join(raised, raised.c.uuid == found.c.uuid)
    values = {
        c.id: sa.literal(command_id),
        c.client_uuid: found.c.uuid,
        c.action: sa.literal(request.action.value),
        c.source: sa.literal(request.source.value),
        c.reason: sa.literal(request.reason),
        c.requested_by: sa.literal(request.requested_by),
        c.idempotency_key: sa.literal(request.idempotency_key, sa.Text),
        c.request_hash: sa.literal(request.hash() if request.idempotency_key else None, sa.Text),
        c.if_boot_id: found.c.boot_id,
        c.if_app_instance: found.c.app_instance if request.action is CommandAction.RESTART_APP else sa.null(),
        c.created_at: sa.literal(now),
        c.expires_at: sa.literal(now + ttl),
        c.lockout_before: found.c.lockout_until,
        c.traceparent: sa.literal(request.traceparent, sa.Text),
    }
    rows = sa.select(*(value.label(column.name) for column, value in values.items())).select_from(source)
    statement = sa.insert(client_commands).from_select(list(values), rows).returning(*SHOWN)
    return connection.execute(statement).mappings().one_or_none()


def _lockable(now: datetime, request: CommandRequest) -> sa.CTE:
    """The client, locked, unless it is gone or its lockout refuses this request."""
    beats = client_heartbeats.c
    query = (
        sa.select(clients.c.uuid, clients.c.lockout_until, beats.boot_id, beats.app_instance)
        .select_from(clients.outerjoin(client_heartbeats, beats.client_uuid == clients.c.uuid))
        .where(*_live(request.client_uuid))
        .with_for_update(of=clients, key_share=True)
    )
    if respects_lockout(request):
        query = query.where(sa.or_(clients.c.lockout_until.is_(None), clients.c.lockout_until <= now))
    return query.cte("found")


def lock_clients(connection: Connection, client_uuids: Collection[str]) -> None:
    """Lock these clients' rows in the order of their uuids, until the transaction ends."""
    query = sa.select(clients.c.uuid).where(clients.c.uuid == sa.any_(_texts(client_uuids))).order_by(clients.c.uuid)
    connection.execute(query.with_for_update(key_share=True))


def raise_lockouts(connection: Connection, command_ids: Collection[str], until: datetime) -> None:
    """Spare the clients of those of these commands that restart or reboot, at least until then."""
    connection.execute(
        sa.update(clients)
        .where(clients.c.uuid == c.client_uuid, c.id == sa.any_(_texts(command_ids)), c.action.in_(LOCKING))
        .values(lockout_until=sa.func.greatest(clients.c.lockout_until, until), lockout_command_id=c.id)
    )


def clients_overdue(connection: Connection, now: datetime) -> list[str]:
    """The clients whose open command is past its deadline: those that the sweep will touch."""
    query = sa.select(c.client_uuid).where(OPEN, sa.or_(_past_expiry(now), _past_result(now)))
    return list(connection.execute(query).scalars())


def expire(connection: Connection, now: datetime) -> Sequence[RowMapping]:
    """End what nobody acknowledged in time, with the reason; release the lockouts of what provably nobody has."""
    reason = sa.case(
        (sa.and_(NOBODYS, c.publish_attempted_at.is_(None)), NEVER_PUBLISHED), (NOBODYS, NO_SUBSCRIBER), else_=NO_ACK
    )
    return end(connection, now, EXPIRED, reason, _past_expiry(now))


def time_out(connection: Connection, now: datetime) -> Sequence[RowMapping]:
    """End what was received but brought no result in time."""
    return end(connection, now, TIMED_OUT, sa.literal(NO_RESULT), _past_result(now))


def cancel(connection: Connection, now: datetime, command_id: str, why: str) -> Sequence[RowMapping]:
    """Withdraw a command that provably nobody has; empty when it does not exist, is over or may have been heard."""
    return end(connection, now, CANCELLED, sa.literal(why), sa.and_(c.id == command_id, NOBODYS))


def drop_history(connection: Connection, before: datetime) -> int:
    """Forget commands that were over before then; how many. Recovery's events go first: they name commands."""
    return connection.execute(sa.delete(client_commands).where(c.finished_at < before)).rowcount


def end(
    connection: Connection, now: datetime, move: Move, reason: sa.ColumnElement[str], which: sa.ColumnElement[bool]
) -> Sequence[RowMapping]:
    """Make a terminal move on `which`; a command that provably nobody had gives its lockout back."""
    ended = (
        sa.update(client_commands)
        .where(OPEN, guard(move), which)
        .values(state=move.to.value, finished_at=now, outcome_reason=reason)
        .returning(c.id, c.client_uuid, c.source, c.outcome_reason, c.lockout_before, NOBODYS.label("nobodys"))
        .cte("ended")
    )
    released = (
        sa.update(clients)
        .where(clients.c.uuid == ended.c.client_uuid, clients.c.lockout_command_id == ended.c.id, ended.c.nobodys)
        .values(lockout_until=ended.c.lockout_before, lockout_command_id=None)
        .returning(clients.c.uuid)
        .cte("released")
    )
    query = sa.select(ended.c.id, ended.c.client_uuid, ended.c.source, ended.c.outcome_reason)
    return connection.execute(query.add_cte(released)).mappings().all()


def guard(move: Move) -> sa.ColumnElement[bool]:
    """The condition under which `move` is legal."""
    return sa.and_(c.rank >= move.lowest, c.rank < move.below)


def _past_expiry(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(guard(EXPIRED), c.expires_at <= now)


def _past_result(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(guard(TIMED_OUT), c.result_deadline <= now)


def _live(client_uuid: str) -> tuple[sa.ColumnElement[bool], ...]:
    return clients.c.uuid == client_uuid, clients.c.deleted_at.is_(None)


def _texts(values: Collection[str]) -> sa.BindParameter[Any]:
    return sa.literal(list(values), sa.ARRAY(sa.Text))
