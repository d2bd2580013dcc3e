"""SQL of batches: made whole, worked off under a lock of the batch's row, each member decided once."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import JSONB, insert

from shared.commands.batches.rules import AT_ONCE, BatchRequest, Counts, PlannedMember
from shared.commands.endings_store import NOBODYS, ending
from shared.commands.rules import CANCELLED
from shared.commands.store import OPEN
from shared.postgres.statements import Constant, constant, rows
from shared.tables import client_commands, clients, command_batch_members, command_batches
from shared.vocabulary import BatchState, MemberOutcome

b = command_batches.c
m = command_batch_members.c
c = client_commands.c

SHOWN_MEMBER = (
    m.client_uuid.label("uuid"),
    clients.c.name,
    m.position,
    m.wave,
    m.outcome,
    m.lockout_until,
    m.decided_at,
    c.id.label("command_id"),
    c.state.label("command_state"),
    c.outcome_reason.label("command_outcome_reason"),
    c.created_at.label("command_created_at"),
    c.expires_at.label("command_expires_at"),
    c.finished_at.label("command_finished_at"),
    c.late_state.label("command_late_state"),
    c.confirmed_by.label("command_confirmed_by"),
)
"""What every view of a member shows: the client, what became of it, and its command."""


def get(connection: Connection, batch_id: str) -> RowMapping | None:
    """One batch, or None."""
    return connection.execute(sa.select(command_batches).where(b.id == batch_id)).mappings().one_or_none()


def lock(connection: Connection, batch_id: str) -> RowMapping | None:
    """One batch, its row locked until the transaction ends; None when there is none."""
    query = sa.select(command_batches).where(b.id == batch_id).with_for_update()
    return connection.execute(query).mappings().one_or_none()


def lock_running(connection: Connection, batch_id: str) -> RowMapping | None:
    """One batch, locked; None when it does not run, or when somebody else works it off at this moment."""
    query = sa.select(command_batches).where(b.id == batch_id, b.state == BatchState.RUNNING.value)
    return connection.execute(query.with_for_update(skip_locked=True)).mappings().one_or_none()


def running(connection: Connection) -> list[str]:
    """The ids of all batches that run, the oldest first."""
    query = sa.select(b.id).where(b.state == sa.literal_column("'running'")).order_by(b.created_at, b.id)
    return list(connection.execute(query).scalars())


def by_key(connection: Connection, requested_by: str, key: str) -> RowMapping | None:
    """The batch for which this caller used this key; None when unused."""
    query = sa.select(command_batches).where(b.requested_by == requested_by, b.idempotency_key == key)
    return connection.execute(query).mappings().one_or_none()


def insert_batch(connection: Connection, now: datetime, batch_id: str, request: BatchRequest, waves: int) -> bool:
    """A new batch without members; False when this caller's key is in use."""
    values = {
        "id": batch_id,
        "action": request.action.value,
        "reason": request.reason,
        "requested_by": request.requested_by,
        "idempotency_key": request.idempotency_key,
        "request_hash": request.hash(),
        "traceparent": request.traceparent,
        "ttl_seconds": None if request.ttl is None else int(request.ttl.total_seconds()),
        "max_unproven": str(request.max_unproven),
        "waves": waves,
        "created_at": now,
    }
    statement = insert(command_batches).values(**values).on_conflict_do_nothing().returning(b.id)
    return connection.execute(statement).first() is not None


def insert_members(connection: Connection, now: datetime, batch_id: str, members: Sequence[PlannedMember]) -> None:
    """The members of a new batch, in one parameter; those who can never be sent are decided at once."""
    records = [
        {"client_uuid": one.client_uuid, "position": one.position, "wave": one.wave, "outcome": one.outcome}
        for one in members
    ]
    said = _recordset("said", records, client_uuid=sa.Text, position=sa.Integer, wave=sa.SmallInteger, outcome=sa.Text)
    decided_at = sa.case((said.c.wave.is_(None), now))
    values = (sa.literal(batch_id), said.c.client_uuid, said.c.position, said.c.wave, said.c.outcome, decided_at)
    columns = ["batch_id", "client_uuid", "position", "wave", "outcome", "decided_at"]
    connection.execute(sa.insert(command_batch_members).from_select(columns, sa.select(*values)))


def waiting(connection: Connection, batch_id: str, wave: int) -> list[str]:
    """The uuids of the next members of this wave to be sent their commands, in the order asked for."""
    query = (
        sa.select(m.client_uuid)
        .where(m.batch_id == batch_id, m.wave == wave, m.outcome == MemberOutcome.WAITING.value)
        .order_by(m.position)
        .limit(AT_ONCE)
    )
    return list(connection.execute(query).scalars())


def decide(connection: Connection, now: datetime, batch_id: str, outcomes: Sequence[Mapping[str, Any]]) -> None:
    """Write what became of waiting members: {client_uuid, outcome, command_id, lockout_until} each."""
    kinds = {"client_uuid": sa.Text, "outcome": sa.Text, "command_id": sa.Text}
    said = _recordset("said", outcomes, **kinds, lockout_until=sa.DateTime(timezone=True))
    values = {name: said.c[name] for name in ("outcome", "command_id", "lockout_until")}
    statement = (
        sa.update(command_batch_members)
        .where(m.batch_id == batch_id, m.client_uuid == said.c.client_uuid)
        .where(m.outcome == MemberOutcome.WAITING.value)
        .values(**values, decided_at=now)
    )
    connection.execute(statement)


def leave_out_waiting(connection: Connection, now: datetime, batch_id: str) -> int:
    """Decide that who still waits gets nothing; how many they were."""
    which = (m.batch_id == batch_id, m.outcome == MemberOutcome.WAITING.value)
    values = {"outcome": MemberOutcome.ABORTED.value, "decided_at": now}
    return connection.execute(sa.update(command_batch_members).where(*which).values(**values)).rowcount


def write(connection: Connection, batch_id: str, **values: Any) -> None:
    """Change a batch whose row is locked."""
    connection.execute(sa.update(command_batches).where(b.id == batch_id).values(**values))


def counts(connection: Connection, batch_id: str) -> Counts:
    """How many members there are by (wave, outcome, state of their command)."""
    query = (
        sa.select(m.wave, m.outcome, c.state, sa.func.count())
        .select_from(command_batch_members.outerjoin(client_commands, c.id == m.command_id))
        .where(m.batch_id == batch_id)
        .group_by(m.wave, m.outcome, c.state)
    )
    return {(wave, outcome, state): number for wave, outcome, state, number in connection.execute(query)}


def open_clients(connection: Connection, batch_id: str) -> list[str]:
    """The clients whose command of this batch is open."""
    query = sa.select(c.client_uuid).where(OPEN, m.batch_id == batch_id, c.id == m.command_id)
    return list(connection.execute(query).scalars())


def cancel_nobodys(connection: Connection, now: datetime, batch_id: str, why: str) -> int:
    """Withdraw the batch's commands that provably nobody has, each with its lockout given back; how many."""
    return len(rows(connection, _cancel_nobodys(), {"now": now, "batch": batch_id, "why": why}))


@cache
def _cancel_nobodys() -> Constant:
    ours = sa.select(m.command_id).where(m.batch_id == sa.bindparam("batch"), m.command_id.is_not(None))
    why = sa.bindparam("why", type_=sa.Text)
    return constant(ending(CANCELLED, why, sa.and_(NOBODYS, c.id.in_(ours))))


def page(connection: Connection, limit: int, after: tuple[datetime, str] | None) -> Sequence[RowMapping]:
    """Up to `limit` batches, the newest first, that come after (created_at, id)."""
    query = sa.select(command_batches).order_by(b.created_at.desc(), b.id.desc()).limit(limit)
    if after is not None:
        query = query.where(sa.tuple_(b.created_at, b.id) < sa.tuple_(sa.literal(after[0]), sa.literal(after[1])))
    return connection.execute(query).mappings().all()


def members(
    connection: Connection, batch_id: str, limit: int, after: int | None = None, outcome: str | None = None
) -> Sequence[RowMapping]:
    """Up to `limit` members in the order asked for that come after this position, of one outcome or of all."""
    source = command_batch_members.outerjoin(client_commands, c.id == m.command_id)
    query = sa.select(*SHOWN_MEMBER).select_from(source.outerjoin(clients, clients.c.uuid == m.client_uuid))
    query = query.where(m.batch_id == batch_id, m.position > (-1 if after is None else after))
    if outcome is not None:
        query = query.where(m.outcome == outcome)
    return connection.execute(query.order_by(m.position).limit(limit)).mappings().all()


def drop_history(connection: Connection, before: datetime) -> int:
    """Forget batches that were over before then, with their members; how many. Their commands go after them."""
    old = sa.select(b.id).where(b.finished_at < before)
    connection.execute(sa.delete(command_batch_members).where(m.batch_id.in_(old)))
    return connection.execute(sa.delete(command_batches).where(b.finished_at < before)).rowcount


def _recordset(name: str, rows: Sequence[Mapping[str, Any]], **columns: Any) -> sa.TableValuedAlias:
    """`rows` as a table, in one parameter (executemany is 20 times slower)."""
    typed: list[Any] = [sa.column(column, kind) for column, kind in columns.items()]
    said = sa.func.jsonb_to_recordset(sa.literal(rows, JSONB)).table_valued(*typed)
    return said.render_derived(name=name, with_types=True)
