"""SQL of deliveries, the outbox. Every move is one guarded UPDATE; after the claim each carries the claim's token."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import JSONB

from shared.tables import notification_channels, notification_deliveries
from shared.vocabulary import DeliveryState, NotificationEvent, NotificationPhase

d = notification_deliveries.c
OWN_FACTS = sa.func.coalesce(
    d.message["own"], d.message["facts"], type_=JSONB
)  # a message of many stands in the row of one
EVENT = sa.func.coalesce(OWN_FACTS["event"].astext, d.event).label(
    "event"
)  # the column holds what code of before reads
PENDING = d.state == DeliveryState.PENDING.value
SHOWN = (
    d.id,
    d.channel_id,
    notification_channels.c.name.label("channel_name"),
    d.subject,
    d.phase,
    EVENT,
    d.message["title"].astext.label("title"),
    d.message["text"].astext.label("text"),
    d.state,
    d.attempts,
    d.created_at,
    d.due_at,
    d.finished_at,
    d.error,
)


def insert(connection: Connection, now: datetime, rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Put these messages to one channel into the outbox: ids by subject. What was said already is left out.

    Each has channel_id, root, subject, phase, event, message, standing, and perhaps folded_into.
    """
    statement = sa.text(  # one parameter for all of them
        """
        INSERT INTO notification_deliveries (channel_id, root, subject, phase, event, message, created_at, due_at,
            standing, folded_into, state)
        SELECT channel_id, root, subject, phase, event, message, CAST(:now AS timestamptz), CAST(:now AS timestamptz),
            standing, folded_into, CASE WHEN folded_into IS NULL THEN 'pending' ELSE 'folded' END
        FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(channel_id bigint, root text, subject text, phase text,
            event text, message jsonb, standing boolean, folded_into bigint)
        ORDER BY subject
        ON CONFLICT (channel_id, subject, phase) DO NOTHING RETURNING subject, id
        """
    )
    said = [{"folded_into": None, **row} for row in rows]
    return {row.subject: row.id for row in connection.execute(statement, {"now": now, "rows": json.dumps(said)})}


def standing(connection: Connection) -> Sequence[RowMapping]:
    """What was told, or is about to be, of which it is not known that it is over."""
    columns = (d.id, d.channel_id, d.root, d.subject, d.state, d.created_at, d.claimed_at)
    query = sa.select(*columns, OWN_FACTS.label("facts")).where(d.standing).order_by(d.id)
    return connection.execute(query).mappings().all()


def told_of_since(connection: Connection, event: NotificationEvent, since: datetime) -> set[int]:
    """The channels that were told since then that something of this kind began."""
    query = sa.select(d.channel_id).where(
        d.created_at > since,
        d.phase == NotificationPhase.OPENED.value,
        d.state != DeliveryState.DROPPED.value,
        OWN_FACTS["event"].astext == event.value,
    )
    return set(connection.execute(query.distinct()).scalars())


def opened_since(connection: Connection, roots: Collection[str], since: datetime) -> set[tuple[int, str]]:
    """(channel, root) of those of these roots whose beginning a channel was told of since then."""
    query = sa.select(d.channel_id, d.root).where(
        d.root == sa.any_(sa.literal(list(roots), sa.ARRAY(sa.Text))),
        d.phase == NotificationPhase.OPENED.value,
        d.state != DeliveryState.DROPPED.value,
        d.created_at > since,
    )
    return {(channel_id, root) for channel_id, root in connection.execute(query)}


def settle(connection: Connection, ids: Collection[int]) -> None:
    """What these told of is over."""
    statement = sa.update(notification_deliveries).where(d.id == sa.any_(_ids(ids))).values(standing=False)
    connection.execute(statement)


def drop_unsent(connection: Connection, now: datetime, channel_id: int, subject: str, words: str) -> int:
    """Drop what waits to be said of this subject, unless somebody is sending it; how many.

    A message that stands for others is said: they are no subject of its.
    """
    other = notification_deliveries.alias()
    stands_for_others = sa.exists().where(other.c.folded_into == d.id)
    mine = (d.channel_id == channel_id, d.subject == subject, PENDING, d.claim.is_(None), sa.not_(stands_for_others))
    values = {"state": DeliveryState.DROPPED.value, "standing": False, "finished_at": now, "error": words}
    return connection.execute(sa.update(notification_deliveries).where(*mine).values(**values)).rowcount


def requeue_forgotten(
    connection: Connection, now: datetime, due_before: datetime, claimed_before: datetime, limit: int
) -> list[tuple[int, int]]:
    """(id, generation) of what should have been tried by then, or whose sender's lease is over: to be enqueued."""
    forgotten = sa.or_(
        sa.and_(d.claim.is_(None), d.due_at <= due_before),
        sa.and_(d.claim.is_not(None), d.claimed_at <= claimed_before),
    )
    oldest = sa.select(d.id).where(PENDING, forgotten).order_by(d.due_at, d.id).limit(limit)
    statement = (
        sa.update(notification_deliveries)
        .where(d.id.in_(oldest.with_for_update(skip_locked=True)))
        .values(generation=d.generation + 1, claim=None, claimed_at=None, due_at=now)
    )
    rows = connection.execute(statement.returning(d.id, d.generation))
    return [(row.id, row.generation) for row in rows]


def claim(
    connection: Connection, now: datetime, delivery_id: int, generation: int, token: str, lease_began: datetime
) -> RowMapping | None:
    """Take a message for one sender; None when it is done, gone, of another generation, or in other hands."""
    free = sa.or_(d.claim.is_(None), d.claimed_at <= lease_began)
    statement = (
        sa.update(notification_deliveries)
        .where(d.id == delivery_id, d.generation == generation, PENDING, free)
        .values(claim=token, claimed_at=now, attempts=d.attempts + 1)
    )
    returned = statement.returning(d.id, d.channel_id, d.attempts, d.created_at, d.message)
    return connection.execute(returned).mappings().one_or_none()


def get(connection: Connection, delivery_id: int) -> RowMapping | None:
    """One message, with its claim, or None."""
    query = sa.select(d.id, d.state, d.generation, d.claim, d.claimed_at).where(d.id == delivery_id)
    return connection.execute(query).mappings().one_or_none()


def finish(
    connection: Connection, now: datetime, delivery_id: int, token: str, state: DeliveryState, error: str | None
) -> bool:
    """It will not be tried again; False when the claim was lost."""
    values = {"state": state.value, "finished_at": now, "error": error, "claim": None, "claimed_at": None}
    mine = (d.id == delivery_id, d.claim == token, PENDING)
    return connection.execute(sa.update(notification_deliveries).where(*mine).values(**values)).rowcount == 1


def release(connection: Connection, delivery_id: int, token: str, due_at: datetime, error: str) -> int | None:
    """It will be tried again then: its next generation; None when the claim was lost."""
    statement = (
        sa.update(notification_deliveries)
        .where(d.id == delivery_id, d.claim == token, PENDING)
        .values(claim=None, claimed_at=None, due_at=due_at, error=error, generation=d.generation + 1)
    )
    generation: int | None = connection.execute(statement.returning(d.generation)).scalar_one_or_none()
    return generation


def revive(connection: Connection, now: datetime, channel_id: int) -> int:
    """Try again what failed and is not over; how many. The next sweep enqueues them."""
    failed = (d.channel_id == channel_id, d.state == DeliveryState.FAILED.value, d.standing)
    values = {"state": DeliveryState.PENDING.value, "finished_at": None, "error": None, "due_at": now}
    again = sa.update(notification_deliveries).where(*failed).values(**values, generation=d.generation + 1)
    return connection.execute(again).rowcount


def page(
    connection: Connection, channel_id: int | None, state: DeliveryState | None, limit: int, before: int | None
) -> Sequence[RowMapping]:
    """Up to `limit` messages, the newest first, before this id."""
    query = sa.select(*SHOWN).join(notification_channels, notification_channels.c.id == d.channel_id)
    if channel_id is not None:
        query = query.where(d.channel_id == channel_id)
    if state is not None:
        query = query.where(d.state == state.value)
    if before is not None:
        query = query.where(d.id < before)
    return connection.execute(query.order_by(d.id.desc()).limit(limit)).mappings().all()


def drop_history(connection: Connection, before: datetime) -> int:
    """Forget messages from before then whose matter is over; how many."""
    old = sa.and_(d.created_at < before, sa.not_(d.standing), sa.not_(PENDING))
    return connection.execute(sa.delete(notification_deliveries).where(old)).rowcount


def _ids(values: Collection[int]) -> sa.BindParameter[Any]:
    return sa.literal(list(values), sa.ARRAY(sa.BigInteger))
