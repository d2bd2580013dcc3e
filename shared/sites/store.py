"""SQL of the names of sites: what bears one, how it is replaced, and which of them no display bears any more."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.query import NO_ROW, Query

RENAME_LOCK: Final = 7_305_010  # advisory lock of the transaction that renames a site
MOVE_LOCK: Final = 7_305_011  # advisory lock of the transactions that take displays from their sites


class NamesOfSite(Struct, frozen=True):
    """How many things of one kind name a site at which no display is."""

    site: str
    what: str
    """person, token, channel, quiet_time, schedule, status_link or pictures_off."""
    count: int


class LostDisplays(Struct, frozen=True):
    """A site that lost its last display, or its name, while things named it."""

    site: str
    at: datetime


LOCK = Query("SELECT pg_advisory_xact_lock(:lock)", NO_ROW)


def lock_renames(connection: Connection) -> None:
    """Wait until no other transaction renames a site."""
    LOCK.run(connection, lock=RENAME_LOCK)


def lock_moves(connection: Connection) -> None:
    """Wait until no other transaction takes displays from a site. So one of them sees that it takes the last one."""
    LOCK.run(connection, lock=MOVE_LOCK)


@query.rows(
    "SELECT DISTINCT site FROM clients WHERE uuid = ANY(CAST(:uuids AS text[])) AND site IS NOT NULL ORDER BY site"
)
def sites_of(connection: Connection, uuids: Collection[str]) -> list[str]:
    """The sites of these clients."""


EMPTY = Query(
    """
    SELECT asked.site FROM unnest(CAST(:sites AS text[])) AS asked (site)
    WHERE NOT EXISTS (SELECT FROM clients AS c WHERE c.site = asked.site AND c.deleted_at IS NULL)
    """,
    str,
)


def empty(connection: Connection, sites: Collection[str]) -> list[str]:
    """Those of these sites at which no display is, in their order."""
    return EMPTY.all(connection, sites=list(sites)) if sites else []


@query.rows(
    """
    SELECT site, what, count FROM public.names_of_empty_sites()
    WHERE CAST(:sites AS text[]) IS NULL OR site = ANY(CAST(:sites AS text[])) ORDER BY site, what
    """
)
def unmatched(connection: Connection, sites: Collection[str] | None = None) -> list[NamesOfSite]:
    """What names sites at which no display is; of these sites, or (None) of all. Also for callers of chosen sites."""


EMPTIED = Query(
    """
    SELECT substr(target, 6) AS site, max(at) AS at FROM audit_log
    WHERE target = ANY(CAST(:targets AS text[])) AND action IN ('site.emptied', 'site.rename') GROUP BY target
    """,
    LostDisplays,
)


def emptied(connection: Connection, sites: Collection[str]) -> list[LostDisplays]:
    """When each of these sites last lost its displays; without those that never had one."""
    return EMPTIED.all(connection, targets=[f"site:{site}" for site in sites]) if sites else []


@query.one(
    """
    SELECT EXISTS (SELECT FROM clients WHERE site = :site AND deleted_at IS NULL)
        OR EXISTS (SELECT FROM public.names_of_empty_sites() AS n WHERE n.site = :site)
    """
)
def is_named(connection: Connection, site: str) -> bool:
    """Whether a display is at this site, or anything else names it."""


# --- renaming ---

_REPLACED: Final = """ARRAY(
    SELECT DISTINCT CASE WHEN one = :before THEN :after ELSE one END COLLATE "C"
    FROM unnest(sites) AS one ORDER BY 1)"""
PEOPLE = Query(
    f"UPDATE users SET sites = {_REPLACED} WHERE :before = ANY(sites)",
    NO_ROW,
)
TOKENS = Query(
    f"UPDATE api_tokens SET sites = {_REPLACED} WHERE :before = ANY(sites)",
    NO_ROW,
)
CHANNELS = Query(
    f"UPDATE notification_channels SET sites = {_REPLACED} WHERE :before = ANY(sites)",
    NO_ROW,
)
DISPLAYS = Query(
    """
    WITH there AS MATERIALIZED (SELECT uuid FROM clients WHERE site = :before ORDER BY uuid FOR NO KEY UPDATE)
    UPDATE clients AS c SET site = :after FROM there WHERE c.uuid = there.uuid RETURNING c.deleted_at IS NULL
    """,
    bool,
)
END_HOURS = Query(
    """
    UPDATE quiet_times AS q SET ended_at = :now, ended_by = :by
    WHERE q.site = :before AND q.preset = 'opening_hours' AND q.ended_at IS NULL AND EXISTS (
        SELECT FROM quiet_times AS o WHERE o.site = :after AND o.preset = 'opening_hours' AND o.ended_at IS NULL)
    """,
    NO_ROW,
)
QUIET_TIMES = Query(
    "UPDATE quiet_times SET site = :after WHERE site = :before AND (ended_at IS NULL OR NOT CAST(:merges AS boolean))",
    NO_ROW,
)
SCHEDULES = Query(
    """
    UPDATE command_schedules SET filter = jsonb_set(filter, '{site}', to_jsonb(CAST(:after AS text)))
    WHERE filter ->> 'site' = :before
    """,
    NO_ROW,
)
STATUS_LINKS = Query("UPDATE status_links SET site = :after WHERE site = :before", NO_ROW)
PICTURES_OFF = Query(
    """
    WITH was AS (DELETE FROM screenshots_off WHERE site = :before RETURNING since, "by")
    INSERT INTO screenshots_off (site, since, "by") SELECT :after, since, "by" FROM was ON CONFLICT (site) DO NOTHING
    """,
    NO_ROW,
)
EXPECTED = Query(
    """
    UPDATE expectations AS e SET target = :after WHERE scope = 'site' AND target = :before
        AND NOT EXISTS (SELECT FROM expectations AS o WHERE o.scope = 'site' AND o.target = :after)
    """,
    NO_ROW,
)
BREAKER = Query(
    """
    UPDATE recovery_breakers AS b SET site = :after
    WHERE site = :before
        AND NOT EXISTS (SELECT FROM recovery_breakers AS o WHERE o.basis = b.basis AND o.site = :after)
    """,
    NO_ROW,
)
TOLD = Query(
    """
    UPDATE notification_deliveries AS d SET root = kind || ':' || :after,
        subject = kind || ':' || :after || substr(d.subject, length(d.root) + 1)
    FROM (VALUES ('breaker'), ('screens_breaker')) AS of (kind)
    WHERE d.standing AND d.root = kind || ':' || :before
    """,
    NO_ROW,
)
INCIDENTS = Query(
    """
    UPDATE incidents SET key = :after WHERE kind = 'site' AND key = :before
        AND (closed_at IS NULL OR NOT CAST(:merges AS boolean)) AND NOT (closed_at IS NULL AND EXISTS (
            SELECT FROM incidents AS o WHERE o.kind = 'site' AND o.key = :after AND o.closed_at IS NULL))
    """,
    NO_ROW,
)


@query.one(
    """
    SELECT count(*) FROM users AS u WHERE :site = ANY(u.sites)
        AND EXISTS (SELECT FROM provider_identities AS i WHERE i.user_id = u.id)
    """
)
def of_provider(connection: Connection, site: str) -> int:
    """How many people of the site have it from the sign-in service, which gives it again at their next sign-in."""


def rename_rights(connection: Connection, before: str, after: str) -> dict[str, int]:
    """Replace the site's name in the rights of people and tokens. Returns how many rows changed."""
    names = {"before": before, "after": after}
    return {"people": PEOPLE.run(connection, **names), "tokens": TOKENS.run(connection, **names)}


def rename(connection: Connection, now: datetime, before: str, after: str, by: str, *, merges: bool) -> dict[str, int]:
    """Replace the site's name everywhere else. Returns how many rows changed.

    `merges`: the other site exists. Its opening hours hold and those of this one end; the past of this one keeps its
    name; a breaker or incident that the other one has, too, stays until its displays are well.
    """
    names = {"before": before, "after": after}
    ended = END_HOURS.run(connection, now=now, by=by, **names)
    if not merges and BREAKER.run(connection, **names):
        TOLD.run(connection, **names)
    INCIDENTS.run(connection, merges=merges, **names)
    PICTURES_OFF.run(connection, **names)
    EXPECTED.run(connection, **names)
    return {
        "displays": sum(DISPLAYS.all(connection, **names)),
        "channels": CHANNELS.run(connection, **names),
        "quiet_times": QUIET_TIMES.run(connection, merges=merges, **names),
        "opening_hours_ended": ended,
        "schedules": SCHEDULES.run(connection, **names),
        "status_links": STATUS_LINKS.run(connection, **names),
    }
