"""SQL on commands. Every change of state is one UPDATE that its move guards; nothing is read first and saved later.

A statement that ends a command and releases its lockout does both or neither. Whoever changes more than one
command locks their clients first, in the order of their uuids (`lock_clients`), so that nobody waits in a ring.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import insert as insert_into

from shared.commands.rules import (
    CANCELLED,
    EXPIRED,
    LOCKING,
    NEVER_PUBLISHED,
    NO_ACK,
    NO_RESULT,
    NO_SUBSCRIBER,
    PUBLISH_DENIED,
    TIMED_OUT,
    CommandRequest,
    Move,
    Timings,
    lifetime,
    respects_lockout,
)
from shared.tables import client_commands, client_heartbeats, client_recovery, clients
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
    c.traceparent,
)
"""What every view of a command shows."""

RETURNED = (c.id, c.client_uuid, c.action, c.source, c.outcome_reason, c.lockout_before)
"""What follows from a command's end needs this of it."""

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


def count_open(connection: Connection, source: str) -> int:
    """How many commands of this source are open."""
    return connection.execute(sa.select(sa.func.count()).where(OPEN, c.source == source)).scalar_one()


def targets(connection: Connection, client_uuids: Collection[str]) -> dict[str, RowMapping]:
    """What decides whether these clients may get a command now, by uuid; who is no client is missing."""
    query = (
        sa.select(clients.c.uuid, clients.c.capabilities, clients.c.lockout_until, c.id.label("open_command_id"))
        .select_from(clients.outerjoin(client_commands, sa.and_(OPEN, c.client_uuid == clients.c.uuid)))
        .where(clients.c.uuid == sa.any_(_texts(client_uuids)), clients.c.deleted_at.is_(None))
    )
    return {row["uuid"]: row for row in connection.execute(query).mappings()}


def by_key(connection: Connection, requested_by: str, key: str) -> RowMapping | None:
    """The command for which this caller used this key, with the hash of that request; None when unused."""
    query = sa.select(*SHOWN, c.request_hash).where(c.requested_by == requested_by, c.idempotency_key == key)
    return connection.execute(query).mappings().one_or_none()


def insert(
    connection: Connection, now: datetime, requests: Mapping[str, CommandRequest], timings: Timings
) -> Sequence[RowMapping]:
    """New commands by id, each with its lockout raised in the same statement; the rows of those that are made.

    Left out are clients that are gone, locked, unable or already have an open command, and keys in use. Clients
    are locked in the order of their uuids; a race for one is lost without an error.
    """
    found = _willing(now, _asked(requests, timings))
    made = _made(now, found)
    lockout_until = sa.literal(now + timings.lockout)
    raised = (
        sa.update(clients)
        .where(clients.c.uuid == made.c.client_uuid, made.c.action.in_(LOCKING))
        .values(lockout_until=lockout_until, lockout_command_id=made.c.id)
        .returning(clients.c.uuid)
        .cte("raised")
    )
    return connection.execute(sa.select(made).add_cte(raised)).mappings().all()


def _asked(requests: Mapping[str, CommandRequest], timings: Timings) -> sa.TableValuedAlias:
    """The requests as rows, in one parameter."""
    rows = [
        {
            "id": command_id,
            "client_uuid": request.client_uuid,
            "action": request.action,
            "source": request.source,
            "reason": request.reason,
            "requested_by": request.requested_by,
            "idempotency_key": request.idempotency_key,
            "request_hash": request.hash() if request.idempotency_key else None,
            "traceparent": request.traceparent,
            "ttl_seconds": lifetime(request, timings).total_seconds(),
            "heeds_lockout": respects_lockout(request),
        }
        for command_id, request in requests.items()
    ]
    typed = {"ttl_seconds": sa.Double, "heeds_lockout": sa.Boolean}
    columns: list[Any] = [sa.column(name, typed.get(name, sa.Text)) for name in rows[0]]
    asked = sa.func.jsonb_to_recordset(sa.literal(rows, JSONB)).table_valued(*columns)
    return asked.render_derived(name="asked", with_types=True)


def _willing(now: datetime, asked: sa.TableValuedAlias) -> sa.CTE:
    """The requests whose client, now locked, exists, is able and heeds no lockout; with what it runs."""
    beats = client_heartbeats.c
    until = clients.c.lockout_until
    source = asked.join(clients, clients.c.uuid == asked.c.client_uuid)
    query = (
        sa.select(*asked.c, until, beats.boot_id, beats.app_instance)
        .select_from(source.outerjoin(client_heartbeats, beats.client_uuid == clients.c.uuid))
        .where(
            clients.c.deleted_at.is_(None),
            sa.or_(clients.c.capabilities.is_(None), asked.c.action == sa.any_(clients.c.capabilities)),
            sa.or_(~asked.c.heeds_lockout, until.is_(None), until <= now),
        )
        .order_by(clients.c.uuid)
        .with_for_update(of=clients, key_share=True)
    )
    return query.cte("found")


def _made(now: datetime, found: sa.CTE) -> sa.CTE:
    """The INSERT of these, bound to the boot, and restarts to the start, that the display runs now."""
    restarts = found.c.action == CommandAction.RESTART_APP.value
    copied = ("id", "client_uuid", "action", "source", "reason", "requested_by", "idempotency_key", "request_hash")
    values = {
        **{name: found.c[name] for name in (*copied, "traceparent")},
        "if_boot_id": found.c.boot_id,
        "if_app_instance": sa.case((restarts, found.c.app_instance), else_=None),
        "created_at": sa.literal(now),
        "expires_at": sa.literal(now) + found.c.ttl_seconds * sa.literal(timedelta(seconds=1)),
        "lockout_before": found.c.lockout_until,
    }
    rows = sa.select(*(value.label(name) for name, value in values.items()))
    return (
        insert_into(client_commands)
        .from_select(list(values), rows)
        .on_conflict_do_nothing()
        .returning(*SHOWN)
        .cte("made")
    )


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
    """Make a terminal move on `which`; a command that provably nobody had gives lockout and rung of the ladder back."""
    ended = (
        sa.update(client_commands)
        .where(OPEN, guard(move), which)
        .values(state=move.to.value, finished_at=now, outcome_reason=reason)
        .returning(*RETURNED, NOBODYS.label("nobodys"))
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
    return connection.execute(query.add_cte(released).add_cte(_step_back(now, ended))).mappings().all()


def _step_back(now: datetime, ended: sa.CTE) -> sa.CTE:
    """Recovery's ladder as it was before a command that nobody had, or that the broker refused; and who is unheard."""
    r = client_recovery.c
    in_vain = sa.or_(ended.c.nobodys, ended.c.outcome_reason == PUBLISH_DENIED)
    restarted = sa.case((ended.c.action == CommandAction.RESTART_APP.value, 1), else_=0)
    step = sa.func.greatest(r.step - 1, 0)
    values = {
        "step": step,
        "restarts": sa.func.greatest(r.restarts - restarted, 0),
        "reboots": sa.func.greatest(r.reboots - (1 - restarted), 0),
        "tried_since": sa.case((step > 0, r.tried_since), else_=None),
        "command_id": None,
        "unheard_at": sa.case((ended.c.outcome_reason == NO_SUBSCRIBER, now), else_=r.unheard_at),
    }
    statement = sa.update(client_recovery).where(r.client_uuid == ended.c.client_uuid, r.command_id == ended.c.id)
    return statement.where(in_vain).values(**values).returning(r.client_uuid).cte("stepped_back")


def guard(move: Move) -> sa.ColumnElement[bool]:
    """The condition under which `move` is legal."""
    return sa.and_(c.rank >= move.lowest, c.rank < move.below)


def _past_expiry(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(guard(EXPIRED), c.expires_at <= now)


def _past_result(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(guard(TIMED_OUT), c.result_deadline <= now)


def _texts(values: Collection[str]) -> sa.BindParameter[Any]:
    return sa.literal(list(values), sa.ARRAY(sa.Text))
