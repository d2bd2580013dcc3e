"""SQL of what is known of clients that may need recovery, set-wise.

Text, not Core: the planner takes a partial index only where its condition stands spelt out in the statement.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.clients.signs_store import LAST_SIGN, SILENT, THRESHOLD
from shared.leadership.rules import BridgeStatus
from shared.postgres.query import Query
from shared.postgres.statements import NOTHING, Constant, constant, rows, value
from shared.recovery.evidence.rules import SHARED_FOR, KnownRow

R = TypeVar("R")
SHUT_DOWN: Final = """EXISTS (
    SELECT FROM client_commands AS s WHERE s.client_uuid = c.uuid AND s.action = 'shutdown_host'
        AND s.state = 'succeeded' AND s.finished_at >= h.last_heartbeat_at)"""
"""SQL: the client was shut down on purpose and not heard since."""

AT_REST: Final = f"""(c.process_status = 'stopped'
    OR r.held_at IS NOT NULL AND (r.held_until IS NULL OR r.held_until > CAST(:now AS timestamptz))
    OR EXISTS (SELECT FROM recovery_exclusions AS x WHERE x.client_uuid = c.uuid OR x.site = c.site)
    OR c.shared_login_seen_at > CAST(:now AS timestamptz) - interval '{SHARED_FOR.total_seconds()} seconds'
    OR {SHUT_DOWN})"""  # nosec B608 - of our own constants
"""SQL: `rules.why_held` has an answer, maintenance apart: its silence is no news and nothing is sent."""

UNHEARD: Final = f"""(c.presence = 'offline' OR r.unheard_at >= {LAST_SIGN}
    AND NOT (c.presence = 'online' AND c.presence_at > r.unheard_at))"""
"""SQL: nothing can be sent to a silent client."""

PUT_ASIDE: Final = """CASE WHEN h.sign_at > h.last_heartbeat_at THEN (
    SELECT json_object_agg(d.reason, d.count) FROM (
        SELECT reason, CAST(sum(count) AS bigint) AS count FROM dead_letters
        WHERE sender = c.uuid AND split_part(topic, '/', 3) = 'heartbeat' AND last_at > h.last_heartbeat_at
        GROUP BY reason) AS d) END"""
"""SQL: of a client that talks, how many heartbeats were put aside since its last one, by reason."""

KNOWN: Final[Mapping[str, str]] = {
    **{name: f"c.{name}" for name in ("uuid", "site", "process_status", "process_status_since", "presence")},
    **{name: f"c.{name}" for name in ("shared_login_seen_at", "presence_at", "service_failed_at")},
    **{name: f"c.{name}" for name in ("service_failed_unit", "capabilities")},
    **{name: f"c.{name}" for name in ("lockout_until", "lockout_command_id")},
    **{name: f"h.{name}" for name in ("last_heartbeat_at", "interval_seconds", "sign_at")},
    "put_aside": PUT_ASIDE,
    **{f"open_{name}": f"k.{name}" for name in ("action", "state", "expires_at", "result_deadline")},
    **{f"open_{name}": f"k.{name}" for name in ("created_at", "requested_by")},
    **{name: f"r.{name}" for name in ("step", "restarts", "reboots", "tried_since", "unheard_at", "healthy_since")},
    **{name: f"r.{name}" for name in ("refused_restarts", "refused_reboots")},
    **{name: f"r.{name}" for name in ("decided", "decided_at", "held_at", "held_by", "held_reason", "held_until")},
    "tried_command_id": "r.command_id",
    **{f"tried_{name}": f"t.{name}" for name in ("action", "state", "finished_at")},
    "tried_refused": "t.state = 'rejected' OR t.state = 'failed' AND t.running_at IS NULL OR t.late_state = 'rejected'",
    "tried_reason": "CASE WHEN t.late_state IS NULL THEN t.outcome_reason END",
    "tried_elsewhere": "t.acked_boot_id <> t.if_boot_id",
    **{f"excluded_{name}": f"e.{name}" for name in ("reason", "site")},
    **{name: f"e.{name}" for name in ("excluded_by", "excluded_at")},
    "health_received_at": "g.received_at",
    "health_says_none": "jsonb_typeof(g.body -> 'service_failed') = 'null'",
    "health_repeats": "jsonb_typeof(g.body -> 'service_failed') <> 'null'",
    "shut_down": SHUT_DOWN,
}
"""What `rules.condition` is made of: the name of each column, and the SQL."""


def known_of(which: str, order: str = "c.uuid", more: Mapping[str, str] = NOTHING) -> str:
    """SQL: one value: what is known of the clients for which `which` holds, in this order, as a JSON array of KnownRow
    with the columns `more` beside it: see `reader`. Postgres writes them; taking each value over into Python costs ten
    times that. Of so many columns and a few dozen rows one text is read sooner than a text of each (`ColumnQuery`).
    """
    columns = ", ".join(f"{what} AS {name}" for name, what in {**more, **KNOWN}.items())
    return f"""
    SELECT CAST(coalesce(json_agg(known), '[]') AS text) FROM (
    SELECT {columns}
    FROM clients AS c
    LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    LEFT JOIN client_commands AS k ON k.client_uuid = c.uuid AND k.rank < 90
    LEFT JOIN client_recovery AS r ON r.client_uuid = c.uuid
    LEFT JOIN client_commands AS t ON t.id = r.command_id
    LEFT JOIN LATERAL (SELECT * FROM recovery_exclusions AS x WHERE x.client_uuid = c.uuid OR x.site = c.site
        ORDER BY x.site NULLS FIRST LIMIT 1) AS e ON true
    LEFT JOIN client_health AS g ON g.client_uuid = c.uuid AND c.service_failed_at IS NOT NULL
    WHERE {which} AND c.deleted_at IS NULL ORDER BY {order}) AS known
    """  # noqa: S608 - made of constants


CONDITIONS: Final = constant(sa.text(known_of("c.uuid = ANY(CAST(:uuids AS text[]))")))


def with_surroundings(known: str = "SELECT NULL") -> Constant:
    """A statement whose one row is the value of `known` and the Surroundings."""
    return constant(
        sa.text(
            f"""
    SELECT ({known}), b.epoch, b.instance, b.connected_since, b.last_commit_at, b.canary_at, b.counters,
        EXISTS (SELECT FROM recovery_breakers WHERE open_since IS NOT NULL),
        EXISTS (SELECT FROM maintenance_windows AS w WHERE w.ended_at IS NULL
            AND w.starts_at <= CAST(:now AS timestamptz)
            AND (w.last_ends_at IS NULL OR w.last_ends_at > CAST(:now AS timestamptz))),
        EXISTS (SELECT FROM incident_members WHERE left_at IS NULL)
    FROM bridge_status AS b
    """  # noqa: S608 - made of constants
        )
    )


SURROUNDINGS: Final = with_surroundings()

NAMED: Final = """
    SELECT h.client_uuid AS uuid, h.last_heartbeat_at, h.sign_at, h.interval_seconds
    FROM unnest(CAST(:silent AS text[])) AS said(uuid)
    JOIN client_heartbeats AS h ON h.client_uuid = said.uuid"""
"""SQL: the last signs of the silent clients that one scan has found; the second look reads no others."""


@dataclass(frozen=True)
class Beats:
    """What the last signs of life say of the whole fleet."""

    seen: int
    """Clients heard since a moment; deleted ones are not counted."""
    late: int
    """Those that are on the way to be stale: more than a share of their threshold old."""
    silent: list[str]
    """The uuids of all that are silent by the raw age of their last sign; deleted ones may be named."""


BEATS = Query(
    f"""
    SELECT count(*) FILTER (WHERE {LAST_SIGN} > CAST(:seen_since AS timestamptz))
            - (SELECT count(*) FROM clients AS c JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
                WHERE c.deleted_at IS NOT NULL AND {LAST_SIGN} > CAST(:seen_since AS timestamptz)) AS seen,
        count(*) FILTER (WHERE NOT {SILENT}
            AND {LAST_SIGN} < CAST(:now AS timestamptz) - {THRESHOLD} * CAST(:late AS float)) AS late,
        coalesce(json_agg(h.client_uuid) FILTER (WHERE {SILENT}), '[]') AS silent
    FROM client_heartbeats AS h
    """,  # noqa: S608 - made of constants
    Beats,
)


TOO_LONG: Final = f"{LAST_SIGN} < CAST(:now AS timestamptz) - CAST(:too_long AS interval)"
"""SQL: no reboot cures its silence any more."""

CANDIDATES = Query(
    f"""
    WITH ill AS (
        SELECT uuid, process_status_since AS since, 'crashed' AS how FROM clients WHERE process_status = 'crashed'
        UNION ALL
        SELECT uuid, service_failed_at, 'failed' FROM clients WHERE service_failed_at IS NOT NULL
        UNION ALL
        SELECT uuid, {LAST_SIGN}, 'silent' FROM ({NAMED}) AS h
        WHERE CAST(:since AS timestamptz) < CAST(:now AS timestamptz) - {THRESHOLD}),
    grouped AS (
        SELECT uuid, min(since) AS since, bool_or(how = 'silent') AS silent, bool_and(how = 'failed') AS failed_only
        FROM ill GROUP BY uuid),
    looked_at AS MATERIALIZED (
        SELECT i.uuid, i.since, k.id IS NULL AND coalesce(r.step, 0) < 4
            AND coalesce(r.refused_restarts + r.refused_reboots, 0) < 4 AND NOT {AT_REST}
            AND coalesce(c.lockout_until <= CAST(:now AS timestamptz), true)
            AND NOT coalesce(i.silent AND ({UNHEARD} OR c.site = ANY(CAST(:blocked AS text[]))), false)
            AND (i.silent OR h.last_heartbeat_at
                >= greatest(CAST(:now AS timestamptz) - {THRESHOLD}, CAST(:since AS timestamptz)))
            AND NOT (i.silent AND {TOO_LONG})
            AND NOT coalesce(r.decided_at >= i.since AND r.decided IN ('not_recovered', 'held')
                OR NOT i.silent AND r.decided = 'unreachable'
                OR i.failed_only AND r.decided = 'verifying', false) AS may_act
        FROM grouped AS i
        JOIN clients AS c ON c.uuid = i.uuid AND c.deleted_at IS NULL
        LEFT JOIN client_heartbeats AS h ON h.client_uuid = i.uuid
        LEFT JOIN client_recovery AS r ON r.client_uuid = i.uuid
        LEFT JOIN client_commands AS k ON k.client_uuid = i.uuid AND k.rank < 90
        WHERE NOT coalesce(
            i.silent AND r.decided = 'unreachable' AND r.decided_at >= {LAST_SIGN} AND {UNHEARD}
            OR i.silent AND {TOO_LONG} AND r.decided = 'not_recovered'
                AND r.decided_at - {LAST_SIGN} > CAST(:too_long AS interval), false))
    (SELECT uuid FROM looked_at ORDER BY may_act DESC, since, uuid LIMIT CAST(:most AS int))
    UNION SELECT client_uuid FROM client_recovery WHERE step > 0
    UNION SELECT client_uuid FROM client_recovery WHERE refused_restarts + refused_reboots > 0
    """,  # noqa: S608 - made of constants
    str,
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is the same for every client: the bridge's own record, and what else has to be asked for at all."""

    bridge: BridgeStatus
    breakers: bool = True
    """Whether any may be open."""
    windows: bool = True
    """Whether a maintenance window may be on."""
    incidents: bool = True
    """Whether any client may be part of an open incident."""


def surroundings(connection: Connection, now: datetime) -> Surroundings:
    """The surroundings at one moment, in one round trip. Mostly nothing more has to be read."""
    return read_with_surroundings(connection, SURROUNDINGS, {"now": now})[1]


def read_with_surroundings(
    connection: Connection, statement: Constant, values: Mapping[str, Any]
) -> tuple[Any, Surroundings]:
    """Run a statement of `with_surroundings`; `values` has `now` and the parameters of its `known`."""
    [(known, *status, breakers, windows, incidents)] = rows(connection, statement, values)
    return known, Surroundings(BridgeStatus(*status), breakers, windows, incidents)


def conditions(connection: Connection, uuids: Collection[str]) -> list[KnownRow]:
    """The facts that recovery needs of these clients; a deleted client is left out."""
    return reader(KnownRow).decode(value(connection, CONDITIONS, {"uuids": list(uuids)}))


@cache
def reader(shape: type[R]) -> msgspec.json.Decoder[list[R]]:
    """The decoder for the value of `known_of`: each row becomes a `shape`, KnownRow or one with more columns."""
    return msgspec.json.Decoder(list[shape])  # type: ignore[valid-type]


def beats(connection: Connection, now: datetime, stale_seconds: int, seen_since: datetime, late: float) -> Beats:
    """The one scan of a tick over the whole fleet, in its narrow table. `late` is a share of the threshold."""
    return BEATS.one(connection, now=now, stale=stale_seconds, seen_since=seen_since, late=late)


def candidates(
    connection: Connection,
    now: datetime,
    silent: Collection[str],
    *,
    silent_since: datetime | None,
    stale_seconds: int,
    blocked_sites: Collection[str],
    too_long: timedelta,
    most: int,
) -> list[str]:
    """The clients that a tick looks at: crashed, failing, silent, refusing or on the ladder.

    Up to `most` of the first three. Clients that something stood in the way of at the last look come after the others;
    in both parts the longest unwell come first.
    `silent_since`: start of the listening time, before which no silence counts. A silent client that nothing can
    be sent to is left out once that is recorded, until it gives a sign; so is one that is silent for `too_long`.
    """
    return CANDIDATES.all(
        connection,
        now=now,
        silent=list(silent),
        since=silent_since,
        stale=stale_seconds,
        blocked=list(blocked_sites),
        too_long=too_long,
        most=most,
    )
