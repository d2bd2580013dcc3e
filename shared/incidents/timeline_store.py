"""SQL that lists incidents, their members and their timeline, which joins events, commands and recovery."""

from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Connection

from shared.incidents.store import TIMES
from shared.postgres import query
from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.fragments import END_OF_TIME
from shared.postgres.query import Query
from shared.vocabulary import ClientStatus, IncidentEventKind, IncidentKind, Symptom
from shared.words.sentences import Sentence

NAMED: Final = 10  # the most displays that an entry of the timeline lists


class ListedIncident(Struct, frozen=True):
    """An incident, with how many displays were ever part of it and how many still are unwell.

    `again_of`: the incident of the same displays or place before it; `times`: how many there were in a day, with it.
    """

    id: int
    kind: IncidentKind
    site: str | None
    subnet: str | None
    cause: Sentence
    began_at: datetime
    opened_at: datetime
    closed_at: datetime | None
    group_size: int | None
    merged_into: int | None
    taken_by: str | None
    taken_at: datetime | None
    note: str | None
    members: int
    unwell: int
    again_of: int | None
    times: int


class Member(Struct, frozen=True):
    """A display that was part of the incident, as it was the last time. `left_at` is null while it is unwell."""

    uuid: str
    name: str
    site: str | None
    status: ClientStatus
    symptom: Symptom
    unit: str | None
    failed_at: datetime
    joined_at: datetime
    left_at: datetime | None


class Entry(Struct, frozen=True):
    """An event of the timeline. `key` distinguishes entries of one kind and moment."""

    at: datetime
    kind: IncidentEventKind
    key: str
    count: int | None
    """How many displays the entry concerns; None when it is not about displays."""
    uuids: list[str] | None
    """Some of these displays."""
    details: dict[str, Any]
    words: Sentence | None
    """What was stored with it."""


class IncidentFilter(Struct, frozen=True):
    """Which incidents a list has. Every field narrows it; None does not."""

    is_open: bool | None = None
    site: str | None = None  # a member is at this site
    since: datetime | None = None  # it was open at this time or later


INCIDENT: Final = f"""
    i.id, i.kind, CASE i.kind WHEN 'site' THEN i.key END AS site, CASE i.kind WHEN 'subnet' THEN i.key END AS subnet,
    i.cause, i.began_at, i.opened_at, i.closed_at, i.group_size, i.merged_into,
    i.taken_by, i.taken_at, i.note, i.members, i.present AS unwell, i.again_of, {TIMES} AS times
    FROM incidents AS i"""
"""SQL: the columns of a ListedIncident, with their tables."""


@query.one_or_none(f"SELECT {INCIDENT} WHERE i.id = :incident_id")
def get(connection: Connection, incident_id: int) -> ListedIncident | None:
    """One incident, or None."""


PAGE = Query(
    f"""
    SELECT {INCIDENT}
    WHERE (CAST(:is_open AS boolean) IS NULL OR (i.closed_at IS NULL) = :is_open)
        AND (CAST(:since AS timestamptz) IS NULL OR i.closed_at IS NULL OR i.closed_at >= :since)
        AND (CAST(:site AS text) IS NULL OR EXISTS (
            SELECT FROM incident_members AS m JOIN clients AS c ON c.uuid = m.client_uuid
            WHERE m.incident_id = i.id AND c.site = :site))
        AND (i.opened_at, i.id) < (:before, :before_id)
    ORDER BY i.opened_at DESC, i.id DESC LIMIT :limit {FOR_ITS_VALUES}
    """,
    ListedIncident,
)


def page(
    connection: Connection, wanted: IncidentFilter, limit: int, after: tuple[datetime, int] | None
) -> list[ListedIncident]:
    """Up to `limit` incidents, the newest first, after the cursor (opened_at, id)."""
    before, before_id = after or (END_OF_TIME, 0)
    return PAGE.all(connection, **asdict(wanted), before=before, before_id=before_id, limit=limit)


MEMBERS_PAGE = Query(
    """
    SELECT c.uuid, c.name, c.site, c.status, m.symptom, m.unit,
        m.failed_at, m.joined_at, m.left_at
    FROM clients AS c JOIN (
        SELECT DISTINCT ON (client_uuid) * FROM incident_members WHERE incident_id = :id
        ORDER BY client_uuid, joined_at DESC) AS m ON m.client_uuid = c.uuid
    WHERE (c.name, c.uuid) > (:name, :uuid) ORDER BY c.name, c.uuid LIMIT :limit
    """,
    Member,
)


def members_page(connection: Connection, incident_id: int, limit: int, after: tuple[str, str] | None) -> list[Member]:
    """Up to `limit` displays that were ever part of the incident, by name, then uuid."""
    name, uuid = after or ("", "")
    return MEMBERS_PAGE.all(connection, id=incident_id, name=name, uuid=uuid, limit=limit)


@query.rows("SELECT client_uuid FROM incident_members WHERE incident_id = :incident_id AND left_at IS NULL")
def present(connection: Connection, incident_id: int) -> list[str]:
    """The uuids of the members that are still unwell."""


_WHOM: Final = f"count(*) AS count, (array_agg(client_uuid ORDER BY client_uuid))[1:{NAMED}] AS uuids"
TIMELINE = Query(  # Core says it at thrice the length
    f"""
    WITH incident AS (SELECT * FROM incidents WHERE id = :id),
    met AS (SELECT client_uuid, min(joined_at) AS met_at FROM incident_members WHERE incident_id = :id GROUP BY 1),
    time AS (SELECT began_at, coalesce(closed_at, 'infinity') AS over_at FROM incident),
    entry AS (
        SELECT opened_at AS at, 'opened' AS kind, '' AS key, NULL::bigint AS count, NULL::text[] AS uuids,
            '{{}}'::jsonb AS details, cause AS words
        FROM incident
        UNION ALL
        SELECT at, kind, lpad(id::text, 19, '0'), NULL, NULL, '{{}}'::jsonb, words
        FROM incident_events WHERE incident_id = :id
        UNION ALL
        SELECT joined_at, 'joined', '', {_WHOM}, '{{}}'::jsonb, NULL
        FROM incident_members WHERE incident_id = :id GROUP BY joined_at
        UNION ALL
        SELECT left_at, 'left', '', {_WHOM}, '{{}}'::jsonb, NULL
        FROM incident_members WHERE incident_id = :id AND left_at IS NOT NULL GROUP BY left_at
        UNION ALL
        SELECT created_at, 'command', concat_ws(' ', action, requested_by, md5(reason::text)), {_WHOM},
            jsonb_build_object('action', action, 'source', source, 'requested_by', requested_by, 'reason', reason), NULL
        FROM client_commands JOIN met USING (client_uuid), time
        WHERE created_at BETWEEN began_at AND over_at GROUP BY created_at, action, source, requested_by, reason
        UNION ALL
        SELECT at, 'recovery', decision || ' ' || md5(why::text), {_WHOM},
            jsonb_build_object('decision', decision, 'why', why), NULL
        FROM recovery_events JOIN met USING (client_uuid), time
        WHERE at BETWEEN began_at AND over_at GROUP BY at, decision, why)
    SELECT at, kind, key, count, uuids, details, words FROM entry
    WHERE at <= CAST(:at AS timestamptz)
        AND (at, kind, key) < (CAST(:at AS timestamptz), CAST(:kind AS text), CAST(:key AS text))
    ORDER BY at DESC, kind DESC, key DESC LIMIT CAST(:limit AS int)
    """,
    Entry,
)


def timeline(
    connection: Connection, incident_id: int, limit: int, after: tuple[datetime, str, str] | None
) -> list[Entry]:
    """Up to `limit` entries, the newest first, after the cursor (at, kind, key)."""
    at, kind, key = after or (END_OF_TIME, "", "")
    return TIMELINE.all(connection, id=incident_id, at=at, kind=kind, key=key, limit=limit)
