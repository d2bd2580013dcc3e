"""SQL of recovery: who has crashed, what stands in the way, what was decided."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import JSONB, distinct_on

from shared.clients import store as clients_store
from shared.commands.rules import NO_SUBSCRIBER
from shared.tables import client_commands, clients, recovery_events
from shared.vocabulary import CommandSource, CommandState, ProcessStatus

RECOVERY_LOCK: Final = 7_305_003  # advisory lock of the transaction that counts and issues
SHOWN = (
    recovery_events.c.id,
    recovery_events.c.at,
    recovery_events.c.client_uuid,
    recovery_events.c.decision,
    recovery_events.c.why,
    recovery_events.c.evidence,
    recovery_events.c.command_id,
)


def lock_recovery(connection: Connection) -> None:
    """Wait until no other transaction recovers: the number of open recovery commands then stays what it is."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(RECOVERY_LOCK)))


def crashed(connection: Connection) -> Sequence[RowMapping]:
    """Every client whose display says that its player crashed, the longest crashed first."""
    query = clients_store.shown().where(clients.c.process_status == ProcessStatus.CRASHED)
    return connection.execute(query.order_by(clients.c.process_status_since, clients.c.uuid)).mappings().all()


def obstacles(connection: Connection, uuids: Collection[str]) -> dict[str, RowMapping]:
    """What no list of clients shows but recovery asks for, by uuid: capabilities, presence_at and unheard_at.

    `unheard_at` is when the client's latest recovery command ended because nobody listened; None otherwise.
    """
    latest = (
        sa.select(client_commands.c.state, client_commands.c.outcome_reason, client_commands.c.finished_at)
        .where(
            client_commands.c.client_uuid == clients.c.uuid, client_commands.c.source == CommandSource.RECOVERY.value
        )
        .order_by(client_commands.c.created_at.desc())
        .limit(1)
        .lateral("latest")
    )
    nobody = sa.and_(
        latest.c.state == CommandState.CANCELLED.value,
        latest.c.outcome_reason == NO_SUBSCRIBER,
    )
    unheard_at = sa.case((nobody, latest.c.finished_at), else_=None).label("unheard_at")
    query = (
        sa.select(clients.c.uuid, clients.c.capabilities, clients.c.presence_at, unheard_at)
        .select_from(clients.outerjoin(latest, sa.true()))
        .where(clients.c.uuid == sa.any_(_texts(uuids)))
    )
    return {row["uuid"]: row for row in connection.execute(query).mappings()}


def last_decisions(connection: Connection, uuids: Collection[str]) -> dict[str, tuple[str, str | None]]:
    """The latest (decision, recovery state) recorded for each of these clients that has one."""
    query = (
        sa.select(
            recovery_events.c.client_uuid,
            recovery_events.c.decision,
            recovery_events.c.evidence["state"].astext.label("state"),
        )
        .ext(distinct_on(recovery_events.c.client_uuid))
        .where(recovery_events.c.client_uuid == sa.any_(_texts(uuids)))
        .order_by(recovery_events.c.client_uuid, recovery_events.c.at.desc(), recovery_events.c.id.desc())
    )
    return {row.client_uuid: (row.decision, row.state) for row in connection.execute(query)}


def record(connection: Connection, now: datetime, events: Sequence[dict[str, Any]]) -> None:
    """Write decisions: {client_uuid, decision, why, evidence, command_id} each, in one parameter."""
    columns = (
        sa.column("client_uuid", sa.Text),
        sa.column("decision", sa.Text),
        sa.column("why", sa.Text),
        sa.column("evidence", JSONB),
        sa.column("command_id", sa.Text),
    )
    rows = sa.func.jsonb_to_recordset(sa.literal(events, JSONB)).table_valued(*columns)
    source = rows.render_derived(name="e", with_types=True)
    fields = ["at", *(column.name for column in columns)]
    query = sa.select(sa.literal(now), *(source.c[column.name] for column in columns))
    connection.execute(sa.insert(recovery_events).from_select(fields, query))


def events_page(
    connection: Connection, client_uuid: str | None, limit: int, after: tuple[datetime, int] | None
) -> Sequence[RowMapping]:
    """Up to `limit` decisions, of one client or of all, the newest first, that come after (at, id)."""
    query = sa.select(*SHOWN)
    if client_uuid is not None:
        query = query.where(recovery_events.c.client_uuid == client_uuid)
    if after is not None:
        at_id = sa.tuple_(recovery_events.c.at, recovery_events.c.id)
        query = query.where(at_id < sa.tuple_(sa.literal(after[0]), sa.literal(after[1])))
    newest_first = (recovery_events.c.at.desc(), recovery_events.c.id.desc())
    return connection.execute(query.order_by(*newest_first).limit(limit)).mappings().all()


def drop_history(connection: Connection, before: datetime) -> int:
    """Forget decisions made before then; how many."""
    return connection.execute(sa.delete(recovery_events).where(recovery_events.c.at < before)).rowcount


def _texts(values: Collection[str]) -> sa.BindParameter[Any]:
    return sa.literal(list(values), sa.ARRAY(sa.Text))
