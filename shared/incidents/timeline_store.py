"""SQL that tells of incidents: the list, the members, and one timeline across the nouns that know of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import distinct_on

from shared.tables import clients, incident_members, incidents

END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)
NAMED: Final = 10  # displays that an entry of the timeline names; the rest is a number


@dataclass(frozen=True)
class IncidentFilter:
    """Which incidents a list holds. Every field narrows it; None leaves it open."""

    is_open: bool | None = None
    site: str | None = None  # one of its members stands there
    since: datetime | None = None  # open then, or later


_of_it = incident_members.c.incident_id == incidents.c.id
_MEMBERS: Final = sa.select(sa.func.count(sa.distinct(incident_members.c.client_uuid))).where(_of_it)
SHOWN: Final = (
    incidents.c.id,
    incidents.c.kind,
    incidents.c.key,
    incidents.c.cause,
    incidents.c.began_at,
    incidents.c.opened_at,
    incidents.c.closed_at,
    incidents.c.group_size,
    incidents.c.merged_into,
    _MEMBERS.scalar_subquery().label("members"),
    _MEMBERS.where(incident_members.c.left_at.is_(None)).scalar_subquery().label("unwell"),
)


def get(connection: Connection, incident_id: int) -> RowMapping | None:
    """One incident, or None."""
    return connection.execute(sa.select(*SHOWN).where(incidents.c.id == incident_id)).mappings().one_or_none()


def page(
    connection: Connection, wanted: IncidentFilter, limit: int, after: tuple[datetime, int] | None
) -> Sequence[RowMapping]:
    """Up to `limit` incidents, the newest first, that come after the pair (opened_at, id)."""
    query = sa.select(*SHOWN).order_by(incidents.c.opened_at.desc(), incidents.c.id.desc()).limit(limit)
    if wanted.is_open is not None:
        query = query.where(incidents.c.closed_at.is_(None) == wanted.is_open)
    if wanted.since is not None:
        query = query.where(sa.or_(incidents.c.closed_at.is_(None), incidents.c.closed_at >= wanted.since))
    if wanted.site is not None:
        stands_there = sa.and_(clients.c.uuid == incident_members.c.client_uuid, clients.c.site == wanted.site)
        query = query.where(sa.exists().where(_of_it, stands_there))
    if after is not None:
        key = sa.tuple_(incidents.c.opened_at, incidents.c.id)
        query = query.where(key < sa.tuple_(sa.literal(after[0]), sa.literal(after[1])))
    return connection.execute(query).mappings().all()


def members_page(
    connection: Connection, incident_id: int, limit: int, after: tuple[str, str] | None
) -> Sequence[RowMapping]:
    """Up to `limit` displays that were ever part of it, by name, then uuid, each with the last time that it was."""
    m = incident_members.c
    order = (m.client_uuid, m.joined_at.desc())
    last = (
        sa.select(m.client_uuid, m.symptom, m.unit, m.failed_at, m.joined_at, m.left_at)
        .where(m.incident_id == incident_id)
        .ext(distinct_on(m.client_uuid))
        .order_by(*order)
        .subquery("last")
    )
    told = (clients.c.uuid, clients.c.name, clients.c.site, clients.c.status)
    query = sa.select(*told, *(column for column in last.c if column.name != "client_uuid")).join_from(
        clients, last, last.c.client_uuid == clients.c.uuid
    )
    if after is not None:
        key = sa.tuple_(clients.c.name, clients.c.uuid)
        query = query.where(key > sa.tuple_(*(sa.cast(value, sa.Text) for value in after)))
    return connection.execute(query.order_by(clients.c.name, clients.c.uuid).limit(limit)).mappings().all()


def present(connection: Connection, incident_id: int) -> Sequence[str]:
    """The uuids of the displays that are unwell still."""
    still = (incident_members.c.incident_id == incident_id, incident_members.c.left_at.is_(None))
    return connection.execute(sa.select(incident_members.c.client_uuid).where(*still)).scalars().all()


_WHOM: Final = f"count(*) AS count, (array_agg(client_uuid ORDER BY client_uuid))[1:{NAMED}] AS uuids"
_TIMELINE: Final = f"""
    WITH incident AS (SELECT * FROM incidents WHERE id = :id),
    met AS (SELECT client_uuid, min(joined_at) AS met_at FROM incident_members WHERE incident_id = :id GROUP BY 1),
    time AS (SELECT began_at, coalesce(closed_at, 'infinity') AS over_at FROM incident),
    entry AS (
        SELECT opened_at AS at, 'opened' AS kind, '' AS key, NULL::bigint AS count, NULL::text[] AS uuids,
            jsonb_build_object('words', cause) AS details
        FROM incident
        UNION ALL
        SELECT at, kind, lpad(id::text, 19, '0'), NULL, NULL, jsonb_build_object('words', words)
        FROM incident_events WHERE incident_id = :id
        UNION ALL
        SELECT joined_at, 'joined', '', {_WHOM}, '{{}}'::jsonb
        FROM incident_members WHERE incident_id = :id GROUP BY joined_at
        UNION ALL
        SELECT left_at, 'left', '', {_WHOM}, '{{}}'::jsonb
        FROM incident_members WHERE incident_id = :id AND left_at IS NOT NULL GROUP BY left_at
        UNION ALL
        SELECT created_at, 'command', action || ' ' || requested_by || ' ' || reason, {_WHOM},
            jsonb_build_object('action', action, 'source', source, 'requested_by', requested_by, 'reason', reason)
        FROM client_commands JOIN met USING (client_uuid), time
        WHERE created_at BETWEEN began_at AND over_at GROUP BY created_at, action, source, requested_by, reason
        UNION ALL
        SELECT at, 'recovery', decision || ' ' || why, {_WHOM},
            jsonb_build_object('decision', decision, 'why', why)
        FROM recovery_events JOIN met USING (client_uuid), time
        WHERE at BETWEEN began_at AND over_at GROUP BY at, decision, why)
    SELECT at, kind, key, count, uuids, details FROM entry
    WHERE at <= CAST(:at AS timestamptz)
        AND (at, kind, key) < (CAST(:at AS timestamptz), CAST(:kind AS text), CAST(:key AS text))
    ORDER BY at DESC, kind DESC, key DESC LIMIT CAST(:limit AS int)
"""  # noqa: S608 - made of constants


def timeline(
    connection: Connection, incident_id: int, limit: int, after: tuple[datetime, str, str] | None
) -> Sequence[RowMapping]:
    """Up to `limit` entries, the newest first, that come after (at, kind, key).

    What happened to several displays at one moment is one entry. Rows: at, kind (a word of IncidentEventKind), key
    (tells apart entries of one kind and moment), count and uuids (of the displays it is about, some of them by
    uuid; null where it is about none), details.
    """
    at, kind, key = after or (END_OF_TIME, "", "")
    parameters = {"id": incident_id, "at": at, "kind": kind, "key": key, "limit": limit}
    statement = sa.text(_TIMELINE)  # Core says it at thrice the length
    return connection.execute(statement, parameters).mappings().all()
