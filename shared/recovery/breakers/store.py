"""SQL of the breakers: who is silent, by site, and which breakers are open.

Only who is silent is looked up here; the tick's one scan over the fleet is `evidence.store.beats`.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import ARRAY, insert

from shared.clients.signs_store import LAST_SIGN, SILENT, THRESHOLD
from shared.postgres.fragments import no_later
from shared.postgres.query import NO_ROW, Query
from shared.recovery.evidence.store import AT_REST, NAMED
from shared.tables import clients, recovery_breakers

b = recovery_breakers.c
THE_FLEET: Final = ""  # the key of the whole fleet's breaker

MANY: Final = 2000  # silent clients; beyond it reading all heartbeats once more costs less than looking each up
ALL: Final = f"""
    SELECT h.client_uuid AS uuid, h.last_heartbeat_at, h.sign_at, h.interval_seconds FROM client_heartbeats AS h
    WHERE {SILENT}"""  # noqa: S608 - made of constants


OWN_SINCE: Final = (
    "least(CAST(:seen_since AS timestamptz), CASE WHEN own.open_since IS NOT NULL THEN own.counted_since END)"
)
"""SQL: since when a client must have been heard to count for its site's breaker, `own`."""


def _counted(source: str) -> sa.TextClause:
    """SQL: how many of the silent clients of `source` count, by site."""
    return sa.text(
        f"""
        WITH silent AS (
            SELECT h.uuid, h.last_heartbeat_at, h.interval_seconds, {LAST_SIGN} AS last_sign_at,
                {LAST_SIGN} + {THRESHOLD} AS stale_at,
                greatest(CAST(:together AS interval), h.interval_seconds * interval '1 second') AS together
            FROM ({source}) AS h WHERE {LAST_SIGN} > CAST(:oldest_since AS timestamptz)),
        judged AS MATERIALIZED (
            SELECT c.site,
                coalesce({AT_REST}, false) OR c.uuid = ANY(CAST(:quiet AS text[]))
                    OR coalesce(h.stale_at <= (SELECT released_at FROM recovery_breakers WHERE site = ''), false)
                    AS known,
                coalesce(h.stale_at <= own.released_at, false) AS known_at_site,
                h.last_sign_at > CAST(:fleet_since AS timestamptz) AS of_fleet,
                h.last_sign_at > {OWN_SINCE} AS of_site,
                CASE WHEN h.stale_at > CAST(:heard_until AS timestamptz)
                    THEN greatest(h.stale_at, CAST(:since AS timestamptz)) ELSE h.stale_at END AS fell_at,
                h.together, h.interval_seconds
            FROM silent AS h
            JOIN clients AS c ON c.uuid = h.uuid AND c.deleted_at IS NULL
            LEFT JOIN client_recovery AS r ON r.client_uuid = h.uuid
            LEFT JOIN recovery_breakers AS own ON own.site = c.site),
        lately AS (  -- of those that fell silent since shortly before the last look: when each counts
            SELECT site, at, step,
                NOT known AND of_fleet AS fleet, NOT known AND NOT known_at_site AND of_site AS at_site
            FROM judged, LATERAL (VALUES (fell_at, 1), (fell_at + together, -1)) AS e(at, step)
            WHERE fell_at > CAST(:looked_at AS timestamptz) - together),
        counts AS (  -- how many count at that moment
            SELECT site,
                sum(step) FILTER (WHERE fleet) OVER (ORDER BY at, step DESC ROWS UNBOUNDED PRECEDING) AS recent,
                sum(step) FILTER (WHERE at_site) OVER (
                    PARTITION BY site ORDER BY at, step DESC ROWS UNBOUNDED PRECEDING) AS site_recent
            FROM lately),
        most AS (SELECT site, max(recent) AS recent, max(site_recent) AS site_recent FROM counts GROUP BY site)
        SELECT judged.site, count(*) FILTER (WHERE known AND of_fleet) AS known,
            count(*) FILTER (WHERE NOT known AND of_fleet) AS stale,
            coalesce(max(most.recent), 0) AS recent,
            count(*) FILTER (WHERE (known OR known_at_site) AND of_site) AS site_known,
            count(*) FILTER (WHERE NOT known AND NOT known_at_site AND of_site) AS site_stale,
            coalesce(max(most.site_recent), 0) AS site_recent,
            coalesce(max(interval_seconds) FILTER (WHERE NOT known AND of_fleet), 0) AS interval_seconds,
            coalesce(max(interval_seconds) FILTER (WHERE NOT known AND NOT known_at_site AND of_site), 0)
                AS site_interval_seconds
        FROM judged LEFT JOIN most ON most.site IS NOT DISTINCT FROM judged.site
        GROUP BY judged.site ORDER BY judged.site
        """  # noqa: S608 - made of constants
    )


COUNTED: Final = {"named": _counted(NAMED), "all": _counted(ALL)}
SEEN_AT: Final = sa.text(
    f"""
    SELECT c.site, count(*) AS seen FROM clients AS c JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    LEFT JOIN recovery_breakers AS own ON own.site = c.site
    WHERE c.site = ANY(CAST(:sites AS text[])) AND c.deleted_at IS NULL AND {LAST_SIGN} > {OWN_SINCE}
    GROUP BY c.site
    """  # noqa: S608 - made of constants
)

HEARD_UNTIL: Final = sa.text(
    f"""
    SELECT max({LAST_SIGN}) FROM client_heartbeats AS h
    WHERE {LAST_SIGN} < coalesce(CAST(:before AS timestamptz), 'infinity')
    """  # noqa: S608 - made of constants
)

RESTING: Final = sa.text(
    f"""
    WITH told AS (
        SELECT uuid FROM clients WHERE process_status = 'stopped'
        UNION SELECT client_uuid FROM client_recovery
            WHERE held_at IS NOT NULL AND (held_until IS NULL OR held_until > CAST(:now AS timestamptz))
        UNION SELECT client_uuid FROM recovery_exclusions WHERE client_uuid IS NOT NULL
        UNION SELECT uuid FROM clients WHERE site IN (SELECT site FROM recovery_exclusions)
        UNION SELECT c.uuid FROM maintenance_windows AS w JOIN clients AS c ON w.scope = 'fleet' OR w.site = c.site
            WHERE w.id = ANY(CAST(:windows AS bigint[]))
        UNION SELECT client_uuid FROM maintenance_window_clients WHERE window_id = ANY(CAST(:windows AS bigint[])))
    SELECT c.site, count(*) AS resting
    FROM told JOIN clients AS c ON c.uuid = told.uuid AND c.deleted_at IS NULL
    JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    WHERE {LAST_SIGN} > CAST(:seen_since AS timestamptz) AND NOT {SILENT}
    GROUP BY c.site
    """  # noqa: S608 - made of constants
)


def heard_until(connection: Connection, before: datetime | None) -> datetime | None:
    """The last sign of life of all before then (None: whenever); None when there is none."""
    at: datetime | None = connection.execute(HEARD_UNTIL, {"before": before}).scalar_one()
    return at


def silent(
    connection: Connection,
    now: datetime,
    stale_seconds: int,
    uuids: Collection[str],
    quiet: Collection[str],
    window: Mapping[str, datetime | timedelta | None],
) -> Sequence[RowMapping]:
    """By site (None: no site), how many of these silent clients count, and how many do not (`known`): because they
    are at rest, `quiet`, or a breaker was released over their silence. `recent` is of the whole fleet in each row;
    `interval_seconds` is the longest between two heartbeats of those that count.

    `window`: seen_since, fleet_since (that of the fleet's breaker) and oldest_since (of all breakers), heard_until,
    since (of listening), looked_at (the last look) and together. Deleted clients are left out.
    """
    parameters = {"now": now, "stale": stale_seconds, "quiet": list(quiet), **window}
    if len(uuids) > MANY:
        return connection.execute(COUNTED["all"], parameters).mappings().all()
    return connection.execute(COUNTED["named"], {"silent": json.dumps(list(uuids)), **parameters}).mappings().all()


def deleted(connection: Connection, uuids: Collection[str], since: datetime) -> dict[str | None, int]:
    """How many of these silent clients were deleted since then, by site."""
    statement = sa.select(clients.c.site, sa.func.count().label("deleted")).group_by(clients.c.site)
    named = clients.c.uuid == sa.any_(sa.cast(list(uuids), ARRAY(sa.Text)))
    found = connection.execute(statement.where(named, clients.c.deleted_at >= since))
    return {row.site: row.deleted for row in found}


def seen_at(connection: Connection, sites: Collection[str], seen_since: datetime) -> dict[str, int]:
    """How many clients of each of these sites were heard since then; a site without any is missing.

    Where the site's breaker is open: since its own `counted_since`, if that is earlier.
    """
    found = connection.execute(SEEN_AT, {"sites": list(sites), "seen_since": seen_since})
    return {row.site: row.seen for row in found}


def resting(
    connection: Connection, now: datetime, stale_seconds: int, seen_since: datetime, windows: Collection[int]
) -> dict[str | None, int]:
    """How many clients, by site, are heard whose silence would be no news: stopped, held, excluded or in one of these
    maintenance windows. A silent one of them is `known` to `silent`.
    """
    parameters = {"now": now, "stale": stale_seconds, "seen_since": seen_since, "windows": list(windows)}
    return {row.site: row.resting for row in connection.execute(RESTING, parameters)}


def standing(connection: Connection) -> Sequence[RowMapping]:
    """The breakers that are open, the fleet's first."""
    query = sa.select(*recovery_breakers.c).where(b.open_since.is_not(None)).order_by(b.site)
    return connection.execute(query).mappings().all()


def looked_at(connection: Connection) -> datetime | None:
    """When the breakers were reckoned last; None before the first time."""
    query = sa.select(b.looked_at).where(b.site == THE_FLEET)
    at: datetime | None = connection.execute(query).scalar_one_or_none()
    return at


def note_look(connection: Connection, now: datetime) -> None:
    """The breakers were reckoned at this moment."""
    statement = insert(recovery_breakers).values(site=THE_FLEET, looked_at=now)
    connection.execute(statement.on_conflict_do_update(index_elements=[b.site], set_={"looked_at": now}))


def put(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Write breakers as a tick found them: {site, open_since, why, stale, seen, low_since, counted_since} each."""
    statement = sa.text(
        """
        INSERT INTO recovery_breakers AS b (site, open_since, why, stale, seen, low_since, counted_since)
        SELECT site, open_since, why, stale, seen, low_since, counted_since
        FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(site text, open_since timestamptz, why text, stale int,
            seen int, low_since timestamptz, counted_since timestamptz)
        ORDER BY site
        ON CONFLICT (site) DO UPDATE SET open_since = EXCLUDED.open_since, why = EXCLUDED.why,
            stale = EXCLUDED.stale, seen = EXCLUDED.seen, low_since = EXCLUDED.low_since,
            counted_since = EXCLUDED.counted_since
        """
    )
    connection.execute(statement, {"rows": json.dumps(rows)})


def release(connection: Connection, now: datetime, by: str, site: str | None) -> Sequence[RowMapping]:
    """Close the open breaker of this site, or every open one (None), over the silence that there is; those closed."""
    closed = {"open_since": None, "low_since": None, "counted_since": None}
    statement = (
        sa.update(recovery_breakers)
        .where(b.open_since.is_not(None))
        .values(**closed, released_at=sa.func.greatest(b.open_since, now), released_by=by)
        .returning(b.site, b.why, b.stale, b.seen)
    )
    if site is not None:
        statement = statement.where(b.site == site)
    return connection.execute(statement).mappings().all()


FORGET_THE_FUTURE = Query(
    no_later("recovery_breakers", "open_since", "released_at", "low_since", "counted_since", "looked_at"), NO_ROW
)


def forget_the_future(connection: Connection, now: datetime) -> None:
    """Let what was written of breakers at a time that has not come yet count as written now."""
    FORGET_THE_FUTURE.run(connection, now=now)
