"""SQL of a fleet that is too large to be listed whole: its counts by place, whom to name first, and pages."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients.signs_store import MAY_BE_MUTE
from shared.clients.store import ClientFilter, matches, values_of
from shared.postgres import query
from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.fragments import NOW, is_unwell, screen_fails, service_fails
from shared.postgres.query import Query

BAD: Final = "bad"
"""The state of a display that runs, but whose service, screen or limit fails, or whose heartbeats do not come."""
UNWELL_STATES: Final = ("crashed", "stale", BAD)
_PASSED: Final = "SELECT client_uuid FROM client_limits WHERE passed_at IS NOT NULL"
_AMONG_PASSED: Final = f"c.uuid = ANY(ARRAY({_PASSED}))"
_AMONG_MUTE: Final = "c.uuid = ANY(CAST(:mute AS text[]))"


class PlaceCounts(Struct, frozen=True):
    """A site, or the displays without one: how many there are in each state. `BAD` is a state of its own here."""

    site: str | None
    states: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.states.values())

    @property
    def unwell(self) -> int:
        return sum(self.states.get(state, 0) for state in UNWELL_STATES)


@query.rows(
    f"""
    SELECT c.uuid FROM clients AS c JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    WHERE {MAY_BE_MUTE} AND c.deleted_at IS NULL
    """
)
def maybe_mute(connection: Connection) -> list[str]:
    """Clients that may be mute; recovery's evidence decides."""


SITES_OF = Query("SELECT DISTINCT coalesce(site, '') FROM clients WHERE uuid = ANY(CAST(:uuids AS text[]))", str)


def sites_of(connection: Connection, uuids: Sequence[str]) -> list[str]:
    """The sites of these clients, also of deleted ones; '' stands for none."""
    return SITES_OF.all(connection, uuids=list(uuids)) if uuids else []


PLACES = Query(
    f"""
    WITH mine AS NOT MATERIALIZED (
        SELECT site, status, uuid, service_failed_at, service_mended_at, screen_health_since, screen_failed_at
        FROM clients
        WHERE deleted_at IS NULL AND (CAST(:everywhere AS boolean) OR site = ANY(CAST(:sites AS text[]))
            OR (CAST(:nowhere AS boolean) AND coalesce(site, '') = ''))),
    bad AS (SELECT c.site, c.status, count(*) AS number FROM mine AS c
        WHERE c.status NOT IN ('crashed', 'stale') AND ({service_fails("c")} OR {screen_fails("c")}
            OR {_AMONG_PASSED} OR {_AMONG_MUTE})
        GROUP BY c.site, c.status),
    counted AS (SELECT coalesce(site, '') AS site, state, sum(number) AS number FROM (
            SELECT site, status AS state, count(*) AS number FROM mine GROUP BY site, status
            UNION ALL SELECT site, '{BAD}', number FROM bad
            UNION ALL SELECT site, status, -number FROM bad) AS parts
        GROUP BY 1, 2)
    SELECT nullif(site, '') AS site, jsonb_object_agg(state, number) AS states
    FROM counted WHERE number > 0 GROUP BY counted.site ORDER BY counted.site {FOR_ITS_VALUES}
    """,
    PlaceCounts,
)
"""Groups by columns with few values, so that Postgres hashes; then moves the few bad displays."""


def places(connection: Connection, mute: Sequence[str], sites: Sequence[str] | None) -> list[PlaceCounts]:
    """The counts of these sites ('' stands for no site), also of those without a display; of all sites for None."""
    values = {"everywhere": sites is None, "sites": list(sites or ()), "nowhere": "" in (sites or ())}
    found = PLACES.all(connection, mute=list(mute), **values)
    left = {site or None for site in sites or ()} - {place.site for place in found}
    return [*found, *(PlaceCounts(site, {}) for site in left)]


@query.rows(
    f"""
    SELECT c.uuid FROM clients AS c
    LEFT JOIN incident_members AS m ON m.client_uuid = c.uuid AND m.left_at IS NULL
    WHERE c.deleted_at IS NULL AND ({is_unwell("c")} OR {_AMONG_PASSED} OR {_AMONG_MUTE}
        OR c.shared_login_seen_at > {NOW} - interval '1 hour')
    ORDER BY m.client_uuid IS NOT NULL, CASE c.status WHEN 'crashed' THEN 0 WHEN 'stale' THEN 1 ELSE 2 END,
        c.status_since, c.uuid
    LIMIT CAST(:most AS int) {FOR_ITS_VALUES}
    """
)
def first(connection: Connection, now: datetime, mute: Sequence[str], most: int) -> list[str]:
    """The clients to name first: unwell ones that no incident tells of, the worst and longest lasting before others.

    Those whose login two devices used within the hour count, too.
    """


class DisplayFilter(Struct, frozen=True):
    """Which displays a page of the fleet holds. Every field narrows it; None or nothing leaves it open."""

    common: ClientFilter
    statuses: Sequence[str] = ()
    nosite: bool = False
    limit_passed: bool = False
    incident: int | None = None
    uuids: Sequence[str] = ()


class NamedDisplay(NamedTuple):
    """A display in the order of pages."""

    name: str
    uuid: str


DISPLAYS = Query(
    f"""
    SELECT c.name, c.uuid FROM clients AS c WHERE {matches(":")}
    AND (cardinality(CAST(:statuses AS text[])) = 0 OR c.status = ANY(CAST(:statuses AS text[])))
    AND (NOT CAST(:nosite AS boolean) OR coalesce(c.site, '') = '')
    AND (NOT CAST(:limit_passed AS boolean) OR c.uuid IN ({_PASSED}))
    AND (CAST(:incident AS bigint) IS NULL OR c.uuid IN (SELECT client_uuid FROM incident_members
        WHERE incident_id = CAST(:incident AS bigint) AND left_at IS NULL))
    AND (cardinality(CAST(:uuids AS text[])) = 0 OR c.uuid = ANY(CAST(:uuids AS text[])))
    AND (CAST(:name AS text) IS NULL OR (c.name, c.uuid) > (:name, :uuid))
    ORDER BY c.name, c.uuid LIMIT :limit {FOR_ITS_VALUES}
    """,
    NamedDisplay,
)


def displays(
    connection: Connection, wanted: DisplayFilter, limit: int, after: tuple[str, str] | None
) -> list[NamedDisplay]:
    """Up to `limit` displays in the order of (name, uuid), after the pair `after`."""
    name, uuid = after or (None, None)
    return DISPLAYS.all(
        connection,
        **values_of(wanted.common),
        statuses=list(wanted.statuses),
        nosite=wanted.nosite,
        limit_passed=wanted.limit_passed,
        incident=wanted.incident,
        uuids=list(wanted.uuids),
        name=name,
        uuid=uuid,
        limit=limit,
    )
