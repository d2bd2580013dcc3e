"""SQL of recovery: what was decided and recorded, and how far it has gone with each client."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import JSONB

from shared.postgres.fragments import no_later
from shared.postgres.query import NO_ROW, Query
from shared.tables import client_commands, client_recovery, recovery_events
from shared.vocabulary import RecoveryBasis

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
    """Wait until no other transaction recovers or is in the way of it; then none does until this one ends.

    What was counted then stays what it is, and a hold that was answered to an operator is never overtaken.
    """
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(RECOVERY_LOCK)))


def lock_for_operator(connection: Connection) -> None:
    """Wait until no transaction recovers; other operators are let in as well."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock_shared(RECOVERY_LOCK)))


def count_open_silent(connection: Connection) -> int:
    """How many commands are open that recovery sent to displays because they were silent."""
    query = sa.select(sa.func.count()).where(
        sa.literal_column("client_commands.rank < 90"),  # spelt out: a partial index
        client_commands.c.id == client_recovery.c.command_id,
        client_commands.c.client_uuid == client_recovery.c.client_uuid,
        client_recovery.c.basis == RecoveryBasis.STALE.value,
    )
    return int(connection.execute(query).scalar_one())


def step_up(connection: Connection, now: datetime, taken: Sequence[dict[str, Any]]) -> None:
    """One rung further, and which command stands for it: {client_uuid, command_id, basis, restarts, reboots} each."""
    connection.execute(
        sa.text(
            """
            INSERT INTO client_recovery AS r
                (client_uuid, step, restarts, reboots, tried_since, command_id, basis)
            SELECT client_uuid, 1, restarts, reboots, CAST(:now AS timestamptz), command_id, basis
            FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(
                client_uuid text, restarts smallint, reboots smallint, command_id text, basis text)
            ORDER BY client_uuid
            ON CONFLICT (client_uuid) DO UPDATE SET step = r.step + 1, restarts = r.restarts + EXCLUDED.restarts,
                reboots = r.reboots + EXCLUDED.reboots, tried_since = coalesce(r.tried_since, EXCLUDED.tried_since),
                command_id = EXCLUDED.command_id, basis = EXCLUDED.basis, healthy_since = NULL,
                unheard_at = NULL, decided = NULL, decided_at = NULL
            """
        ),
        {"now": now, "rows": json.dumps(taken)},
    )


def note_health(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """{client_uuid, healthy_since, recovered} each: since when it is well, and whether the ladder begins anew.

    The last command stays known: a failure that it mended is not one again because time goes by.
    """
    connection.execute(
        sa.text(
            """
            UPDATE client_recovery AS r SET
                healthy_since = CASE WHEN said.recovered THEN NULL ELSE said.healthy_since END,
                step = CASE WHEN said.recovered THEN 0 ELSE r.step END,
                restarts = CASE WHEN said.recovered THEN 0 ELSE r.restarts END,
                reboots = CASE WHEN said.recovered THEN 0 ELSE r.reboots END,
                refused_restarts = CASE WHEN said.recovered THEN 0 ELSE r.refused_restarts END,
                refused_reboots = CASE WHEN said.recovered THEN 0 ELSE r.refused_reboots END,
                tried_since = CASE WHEN said.recovered THEN NULL ELSE r.tried_since END
            FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(
                client_uuid text, healthy_since timestamptz, recovered boolean)
            WHERE r.client_uuid = said.client_uuid
            """
        ),
        {"rows": json.dumps(rows)},
    )


def note_decisions(connection: Connection, now: datetime, decided: dict[str, str]) -> None:
    """Remember the state that was recorded last of each client, by uuid."""
    rows = [{"client_uuid": uuid, "decided": state} for uuid, state in decided.items()]
    connection.execute(
        sa.text(
            """
            INSERT INTO client_recovery (client_uuid, decided, decided_at)
            SELECT client_uuid, decided, CAST(:now AS timestamptz)
            FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(client_uuid text, decided text)
            ORDER BY client_uuid
            ON CONFLICT (client_uuid) DO UPDATE SET decided = EXCLUDED.decided, decided_at = EXCLUDED.decided_at
            """
        ),
        {"now": now, "rows": json.dumps(rows)},
    )


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


def breaker_events(connection: Connection, site: str | None, limit: int) -> Sequence[RowMapping]:
    """The last decisions on the breakers of the whole fleet and of this site, the newest first."""
    whose = recovery_events.c.evidence["site"].astext
    theirs = whose.is_(None) if site is None else sa.or_(whose.is_(None), whose == site)
    query = (
        sa.select(*SHOWN)
        .where(recovery_events.c.client_uuid.is_(None), theirs)
        .order_by(recovery_events.c.at.desc(), recovery_events.c.id.desc())
        .limit(limit)
    )
    return connection.execute(query).mappings().all()


def drop_history(connection: Connection, before: datetime) -> int:
    """Forget decisions made before then; how many."""
    return connection.execute(sa.delete(recovery_events).where(recovery_events.c.at < before)).rowcount


FORGET_THE_FUTURE = Query(
    no_later("client_recovery", "tried_since", "unheard_at", "healthy_since", "decided_at"), NO_ROW
)


def forget_the_future(connection: Connection, now: datetime) -> None:
    """Let what was noted of clients at a time that has not come yet count as noted now. Holds of people stay."""
    FORGET_THE_FUTURE.run(connection, now=now)


def state_of(connection: Connection, client_uuid: str) -> RowMapping | None:
    """How far recovery has gone with this client and what an operator said; None when neither ever happened."""
    query = sa.select(*client_recovery.c).where(client_recovery.c.client_uuid == client_uuid)
    return connection.execute(query).mappings().one_or_none()
