"""SQL that stores incidents and their members."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.incidents.rules import FailedDisplay, Holder, JoinableIncident
from shared.postgres import query
from shared.postgres.fragments import is_well, screen_fails, service_fails
from shared.postgres.many import ManyRows, as_json
from shared.postgres.query import NO_ROW, Query
from shared.vocabulary import IncidentEventKind, IncidentKind
from shared.words.sentences import Sentence

INCIDENTS_LOCK: Final = 7_305_006  # advisory lock of the transaction that groups failures


TIMES: Final = """(WITH RECURSIVE line AS (SELECT i.again_of AS id UNION ALL SELECT o.again_of FROM line
    JOIN incidents AS o ON o.id = line.id AND coalesce(o.closed_at, i.opened_at) > i.opened_at - interval '1 day')
    SELECT count(*) FROM line)"""
"""SQL: how many incidents of the same place there were in the day until incident `i` opened, with this one."""


class LastLook(Struct, frozen=True):
    """When failures were last grouped; None: never."""

    looked_at: datetime | None


class Membership(Struct, frozen=True):
    """The open incident that a display is part of."""

    uuid: str
    id: int
    cause: Sentence


LOCK = Query("SELECT pg_advisory_xact_lock(:lock)", NO_ROW)


def lock_incidents(connection: Connection) -> None:
    """Wait until no other transaction groups failures."""
    LOCK.run(connection, lock=INCIDENTS_LOCK)


LOOK = Query(
    """
    UPDATE scheduler_status SET incidents_at = :now RETURNING (SELECT incidents_at FROM scheduler_status) AS looked_at
    """,
    LastLook,
)


def look(connection: Connection, now: datetime) -> datetime | None:
    """Note that failures are grouped now. Returns when they were grouped before; None for the first time."""
    return LOOK.one(connection, now=now).looked_at


@query.rows(
    """
    WITH member AS (
        SELECT m.incident_id, m.client_uuid, m.failed_at, m.symptom,
            c.site, i.kind
        FROM incidents AS i JOIN incident_members AS m ON m.incident_id = i.id
        JOIN clients AS c ON c.uuid = m.client_uuid
        WHERE i.closed_at IS NULL AND i.kind <> 'listening'),
    crowd AS (
        SELECT incident_id, count(*) AS crowds FROM (
            SELECT incident_id, site, count(DISTINCT client_uuid) AS members FROM member
            WHERE kind = 'cluster' AND site IS NOT NULL GROUP BY incident_id, site
            HAVING count(DISTINCT client_uuid) >= CAST(:least AS integer)) AS at
        WHERE 100 * members >= CAST(:percent AS integer)
            * (SELECT count(*) FROM clients AS c WHERE c.site = at.site AND c.deleted_at IS NULL)
        GROUP BY incident_id)
    SELECT i.id, i.kind, i.key, percentile_disc(0.5) WITHIN GROUP (ORDER BY m.failed_at) AS moment,
        min(m.failed_at) AS first_failed_at, max(m.failed_at) AS last_failed_at,
        array_agg(DISTINCT m.site) AS sites, array_agg(DISTINCT m.symptom) AS symptoms,
        coalesce((SELECT crowds FROM crowd WHERE crowd.incident_id = i.id), 0) AS crowds,
        i.waned_at IS NOT NULL AS has_waned
    FROM incidents AS i JOIN member AS m ON m.incident_id = i.id GROUP BY i.id ORDER BY i.id
    """
)
def open_incidents(connection: Connection, least: int, percent: int) -> list[JoinableIncident]:
    """Every open incident of displays, the oldest first.

    `crowds` counts the sites with at least `least` members of a cluster, and `percent` of the site's displays.
    """


@query.one_or_none(
    """
    UPDATE incidents SET closed_at = NULL, group_size = NULL, taken_by = NULL, taken_at = NULL, note = NULL WHERE id = (
        SELECT id FROM incidents
        WHERE kind = :kind AND key = :key AND merged_into IS NULL AND closed_at >= :closed_since
        ORDER BY closed_at DESC, id DESC LIMIT 1)
    RETURNING id
    """
)
def reopen(connection: Connection, kind: IncidentKind, key: str, closed_since: datetime) -> int | None:
    """Reopen the latest incident of this place that was closed since `closed_since`. Returns its id, or None.

    The size of its place is forgotten: displays may have been deleted or moved since.
    """


@query.one_or_none("SELECT id FROM incidents WHERE kind = :kind AND key = :key AND closed_at IS NULL")
def find_open(connection: Connection, kind: IncidentKind, key: str) -> int | None:
    """The id of the open incident of this place, or None."""


INSERT = Query(
    """
    INSERT INTO incidents (kind, key, began_at, opened_at, cause, again_of)
    VALUES (:kind, :key, :began_at, :now, CAST(CAST(:cause AS text) AS jsonb), :again_of) RETURNING id
    """,
    int,
)


def insert(
    connection: Connection,
    now: datetime,
    kind: IncidentKind,
    key: str,
    began_at: datetime,
    cause: Sentence,
    again_of: int | None,
) -> int:
    """Insert an incident. Returns its id. A place has at most one open incident."""
    told = as_json(cause)
    return INSERT.one(connection, now=now, kind=kind, key=key, began_at=began_at, again_of=again_of, cause=told)


@query.one_or_none(
    """
    SELECT id FROM incidents AS i WHERE kind = :kind AND key = :key AND merged_into IS NULL
        AND (closed_at >= :closed_since OR kind = 'cluster' AND closed_at IS NULL AND waned_at IS NOT NULL)
        AND (kind <> 'cluster' OR cardinality(CAST(:uuids AS text[])) <= 2 * (
            SELECT count(DISTINCT client_uuid) FROM incident_members
            WHERE incident_id = i.id AND client_uuid = ANY(CAST(:uuids AS text[]))))
    ORDER BY opened_at DESC, id DESC LIMIT 1
    """
)
def former(
    connection: Connection, kind: IncidentKind, key: str, uuids: Collection[str], closed_since: datetime
) -> int | None:
    """The latest incident of this place that was closed since then; of clusters one that had half of these displays."""


@query.run("UPDATE incidents SET closed_at = :now, present = 0 WHERE id = :incident_id AND closed_at IS NULL")
def close(connection: Connection, now: datetime, incident_id: int) -> int:
    """Close an incident whose place failed again. Returns how many."""


@query.run("UPDATE incident_members SET incident_id = :into WHERE incident_id = :incident_id AND left_at IS NULL")
def move_present(connection: Connection, incident_id: int, into: int) -> int:
    """Move the displays that are still unwell into the next incident of the place. Returns how many."""


@query.run(
    """
    UPDATE incidents AS i SET members = m.members, present = m.present, peak = greatest(i.peak, m.present),
        waned_at = CASE WHEN 5 * m.present <= i.peak THEN coalesce(i.waned_at, :now) ELSE i.waned_at END
    FROM (SELECT incident_id, count(DISTINCT client_uuid) AS members, count(*) FILTER (WHERE left_at IS NULL) AS present
        FROM incident_members WHERE incident_id = ANY(CAST(:others AS bigint[]))
            OR incident_id IN (SELECT incident_id FROM incident_members WHERE changed_xid = pg_current_xact_id())
        GROUP BY 1) AS m
    WHERE m.incident_id = i.id AND i.closed_at IS NULL
    """
)
def count_members(connection: Connection, now: datetime, others: Collection[int]) -> int:
    """Count the displays of open incidents that this transaction changed, and of `others`. Returns of how many."""


FAILURES: Final = ManyRows("f", FailedDisplay)


@query.run(
    f"""
    INSERT INTO incident_members (incident_id, client_uuid, joined_at, symptom, unit, failed_at)
    SELECT CAST(:incident_id AS bigint), f.uuid, CAST(:now AS timestamptz), f.symptom, f.unit, f.at
    FROM {FAILURES} ORDER BY f.uuid ON CONFLICT DO NOTHING
    """,
    FAILURES,
)
def add_members(connection: Connection, now: datetime, incident_id: int, failures: Sequence[FailedDisplay]) -> int:
    """Add displays to an incident. Returns how many. A display that is in an open incident stays there."""


@query.rows(
    """
    WITH moved AS (
        SELECT m.incident_id, m.client_uuid, m.joined_at FROM incident_members AS m
        JOIN incidents AS i ON i.id = m.incident_id AND i.closed_at IS NULL AND i.kind = 'cluster'
        WHERE m.client_uuid = ANY(:uuids) AND i.id <> :into AND m.failed_at >= :since),
    done AS (
        UPDATE incident_members AS m SET incident_id = :into FROM moved
        WHERE (m.incident_id, m.client_uuid, m.joined_at) = (moved.incident_id, moved.client_uuid, moved.joined_at))
    SELECT DISTINCT incident_id FROM moved ORDER BY incident_id
    """
)
def claim(connection: Connection, into: int, uuids: Collection[str], since: datetime) -> list[int]:
    """Move these displays, if they failed since `since`, from open clusters into this incident.

    Returns the clusters that lost members.
    """


@query.rows(
    """
    WITH small AS (
        SELECT i.id FROM incidents AS i LEFT JOIN incident_members AS m ON m.incident_id = i.id
        WHERE i.id = ANY(:waned) GROUP BY i.id HAVING count(DISTINCT m.client_uuid) < :least),
    forgotten AS (DELETE FROM incident_members WHERE incident_id IN (SELECT id FROM small))
    UPDATE incidents SET closed_at = :now, merged_into = :into, members = 0, present = 0
    WHERE id IN (SELECT id FROM small) RETURNING id
    """
)
def dissolve(connection: Connection, now: datetime, into: int, waned: Collection[int], least: int) -> list[int]:
    """Close each of these clusters that has fewer than `least` members left. Returns the closed ones.

    Their members are deleted: without the displays of the place, the others failed by chance.
    """


@query.rows(
    """
    WITH part AS (
        UPDATE incidents SET closed_at = :now, merged_into = :into, members = 0, present = 0
        WHERE id = ANY(:absorbed) AND closed_at IS NULL RETURNING id),
    moved AS (UPDATE incident_members SET incident_id = :into WHERE incident_id IN (SELECT id FROM part))
    SELECT id FROM part ORDER BY id
    """
)
def absorb(connection: Connection, now: datetime, into: int, absorbed: Collection[int]) -> list[int]:
    """Close incidents and move their members into the incident `into`. Returns those that were open."""


@query.run(
    f"""
    UPDATE incident_members AS m SET left_at = :now FROM clients AS c
    WHERE m.left_at IS NULL AND c.uuid = m.client_uuid AND (c.deleted_at IS NOT NULL
        OR {is_well("c")} AND NOT coalesce(CASE m.symptom
            WHEN 'service_failed' THEN {service_fails("c")}
            WHEN 'screen_failed' THEN {screen_fails("c")} END, false))
    """
)
def leave_well(connection: Connection, now: datetime) -> int:
    """Let every member leave that is well again or was deleted. Returns how many.

    A failed service is well when it is mended or acknowledged, a screen when it fails no more. Another member is
    well when the display is heard and its player has not crashed. While its state is unknown, a display stays.
    """


@query.rows(
    """
    UPDATE incidents AS i SET closed_at = :now
    WHERE i.closed_at IS NULL AND i.kind <> 'listening'
        AND NOT EXISTS (SELECT FROM incident_members AS m WHERE m.incident_id = i.id AND m.left_at IS NULL)
        AND coalesce((SELECT max(m.left_at) FROM incident_members AS m WHERE m.incident_id = i.id), i.opened_at)
            <= :well_since
    RETURNING i.id
    """
)
def close_well(connection: Connection, now: datetime, well_since: datetime) -> list[int]:
    """Close incidents of displays that had no unwell member since `well_since`. Returns their ids."""


@query.rows("UPDATE incidents SET closed_at = :now WHERE kind = 'listening' AND closed_at IS NULL RETURNING id")
def close_listening(connection: Connection, now: datetime) -> list[int]:
    """Close the open incident of kind `listening`. Returns its id, if there was one."""


@query.run("UPDATE incidents SET group_size = greatest(group_size, :size) WHERE id = :incident_id")
def set_size(connection: Connection, incident_id: int, size: int) -> None:
    """Store the size of the incident's place, unless the stored size is larger."""


RECORD = Query(
    """
    INSERT INTO incident_events (incident_id, at, kind, words)
    SELECT of, CAST(:now AS timestamptz), CAST(:kind AS text), CAST(CAST(:words AS text) AS jsonb)
    FROM unnest(CAST(:ids AS bigint[])) AS of
    """,
    NO_ROW,
)


def record(
    connection: Connection, now: datetime, incident_ids: Collection[int], kind: IncidentEventKind, words: Sentence
) -> None:
    """Add an event to the timeline of each of these incidents."""
    RECORD.run(connection, now=now, ids=list(incident_ids), kind=kind, words=as_json(words))


@query.rows(
    """
    SELECT m.client_uuid AS uuid, i.id, i.cause
    FROM incident_members AS m JOIN incidents AS i ON i.id = m.incident_id
    WHERE m.left_at IS NULL AND m.client_uuid = ANY(:uuids)
    """
)
def open_of(connection: Connection, uuids: Collection[str]) -> list[Membership]:
    """The open incidents of these clients; clients that are in none, or well again, are left out."""


@query.run("DELETE FROM incidents WHERE closed_at < :before")
def drop_history(connection: Connection, before: datetime) -> int:
    """Delete incidents that were closed before then, with members and events. Returns how many."""


class HeldIncident(Holder, frozen=True):
    """Who looks after an incident."""

    closed_at: datetime | None = None


class HeldFailure(Holder, frozen=True):
    """Who looks after a client's failed service; without `service_failed_at` none fails now."""

    service_failed_at: datetime | None = None


@query.one_or_none(
    "SELECT taken_by, taken_at, note, closed_at FROM incidents WHERE id = :incident_id FOR NO KEY UPDATE"
)
def lock_incident(connection: Connection, incident_id: int) -> HeldIncident | None:
    """Who looks after this incident; the row stays locked until the transaction ends. None: no such incident."""


@query.run(
    """
    UPDATE incidents SET taken_by = :taken_by, taken_at = :taken_at, note = :note
    WHERE id = :incident_id AND closed_at IS NULL
    """
)
def write_incident(
    connection: Connection, incident_id: int, taken_by: str | None, taken_at: datetime | None, note: str | None
) -> None:
    """Write who looks after an open incident."""


@query.run(
    """
    UPDATE incidents AS i SET taken_by = was.taken_by, taken_at = was.taken_at, note = was.note
    FROM (SELECT taken_by, taken_at, note FROM incidents WHERE id = ANY(:absorbed) AND taken_by IS NOT NULL
        ORDER BY taken_at DESC LIMIT 1) AS was
    WHERE i.id = :into AND i.taken_by IS NULL
    """
)
def carry(connection: Connection, into: int, absorbed: Collection[int]) -> None:
    """Let who looked after one of these incidents look after the one that they became part of."""


@query.one_or_none(
    """
    SELECT service_failed_taken_by AS taken_by, service_failed_taken_at AS taken_at, service_failed_taken_note AS note,
        CASE WHEN service_mended_at IS NULL THEN service_failed_at END AS service_failed_at
    FROM clients WHERE uuid = :uuid AND deleted_at IS NULL FOR NO KEY UPDATE
    """
)
def lock_failure(connection: Connection, uuid: str) -> HeldFailure | None:
    """Who looks after the client's failed service; the row stays locked. None: no such client."""


@query.run(
    """
    UPDATE clients SET service_failed_taken_by = :taken_by, service_failed_taken_at = :taken_at,
        service_failed_taken_note = :note
    WHERE uuid = :uuid AND service_failed_at IS NOT NULL
    """
)
def write_failure(
    connection: Connection, uuid: str, taken_by: str | None, taken_at: datetime | None, note: str | None
) -> None:
    """Write who looks after the client's open failure."""
