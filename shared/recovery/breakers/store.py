"""SQL of the breakers: silent clients by site, and the open breakers of silence and of screens.

Only silent clients are looked up here; the tick's one scan over the fleet is `evidence.store.beats`.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients.signs_store import LAST_SIGN, SILENT, THRESHOLD
from shared.postgres import query
from shared.postgres.many import ManyRows
from shared.postgres.query import Query, columns
from shared.quiet.rules import QuietNow
from shared.quiet.store import covered_by, covers
from shared.recovery.breakers.rules import BreakerKey
from shared.recovery.evidence.store import AT_REST, JOIN_RESTING, NAMED
from shared.vocabulary import Quiet, RecoveryBasis
from shared.words.sentences import Sentence


class SilentAtSite(Struct, frozen=True):
    """How many silent clients of a site (None: no site) count (`stale`), and how many do not (`known`).

    `known`, `stale`, `recent` and `interval_seconds` are for the fleet's breaker, the others for the site's own.
    """

    site: str | None
    known: int
    stale: int
    recent: int
    site_known: int
    site_stale: int
    site_recent: int
    interval_seconds: int
    site_interval_seconds: int


class AtSite(Struct, frozen=True):
    """How many of the counted clients are at a site."""

    site: str | None
    clients: int


class OpenBreaker(Struct, frozen=True):
    """A breaker that is open."""

    basis: RecoveryBasis
    site: str
    open_since: datetime
    why: Sentence
    low_since: datetime | None
    counted_since: datetime | None

    @property
    def key(self) -> BreakerKey:
        return self.basis, self.site or None


class FoundBreaker(Struct, frozen=True):
    """A breaker as a tick evaluated it; `open_since` None: closed."""

    basis: RecoveryBasis
    site: str
    open_since: datetime | None
    why: Sentence | None
    stale: int
    seen: int
    low_since: datetime | None
    counted_since: datetime | None


class ReleasedBreaker(Struct, frozen=True):
    """A breaker that was released just now, with its last counts."""

    basis: RecoveryBasis
    site: str
    stale: int
    seen: int


THE_FLEET: Final = ""  # the key of the whole fleet's breaker

MANY: Final = 2000  # with more silent clients, reading all heartbeats again costs less than looking up each
ALL: Final = f"""
    SELECT h.client_uuid AS uuid, h.last_heartbeat_at, h.sign_at, h.interval_seconds FROM client_heartbeats AS h
    WHERE {SILENT}"""


OWN_SINCE: Final = (
    "least(CAST(:seen_since AS timestamptz), CASE WHEN own.open_since IS NOT NULL THEN own.counted_since END)"
)
"""SQL: since when a client must have been heard to count for its site's breaker, `own`."""


def _counted(source: str) -> Query[SilentAtSite]:
    """The query of `silent`, for the silent clients of `source`."""
    return Query(
        f"""
        WITH silent AS (
            SELECT h.uuid, h.last_heartbeat_at, h.interval_seconds, {LAST_SIGN} AS last_sign_at,
                {LAST_SIGN} + {THRESHOLD} AS stale_at,
                greatest(CAST(:together AS interval), h.interval_seconds * interval '1 second') AS together
            FROM ({source}) AS h WHERE {LAST_SIGN} > CAST(:oldest_since AS timestamptz)),
        opened AS (  -- clients whose shop opened a moment ago: silence from before does not count yet
            SELECT covered.uuid, max(o.at) AS at
            FROM unnest(CAST(:opened AS bigint[]), CAST(:opened_at AS timestamptz[])) AS o(id, at)
            JOIN ({covers(":opened")}) AS covered ON covered.id = o.id GROUP BY covered.uuid),
        judged AS MATERIALIZED (
            SELECT c.site,
                {AT_REST} OR coalesce(h.last_sign_at < opened.at, false)
                    OR coalesce(h.stale_at <= (SELECT released_at FROM recovery_breakers
                        WHERE basis = 'stale' AND site = ''), false)
                    AS known,
                coalesce(h.stale_at <= own.released_at, false) AS known_at_site,
                h.last_sign_at > CAST(:fleet_since AS timestamptz) AS of_fleet,
                h.last_sign_at > {OWN_SINCE} AS of_site,
                CASE WHEN h.stale_at > CAST(:heard_until AS timestamptz)
                    THEN greatest(h.stale_at, CAST(:since AS timestamptz)) ELSE h.stale_at END AS fell_at,
                h.together, h.interval_seconds, woken.uuid IS NOT NULL AS woken
            FROM silent AS h
            JOIN clients AS c ON c.uuid = h.uuid AND c.deleted_at IS NULL
            {JOIN_RESTING}
            LEFT JOIN {covered_by(":woken")} AS woken ON woken.uuid = c.uuid
            LEFT JOIN opened ON opened.uuid = c.uuid
            LEFT JOIN client_recovery AS r ON r.client_uuid = h.uuid
            LEFT JOIN recovery_breakers AS own ON own.basis = 'stale' AND own.site = c.site),
        lately AS (  -- of those that fell silent, or were quiet, since shortly before the last look: when each counts
            SELECT site, at, step,
                NOT known AND of_fleet AS fleet, NOT known AND NOT known_at_site AND of_site AS at_site
            FROM judged, LATERAL (VALUES (fell_at, 1), (fell_at + together, -1)) AS e(at, step)
            WHERE woken OR fell_at > CAST(:looked_at AS timestamptz) - together),
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
        FROM judged LEFT JOIN most  -- by two equalities: a hash cannot join by IS NOT DISTINCT FROM
            ON coalesce(most.site, '') = coalesce(judged.site, '') AND (most.site IS NULL) = (judged.site IS NULL)
        GROUP BY judged.site ORDER BY judged.site
        """,
        SilentAtSite,
    )


COUNTED_NAMED, COUNTED_ALL = _counted(NAMED), _counted(ALL)
SEEN_AT = Query(
    f"""
    SELECT c.site, count(*) AS clients FROM clients AS c JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    LEFT JOIN recovery_breakers AS own ON own.basis = 'stale' AND own.site = c.site
    WHERE c.site = ANY(CAST(:sites AS text[])) AND c.deleted_at IS NULL AND {LAST_SIGN} > {OWN_SINCE}
    GROUP BY c.site
    """,
    AtSite,
)


RESTING = Query(
    f"""
    WITH told AS (
        SELECT uuid FROM clients WHERE process_status = 'stopped'
        UNION SELECT uuid FROM ({covers()}) AS covered)
    SELECT c.site, count(*) AS clients
    FROM told JOIN clients AS c ON c.uuid = told.uuid AND c.deleted_at IS NULL
    JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    WHERE {LAST_SIGN} > CAST(:seen_since AS timestamptz) AND NOT {SILENT}
    GROUP BY c.site
    """,
    AtSite,
)


@query.one_or_none(
    f"""
    SELECT at FROM (SELECT max({LAST_SIGN}) AS at FROM client_heartbeats AS h
        WHERE {LAST_SIGN} < coalesce(CAST(:before AS timestamptz), 'infinity')) AS last WHERE at IS NOT NULL
    """
)
def heard_until(connection: Connection, before: datetime | None) -> datetime | None:
    """The last sign of life of any client before `before` (None: ever); None when there is none."""


def silent(
    connection: Connection,
    now: datetime,
    stale_seconds: int,
    uuids: Collection[str],
    quiet: QuietNow,
    window: Mapping[str, datetime | timedelta | None],
) -> list[SilentAtSite]:
    """Count these silent clients by site (None: no site): those that count, and those that do not (`known`).

    A client does not count when it is at rest, or a breaker was released after it fell silent; neither while its shop
    opened a moment ago and it was silent before. `recent` is of the whole fleet, in each row. `interval_seconds` is the
    longest heartbeat interval of the clients that count. Deleted clients are left out.

    `window`: the fields of SilenceWindow, and `together` (TOGETHER).
    """
    opened = quiet.opened_ids(Quiet.RECOVERY)
    values = {
        "now": now,
        "stale": stale_seconds,
        "quiet": quiet.ids(Quiet.RECOVERY),
        "woken": quiet.woken_ids(Quiet.RECOVERY),
        "opened": list(opened),
        "opened_at": list(opened.values()),
        **window,
    }
    if len(uuids) > MANY:
        return COUNTED_ALL.all(connection, **values)
    return COUNTED_NAMED.all(connection, silent=list(uuids), **values)


DELETED = Query(
    f"""
    SELECT c.site, count(*) AS clients FROM clients AS c JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    WHERE c.deleted_at >= CAST(:since AS timestamptz) AND {SILENT} GROUP BY c.site
    """,
    AtSite,
)


def deleted(connection: Connection, now: datetime, stale_seconds: int, since: datetime) -> dict[str | None, int]:
    """How many silent clients were deleted since `since`, by site."""
    return _by_site(DELETED.all(connection, now=now, stale=stale_seconds, since=since))


def seen_at(connection: Connection, sites: Collection[str], seen_since: datetime) -> dict[str | None, int]:
    """How many clients of each of these sites were heard since `seen_since`; a site without any is missing.

    For a site whose breaker is open, since its own `counted_since` if that is earlier.
    """
    return _by_site(SEEN_AT.all(connection, sites=list(sites), seen_since=seen_since))


def resting(
    connection: Connection, now: datetime, stale_seconds: int, seen_since: datetime, quiet: QuietNow
) -> dict[str | None, int]:
    """How many heard clients do not count, by site: stopped, or in a quiet time.

    `silent` counts such a client as `known` once it is silent.
    """
    values = {"now": now, "stale": stale_seconds, "seen_since": seen_since, "quiet": quiet.ids(Quiet.RECOVERY)}
    return _by_site(RESTING.all(connection, **values))


def _by_site(counted: Sequence[AtSite]) -> dict[str | None, int]:
    return {one.site: one.clients for one in counted}


@query.rows(
    f"SELECT {columns(OpenBreaker, 'b')} FROM recovery_breakers AS b WHERE open_since IS NOT NULL"
    " ORDER BY basis = 'stale' DESC, site"
)
def standing(connection: Connection) -> list[OpenBreaker]:
    """The breakers that are open: those of silence first, of these the fleet's."""


@query.one_or_none(
    "SELECT looked_at FROM recovery_breakers WHERE basis = 'stale' AND site = '' AND looked_at IS NOT NULL"
)
def looked_at(connection: Connection) -> datetime | None:
    """When the breakers were evaluated last; None before the first time."""


@query.run(
    """
    INSERT INTO recovery_breakers (basis, site, looked_at) VALUES ('stale', '', :now)
    ON CONFLICT (basis, site) DO UPDATE SET looked_at = EXCLUDED.looked_at
    """
)
def note_look(connection: Connection, now: datetime) -> None:
    """Note that the breakers are evaluated now."""


FOUND: Final = ManyRows("said", FoundBreaker)


@query.run(
    f"""
    INSERT INTO recovery_breakers AS b (basis, site, open_since, why, stale, seen, low_since, counted_since)
    SELECT basis, site, open_since, why, stale, seen, low_since, counted_since FROM {FOUND}
    ORDER BY basis, site ON CONFLICT (basis, site) DO UPDATE SET open_since = EXCLUDED.open_since, why = EXCLUDED.why,
        stale = EXCLUDED.stale, seen = EXCLUDED.seen, low_since = EXCLUDED.low_since,
        counted_since = EXCLUDED.counted_since
    """,
    FOUND,
)
def put(connection: Connection, found: Sequence[FoundBreaker]) -> None:
    """Insert or update breakers as a tick evaluated them."""


@query.rows(
    """
    UPDATE recovery_breakers SET released_at = greatest(open_since, :now), released_by = :by,
        open_since = NULL, low_since = NULL, counted_since = NULL
    WHERE open_since IS NOT NULL AND site = coalesce(:site, site)
    RETURNING basis, site, stale, seen
    """
)
def release(connection: Connection, now: datetime, by: str, site: str | None) -> list[ReleasedBreaker]:
    """Close the open breakers of this site, or (None) every open one. Returns them.

    Present silence and the screens that fail now no longer count.
    """
