"""SQL of the operators' orders to recovery: holds and exclusions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.postgres.query import NO_ROW, Query, columns


@dataclass(frozen=True)
class ExclusionRow:
    """An exclusion from recovery: of one client, or with `site` of every client of the site."""

    id: int
    client_uuid: str | None
    site: str | None
    reason: str
    excluded_by: str
    excluded_at: datetime


HOLD = Query(
    """
    INSERT INTO client_recovery AS r (client_uuid, held_at, held_by, held_reason, held_until)
    VALUES (:client, :now, :by, :reason, :until)
    ON CONFLICT (client_uuid) DO UPDATE SET held_at = EXCLUDED.held_at, held_by = EXCLUDED.held_by,
        held_reason = EXCLUDED.held_reason, held_until = EXCLUDED.held_until
    WHERE r.held_at IS NULL OR r.held_reason <> EXCLUDED.held_reason
        OR r.held_until IS DISTINCT FROM EXCLUDED.held_until OR r.held_until <= EXCLUDED.held_at
    """,
    NO_ROW,
)


def hold(connection: Connection, now: datetime, client_uuid: str, by: str, reason: str, until: datetime | None) -> bool:
    """Store a hold of this client; False when the same hold stands already."""
    return HOLD.run(connection, now=now, client=client_uuid, by=by, reason=reason, until=until) == 1


RESUME = Query(
    """
    UPDATE client_recovery SET step = 0, restarts = 0, reboots = 0, refused_restarts = 0, refused_reboots = 0,
        tried_since = NULL, healthy_since = NULL, unheard_at = NULL,
        held_at = NULL, held_by = NULL, held_reason = NULL, held_until = NULL, decided = NULL
    WHERE client_uuid = :client AND (step > 0 OR refused_restarts + refused_reboots > 0
        OR held_at IS NOT NULL OR unheard_at IS NOT NULL)
    """,
    NO_ROW,
)


def resume(connection: Connection, client_uuid: str) -> bool:
    """Delete the hold and reset the ladder; False when there is neither."""
    return RESUME.run(connection, client=client_uuid) == 1


EXCLUDE = Query(
    f"""
    INSERT INTO recovery_exclusions AS x (client_uuid, site, reason, excluded_by, excluded_at)
    VALUES (:client, :site, :reason, :by, :now) ON CONFLICT DO NOTHING RETURNING {columns(ExclusionRow, "x")}
    """,  # noqa: S608 - made of constants
    ExclusionRow,
)


def exclude(
    connection: Connection, now: datetime, by: str, reason: str, client_uuid: str | None, site: str | None
) -> ExclusionRow | None:
    """Insert an exclusion of this client or of this site; None when there is one already."""
    return EXCLUDE.one_or_none(connection, now=now, by=by, reason=reason, client=client_uuid, site=site)


INCLUDE = Query("DELETE FROM recovery_exclusions WHERE client_uuid = :client OR site = :site", NO_ROW)


def include(connection: Connection, client_uuid: str | None, site: str | None) -> bool:
    """Delete the exclusion of this client or of this site (give one of both); False when there is none."""
    return INCLUDE.run(connection, client=client_uuid, site=site) == 1


SHOWN: Final = f"SELECT {columns(ExclusionRow, 'x')} FROM recovery_exclusions AS x"  # noqa: S608 - made of constants
OF = Query(f"{SHOWN} WHERE client_uuid = :client OR site = :site ORDER BY site NULLS FIRST LIMIT 1", ExclusionRow)
PAGE = Query(
    f"{SHOWN} WHERE id < coalesce(CAST(:after AS bigint), {2**63 - 1}) ORDER BY id DESC LIMIT CAST(:most AS int)",
    ExclusionRow,
)


def exclusion(connection: Connection, client_uuid: str | None, site: str | None) -> ExclusionRow | None:
    """The exclusion of this client, else of this site; None when there is none."""
    return OF.one_or_none(connection, client=client_uuid, site=site)


def exclusions(connection: Connection, limit: int, after: int | None) -> list[ExclusionRow]:
    """Up to `limit` exclusions, the newest first, with an id below `after`."""
    return PAGE.all(connection, most=limit, after=after)
