"""SQL that finds the displays that failed lately, and the sizes of their places.

The cost of each statement grows with the recent failures, not with the fleet: recent changes of state, site, subnet and
the last loss of the broker have indexes.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients.signs_store import LAST_SIGN
from shared.incidents.rules import FailedDisplay
from shared.postgres import query
from shared.postgres.fragments import is_well, screen_fails, service_fails
from shared.postgres.query import Query
from shared.quiet.rules import QuietNow
from shared.quiet.store import covered_by, covers
from shared.vocabulary import Quiet

STEADY_AFTER: Final = timedelta(minutes=2)  # a display that keeps its connection for so long is back
SURE_WITHIN: Final = timedelta(minutes=5)  # a loss counts only if its time is known to this precision


class Since(Struct, frozen=True):
    """Which failures count as recent."""

    noticed: datetime  # they were noticed after this time
    happened: datetime  # and happened after this time


def _is_known(uuid: str, noticed_at: str) -> str:
    """SQL: whether an incident has, or had, this failure of this display."""
    return f"""EXISTS (
        SELECT FROM incident_members AS m WHERE m.client_uuid = {uuid}
            AND (m.left_at IS NULL OR m.left_at >= {noticed_at}))"""  # nosec B608 - made of constants


FAILED = Query(  # every branch reads an index of its own; Core says it at twice the length
    f"""
    WITH fallen AS (  -- without the known ones: after a mass failure these are all of them
        SELECT last.* FROM (
            SELECT DISTINCT ON (client_uuid) client_uuid, coalesce(noticed_at, at) AS at, to_status
            FROM client_state_changes
            WHERE coalesce(noticed_at, at) > CAST(:noticed AS timestamptz) AND to_status IN ('stale', 'crashed')
            ORDER BY client_uuid, id DESC) AS last
        WHERE NOT {_is_known("last.client_uuid", "last.at")}),
    woken AS MATERIALIZED (  -- displays that were meant to be off and are no more since the last call
        SELECT c.uuid, c.status, c.status_since, c.process_status_since
        FROM {covered_by(":woken")} AS covered JOIN clients AS c ON c.uuid = covered.uuid),
    lost AS (
        SELECT client_uuid, max(at) AS at, (array_agg(since ORDER BY at DESC))[1] AS since
        FROM client_losses WHERE at > CAST(:lost AS timestamptz) AND at <= CAST(:now AS timestamptz)
        GROUP BY client_uuid),
    failed AS (
        SELECT c.uuid, f.at AS noticed_at, NULL AS unit,
            CASE f.to_status WHEN 'stale' THEN 'silent' ELSE 'crashed' END AS symptom,
            CASE f.to_status WHEN 'stale' THEN coalesce({LAST_SIGN}, f.at)
                ELSE coalesce(c.process_status_since, f.at) END AS at
        FROM fallen AS f JOIN clients AS c ON c.uuid = f.client_uuid AND c.status = f.to_status
        LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
        UNION ALL
        SELECT w.uuid, w.status_since, NULL, CASE w.status WHEN 'stale' THEN 'silent' ELSE 'crashed' END,
            CASE w.status WHEN 'stale' THEN coalesce({LAST_SIGN}, w.status_since)
                ELSE coalesce(w.process_status_since, w.status_since) END
        FROM woken AS w LEFT JOIN client_heartbeats AS h ON h.client_uuid = w.uuid
        WHERE w.status IN ('stale', 'crashed')
        UNION ALL
        SELECT c.uuid, c.service_failed_at, c.service_failed_unit, 'service_failed', c.service_failed_at
        FROM clients AS c LEFT JOIN woken AS w ON w.uuid = c.uuid
        WHERE {service_fails("c")}
            AND (c.service_failed_at > CAST(:noticed AS timestamptz) OR w.uuid IS NOT NULL)
        UNION ALL
        SELECT c.uuid, c.screen_failed_at, CAST(c.screen_health AS text), 'screen_failed', c.screen_health_since
        FROM clients AS c LEFT JOIN woken AS w ON w.uuid = c.uuid
        WHERE {screen_fails("c")} AND {is_well("c")}
            AND (c.screen_failed_at > CAST(:noticed AS timestamptz) OR w.uuid IS NOT NULL)
        UNION ALL
        SELECT c.uuid, l.at, NULL, 'disconnected', l.at
        FROM lost AS l JOIN clients AS c ON c.uuid = l.client_uuid AND c.status IN ('running', 'starting', 'stopped')
        WHERE l.at <= CAST(:steady AS timestamptz) AND l.at - l.since <= CAST(:sure AS interval)
            AND l.client_uuid <> ALL(CAST(:unsteady AS text[])))
    SELECT f.uuid, c.site, subnet_of(c.ip) AS subnet, f.symptom, f.at, f.unit, f.noticed_at,
        (SELECT m.incident_id FROM incident_members AS m JOIN incidents AS i ON i.id = m.incident_id
            WHERE m.client_uuid = f.uuid AND i.closed_at IS NULL ORDER BY m.joined_at DESC LIMIT 1) AS was_in
    FROM failed AS f JOIN clients AS c ON c.uuid = f.uuid AND c.deleted_at IS NULL
    LEFT JOIN woken AS w ON w.uuid = f.uuid
    LEFT JOIN {covered_by(":quiet")} AS resting ON resting.uuid = f.uuid
    LEFT JOIN (SELECT covered.uuid, max(o.at) AS at
        FROM unnest(CAST(:opened AS bigint[]), CAST(:opened_at AS timestamptz[])) AS o(id, at)
        JOIN ({covers(":opened")}) AS covered ON covered.id = o.id GROUP BY covered.uuid
    ) AS opened ON opened.uuid = f.uuid
    WHERE (f.at > CAST(:happened AS timestamptz) OR w.uuid IS NOT NULL)
        AND resting.uuid IS NULL AND NOT coalesce(f.at < opened.at, false)
        AND NOT {_is_known("f.uuid", "f.noticed_at")}
    ORDER BY f.uuid
    """,
    FailedDisplay,
)


def failed(
    connection: Connection, now: datetime, since: Since, unsteady: Collection[str], quiet: QuietNow
) -> list[FailedDisplay]:
    """Recent failures of displays that are in no open incident. A failure that an incident already had is left out.

    A display that is meant to be off fails in nothing. Once it no longer is, whatever failed meanwhile counts, by the
    moment when it failed; after opening hours began, once it had the time to start.

    A lost connection counts once the display has kept the next one for STEADY_AFTER, and only if the time of the loss
    is known to SURE_WITHIN. The losses of `unsteady` displays do not count: these lose the broker all the time.
    """
    times: dict[str, object] = {
        "now": now,
        "noticed": since.noticed,
        "happened": since.happened,
        "steady": now - STEADY_AFTER,
    }
    opened = quiet.opened_ids(Quiet.SCREEN)
    times |= {"quiet": quiet.ids(Quiet.SCREEN), "woken": quiet.woken_ids(Quiet.SCREEN)}
    times |= {"opened": list(opened), "opened_at": list(opened.values())}
    values = {**times, "lost": since.noticed - STEADY_AFTER, "sure": SURE_WITHIN, "unsteady": list(unsteady)}
    return FAILED.all(connection, **values)


@query.rows(
    """
    SELECT m.client_uuid AS uuid, m.incident_id AS is_in, m.symptom, m.unit, m.failed_at AS at,
        CASE WHEN i.kind <> 'subnet' THEN c.site END AS site,
        CASE WHEN i.kind <> 'site' THEN subnet_of(c.ip) END AS subnet
    FROM incident_members AS m
    JOIN incidents AS i ON i.id = m.incident_id AND i.closed_at IS NULL
        AND (i.kind = 'cluster' OR m.joined_at >= i.waned_at)
    JOIN clients AS c ON c.uuid = m.client_uuid
    WHERE m.left_at IS NULL
        AND (c.site = ANY(CAST(:sites AS text[])) OR subnet_of(c.ip) = ANY(CAST(:subnets AS text[])))
    ORDER BY m.client_uuid
    """
)
def members_at(connection: Connection, sites: Collection[str], subnets: Collection[str]) -> list[FailedDisplay]:
    """The unwell displays at these places that are part of an open cluster, or joined an incident after it waned."""


def _sizes(place: str) -> str:
    """SQL: how many displays of each of these places were heard since :heard_since."""
    return f"""
        SELECT {place} AS place, count(*) AS size
        FROM clients AS c JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
        WHERE {place} = ANY(:names) AND c.deleted_at IS NULL AND {LAST_SIGN} > :heard_since GROUP BY 1
    """


@query.rows(_sizes("c.site"))
def sites(connection: Connection, names: Collection[str], heard_since: datetime) -> dict[str, int]:
    """How many displays of each of these sites were heard since `heard_since`."""


@query.rows(_sizes("subnet_of(c.ip)"))
def subnets(connection: Connection, names: Collection[str], heard_since: datetime) -> dict[str, int]:
    """How many displays of each of these subnets were heard since `heard_since`."""


@query.one(f"SELECT count(*) FROM client_heartbeats AS h WHERE {LAST_SIGN} > :heard_since")
def fleet(connection: Connection, heard_since: datetime) -> int:
    """How many displays were heard since `heard_since`. Reads every heartbeat, so it is called only for a cluster."""
