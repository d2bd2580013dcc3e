"""SQL that finds what there may be to tell, and what of it is over: each costs what is wrong, not what the fleet is."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import Connection

from shared.clients.store import ClientState
from shared.notifications.troubles.rules import Display
from shared.postgres.fragments import is_bad, is_unwell, is_well
from shared.postgres.query import Query
from shared.vocabulary import ClientStatus, Door, IncidentKind

MOST: Final = 1000  # of displays and of conversions at once: the newest; the next tick takes the rest


@dataclass(frozen=True)
class IncidentToTell:
    """An open incident; `reopened`: how often it was opened again."""

    id: int
    kind: IncidentKind
    key: str
    began_at: datetime
    opened_at: datetime
    cause: str
    reopened: int
    reopened_at: datetime | None


@dataclass(frozen=True)
class Affected(Display):
    """A display that is part of an incident, or was: then it is `back`."""

    incident_id: int
    back: bool


@dataclass(frozen=True)
class UnwellDisplay(Display):
    """A display that is silent, has crashed or has a failed service; `suspended`: recovery has tried everything."""

    status: ClientStatus
    status_since: datetime
    service_failed_at: datetime | None
    service_failed_unit: str | None
    suspended: bool
    decided_at: datetime | None
    noticed_at: datetime


@dataclass(frozen=True)
class DisplayWithFailedService(Display):
    """A display with a service that failed."""

    service_failed_at: datetime
    service_failed_unit: str | None


@dataclass(frozen=True)
class DisplayWithBadScreen(Display):
    """A display whose screen shows nothing, or always the same."""

    screen: str
    screen_health_since: datetime


@dataclass(frozen=True)
class FailedConversion:
    """A conversion that failed for good, with the name of its presentation."""

    id: int
    generation: int
    finished_at: datetime
    error_message: str | None
    media_id: int
    filename: str


@dataclass(frozen=True)
class DoorCertificate:
    """The certificate that one of our doors showed last."""

    door: Door
    ends_at: datetime
    seen_at: datetime


class EndedIncident(NamedTuple):
    """An incident that is over; `silently`: another one goes on in its place."""

    id: int
    silently: bool


class EndedOfClient(NamedTuple):
    """A client that is well again; `silently`: it is no client any more."""

    uuid: str
    silently: bool


INCIDENTS = Query(
    """
    SELECT i.id, i.kind, i.key, i.began_at, i.opened_at, i.cause, count(e.id) AS reopened, max(e.at) AS reopened_at
    FROM incidents AS i LEFT JOIN incident_events AS e ON e.incident_id = i.id AND e.kind = 'reopened'
    WHERE i.closed_at IS NULL GROUP BY i.id ORDER BY i.id
    """,
    IncidentToTell,
)
MEMBERS = Query(
    """
    SELECT m.incident_id, c.uuid, c.name, c.site, bool_and(m.left_at IS NOT NULL) AS back
    FROM incident_members AS m JOIN clients AS c ON c.uuid = m.client_uuid
    WHERE m.incident_id = ANY(CAST(:ids AS bigint[]))
    GROUP BY m.incident_id, c.uuid ORDER BY m.incident_id, c.name, c.uuid
    """,
    Affected,
)
IN_NO_INCIDENT: Final = """
    NOT EXISTS (SELECT FROM incident_members AS m WHERE m.client_uuid = c.uuid AND m.left_at IS NULL)"""
SUSPENDED: Final = """CAST(:recovers AS boolean) AND coalesce(r.decided = 'suspended'
    AND (r.step >= 4 OR r.refused_restarts + r.refused_reboots >= 4), false)"""
DISPLAYS = Query(  # the partial index of unwell clients; who all channels were told of is left out
    f"""
    SELECT c.uuid, c.name, c.site, c.status, c.status_since, c.service_failed_at, c.service_failed_unit,
        {SUSPENDED} AS suspended, r.decided_at, n.noticed_at
    FROM clients AS c LEFT JOIN client_recovery AS r ON r.client_uuid = c.uuid
    CROSS JOIN LATERAL (SELECT coalesce(max(s.noticed_at), c.status_since) AS noticed_at FROM client_state_changes AS s
        WHERE s.client_uuid = c.uuid AND s.at = c.status_since) AS n
    WHERE {is_unwell("c")} AND c.deleted_at IS NULL
        AND (c.status IN ('crashed', 'stale')
                AND (c.status_since <= CAST(:noticed_before AS timestamptz) OR {SUSPENDED})
            OR c.service_failed_at IS NOT NULL AND {SUSPENDED})
        AND greatest(n.noticed_at, c.service_failed_at, r.decided_at) >= CAST(:since AS timestamptz)
        AND {IN_NO_INCIDENT}
        AND (SELECT count(*) FROM notification_deliveries AS d WHERE d.root = 'client:' || c.uuid
            AND d.created_at >= greatest(c.status_since, r.decided_at)) < CAST(:channels AS integer)
    ORDER BY c.status_since DESC, c.uuid LIMIT {MOST}
    """,  # noqa: S608 - made of constants
    UnwellDisplay,
)
MENDED: Final = """
    c.service_failed_at IS NULL OR (h.body->'service_failed' = 'null'::jsonb
        AND h.received_at >= c.service_failed_at + interval '60 seconds')"""
"""A failed service is no trouble any more: acknowledged, or the display says since that no failure stands."""
FAILED_SERVICES = Query(
    f"""
    SELECT c.uuid, c.name, c.site, c.service_failed_at, c.service_failed_unit
    FROM clients AS c LEFT JOIN client_health AS h ON h.client_uuid = c.uuid
    WHERE c.service_failed_at >= CAST(:since AS timestamptz) AND c.deleted_at IS NULL
        AND NOT coalesce({MENDED}, false) AND {IN_NO_INCIDENT}
    ORDER BY c.service_failed_at DESC, c.uuid LIMIT {MOST}
    """,  # noqa: S608 - made of constants
    DisplayWithFailedService,
)
BAD_SCREENS = Query(
    f"""
    SELECT c.uuid, c.name, c.site, CAST(c.screen_health AS text) AS screen, c.screen_health_since
    FROM clients AS c
    WHERE {is_bad("c.screen_health")} AND c.screen_health_since >= CAST(:since AS timestamptz) AND c.deleted_at IS NULL
        AND c.status NOT IN ('stale', 'unknown') AND {IN_NO_INCIDENT}
    ORDER BY c.screen_health_since DESC, c.uuid LIMIT {MOST}
    """,  # noqa: S608 - made of constants
    DisplayWithBadScreen,
)
OVER_SERVICES = Query(
    f"""
    SELECT c.uuid, c.deleted_at IS NOT NULL AS silently
    FROM clients AS c LEFT JOIN client_health AS h ON h.client_uuid = c.uuid
    WHERE c.uuid = ANY(CAST(:uuids AS text[])) AND (c.deleted_at IS NOT NULL OR coalesce({MENDED}, false))
    """,  # noqa: S608 - made of constants
    EndedOfClient,
)
OVER_SCREENS = Query(
    f"""
    SELECT c.uuid, c.deleted_at IS NOT NULL AS silently FROM clients AS c
    WHERE c.uuid = ANY(CAST(:uuids AS text[])) AND (c.deleted_at IS NOT NULL OR NOT {is_bad("c.screen_health")})
    """,  # noqa: S608 - made of constants
    EndedOfClient,
)
CONVERSIONS = Query(
    f"""
    SELECT c.id, c.generation, c.finished_at, c.error_message, m.id AS media_id, m.filename
    FROM conversions AS c JOIN event_media AS m ON m.id = c.source_event_media_id AND m.deleted_at IS NULL
    WHERE c.status = 'failed' AND c.finished_at >= CAST(:since AS timestamptz)
    ORDER BY c.finished_at DESC, c.id LIMIT {MOST}
    """,  # noqa: S608 - made of constants
    FailedConversion,
)
OVER_INCIDENTS = Query(
    """
    SELECT asked.id, i.merged_into IS NOT NULL OR i.id IS NULL AS silently
    FROM unnest(CAST(:ids AS bigint[])) AS asked(id) LEFT JOIN incidents AS i ON i.id = asked.id
    WHERE i.id IS NULL OR i.closed_at IS NOT NULL
    """,
    EndedIncident,
)
OVER_CLIENTS = Query(
    f"""
    SELECT c.uuid, c.deleted_at IS NOT NULL AS silently
    FROM clients AS c LEFT JOIN client_recovery AS r ON r.client_uuid = c.uuid
    WHERE c.uuid = ANY(CAST(:uuids AS text[])) AND (c.deleted_at IS NOT NULL
        OR {is_well("c")}
            AND c.status_since <= CAST(:well_since AS timestamptz)
            AND NOT (c.service_failed_at IS NOT NULL AND {SUSPENDED}))
    """,  # noqa: S608 - made of constants
    EndedOfClient,
)
OPEN_BREAKERS = Query("SELECT site FROM recovery_breakers WHERE open_since IS NOT NULL", str)
STATES = Query(
    "SELECT uuid, status, process_status, service_failed_at FROM clients WHERE uuid = ANY(:uuids)", ClientState
)
CERTIFICATES = Query("SELECT door, ends_at, seen_at FROM door_certificates ORDER BY door", DoorCertificate)


def incidents(connection: Connection) -> list[IncidentToTell]:
    """Every open incident, with how often and when last it was opened again."""
    return INCIDENTS.all(connection)


def members(connection: Connection, incident_ids: Collection[int]) -> list[Affected]:
    """The displays that were ever part of these incidents, by incident and name."""
    return MEMBERS.all(connection, ids=list(incident_ids))


def displays(
    connection: Connection, noticed_before: datetime, since: datetime, channels: int, *, recovers: bool
) -> list[UnwellDisplay]:
    """Unwell displays of no open incident: those unwell since before then, and those that recovery has suspended.

    `since`: what happened before is no news to anybody. `channels`: how many want to be told of displays.
    """
    bounds = {"noticed_before": noticed_before, "since": since, "channels": channels}
    return DISPLAYS.all(connection, **bounds, recovers=recovers)


def failed_services(connection: Connection, since: datetime) -> list[DisplayWithFailedService]:
    """Displays of no open incident with a service that failed since then, and that the display does not call mended."""
    return FAILED_SERVICES.all(connection, since=since)


def bad_screens(connection: Connection, since: datetime) -> list[DisplayWithBadScreen]:
    """Displays of no open incident that are heard, and whose screen is bad since then or later."""
    return BAD_SCREENS.all(connection, since=since)


def over_services(connection: Connection, uuids: Collection[str]) -> dict[str, bool]:
    """Those of these clients without a failed service, and whether without a word: they are no clients any more."""
    return dict(OVER_SERVICES.all(connection, uuids=list(uuids)))


def over_screens(connection: Connection, uuids: Collection[str]) -> dict[str, bool]:
    """Those of these clients whose screen is not bad any more; otherwise as `over_services`."""
    return dict(OVER_SCREENS.all(connection, uuids=list(uuids)))


def conversions(connection: Connection, since: datetime) -> list[FailedConversion]:
    """Conversions that failed for good since then."""
    return CONVERSIONS.all(connection, since=since)


def over_incidents(connection: Connection, ids: Collection[int]) -> dict[int, bool]:
    """Those of these incidents that are over, and whether without a word: another one goes on in their place."""
    return dict(OVER_INCIDENTS.all(connection, ids=list(ids)))


def over_clients(
    connection: Connection, uuids: Collection[str], well_since: datetime, *, recovers: bool
) -> dict[str, bool]:
    """Those of these clients that are well since then, and whether without a word: they are no clients any more."""
    return dict(OVER_CLIENTS.all(connection, uuids=list(uuids), well_since=well_since, recovers=recovers))


def open_breakers(connection: Connection) -> set[str]:
    """The sites whose breaker is open; the empty text is the fleet."""
    return set(OPEN_BREAKERS.all(connection))


def certificates(connection: Connection) -> list[DoorCertificate]:
    """The certificates that our doors showed last."""
    return CERTIFICATES.all(connection)


def states(connection: Connection, uuids: Collection[str]) -> list[ClientState]:
    """What says whether each of these clients is unwell."""
    return STATES.all(connection, uuids=list(uuids))
