"""SQL that ends commands. Each change of state is one UPDATE, guarded by its move; nothing is read first.

One statement ends a command and releases its lockout, so that both happen or neither.
"""

from datetime import datetime
from functools import partial
from typing import Any, Final

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy import Connection

from shared.commands.rules import (
    CANCELLED,
    EXPIRED,
    NEVER_PUBLISHED,
    NO_ACK,
    NO_RESULT,
    NO_SUBSCRIBER,
    PUBLISH_DENIED,
    RIGHTS_LOST,
    TIMED_OUT,
    Move,
)
from shared.commands.store import OPEN
from shared.postgres import query
from shared.postgres.fragments import MAKERS, is_at_site_of, made, may_send
from shared.postgres.query import Query, among, moment
from shared.tables import client_commands, client_recovery, clients
from shared.vocabulary import CommandAction, PublishAnswer

c = client_commands.c

RETURNED = (c.id, c.client_uuid, c.action, c.source, c.outcome_reason, c.lockout_before)
"""The columns that the consequences of an end need."""

NOBODYS = sa.and_(
    c.sent_at.is_(None),
    c.received_at.is_(None),
    c.running_at.is_(None),
    c.unanswered_at.is_(None),
    c.publish_lease_until.is_(None),
    sa.or_(c.publish_attempted_at.is_(None), c.publish_answer == PublishAnswer.NO_SUBSCRIBER),
)
"""Proof that no display has the command: it was never published, or the broker answered each publish "no subscriber".

A lease without a recorded answer, running or over, is no proof: its publish may have got through.
"""


class Ended(Struct, frozen=True):
    """A command that was ended just now."""

    id: str
    client_uuid: str
    source: str
    outcome_reason: str


def ending(move: Move, reason: sa.ColumnElement[str], which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """SQL: end the commands in `which` by `move` at `now`. Rows: id, client_uuid, source, outcome_reason.

    A command that provably no display had restores the lockout and the recovery ladder from before it.
    """
    ended = (
        sa.update(client_commands)
        .where(OPEN, guard(move), which)
        .values(state=move.to.value, finished_at=moment("now"), outcome_reason=reason)
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
    return query.add_cte(released).add_cte(_step_back(ended))


def _step_back(ended: sa.CTE) -> sa.CTE:
    """SQL: restore recovery's ladder after a command that no display had, and note the clients not connected."""
    r = client_recovery.c
    in_vain = sa.or_(ended.c.nobodys, ended.c.outcome_reason == PUBLISH_DENIED)
    values = {
        **_rung_back(ended),
        "command_id": None,
        "unheard_at": sa.case((ended.c.outcome_reason == NO_SUBSCRIBER, moment("now")), else_=r.unheard_at),
    }
    statement = sa.update(client_recovery).where(r.client_uuid == ended.c.client_uuid, r.command_id == ended.c.id)
    return statement.where(in_vain).values(**values).returning(r.client_uuid).cte("stepped_back")


def undone(finished: sa.Update, refused: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """SQL: end commands by a display's result, with the consequences when the display `refused`. Rows: ids.

    A display that refused did not restart: the ladder is restored and counts a refusal, and the lockout is restored.
    A command of recovery restores the lockout only the first time; otherwise recovery would ask without end.
    """
    returned = (c.id, c.client_uuid, c.action, c.lockout_before, refused.label("refused"))
    ended = finished.returning(*returned).cte("ended")
    r = client_recovery.c
    refused_before = sa.exists().where(
        r.client_uuid == ended.c.client_uuid, r.command_id == ended.c.id, r.refused_restarts + r.refused_reboots > 0
    )
    released = (
        sa.update(clients)
        .where(clients.c.uuid == ended.c.client_uuid, clients.c.lockout_command_id == ended.c.id)
        .where(ended.c.refused, ~refused_before)
        .values(lockout_until=ended.c.lockout_before, lockout_command_id=None)
        .returning(clients.c.uuid)
        .cte("released")
    )
    stepped_back = (
        sa.update(client_recovery)
        .where(r.client_uuid == ended.c.client_uuid, r.command_id == ended.c.id, ended.c.refused)
        .values(**_rung_back(ended), **_one_more_refusal(ended))
        .returning(r.client_uuid)
        .cte("stepped_back")
    )
    return sa.select(ended.c.id).add_cte(released).add_cte(stepped_back)


def _rung_back(ended: sa.CTE) -> dict[str, sa.ColumnElement[Any]]:
    """SQL: the ladder's columns as before this command."""
    r = client_recovery.c
    restarted = sa.case((ended.c.action == CommandAction.RESTART_APP.value, 1), else_=0)
    step = sa.func.greatest(r.step - 1, 0)
    return {
        "step": step,
        "restarts": sa.func.greatest(r.restarts - restarted, 0),
        "reboots": sa.func.greatest(r.reboots - (1 - restarted), 0),
        "tried_since": sa.case((step > 0, r.tried_since), else_=None),
    }


def _one_more_refusal(ended: sa.CTE) -> dict[str, sa.ColumnElement[Any]]:
    r = client_recovery.c
    restarted = sa.case((ended.c.action == CommandAction.RESTART_APP.value, 1), else_=0)
    return {
        "refused_restarts": r.refused_restarts + restarted,
        "refused_reboots": r.refused_reboots + (1 - restarted),
    }


def guard(move: Move) -> sa.ColumnElement[bool]:
    """SQL: whether `move` is legal."""
    return sa.and_(c.rank >= move.lowest, c.rank < move.below)


def _past_expiry() -> sa.ColumnElement[bool]:
    return sa.and_(guard(EXPIRED), c.expires_at <= moment("now"))


def _past_result() -> sa.ColumnElement[bool]:
    return sa.and_(guard(TIMED_OUT), c.result_deadline <= moment("now"))


LOST: Final = sa.literal_column(
    f"""(split_part(client_commands.requested_by, ':', 1) IN ('user', 'token') AND NOT EXISTS (
        SELECT FROM {MAKERS} AS maker JOIN clients AS theirs ON {is_at_site_of("maker", "theirs")}
        WHERE theirs.uuid = client_commands.client_uuid AND {may_send("maker", "client_commands.action")}
            AND {made("maker", "client_commands.requested_by", "client_commands.created_at")}))""",  # nosec B608
    sa.Boolean,
)
"""SQL: whether the person or token in whose name a command goes may not send it any more to this display."""
WITHDRAWN: Final = sa.and_(
    NOBODYS, among(c.action, CommandAction), LOST
)  # who may send other actions, later code knows


@query.rows(lambda: sa.select(c.client_uuid).where(OPEN, WITHDRAWN))
def clients_lost(connection: Connection) -> list[str]:
    """The clients with a command that no display has, and whose maker may not send it any more."""


@query.rows(lambda: ending(CANCELLED, sa.literal(RIGHTS_LOST), WITHDRAWN))
def withdraw(connection: Connection, now: datetime) -> list[Ended]:
    """Cancel these commands."""


@query.rows(lambda: sa.select(c.client_uuid).where(OPEN, sa.or_(_past_expiry(), _past_result())))
def clients_overdue(connection: Connection, now: datetime) -> list[str]:
    """The clients with an open command past its deadline."""


NEVER: Final = sa.and_(NOBODYS, c.publish_attempted_at.is_(None))


@query.rows(
    lambda: ending(EXPIRED, sa.case((NEVER, NEVER_PUBLISHED), (NOBODYS, NO_SUBSCRIBER), else_=NO_ACK), _past_expiry())
)
def expire(connection: Connection, now: datetime) -> list[Ended]:
    """Expire commands without an ACK in time; restore the lockouts of those that provably no display has."""


@query.rows(lambda: ending(TIMED_OUT, sa.literal(NO_RESULT), _past_result()))
def time_out(connection: Connection, now: datetime) -> list[Ended]:
    """Time out received commands without a result in time."""


WHY: Final = sa.bindparam("why", type_=sa.Text)
THIS: Final = c.id == sa.bindparam("command_id")


@query.one_or_none(lambda: ending(CANCELLED, WHY, sa.and_(THIS, NOBODYS)))
def cancel(connection: Connection, now: datetime, command_id: str, why: str) -> Ended | None:
    """Cancel a command that provably no display has. None: it does not exist, is over, or a display may have it."""


THEIRS: Final = c.client_uuid == sa.bindparam("client")
ABANDON = (
    Query(lambda: ending(CANCELLED, WHY, sa.and_(THEIRS, NOBODYS)), Ended),
    Query(lambda: ending(EXPIRED, WHY, THEIRS), Ended),
    Query(lambda: ending(TIMED_OUT, WHY, THEIRS), Ended),
)


def abandon(connection: Connection, now: datetime, client_uuid: str, why: str) -> list[Ended]:
    """End the open commands of a client that will not answer: at most one, and a screenshot. Returns their rows.

    Cancelled if provably no display has one; timed out if the display received it; else expired.
    """
    return [row for query in ABANDON for row in query.all(connection, now=now, client=client_uuid, why=why)]


GIVE_UP = tuple(Query(partial(ending, move, WHY, THIS), Ended) for move in (EXPIRED, TIMED_OUT))


def give_up(connection: Connection, now: datetime, command_id: str, why: str) -> list[Ended]:
    """End a command that a display may have, before its deadline. Empty: it is over or does not exist."""
    return [row for query in GIVE_UP for row in query.all(connection, now=now, command_id=command_id, why=why)]
