"""SQL that finds what there may be to tell, and what of it is over: each costs what is wrong, not what the fleet is."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping

from shared.tables import door_certificates

MOST: Final = 1000  # of displays and of conversions at once: the newest; the next tick takes the rest

_INCIDENTS: Final = sa.text(
    """
    SELECT i.id, i.kind, i.key, i.began_at, i.opened_at, i.cause, count(e.id) AS reopened, max(e.at) AS reopened_at
    FROM incidents AS i LEFT JOIN incident_events AS e ON e.incident_id = i.id AND e.kind = 'reopened'
    WHERE i.closed_at IS NULL GROUP BY i.id ORDER BY i.id
    """
)
_MEMBERS: Final = sa.text(
    """
    SELECT m.incident_id, c.uuid, c.name, c.site, bool_and(m.left_at IS NOT NULL) AS back
    FROM incident_members AS m JOIN clients AS c ON c.uuid = m.client_uuid
    WHERE m.incident_id = ANY(CAST(:ids AS bigint[]))
    GROUP BY m.incident_id, c.uuid ORDER BY m.incident_id, c.name, c.uuid
    """
)
SUSPENDED: Final = """CAST(:recovers AS boolean) AND coalesce(r.decided = 'suspended'
    AND (r.step >= 4 OR r.refused_restarts + r.refused_reboots >= 4), false)"""
_DISPLAYS: Final = sa.text(  # the partial index of unwell clients; who all channels were told of is left out
    f"""
    SELECT c.uuid, c.name, c.site, c.status, c.status_since, c.service_failed_at, c.service_failed_unit,
        {SUSPENDED} AS suspended, r.decided_at, n.noticed_at
    FROM clients AS c LEFT JOIN client_recovery AS r ON r.client_uuid = c.uuid
    CROSS JOIN LATERAL (SELECT coalesce(max(s.noticed_at), c.status_since) AS noticed_at FROM client_state_changes AS s
        WHERE s.client_uuid = c.uuid AND s.at = c.status_since) AS n
    WHERE (c.status IN ('crashed', 'stale') OR c.process_status = 'crashed' OR c.service_failed_at IS NOT NULL)
        AND c.deleted_at IS NULL
        AND (c.status IN ('crashed', 'stale')
                AND (c.status_since <= CAST(:noticed_before AS timestamptz) OR {SUSPENDED})
            OR c.service_failed_at IS NOT NULL AND {SUSPENDED})
        AND greatest(n.noticed_at, c.service_failed_at, r.decided_at) >= CAST(:since AS timestamptz)
        AND NOT EXISTS (
            SELECT FROM incident_members AS m WHERE m.client_uuid = c.uuid AND m.left_at IS NULL)
        AND (SELECT count(*) FROM notification_deliveries AS d WHERE d.root = 'client:' || c.uuid
            AND d.created_at >= greatest(c.status_since, r.decided_at)) < CAST(:channels AS integer)
    ORDER BY c.status_since DESC, c.uuid LIMIT {MOST}
    """  # noqa: S608 - made of constants
)
MENDED: Final = """
    c.service_failed_at IS NULL OR (h.body->'service_failed' = 'null'::jsonb
        AND h.received_at >= c.service_failed_at + interval '60 seconds')"""
"""A failed service is no trouble any more: acknowledged, or the display says since that no failure stands."""
BAD_SCREEN: Final = "c.screen_health IN ('black', 'frozen', 'disconnected')"
IN_NO_INCIDENT: Final = """
    NOT EXISTS (SELECT FROM incident_members AS m WHERE m.client_uuid = c.uuid AND m.left_at IS NULL)"""
_FAILED_SERVICES: Final = sa.text(
    f"""
    SELECT c.uuid, c.name, c.site, c.service_failed_at, c.service_failed_unit
    FROM clients AS c LEFT JOIN client_health AS h ON h.client_uuid = c.uuid
    WHERE c.service_failed_at >= CAST(:since AS timestamptz) AND c.deleted_at IS NULL
        AND NOT coalesce({MENDED}, false) AND {IN_NO_INCIDENT}
    ORDER BY c.service_failed_at DESC, c.uuid LIMIT {MOST}
    """  # noqa: S608 - made of constants
)
_BAD_SCREENS: Final = sa.text(
    f"""
    SELECT c.uuid, c.name, c.site, CAST(c.screen_health AS text) AS screen, c.screen_health_since
    FROM clients AS c
    WHERE {BAD_SCREEN} AND c.screen_health_since >= CAST(:since AS timestamptz) AND c.deleted_at IS NULL
        AND c.status NOT IN ('stale', 'unknown') AND {IN_NO_INCIDENT}
    ORDER BY c.screen_health_since DESC, c.uuid LIMIT {MOST}
    """  # noqa: S608 - made of constants
)
_OVER_SERVICES: Final = sa.text(
    f"""
    SELECT c.uuid, c.deleted_at IS NOT NULL AS silently
    FROM clients AS c LEFT JOIN client_health AS h ON h.client_uuid = c.uuid
    WHERE c.uuid = ANY(CAST(:uuids AS text[])) AND (c.deleted_at IS NOT NULL OR coalesce({MENDED}, false))
    """  # noqa: S608 - made of constants
)
_OVER_SCREENS: Final = sa.text(
    f"""
    SELECT c.uuid, c.deleted_at IS NOT NULL AS silently FROM clients AS c
    WHERE c.uuid = ANY(CAST(:uuids AS text[])) AND (c.deleted_at IS NOT NULL OR NOT {BAD_SCREEN})
    """  # noqa: S608 - made of constants
)
_CONVERSIONS: Final = sa.text(
    f"""
    SELECT c.id, c.generation, c.finished_at, c.error_message, m.id AS media_id, m.filename
    FROM conversions AS c JOIN event_media AS m ON m.id = c.source_event_media_id AND m.deleted_at IS NULL
    WHERE c.status = 'failed' AND c.finished_at >= CAST(:since AS timestamptz)
    ORDER BY c.finished_at DESC, c.id LIMIT {MOST}
    """  # noqa: S608 - made of constants
)
_OVER_INCIDENTS: Final = sa.text(
    """
    SELECT asked.id, i.merged_into IS NOT NULL OR i.id IS NULL AS silently
    FROM unnest(CAST(:ids AS bigint[])) AS asked(id) LEFT JOIN incidents AS i ON i.id = asked.id
    WHERE i.id IS NULL OR i.closed_at IS NOT NULL
    """
)
_OVER_CLIENTS: Final = sa.text(
    f"""
    SELECT c.uuid, c.deleted_at IS NOT NULL AS silently
    FROM clients AS c LEFT JOIN client_recovery AS r ON r.client_uuid = c.uuid
    WHERE c.uuid = ANY(CAST(:uuids AS text[])) AND (c.deleted_at IS NOT NULL
        OR c.status IN ('running', 'late', 'starting', 'stopped')
            AND c.status_since <= CAST(:well_since AS timestamptz)
            AND NOT (c.service_failed_at IS NOT NULL AND {SUSPENDED}))
    """  # noqa: S608 - made of constants
)
_OPEN_BREAKERS: Final = sa.text("SELECT site FROM recovery_breakers WHERE open_since IS NOT NULL")
_STATES: Final = sa.text(
    "SELECT uuid, status, process_status, service_failed_at FROM clients WHERE uuid = ANY(CAST(:uuids AS text[]))"
)


def incidents(connection: Connection) -> Sequence[RowMapping]:
    """Every open incident, with how often and when last it was opened again."""
    return connection.execute(_INCIDENTS).mappings().all()


def members(connection: Connection, incident_ids: Collection[int]) -> Sequence[RowMapping]:
    """The displays that were ever part of these incidents, by incident and name, and whether each is `back`."""
    return connection.execute(_MEMBERS, {"ids": list(incident_ids)}).mappings().all()


def displays(
    connection: Connection, noticed_before: datetime, since: datetime, channels: int, *, recovers: bool
) -> Sequence[RowMapping]:
    """Unwell displays of no open incident: those unwell since before then, and those that recovery has suspended.

    `since`: what happened before is no news to anybody. `channels`: how many want to be told of displays.
    """
    values = {"noticed_before": noticed_before, "since": since, "channels": channels, "recovers": recovers}
    return connection.execute(_DISPLAYS, values).mappings().all()


def failed_services(connection: Connection, since: datetime) -> Sequence[RowMapping]:
    """Displays of no open incident with a service that failed since then, and that the display does not call mended."""
    return connection.execute(_FAILED_SERVICES, {"since": since}).mappings().all()


def bad_screens(connection: Connection, since: datetime) -> Sequence[RowMapping]:
    """Displays of no open incident that are heard, and whose screen is bad since then or later."""
    return connection.execute(_BAD_SCREENS, {"since": since}).mappings().all()


def over_services(connection: Connection, uuids: Collection[str]) -> dict[str, bool]:
    """Those of these clients without a failed service, and whether without a word: they are no clients any more."""
    return {row.uuid: row.silently for row in connection.execute(_OVER_SERVICES, {"uuids": list(uuids)})}


def over_screens(connection: Connection, uuids: Collection[str]) -> dict[str, bool]:
    """Those of these clients whose screen is not bad any more; otherwise as `over_services`."""
    return {row.uuid: row.silently for row in connection.execute(_OVER_SCREENS, {"uuids": list(uuids)})}


def conversions(connection: Connection, since: datetime) -> Sequence[RowMapping]:
    """Conversions that failed for good since then."""
    return connection.execute(_CONVERSIONS, {"since": since}).mappings().all()


def over_incidents(connection: Connection, ids: Collection[int]) -> dict[int, bool]:
    """Those of these incidents that are over, and whether without a word: another one goes on in their place."""
    return {row.id: row.silently for row in connection.execute(_OVER_INCIDENTS, {"ids": list(ids)})}


def over_clients(
    connection: Connection, uuids: Collection[str], well_since: datetime, *, recovers: bool
) -> dict[str, bool]:
    """Those of these clients that are well since then, and whether without a word: they are no clients any more."""
    values: dict[str, Any] = {"uuids": list(uuids), "well_since": well_since, "recovers": recovers}
    return {row.uuid: row.silently for row in connection.execute(_OVER_CLIENTS, values)}


def open_breakers(connection: Connection) -> set[str]:
    """The sites whose breaker is open; the empty text is the fleet."""
    return set(connection.execute(_OPEN_BREAKERS).scalars())


def certificates(connection: Connection) -> Sequence[RowMapping]:
    """The certificates that our doors showed last: door, ends_at and seen_at."""
    return connection.execute(sa.select(door_certificates).order_by(door_certificates.c.door)).mappings().all()


def states(connection: Connection, uuids: Collection[str]) -> Sequence[RowMapping]:
    """What says whether each of these clients is unwell."""
    return connection.execute(_STATES, {"uuids": list(uuids)}).mappings().all()
