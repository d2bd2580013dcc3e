"""SQL of quiet times: add, change, end and find them, and find the clients that they cover."""

from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.fragments import END_OF_TIME, MAKERS, is_at_site_of, is_current, made, may_be_quiet
from shared.postgres.query import Query, columns
from shared.quiet.hours_rules import Span
from shared.quiet.rules import KeptQuietTime, StoredQuietTime, WantedQuietTime
from shared.vocabulary import QuietPreset, QuietScope


class CoveredClient(NamedTuple):
    """A client that a quiet time covers."""

    uuid: str
    quiet_id: int


class Coverage(NamedTuple):
    """How many clients a quiet time covers."""

    quiet_id: int
    clients: int


class QuietFilter(Struct, frozen=True):
    """Which quiet times a list holds. Every field narrows it; None leaves it open."""

    current: bool | None = None  # True: on or still to come; False: over or ended
    client_uuid: str | None = None  # those that cover this client by its present site and tags
    preset: QuietPreset | None = None


RECOVERY_LOCK: Final = 7_305_003  # advisory lock of the transaction that recovers
BATCH_LOCK: Final = 7_305_009  # advisory lock of the transactions that send a part of a batch


@query.run(f"SELECT pg_advisory_xact_lock_shared({RECOVERY_LOCK}), pg_advisory_xact_lock({BATCH_LOCK})")
def lock_senders(connection: Connection) -> None:
    """Wait until neither recovery nor a batch decides, and let none decide until this transaction ends.

    So nothing automatic is sent after the answer to the person who made something quiet.
    """


@query.run(f"SELECT pg_advisory_xact_lock_shared({BATCH_LOCK})")
def lock_batch(connection: Connection) -> None:
    """Wait for people who make something quiet; they wait for this transaction."""


BEGUN_COLUMNS: Final = columns(StoredQuietTime, "q")
KEPT_COLUMNS: Final = columns(KeptQuietTime, "q")


MADE: Final = made("maker", "q.created_by", "q.created_at")
COVERS: Final = f"""(q.scope = 'fleet' OR q.site = c.site OR q.tag = ANY(c.tags)
        OR c.uuid = ANY(q.clients) AND NOT EXISTS (
            SELECT FROM {MAKERS} AS maker WHERE {MADE} AND NOT coalesce({is_at_site_of("maker", "c")}, false)))"""  # nosec B608
"""SQL: whether the quiet time `q` covers the client `c`. One that names it does so only at a site of its maker."""


def covers(ids: str = ":quiet", more: str = "") -> str:
    """SQL: the pairs (uuid, id) of clients and the quiet times `ids` that cover them, each branch by its own join.

    The same as COVERS, for many clients. `more`: a condition on the client `c`.
    """
    on = f"q.id = ANY(CAST({ids} AS bigint[]))"
    chosen = f"{on} {more}"
    return f"""
        SELECT c.uuid, q.id FROM quiet_times AS q JOIN clients AS c ON q.scope = 'fleet' WHERE {chosen}
        UNION ALL
        SELECT c.uuid, q.id FROM quiet_times AS q JOIN clients AS c ON c.site = q.site
        WHERE q.scope = 'site' AND {chosen}
        UNION ALL
        SELECT c.uuid, q.id FROM quiet_times AS q CROSS JOIN LATERAL (  -- OFFSET 0: no quiet time, no scan of all tags
            SELECT c.uuid FROM clients AS c WHERE c.tags @> ARRAY[q.tag] {more} OFFSET 0) AS c
        WHERE q.scope = 'tag' AND {on}
        UNION ALL
        SELECT c.uuid, q.id FROM quiet_times AS q LEFT JOIN {MAKERS} AS maker ON {MADE}
        CROSS JOIN LATERAL unnest(q.clients) AS named(uuid)
        JOIN clients AS c ON c.uuid = named.uuid AND {is_at_site_of("maker", "c")}
        WHERE q.scope = 'clients' AND {chosen}"""


def covered_by(ids: str) -> str:
    """SQL: the clients that the quiet times `ids` cover, each once, to be joined by `uuid`.

    Joined, not tested with `IN`: Postgres looks through the list once for each row where the list may not fit work_mem.
    """
    return f"(SELECT DISTINCT covered.uuid FROM ({covers(ids)}) AS covered)"


WANTED: Final = WantedQuietTime.__struct_fields__
INSERT = Query(
    f"""
    INSERT INTO quiet_times AS q (preset, quiet, scope, site, tag, clients, starts_at, ends_at, spans, time_zone,
        reason, created_by, created_at)
    VALUES (:preset, CAST(:quiet AS text[]), :scope, :site, :tag, CAST(:clients AS text[]), :starts_at, :ends_at,
        CAST(:spans AS jsonb), :time_zone, :reason, :by, :now)
    ON CONFLICT DO NOTHING RETURNING {KEPT_COLUMNS}
    """,
    KeptQuietTime,
)


def insert(connection: Connection, now: datetime, wanted: WantedQuietTime, by: str) -> KeptQuietTime | None:
    """Add a quiet time. None when there are such opening hours already."""
    values = {**{name: getattr(wanted, name) for name in WANTED}, "quiet": list(wanted.quiet)}
    values |= {"clients": list(wanted.clients), "spans": _json(wanted.spans)}
    return INSERT.one_or_none(connection, **values, by=by, now=now)


def _json(spans: Collection[Span]) -> str:
    return msgspec.json.encode(list(spans)).decode()


@query.one_or_none(
    """
    SELECT id FROM quiet_times WHERE preset = 'opening_hours' AND ended_at IS NULL AND scope = :scope
        AND site IS NOT DISTINCT FROM CAST(:site AS text) AND tag IS NOT DISTINCT FROM CAST(:tag AS text)
    """
)
def opening_hours_of(connection: Connection, scope: QuietScope, site: str | None, tag: str | None) -> int | None:
    """The id of the opening hours of the fleet, this site or this tag that nobody ended; None without any."""


@query.run(
    """
    UPDATE quiet_times SET ended_at = greatest(ends_at, created_at), ended_by = :by
    WHERE preset = 'opening_hours' AND ended_at IS NULL AND ends_at <= :now AND scope = :scope
        AND site IS NOT DISTINCT FROM CAST(:site AS text) AND tag IS NOT DISTINCT FROM CAST(:tag AS text)
    """
)
def end_old_hours(
    connection: Connection, now: datetime, scope: QuietScope, site: str | None, tag: str | None, by: str
) -> None:
    """End the opening hours of the fleet, this site or this tag that are over by themselves, so that new ones fit."""


@query.rows("SELECT uuid FROM clients WHERE uuid = ANY(CAST(:uuids AS text[])) AND deleted_at IS NULL")
def known_clients(connection: Connection, uuids: Collection[str]) -> set[str]:
    """Which of these clients exist."""


_ONE: Final = f"SELECT {KEPT_COLUMNS} FROM quiet_times AS q WHERE q.id = :quiet_id"


@query.one_or_none(_ONE)
def get(connection: Connection, quiet_id: int) -> KeptQuietTime | None:
    """One quiet time, or None."""


@query.one_or_none(f"{_ONE} FOR UPDATE")
def lock(connection: Connection, quiet_id: int) -> KeptQuietTime | None:
    """One quiet time, its row locked until the transaction ends; None when there is none."""


WRITE = Query(
    f"""
    UPDATE quiet_times AS q SET starts_at = :starts_at, ends_at = :ends_at, spans = CAST(:spans AS jsonb),
        time_zone = :time_zone, reason = :reason
    WHERE q.id = :id RETURNING {KEPT_COLUMNS}
    """,
    KeptQuietTime,
)


def write(connection: Connection, quiet_id: int, wanted: WantedQuietTime) -> KeptQuietTime:
    """Write the times and the reason of a quiet time whose row is locked."""
    times = {name: getattr(wanted, name) for name in ("starts_at", "ends_at", "time_zone", "reason")}
    return WRITE.one(connection, id=quiet_id, **times, spans=_json(wanted.spans))


@query.run(f"UPDATE quiet_times AS q SET ended_at = :now, ended_by = :by WHERE q.id = :quiet_id AND {is_current('q')}")
def end(connection: Connection, now: datetime, quiet_id: int, by: str) -> bool:
    """End a quiet time. False when it is over, was ended, or does not exist."""


@query.rows(
    f"""
    UPDATE quiet_times AS q SET ended_at = :now, ended_by = :by
    WHERE q.preset = 'hold' AND q.clients = ARRAY[CAST(:client_uuid AS text)] AND q.named = 1 AND {is_current("q")}
    RETURNING q.id
    """
)
def end_holds(connection: Connection, now: datetime, client_uuid: str, by: str) -> list[int]:
    """End the holds that name only this client. Returns their ids."""


@query.rows(
    f"""
    UPDATE quiet_times AS q SET ended_at = :now, ended_by = :by
    WHERE q.created_by = :maker AND q.scope = 'clients' AND {is_current("q")} RETURNING q.id
    """
)
def end_named_by(connection: Connection, now: datetime, maker: str, by: str) -> list[int]:
    """End the quiet times of this maker that name displays. Returns their ids."""


PAGE = Query(
    f"""
    SELECT {KEPT_COLUMNS} FROM quiet_times AS q
    WHERE (CAST(:current AS boolean) IS NULL OR ({is_current("q")}) = :current)
        AND q.preset = coalesce(CAST(:preset AS text), q.preset)
        AND (CAST(:client AS text) IS NULL OR EXISTS (
            SELECT FROM clients AS c WHERE c.uuid = :client AND {COVERS}))
        AND (q.created_at, q.id) < (:before, :before_id)
    ORDER BY q.created_at DESC, q.id DESC LIMIT :limit {FOR_ITS_VALUES}
    """,
    KeptQuietTime,
)


def page(
    connection: Connection, now: datetime, wanted: QuietFilter, limit: int, after: tuple[datetime, int] | None
) -> list[KeptQuietTime]:
    """Up to `limit` quiet times, the newest first, after the pair (created_at, id)."""
    before, before_id = after or (END_OF_TIME, 0)
    narrow = {"current": wanted.current, "client": wanted.client_uuid, "preset": wanted.preset}
    return PAGE.all(connection, now=now, **narrow, before=before, before_id=before_id, limit=limit)


BEGUN = Query(
    f"SELECT {BEGUN_COLUMNS} FROM quiet_times AS q WHERE {may_be_quiet('q', since=':since')} ORDER BY q.id",
    StoredQuietTime,
)


def begun(connection: Connection, now: datetime, since: datetime | None = None) -> list[StoredQuietTime]:
    """Every quiet time that may apply at a moment from `since` (None: now) to now, without the clients it names."""
    return BEGUN.all(connection, now=now, since=min(since or now, now))


@query.rows(f"SELECT {KEPT_COLUMNS} FROM quiet_times AS q WHERE q.id = ANY(CAST(:ids AS bigint[])) ORDER BY q.id")
def some(connection: Connection, ids: Collection[int]) -> list[KeptQuietTime]:
    """These quiet times, with the clients that they name."""


COVERED = Query(
    f"SELECT uuid, id FROM ({covers(more='AND c.uuid = ANY(CAST(:uuids AS text[]))')}) AS covered {FOR_ITS_VALUES}",
    CoveredClient,
)


def covered(connection: Connection, ids: Collection[int], uuids: Collection[str]) -> list[CoveredClient]:
    """The clients among these that these quiet times cover, with the quiet times' ids."""
    return COVERED.all(connection, quiet=list(ids), uuids=list(uuids))


COVERAGE = Query(
    f"SELECT id, count(DISTINCT uuid) FROM ({covers(more='AND c.deleted_at IS NULL')}) AS covered GROUP BY id",
    Coverage,
)


def coverage(connection: Connection, ids: Collection[int]) -> dict[int, int]:
    """How many clients each of these quiet times covers now; one that covers nobody is left out."""
    return dict(COVERAGE.all(connection, quiet=list(ids)))


@query.rows(
    f"""
    SELECT {BEGUN_COLUMNS} FROM quiet_times AS q JOIN clients AS c ON c.uuid = :client_uuid
    WHERE 'screen' = ANY(q.quiet) AND q.starts_at < :now AND coalesce(least(q.ends_at, q.ended_at), :now) > :since
        AND {COVERS}
    ORDER BY q.id
    """
)
def of_screen(connection: Connection, client_uuid: str, since: datetime, now: datetime) -> list[StoredQuietTime]:
    """The quiet times since then in which this client's screen was meant to be off, by its present site and tags."""


@query.rows(
    f"""
    SELECT {BEGUN_COLUMNS} FROM quiet_times AS q
    WHERE 'screen' = ANY(q.quiet) AND q.starts_at < :end AND coalesce(least(q.ends_at, q.ended_at), :end) > :start
    ORDER BY q.id
    """
)
def of_screens(connection: Connection, start: datetime, end: datetime) -> list[StoredQuietTime]:
    """The quiet times between two moments in which the screens of some clients were meant to be off."""


@query.run("DELETE FROM quiet_times WHERE least(ended_at, ends_at) < :before")
def drop_history(connection: Connection, before: datetime) -> int:
    """Delete quiet times that were over before `before`. Returns how many."""
