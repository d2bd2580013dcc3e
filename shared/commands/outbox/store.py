"""SQL of the outbox: claim what is due under a lease, write down how publishing it went."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import JSONB

from shared.commands.rules import CANCELLED, DENIED, LEASE, NO_SUBSCRIBER, PUBLISH_DENIED, SENT, Attempt
from shared.commands.store import OPEN, end, guard
from shared.tables import client_commands, clients
from shared.vocabulary import CommandSource, CommandState, PublishAnswer

c = client_commands.c
CLAIMED = (
    c.id,
    c.client_uuid,
    c.action,
    c.if_boot_id,
    c.if_app_instance,
    c.created_at,
    c.expires_at,
    c.publish_lease_until,
    c.publish_attempts,
    c.traceparent,
)
"""What a publisher needs of a command."""
A_SECOND = timedelta(seconds=1)  # the unit of MQTT's message expiry: with less left a command is too late


def claim(
    connection: Connection,
    now: datetime,
    limit: int,
    only_ids: Collection[str] | None,
    client_uuids: Collection[str] | None,
) -> Sequence[RowMapping]:
    """Take up to `limit` due commands, the oldest first, under a lease; other claimers skip them.

    A lease that ran out unrecorded means that its publish may have got through: `unanswered_at` keeps that.
    """
    due = _due(now, only_ids, client_uuids).order_by(c.created_at, c.id).limit(limit)
    taken = due.with_for_update(skip_locked=True).cte("due")
    lost = sa.func.coalesce(c.unanswered_at, c.publish_attempted_at)
    held = {
        "unanswered_at": sa.case((c.publish_lease_until.is_not(None), lost), else_=c.unanswered_at),
        "publish_attempted_at": now,
        "publish_lease_until": now + LEASE,
        "publish_attempts": c.publish_attempts + 1,
    }
    statement = sa.update(client_commands).where(c.id == taken.c.id).values(**held).returning(*CLAIMED)
    return connection.execute(statement).mappings().all()


def _due(
    now: datetime, only_ids: Collection[str] | None, client_uuids: Collection[str] | None
) -> sa.Select[tuple[str]]:
    """What a publisher may take now. Naming clients (they just came online) also takes what waits for that."""
    its_time = sa.or_(c.next_publish_at.is_(None), c.next_publish_at <= now)
    query = sa.select(c.id).where(
        OPEN,
        c.state.in_((CommandState.QUEUED.value, CommandState.SENT.value)),
        c.expires_at >= now + A_SECOND,
        sa.or_(c.publish_lease_until.is_(None), c.publish_lease_until <= now),
    )
    if only_ids is not None:
        query = query.where(c.id == sa.any_(_texts(only_ids)))
    if client_uuids is None:
        return query.where(its_time)
    waited_for_it = c.publish_answer == PublishAnswer.NO_SUBSCRIBER
    return query.where(c.client_uuid == sa.any_(_texts(client_uuids)), sa.or_(its_time, waited_for_it))


def note(connection: Connection, now: datetime, attempts: Mapping[Attempt, timedelta]) -> list[str]:
    """Give back the leases and write what each attempt proved; the ids whose lease was still this claim's.

    The values say how long to wait before the next publish.
    """
    a = _recordset(now, attempts)
    statement = (
        sa.update(client_commands)
        .where(c.id == a.c.id, c.publish_lease_until == a.c.lease_until)
        .values(
            publish_lease_until=None,
            publish_answer=sa.func.coalesce(a.c.answer, c.publish_answer),
            next_publish_at=a.c.next_publish_at,
            **_proof(now, a),
            **_told(now, a),
        )
        .returning(c.id)
    )
    return list(connection.execute(statement).scalars())


def _proof(now: datetime, a: sa.TableValuedAlias) -> dict[str, sa.ColumnElement[Any]]:
    """What an attempt leaves of the proof that nobody has the command: a doubt stays, and what never left is undone."""
    doubted = sa.and_(a.c.answer.is_(None), a.c.may_have_left)
    nothing_before = sa.and_(c.publish_answer.is_(None), c.unanswered_at.is_(None))
    never_left = sa.and_(a.c.answer.is_(None), ~a.c.may_have_left, nothing_before)
    return {
        "unanswered_at": sa.case((doubted, sa.func.coalesce(c.unanswered_at, now)), else_=c.unanswered_at),
        "publish_attempted_at": sa.case((never_left, None), else_=c.publish_attempted_at),
    }


def _told(now: datetime, a: sa.TableValuedAlias) -> dict[str, sa.ColumnElement[Any]]:
    """What people see of an attempt: when the broker took it, or that nobody listens."""
    queued = c.state == CommandState.QUEUED.value
    accepted = sa.and_(a.c.answer < 0x80, a.c.answer != PublishAnswer.NO_SUBSCRIBER)
    sent_at = sa.func.coalesce(c.sent_at, sa.func.least(now, c.received_at, c.finished_at))
    unheard = sa.and_(queued, a.c.answer == PublishAnswer.NO_SUBSCRIBER)
    return {
        "sent_at": sa.case((accepted, sent_at), else_=c.sent_at),
        "outcome_reason": sa.case((unheard, NO_SUBSCRIBER), (sa.and_(queued, accepted), None), else_=c.outcome_reason),
    }


def mark_sent(connection: Connection, now: datetime, command_ids: Collection[str]) -> list[str]:
    """The broker took these; the ids of those that were still queued."""
    statement = (
        sa.update(client_commands)
        .where(OPEN, guard(SENT), c.id == sa.any_(_texts(command_ids)))
        .values(state=SENT.to.value, sent_at=sa.func.coalesce(c.sent_at, now), outcome_reason=None)
        .returning(c.id)
    )
    return list(connection.execute(statement).scalars())


def lock_clients_of(connection: Connection, command_ids: Collection[str]) -> None:
    """Lock the clients of these commands in the order of their uuids, until the transaction ends."""
    theirs = sa.select(c.client_uuid).where(c.id == sa.any_(_texts(command_ids)))
    query = sa.select(clients.c.uuid).where(clients.c.uuid.in_(theirs)).order_by(clients.c.uuid)
    connection.execute(query.with_for_update(key_share=True))


def open_among(connection: Connection, command_ids: Collection[str]) -> list[str]:
    """Those of these commands that are not over."""
    return list(connection.execute(sa.select(c.id).where(OPEN, c.id == sa.any_(_texts(command_ids)))).scalars())


def deny(connection: Connection, now: datetime, command_ids: Collection[str]) -> Sequence[RowMapping]:
    """The broker's ACL forbids these: failed, unless an earlier publish was accepted."""
    return end(connection, now, DENIED, sa.literal(PUBLISH_DENIED), c.id == sa.any_(_texts(command_ids)))


def cancel_unheard_recovery(
    connection: Connection, now: datetime, command_ids: Collection[str]
) -> Sequence[RowMapping]:
    """Recovery does not wait for a display to come back: what nobody listened to is over, its lockout undone."""
    which = sa.and_(c.id == sa.any_(_texts(command_ids)), c.source == CommandSource.RECOVERY.value)
    return end(connection, now, CANCELLED, sa.literal(NO_SUBSCRIBER), which)


def _recordset(now: datetime, attempts: Mapping[Attempt, timedelta]) -> sa.TableValuedAlias:
    """The attempts as rows, in one parameter (executemany is 20 times slower)."""
    rows = [
        {
            "id": attempt.command_id,
            "lease_until": attempt.lease_until.isoformat(),
            "answer": attempt.answer,
            "may_have_left": attempt.may_have_left,
            "next_publish_at": (now + wait).isoformat(),
        }
        for attempt, wait in attempts.items()
    ]
    when = sa.DateTime(timezone=True)
    return (
        sa.func.jsonb_to_recordset(sa.literal(rows, JSONB))
        .table_valued(
            sa.column("id", sa.Text),
            sa.column("lease_until", when),
            sa.column("answer", sa.SmallInteger),
            sa.column("may_have_left", sa.Boolean),
            sa.column("next_publish_at", when),
        )
        .render_derived(name="a", with_types=True)
    )


def _texts(values: Collection[str]) -> sa.BindParameter[Any]:
    return sa.literal(list(values), sa.ARRAY(sa.Text))
