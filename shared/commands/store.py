"""SQL of commands: insert, read, delete. `endings_store` ends them.

Before a change of several commands lock their clients in the order of their uuids (`lock_clients`), to avoid
deadlocks.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql import insert as insert_into

from shared.commands.rules import (
    LEASE,
    LOCKING,
    REPEAT_EVERY,
    CommandRequest,
    Target,
    Timings,
    lifetime,
    respects_lockout,
)
from shared.postgres import query
from shared.postgres.fragments import NOW, are_ahead, is_open, no_later, occupies
from shared.postgres.many import ManyRows
from shared.postgres.query import NO_ROW, Query, among, moment, one_of
from shared.postgres.set_back import never_ahead
from shared.tables import client_commands, client_heartbeats, client_recovery, clients
from shared.vocabulary import POWER_ACTIONS, CommandAction, CommandSource, CommandState, ConfirmedBy
from shared.words.sentences import Sentence, given

c = client_commands.c


class CommandRow(Struct, frozen=True):
    """A command with every step of its life."""

    id: str
    client_uuid: str
    action: str
    """A CommandAction, or a word that later code has stored; so is `source`."""
    state: CommandState
    source: str
    reason: Sentence | None
    outcome_reason: str | None
    requested_by: str
    created_at: datetime
    expires_at: datetime
    sent_at: datetime | None
    received_at: datetime | None
    running_at: datetime | None
    result_deadline: datetime | None
    finished_at: datetime | None
    late_state: CommandState | None
    late_at: datetime | None
    confirmed_by: ConfirmedBy | None
    if_boot_id: str | None
    acked_boot_id: str | None
    traceparent: str | None


SHOWN = tuple(c[name] for name in CommandRow.__struct_fields__)
"""The columns of every view of a command."""

OPEN: sa.ColumnElement[bool] = sa.literal_column(is_open("client_commands"))
"""SQL, written so that the planner uses the partial index of open commands."""


@query.one_or_none(lambda: sa.select(*SHOWN).where(c.id == sa.bindparam("command_id")))
def get(connection: Connection, command_id: str) -> CommandRow | None:
    """One command, or None."""


class Traced(Struct, frozen=True):
    """The fields of a command's log line."""

    id: str
    client_uuid: str
    state: CommandState
    outcome_reason: str | None
    traceparent: str | None


@query.rows(
    lambda: sa.select(*(c[name] for name in Traced.__struct_fields__)).where(one_of(c.id, "command_ids")).order_by(c.id)
)
def traced(connection: Connection, command_ids: Collection[str]) -> list[Traced]:
    """The fields of log lines about these commands, in the order of their ids."""


def page_of_client(
    connection: Connection, client_uuid: str, limit: int, after: tuple[datetime, str] | None
) -> list[CommandRow]:
    """Up to `limit` commands of one client, the newest first, that come after (created_at, id)."""
    if after is None:
        return FIRST_PAGE.all(connection, client=client_uuid, most=limit)
    return NEXT_PAGE.all(connection, client=client_uuid, most=limit, after=after[0], after_id=after[1])


def _newest(*after: sa.ColumnElement[bool]) -> sa.Select[Any]:
    query = sa.select(*SHOWN).where(c.client_uuid == sa.bindparam("client"), *after)
    return query.order_by(c.created_at.desc(), c.id.desc()).limit(sa.bindparam("most", type_=sa.Integer))


FIRST_PAGE = Query(_newest, CommandRow)
NEXT_PAGE = Query(
    lambda: _newest(
        sa.tuple_(c.created_at, c.id) < sa.tuple_(moment("after"), sa.bindparam("after_id", type_=sa.Text))
    ),
    CommandRow,
)


@query.one(lambda: sa.select(sa.func.count()).where(OPEN, c.source == sa.bindparam("source")))
def count_open(connection: Connection, source: str) -> int:
    """How many commands of this source are open."""


TARGETS = Query(
    f"""
    SELECT c.uuid, c.capabilities, c.lockout_until, k.id AS open_command_id, s.id AS open_screenshot_id
    FROM clients AS c LEFT JOIN client_commands AS k ON k.client_uuid = c.uuid AND {occupies("k")}
    LEFT JOIN client_commands AS s ON s.client_uuid = c.uuid AND {is_open("s")} AND s.action = 'screenshot'
    WHERE c.uuid = ANY(CAST(:uuids AS text[])) AND c.deleted_at IS NULL
    """,
    Target,
)


def targets(connection: Connection, client_uuids: Collection[str]) -> dict[str, Target]:
    """The facts that decide whether these clients may get a command now, by uuid; only existing clients."""
    return {target.uuid: target for target in TARGETS.all(connection, uuids=list(client_uuids))}


class RequestedCommand(Struct, frozen=True):
    """A requested command: the columns of its row, and the fields that decide about it."""

    id: str
    client_uuid: str
    action: CommandAction
    source: CommandSource
    reason: Sentence | None
    requested_by: str
    traceparent: str | None
    ttl_seconds: float
    heeds_lockout: bool


ASKED: Final = ManyRows("asked", RequestedCommand)


def insert(
    connection: Connection, now: datetime, requests: Mapping[str, CommandRequest], timings: Timings
) -> list[CommandRow]:
    """Insert commands by id and start their lockouts in one statement. Returns the new rows.

    Leaves out a client that is deleted, locked out, not capable, or has an open command: for a screenshot an open
    screenshot, else any other. Locks the clients in the order of their uuids; a lost race is no error.
    """
    asked = [_new(command_id, request, timings) for command_id, request in requests.items()]
    return INSERT.all(connection, now=now, locked_until=now + timings.lockout, **ASKED.of(asked))


def _new(command_id: str, request: CommandRequest, timings: Timings) -> RequestedCommand:
    return RequestedCommand(
        id=command_id,
        client_uuid=request.client_uuid,
        action=request.action,
        source=request.source,
        reason=request.why or given(request.reason),
        requested_by=request.requested_by,
        traceparent=request.traceparent,
        ttl_seconds=lifetime(request, timings).total_seconds(),
        heeds_lockout=respects_lockout(request),
    )


def _insert() -> sa.Select[Any]:
    made = _made(_willing())
    raised = (
        sa.update(clients)
        .where(clients.c.uuid == made.c.client_uuid, among(made.c.action, LOCKING))
        .values(lockout_until=moment("locked_until"), lockout_command_id=made.c.id)
        .returning(clients.c.uuid)
        .cte("raised")
    )
    return sa.select(made).add_cte(raised)


def _willing() -> sa.CTE:
    """SQL: the requests whose client exists, is capable and not locked out; with its boot and player start."""
    asked, beats = ASKED.table, client_heartbeats.c
    until = clients.c.lockout_until
    source = asked.join(clients, clients.c.uuid == asked.c.client_uuid)
    query = (
        sa.select(*asked.c, until, beats.boot_id, beats.app_instance)
        .select_from(source.outerjoin(client_heartbeats, beats.client_uuid == clients.c.uuid))
        .where(
            clients.c.deleted_at.is_(None),
            sa.or_(
                sa.and_(clients.c.capabilities.is_(None), among(asked.c.action, POWER_ACTIONS)),
                asked.c.action == sa.any_(clients.c.capabilities),
            ),
            sa.or_(~asked.c.heeds_lockout, until.is_(None), until <= moment("now")),
        )
        .order_by(clients.c.uuid)
        .with_for_update(of=clients, key_share=True)
    )
    return query.cte("found")


def _made(found: sa.CTE) -> sa.CTE:
    """SQL: insert these commands, bound to the display's present boot, restarts also to the player's start."""
    restarts = found.c.action == CommandAction.RESTART_APP.value
    values = {
        **{name: found.c[name] for name in RequestedCommand.__struct_fields__ if name in c},
        "if_boot_id": found.c.boot_id,
        "if_app_instance": sa.case((restarts, found.c.app_instance), else_=None),
        "created_at": moment("now"),
        "expires_at": moment("now") + found.c.ttl_seconds * sa.literal(timedelta(seconds=1)),
        "lockout_before": found.c.lockout_until,
    }
    new = sa.select(*(said.label(name) for name, said in values.items()))
    return (
        insert_into(client_commands)
        .from_select(list(values), new)
        .on_conflict_do_nothing()
        .returning(*SHOWN)
        .cte("made")
    )


INSERT = Query(_insert, CommandRow)


@query.run(
    lambda: (
        sa.select(clients.c.uuid)
        .where(one_of(clients.c.uuid, "client_uuids"))
        .order_by(clients.c.uuid)
        .with_for_update(key_share=True)
    )
)
def lock_clients(connection: Connection, client_uuids: Collection[str]) -> None:
    """Lock these clients' rows in the order of their uuids, until the transaction ends."""


@query.run(
    lambda: (
        sa.update(clients)
        .where(clients.c.uuid == c.client_uuid, one_of(c.id, "command_ids"), among(c.action, LOCKING))
        .values(lockout_until=sa.func.greatest(clients.c.lockout_until, moment("until")), lockout_command_id=c.id)
    )
)
def raise_lockouts(connection: Connection, command_ids: Collection[str], until: datetime) -> None:
    """Extend to `until` the lockout of the clients of restarts and reboots among these commands."""


def _old() -> sa.Delete:
    r, h = client_recovery.c, client_heartbeats.c
    tried_last = sa.exists().where(r.client_uuid == c.client_uuid, r.command_id == c.id)
    shut_down = sa.and_(
        c.action == CommandAction.SHUTDOWN_HOST.value,
        c.state == CommandState.SUCCEEDED.value,
        sa.exists().where(h.client_uuid == c.client_uuid, h.last_heartbeat_at <= c.finished_at),
    )
    return sa.delete(client_commands).where(c.finished_at < moment("before"), ~tried_last, ~shut_down)


@query.run(_old)
def drop_history(connection: Connection, before: datetime) -> int:
    """Delete commands that were over before `before`. Returns how many. Delete recovery's events first.

    Two commands stay at any age, because they explain a client's state: recovery's last command, and the shutdown
    after which the client was not heard again.
    """


SEEN: Final = never_ahead(client_commands)
AHEAD = Query(
    f"""
    SELECT client_uuid FROM client_commands WHERE {are_ahead("client_commands", *SEEN)}
    UNION SELECT uuid FROM clients WHERE lockout_until > CAST(:longest AS timestamptz)
    """,
    str,
)
FORGET_THE_FUTURE = Query(
    no_later(
        "client_commands",
        *SEEN,
        more=f"""
        expires_at = CASE WHEN created_at > {NOW} THEN {NOW} + (expires_at - created_at) ELSE expires_at END,
        result_deadline = CASE WHEN received_at > {NOW} THEN {NOW} + (result_deadline - received_at)
            ELSE result_deadline END,
        publish_lease_until = CASE WHEN publish_lease_until > :lease THEN :lease ELSE publish_lease_until END,
        next_publish_at = CASE WHEN next_publish_at > :repeat THEN :repeat ELSE next_publish_at END,
        lockout_before = CASE WHEN lockout_before > :longest THEN :longest ELSE lockout_before END""",
    ),
    NO_ROW,
)
SHORTEN_LOCKOUTS = Query("UPDATE clients SET lockout_until = :longest WHERE lockout_until > :longest", NO_ROW)


def forget_the_future(connection: Connection, now: datetime, lockout: timedelta) -> None:
    """Set commands' future times to now and move their deadlines with them, after the clock was set back.

    No client stays locked out for longer than `lockout` from now.
    """
    longest = now + lockout
    lock_clients(connection, AHEAD.all(connection, now=now, longest=longest))
    FORGET_THE_FUTURE.run(connection, now=now, lease=now + LEASE, repeat=now + REPEAT_EVERY, longest=longest)
    SHORTEN_LOCKOUTS.run(connection, longest=longest)
