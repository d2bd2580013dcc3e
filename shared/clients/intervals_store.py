"""SQL of the intervals that displays are asked for, and of connections that ended."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients.intervals_rules import INTERVAL, LOSS_TAKES, OVERDUE, SETTLED, USUAL_SECONDS, Calm
from shared.clients.logins_rules import SHARED_FOR
from shared.postgres.fragments import NOW, is_open
from shared.postgres.many import ManyRows
from shared.postgres.query import Query
from shared.vocabulary import ClientStatus, Presence, ScreenHealthStatus


class Wish(Struct, frozen=True):
    """A display that follows another interval than the one it should, or that is in doubt."""

    uuid: str
    interval_seconds: int


def _longer_ago(time: str, seconds: float) -> str:
    """SQL: whether this time is further away than so many seconds; true if it is null."""
    return f"coalesce({time} < {NOW} - interval '{seconds} seconds', true)"


BUSY: Final = f"""
    SELECT k.client_uuid AS uuid FROM client_commands AS k WHERE {is_open("k")}
    UNION SELECT client_uuid FROM client_recovery WHERE step > 0 OR refused_restarts + refused_reboots > 0
    UNION SELECT client_uuid FROM incident_members WHERE left_at IS NULL
    UNION SELECT client_uuid FROM client_limits WHERE over_since IS NOT NULL AND passed_at IS NOT NULL"""  # noqa: S608
"""SQL: the clients with an open command, recovery, incident or health limit."""

ROOM: Final = f"interval '{OVERDUE.total_seconds()} seconds'"

CALM: Final = f"""
    c.status = '{ClientStatus.RUNNING}' AND c.process_status = '{ClientStatus.RUNNING}'
    AND {_longer_ago("c.status_since", SETTLED.total_seconds())}
    AND {_longer_ago("c.presence_at", SETTLED.total_seconds())}
    AND {_longer_ago("c.counter_went_back_at", SETTLED.total_seconds())}
    AND {_longer_ago("c.shared_login_seen_at", SHARED_FOR.total_seconds())}
    AND {_longer_ago("c.lockout_until", 0)}
    AND c.service_failed_at IS NULL
    AND (c.screen_health_since IS NULL
        OR c.screen_health = '{ScreenHealthStatus.OFF}' AND c.screen_off_by IS NOT NULL)
    AND h.last_heartbeat_at >= {NOW} - h.interval_seconds * interval '1 second' - {ROOM}"""
"""SQL: whether a client is well, and nothing about it is in doubt."""

TOLD: Final = ManyRows("told", Wish)
WISHES = Query(
    f"""
    WITH busy AS MATERIALIZED ({BUSY}),
    judged AS (
        SELECT c.uuid, c.status, h.interval_seconds AS confirmed,
            CAST(:calm AS int) > {USUAL_SECONDS} AND {CALM} AND busy.uuid IS NULL
                AND count(*) OVER () >= CAST(:fleet AS int) AS is_calm
        FROM client_heartbeats AS h JOIN clients AS c ON c.uuid = h.client_uuid
        LEFT JOIN busy ON busy.uuid = c.uuid  -- joined: see covered_by of the quiet times
        WHERE c.deleted_at IS NULL AND c.presence = '{Presence.ONLINE}' AND '{INTERVAL}' = ANY(c.capabilities))
    SELECT uuid, CASE WHEN is_calm THEN CAST(:calm AS int) ELSE {USUAL_SECONDS} END AS interval_seconds
    FROM judged
    WHERE CASE WHEN is_calm THEN confirmed < CAST(:calm AS int)
            ELSE confirmed > {USUAL_SECONDS} OR status IN ('late', 'stale', 'unknown') END
        AND NOT EXISTS (SELECT FROM {TOLD} WHERE told.uuid = judged.uuid
            AND told.interval_seconds = CASE WHEN is_calm THEN CAST(:calm AS int) ELSE {USUAL_SECONDS} END)
    ORDER BY is_calm, uuid LIMIT CAST(:most AS int)
    """,  # noqa: S608 - made of constants
    Wish,
)


def wishes(connection: Connection, now: datetime, calm: Calm, told: Sequence[Wish], most: int) -> list[Wish]:
    """The wishes that are due now, those in doubt first; `told` are the wishes of the last minute.

    A display in doubt is asked again for the interval that it follows: its answer is a heartbeat.
    """
    return WISHES.all(connection, now=now, calm=calm.seconds, fleet=calm.fleet, most=most, **TOLD.of(told))


ENDED: Final = f"{NOW} - interval '{LOSS_TAKES.total_seconds()} seconds'"
"""SQL: when the connection ended of a client whose will comes now, or shortly before."""

LOST_CONNECTION = Query(
    f"""
    WITH gone AS MATERIALIZED (
        SELECT h.client_uuid AS uuid FROM client_heartbeats AS h JOIN clients AS c ON c.uuid = h.client_uuid
        WHERE h.client_uuid = ANY(CAST(:uuids AS text[])) AND c.presence = '{Presence.OFFLINE}'
            AND '{INTERVAL}' = ANY(c.capabilities) AND h.interval_seconds > {USUAL_SECONDS}
        ORDER BY h.client_uuid FOR NO KEY UPDATE OF h)
    UPDATE client_heartbeats AS h SET interval_seconds = {USUAL_SECONDS},
        last_heartbeat_at = CASE
            /* it spoke in time until its connection ended */
            WHEN h.last_heartbeat_at >= {ENDED} - h.interval_seconds * interval '1 second' - {ROOM}
            THEN greatest(h.last_heartbeat_at, {ENDED}) ELSE h.last_heartbeat_at END
    FROM gone WHERE h.client_uuid = gone.uuid RETURNING h.client_uuid
    """,  # noqa: S608 - made of constants
    str,
)


def connection_lost(connection: Connection, now: datetime, uuids: Collection[str]) -> list[str]:
    """Judge these clients, if they are offline, by the usual interval from the end of their connection on.

    Until then the broker heard their keepalives, so their silence began there; but a client that was silent before
    stays so. Returns the clients that this changed.
    """
    return LOST_CONNECTION.all(connection, now=now, uuids=list(uuids))
