"""SQL of batches. A batch is sent under a lock of its row; each outcome is decided once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Connection

from extensions.batches.rules import BatchRequest, Counts, DecidedMember, PlannedMember
from shared.commands.endings_store import NOBODYS, ending
from shared.commands.rules import CANCELLED
from shared.postgres import query
from shared.postgres.fragments import MAKERS, is_at_site_of, is_open, made, may_send
from shared.postgres.many import ManyRows, as_json
from shared.postgres.query import NO_ROW, Query, columns
from shared.tables import client_commands, command_batch_members
from shared.vocabulary import BATCH_ACTIONS, BatchState, CommandState, ConfirmedBy, MemberOutcome
from shared.words.sentences import Sentence


class BatchRow(Struct, frozen=True):
    """A batch: the request and its progress."""

    id: str
    action: str
    reason: str
    requested_by: str
    traceparent: str | None
    ttl_seconds: int | None
    max_unproven: str
    waves: int
    wave: int
    state: BatchState
    state_reason: Sentence | None
    excused: int
    excused_wave: int
    created_at: datetime
    finished_at: datetime | None


class MemberRow(Struct, frozen=True):
    """A member as every view shows it: the client, its outcome and its command."""

    uuid: str
    name: str | None
    position: int
    wave: int | None
    outcome: MemberOutcome
    lockout_until: datetime | None
    decided_at: datetime | None
    command_id: str | None
    command_state: CommandState | None
    command_outcome_reason: str | None
    command_created_at: datetime | None
    command_expires_at: datetime | None
    command_finished_at: datetime | None
    command_late_state: CommandState | None
    command_confirmed_by: ConfirmedBy | None


class MemberCount(Struct, frozen=True):
    """How many members have this wave, outcome and state of their command."""

    wave: int | None
    outcome: MemberOutcome
    state: CommandState | None
    members: int


BATCH: Final = f"SELECT {columns(BatchRow, 'b')} FROM command_batches AS b"
KNOWN: Final = ", ".join(f"'{action}'" for action in BATCH_ACTIONS)


@query.one_or_none(f"{BATCH} WHERE id = :batch_id")
def get(connection: Connection, batch_id: str) -> BatchRow | None:
    """One batch, or None."""


@query.one_or_none(f"{BATCH} WHERE id = :batch_id FOR UPDATE")
def lock(connection: Connection, batch_id: str) -> BatchRow | None:
    """One batch, its row locked until the transaction ends; None when there is none."""


@query.one_or_none(f"{BATCH} WHERE id = :batch_id AND state = 'running' AND action IN ({KNOWN}) FOR UPDATE SKIP LOCKED")
def lock_running(connection: Connection, batch_id: str) -> BatchRow | None:
    """One batch, locked; None when it does not run, later code made it, or another process sends it now."""


@query.rows("SELECT id FROM command_batches WHERE state = 'running' ORDER BY created_at, id")
def running(connection: Connection) -> list[str]:
    """The ids of all running batches, the oldest first."""


class Maker(Struct, frozen=True):
    """Who asked for a batch, while they may send it. `sites`: where; None: everywhere."""

    sites: list[str] | None


@query.one_or_none(
    f"""
    SELECT maker.sites FROM {MAKERS} AS maker
    WHERE {made("maker", "CAST(:by AS text)", "CAST(:made_at AS timestamptz)")}
        AND {may_send("maker", "CAST(:action AS text)")}
    """
)
def maker(connection: Connection, by: str, made_at: datetime, action: str) -> Maker | None:
    """Who made this, with their rights of today; None when they may not send such commands any more."""


AT_SITES = Query(
    f"""
    SELECT c.uuid FROM clients AS c CROSS JOIN (SELECT CAST(:sites AS text[]) AS sites) AS maker
    WHERE c.uuid = ANY(CAST(:uuids AS text[])) AND {is_at_site_of("maker", "c")} ORDER BY c.uuid FOR NO KEY UPDATE OF c
    """,
    str,
)


def at_sites_of(connection: Connection, who: Maker, uuids: Sequence[str]) -> set[str]:
    """Which of these clients are at the maker's sites; they stay there until this transaction ends.

    Of a maker of all sites: all of them, without a look.
    """
    return set(uuids) if who.sites is None else set(AT_SITES.all(connection, uuids=list(uuids), sites=who.sites))


INSERT_BATCH = Query(
    """
    INSERT INTO command_batches (id, action, reason, requested_by, traceparent, ttl_seconds, max_unproven, waves,
        created_at)
    VALUES (:id, :action, :reason, :requested_by, :traceparent, :ttl_seconds, :max_unproven, :waves, :now)
    ON CONFLICT DO NOTHING
    """,
    NO_ROW,
)


def insert_batch(connection: Connection, now: datetime, batch_id: str, request: BatchRequest, waves: int) -> bool:
    """Add a batch without members. False when there is one with this id."""
    ttl = None if request.ttl is None else int(request.ttl.total_seconds())
    more = {"id": batch_id, "now": now, "waves": waves, "ttl_seconds": ttl}
    asked = asdict(request) | more | {"max_unproven": str(request.max_unproven)}
    return INSERT_BATCH.run(connection, **asked) == 1


MEMBERS: Final = ManyRows("said", PlannedMember)


@query.run(
    f"""
    INSERT INTO command_batch_members (batch_id, client_uuid, position, wave, outcome, decided_at)
    SELECT :batch_id, client_uuid, position, wave, outcome, CASE WHEN wave IS NULL THEN CAST(:now AS timestamptz) END
    FROM {MEMBERS}
    """,
    MEMBERS,
)
def insert_members(connection: Connection, now: datetime, batch_id: str, members: Sequence[PlannedMember]) -> None:
    """Add the members of a new batch; outcomes of members without a wave are decided at once."""


@query.rows(
    """
    SELECT client_uuid FROM command_batch_members
    WHERE batch_id = :batch_id AND wave = :wave AND outcome = 'waiting' ORDER BY position LIMIT CAST(:most AS int)
    """
)
def waiting(connection: Connection, batch_id: str, wave: int, most: int | None) -> list[str]:
    """The uuids of the next `most` (None: all) waiting members of this wave, in the order of the request."""


DECIDED: Final = ManyRows("said", DecidedMember)


@query.run(
    f"""
    UPDATE command_batch_members AS m SET outcome = said.outcome, command_id = said.command_id,
        lockout_until = said.lockout_until, decided_at = :now
    FROM {DECIDED} WHERE m.batch_id = :batch_id AND m.client_uuid = said.client_uuid AND m.outcome = 'waiting'
    """,
    DECIDED,
)
def decide(connection: Connection, now: datetime, batch_id: str, decided: Sequence[DecidedMember]) -> None:
    """Write the outcomes of waiting members."""


@query.run(
    """
    UPDATE public.command_batch_members SET outcome = 'aborted', decided_at = :now
    WHERE batch_id = :batch_id AND outcome = 'waiting'
    """
)
def leave_out_waiting(connection: Connection, now: datetime, batch_id: str) -> int:
    """Mark all waiting members as aborted, at every site. Returns how many."""


WRITE = Query(
    """
    UPDATE command_batches SET wave = :wave, state = :state,
        state_reason = CAST(CAST(:state_reason AS text) AS jsonb), excused = :excused, excused_wave = :excused_wave,
        finished_at = :finished_at
    WHERE id = :id
    """,
    NO_ROW,
)


def write(connection: Connection, batch: BatchRow) -> None:
    """Write the progress of a batch whose row is locked."""
    WRITE.run(connection, **asdict(batch) | {"state_reason": as_json(batch.state_reason)})


COUNTS = Query(
    """
    SELECT m.wave, m.outcome, c.state, count(*) AS members
    FROM command_batch_members AS m LEFT JOIN client_commands AS c ON c.id = m.command_id
    WHERE m.batch_id = :batch GROUP BY m.wave, m.outcome, c.state
    """,
    MemberCount,
)


def counts(connection: Connection, batch_id: str) -> Counts:
    """How many members there are by (wave, outcome, state of their command)."""
    return {(one.wave, one.outcome, one.state): one.members for one in COUNTS.all(connection, batch=batch_id)}


@query.rows(
    f"""
    SELECT c.client_uuid FROM command_batch_members AS m JOIN client_commands AS c ON c.id = m.command_id
    WHERE {is_open("c")} AND m.batch_id = :batch_id
    """
)
def open_clients(connection: Connection, batch_id: str) -> list[str]:
    """The clients whose command of this batch is open."""


def _cancel_nobodys() -> sa.Executable:
    m = command_batch_members.c
    ours = sa.select(m.command_id).where(m.batch_id == sa.bindparam("batch_id"), m.command_id.is_not(None))
    why = sa.bindparam("why", type_=sa.Text)
    return ending(CANCELLED, why, sa.and_(NOBODYS, client_commands.c.id.in_(ours)))


@query.run(_cancel_nobodys)
def cancel_nobodys(connection: Connection, now: datetime, batch_id: str, why: str) -> int:
    """Cancel the batch's commands that provably no display has, and end their lockouts. Returns how many."""


PAGE = Query(
    f"""
    {BATCH} WHERE (created_at, id) < (coalesce(CAST(:after AS timestamptz), 'infinity'), coalesce(:after_id, ''))
    ORDER BY created_at DESC, id DESC LIMIT CAST(:most AS int)
    """,
    BatchRow,
)


def page(connection: Connection, limit: int, after: tuple[datetime, str] | None) -> list[BatchRow]:
    """Up to `limit` batches, the newest first, that come after (created_at, id)."""
    at, batch_id = after or (None, None)
    return PAGE.all(connection, most=limit, after=at, after_id=batch_id)


MEMBERS_PAGE = Query(
    """
    SELECT m.client_uuid AS uuid, clients.name, m.position, m.wave, m.outcome, m.lockout_until, m.decided_at,
        c.id AS command_id, c.state AS command_state, c.outcome_reason AS command_outcome_reason,
        c.created_at AS command_created_at, c.expires_at AS command_expires_at, c.finished_at AS command_finished_at,
        c.late_state AS command_late_state, c.confirmed_by AS command_confirmed_by
    FROM command_batch_members AS m
    LEFT JOIN client_commands AS c ON c.id = m.command_id
    LEFT JOIN clients ON clients.uuid = m.client_uuid
    WHERE m.batch_id = :batch AND m.position > CAST(:after AS int) AND m.outcome = coalesce(:outcome, m.outcome)
    ORDER BY m.position LIMIT CAST(:most AS int)
    """,
    MemberRow,
)


def members(
    connection: Connection, batch_id: str, limit: int, after: int | None = None, outcome: str | None = None
) -> list[MemberRow]:
    """Up to `limit` members in the order of the request after this position, of one outcome or of all."""
    place = -1 if after is None else after
    return MEMBERS_PAGE.all(connection, batch=batch_id, after=place, outcome=outcome, most=limit)


OLD: Final = "SELECT id FROM command_batches WHERE finished_at < :before"
DROP_OLD_MEMBERS = Query(f"DELETE FROM command_batch_members WHERE batch_id IN ({OLD})", NO_ROW)
DROP_OLD = Query("DELETE FROM command_batches WHERE finished_at < :before", NO_ROW)


def drop_history(connection: Connection, before: datetime) -> int:
    """Delete batches that were over before `before`, with their members. Returns how many. Delete commands later."""
    DROP_OLD_MEMBERS.run(connection, before=before)
    return DROP_OLD.run(connection, before=before)
