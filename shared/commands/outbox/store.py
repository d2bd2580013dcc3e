"""SQL of the outbox: claim due commands under a lease, store the results of publishing."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy import Connection

from shared.commands.endings_store import LOST, ending, guard
from shared.commands.rules import CANCELLED, DENIED, LEASE, NO_SUBSCRIBER, PUBLISH_DENIED, SENT, Attempt, DueCommand
from shared.commands.store import OPEN
from shared.postgres import query
from shared.postgres.many import ManyRows
from shared.postgres.query import Query, among, moment, one_of
from shared.tables import client_commands, clients
from shared.vocabulary import REFUSED_FROM, CommandAction, CommandSource, CommandState, PublishAnswer

c = client_commands.c
CLAIMED = tuple(c[name] for name in DueCommand.__struct_fields__)
A_SECOND = timedelta(seconds=1)  # the unit of MQTT's message expiry: a command with less time left is too late


def claim(
    connection: Connection,
    now: datetime,
    limit: int,
    only_ids: Collection[str] | None,
    client_uuids: Collection[str] | None,
) -> list[DueCommand]:
    """Claim up to `limit` due commands, the oldest first, under a lease; other publishers skip them.

    If a lease ended without a recorded answer, its publish may have arrived: `unanswered_at` notes that.
    """
    named = {"ids": only_ids, "uuids": client_uuids}
    given = {name: list(values) for name, values in named.items() if values is not None}
    times = {"now": now, "leased_until": now + LEASE, "too_late": now + A_SECOND}
    return _claim(frozenset(given)).all(connection, most=limit, **times, **given)


@cache
def _claim(given: frozenset[str]) -> Query[DueCommand]:
    """The query of `claim` with the parameters in `given`."""
    due = _due(given).order_by(c.created_at, c.id).limit(sa.bindparam("most", type_=sa.Integer))
    taken = due.with_for_update(skip_locked=True).cte("due")
    lost = sa.func.coalesce(c.unanswered_at, c.publish_attempted_at)
    held = {
        "unanswered_at": sa.case((c.publish_lease_until.is_not(None), lost), else_=c.unanswered_at),
        "publish_attempted_at": moment("now"),
        "publish_lease_until": moment("leased_until"),
        "publish_attempts": c.publish_attempts + 1,
    }
    claimed = sa.update(client_commands).where(c.id == taken.c.id).values(**held).returning(*CLAIMED)
    return Query(lambda: claimed, DueCommand)


def _due(given: frozenset[str]) -> sa.Select[tuple[str]]:
    """SQL: the commands that a publisher may claim now; of given clients also those that wait for a connection."""
    its_time = sa.or_(c.next_publish_at.is_(None), c.next_publish_at <= moment("now"))
    query = sa.select(c.id).where(
        OPEN,
        among(c.state, (CommandState.QUEUED, CommandState.SENT)),
        among(c.action, CommandAction),  # never what later code asked for
        c.expires_at >= moment("too_late"),
        sa.or_(c.publish_lease_until.is_(None), c.publish_lease_until <= moment("now")),
        sa.not_(LOST),
    )
    if "ids" in given:
        query = query.where(one_of(c.id, "ids"))
    if "uuids" not in given:
        return query.where(its_time)
    waited_for_it = c.publish_answer == PublishAnswer.NO_SUBSCRIBER
    return query.where(one_of(c.client_uuid, "uuids"), sa.or_(its_time, waited_for_it))


class NotedAttempt(Struct, frozen=True):
    """The columns of an attempt for `note`."""

    command_id: str
    lease_until: datetime
    answer: int | None
    may_have_left: bool
    next_publish_at: datetime


ATTEMPTS: Final = ManyRows("tried", NotedAttempt)


def note(connection: Connection, now: datetime, attempts: Mapping[Attempt, timedelta]) -> list[str]:
    """End the leases and store what each attempt proved. Returns the ids whose lease still was this claim's.

    The values of `attempts` are the waits before the next publish.
    """
    tried = [
        NotedAttempt(a.command_id, a.lease_until, a.answer, a.may_have_left, now + wait) for a, wait in attempts.items()
    ]
    return NOTE.all(connection, now=now, **ATTEMPTS.of(tried))


def _note() -> sa.Executable:
    a = ATTEMPTS.c
    return (
        sa.update(client_commands)
        .where(c.id == a.command_id, c.publish_lease_until == a.lease_until)
        .values(
            publish_lease_until=None,
            publish_answer=sa.func.coalesce(a.answer, c.publish_answer),
            next_publish_at=a.next_publish_at,
            **_proof(),
            **_shown(),
        )
        .returning(c.id)
    )


def _proof() -> dict[str, sa.ColumnElement[Any]]:
    """SQL: the proof that no display has the command: a doubtful attempt stays noted, an unsent one is undone."""
    a = ATTEMPTS.c
    doubted = sa.and_(a.answer.is_(None), a.may_have_left)
    nothing_before = sa.and_(c.publish_answer.is_(None), c.unanswered_at.is_(None))
    never_left = sa.and_(a.answer.is_(None), ~a.may_have_left, nothing_before)
    return {
        "unanswered_at": sa.case((doubted, sa.func.coalesce(c.unanswered_at, moment("now"))), else_=c.unanswered_at),
        "publish_attempted_at": sa.case((never_left, None), else_=c.publish_attempted_at),
    }


def _shown() -> dict[str, sa.ColumnElement[Any]]:
    """SQL: the columns that show people an attempt: when the broker took it, or that the display is not connected."""
    a = ATTEMPTS.c
    queued = c.state == CommandState.QUEUED.value
    accepted = sa.and_(a.answer < REFUSED_FROM, a.answer != PublishAnswer.NO_SUBSCRIBER)
    sent_at = sa.func.coalesce(c.sent_at, sa.func.least(moment("now"), c.received_at, c.finished_at))
    unheard = sa.and_(queued, a.answer == PublishAnswer.NO_SUBSCRIBER)
    return {
        "sent_at": sa.case((accepted, sent_at), else_=c.sent_at),
        "outcome_reason": sa.case((unheard, NO_SUBSCRIBER), (sa.and_(queued, accepted), None), else_=c.outcome_reason),
    }


NOTE = Query(_note, str)


@query.run(
    lambda: (
        sa.update(client_commands)
        .where(OPEN, guard(SENT), one_of(c.id, "command_ids"))
        .values(state=SENT.to.value, sent_at=sa.func.coalesce(c.sent_at, moment("now")), outcome_reason=None)
    )
)
def mark_sent(connection: Connection, now: datetime, command_ids: Collection[str]) -> None:
    """The broker accepted these commands: queued ones become sent."""


@query.run(
    lambda: (
        sa.select(clients.c.uuid)
        .where(clients.c.uuid.in_(sa.select(c.client_uuid).where(one_of(c.id, "command_ids"))))
        .order_by(clients.c.uuid)
        .with_for_update(key_share=True)
    )
)
def lock_clients_of(connection: Connection, command_ids: Collection[str]) -> None:
    """Lock the clients of these commands in the order of their uuids, until the transaction ends."""


@query.rows(lambda: sa.select(c.id).where(OPEN, one_of(c.id, "command_ids")))
def open_among(connection: Connection, command_ids: Collection[str]) -> list[str]:
    """The ids of the open commands among these."""


@query.run(lambda: ending(DENIED, sa.literal(PUBLISH_DENIED), one_of(c.id, "command_ids")))
def deny(connection: Connection, now: datetime, command_ids: Collection[str]) -> None:
    """Fail commands that the broker's ACL forbids, unless an earlier publish was accepted."""


@query.run(
    lambda: ending(
        CANCELLED,
        sa.literal(NO_SUBSCRIBER),
        sa.and_(one_of(c.id, "command_ids"), c.source == CommandSource.RECOVERY.value),
    )
)
def cancel_unheard_recovery(connection: Connection, now: datetime, command_ids: Collection[str]) -> None:
    """Cancel recovery's commands whose display is not connected, and undo their lockout: recovery does not wait."""
