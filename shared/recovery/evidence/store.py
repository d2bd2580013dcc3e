"""SQL that reads clients that may need recovery, as sets.

It is text, not Core: the planner uses a partial index only if the statement spells out the index's condition.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared import typed
from shared.clients.logins_rules import SHARED_FOR
from shared.clients.signs_store import LAST_SIGN, SILENT, THRESHOLD
from shared.leadership.rules import BridgeStatus
from shared.postgres.fragments import may_be_mended, may_be_quiet, occupies, screen_failed_since, screen_fails
from shared.postgres.query import Query, columns
from shared.quiet.store import covered_by
from shared.recovery.evidence.rules import RecoveryFacts
from shared.recovery.rules import LADDER, MOST_REFUSED

SHUT_DOWN: Final = """EXISTS (
    SELECT FROM client_commands AS s WHERE s.client_uuid = c.uuid AND s.action = 'shutdown_host'
        AND s.state = 'succeeded' AND s.finished_at >= h.last_heartbeat_at)"""
"""SQL: the client was shut down on purpose, and not heard since."""

JOIN_RESTING: Final = f"LEFT JOIN {covered_by(':quiet')} AS resting ON resting.uuid = c.uuid"
"""SQL: joins the clients that rest. `:quiet`: the ids of the quiet times in which recovery rests now."""

AT_REST: Final = f"""(c.process_status = 'stopped'
    OR resting.uuid IS NOT NULL
    OR c.shared_login_seen_at IS NOT NULL
        AND c.shared_login_seen_at > CAST(:now AS timestamptz) - interval '{SHARED_FOR.total_seconds()} seconds'
    OR {SHUT_DOWN})"""  # nosec B608 - made of constants
"""SQL: recovery leaves the client alone, as `rules.why_held` decides. It needs JOIN_RESTING. Never null."""

UNHEARD: Final = f"""(c.presence = 'offline' OR r.unheard_at >= {LAST_SIGN}
    AND NOT (c.presence = 'online' AND c.presence_at > r.unheard_at))"""
"""SQL: no command can reach the client: it is offline, or has no subscription."""

PUT_ASIDE: Final = """CASE WHEN h.sign_at > h.last_heartbeat_at THEN (
    SELECT json_object_agg(d.reason, d.count) FROM (
        SELECT reason, CAST(sum(count) AS bigint) AS count FROM dead_letters
        WHERE sender = c.uuid AND split_part(topic, '/', 3) = 'heartbeat' AND last_at > h.last_heartbeat_at
        GROUP BY reason) AS d) END"""
"""SQL: how many heartbeats of the client became dead letters since the last stored one, by reason."""

REFUSED: Final = "t.state = 'rejected' OR t.state = 'failed' AND t.running_at IS NULL OR t.late_state = 'rejected'"
"""SQL: the display did not begin recovery's last command, `t`."""

FACTS: Final[Mapping[str, str]] = {
    **{name: f"c.{name}" for name in ("uuid", "site", "status", "process_status")},
    **{name: f"c.{name}" for name in ("process_status_since", "presence")},
    **{name: f"c.{name}" for name in ("shared_login_seen_at", "presence_at", "service_failed_at")},
    **{name: f"c.{name}" for name in ("service_failed_unit", "service_mended_at", "capabilities")},
    **{name: f"c.{name}" for name in ("screen_health", "screen_failed_at")},
    "screen_failed_since": screen_failed_since("c"),
    "lockout_until": "c.lockout_until",
    "lockout_is_ours": "coalesce(c.lockout_command_id = r.command_id, false)",
    **{name: f"h.{name}" for name in ("last_heartbeat_at", "interval_seconds", "sign_at")},
    "put_aside": PUT_ASIDE,
    **{f"open_{name}": f"k.{name}" for name in ("action", "state", "expires_at", "result_deadline")},
    **{f"open_{name}": f"k.{name}" for name in ("created_at", "requested_by")},
    **{name: f"coalesce(r.{name}, 0)" for name in ("step", "restarts", "reboots")},
    **{name: f"coalesce(r.{name}, 0)" for name in ("refused_restarts", "refused_reboots")},
    **{name: f"r.{name}" for name in ("tried_since", "unheard_at", "healthy_since", "decided", "decided_at")},
    **{f"tried_{name}": f"t.{name}" for name in ("action", "state", "finished_at")},
    "refused_reason": f"""CASE WHEN {REFUSED} THEN
        coalesce(CASE WHEN t.late_state IS NULL THEN t.outcome_reason END, '') END""",
    "refused_elsewhere": f"coalesce(({REFUSED}) AND t.acked_boot_id <> t.if_boot_id, false)",
    "health_received_at": "g.received_at",
    "health_previous_at": "g.previous_at",
    "health_says_none": "jsonb_typeof(g.body -> 'service_failed') = 'null'",
    "health_repeats": "jsonb_typeof(g.body -> 'service_failed') <> 'null'",
    "shut_down": SHUT_DOWN,
}
"""The fields of RecoveryFacts: name -> SQL."""


def facts_of(which: str, order: str = "c.uuid", more: Mapping[str, str] = MappingProxyType({})) -> str:
    """SQL: the clients for which `which` holds, in this order, as one JSON array that `facts_in` reads.

    Each client has the fields of RecoveryFacts and of `more`. Postgres writes the JSON, because converting each value
    in Python costs ten times as much. For so many columns and a few dozen rows, one text is faster than a text for
    each column (`ColumnQuery`).
    """
    fields = ", ".join(f"{what} AS {name}" for name, what in {**more, **FACTS}.items())
    return f"""
    SELECT CAST(coalesce(json_agg(facts), '[]') AS text) FROM (
    SELECT {fields}
    FROM clients AS c
    LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    LEFT JOIN client_commands AS k ON k.client_uuid = c.uuid AND {occupies("k")}
    LEFT JOIN client_recovery AS r ON r.client_uuid = c.uuid
    LEFT JOIN client_commands AS t ON t.id = r.command_id
    LEFT JOIN client_health AS g ON g.client_uuid = c.uuid
        AND (c.service_failed_at IS NOT NULL OR {screen_fails("c")})
    WHERE {which} AND c.deleted_at IS NULL ORDER BY {order}) AS facts
    """


def facts_in(answer: str) -> list[RecoveryFacts]:
    """Parse the result of `facts_of`."""
    return typed.decode(answer, list[RecoveryFacts])


FACTS_OF_CLIENTS = Query(facts_of("c.uuid = ANY(CAST(:uuids AS text[]))"), str)


def facts(connection: Connection, uuids: Collection[str]) -> list[RecoveryFacts]:
    """The facts that recovery needs of these clients; a deleted client is left out."""
    return facts_in(FACTS_OF_CLIENTS.one(connection, uuids=list(uuids)))


class Surroundings(Struct, frozen=True):
    """The bridge's status, and which other facts about the fleet have to be read."""

    bridge: BridgeStatus
    breakers: bool = True
    """Whether a breaker may be open."""
    quiet_times: bool = True
    """Whether a quiet time may apply."""
    incidents: bool = True
    """Whether any client may be part of an open incident."""


SURROUNDINGS: Final = f"""json_build_object(
    'bridge', (SELECT to_json(one) FROM (SELECT {columns(BridgeStatus, "b")} FROM bridge_status AS b) AS one),
    'breakers', EXISTS (SELECT FROM recovery_breakers WHERE open_since IS NOT NULL),
    'quiet_times', EXISTS (SELECT FROM quiet_times AS q WHERE {may_be_quiet("q")}),
    'incidents', EXISTS (SELECT FROM incident_members WHERE left_at IS NULL))"""
"""SQL: the surroundings as one column, for a statement that also reads something else."""


class SurroundedClients(Struct, frozen=True):
    """Some clients and the surroundings, in one row."""

    facts: str
    """The result of `facts_of`."""
    around: Surroundings


def with_surroundings(facts: str) -> Query[SurroundedClients]:
    """The clients of `facts_of` and the surroundings, in one round trip."""
    return Query(f"SELECT ({facts}) AS facts, {SURROUNDINGS} AS around", SurroundedClients)


ALONE = with_surroundings("'[]'")


def surroundings(connection: Connection, now: datetime) -> Surroundings:
    """Read the surroundings in one round trip. Usually they show that nothing else has to be read."""
    return ALONE.one(connection, now=now).around


NAMED: Final = """
    SELECT h.client_uuid AS uuid, h.last_heartbeat_at, h.sign_at, h.interval_seconds
    FROM unnest(CAST(:silent AS text[])) AS scanned(uuid)
    JOIN client_heartbeats AS h ON h.client_uuid = scanned.uuid"""
"""SQL: the last signs of life of the clients that the tick's scan found silent; no other rows are read again."""


class Beats(Struct, frozen=True):
    """The result of the scan over the last signs of life of the whole fleet."""

    seen: int
    """How many clients were heard since `seen_since`, without deleted ones."""
    late: int
    """How many clients are not stale yet, but their last sign is older than the share `late` of their threshold."""
    silent: list[str]
    """The uuids of clients whose last sign is older than their threshold; deleted clients may be among them."""


BEATS = Query(
    f"""
    SELECT count(*) FILTER (WHERE {LAST_SIGN} > CAST(:seen_since AS timestamptz))
            - (SELECT count(*) FROM clients AS c JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
                WHERE c.deleted_at IS NOT NULL AND {LAST_SIGN} > CAST(:seen_since AS timestamptz)) AS seen,
        count(*) FILTER (WHERE NOT {SILENT}
            AND {LAST_SIGN} < CAST(:now AS timestamptz) - {THRESHOLD} * CAST(:late AS float)) AS late,
        coalesce(json_agg(h.client_uuid) FILTER (WHERE {SILENT}), '[]') AS silent
    FROM client_heartbeats AS h
    """,
    Beats,
)


TOO_LONG: Final = f"{LAST_SIGN} < CAST(:now AS timestamptz) - CAST(:too_long AS interval)"
"""SQL: the client has been silent for so long that recovery no longer reboots it."""

CANDIDATES = Query(
    f"""
    WITH ill AS (
        SELECT uuid, process_status_since AS since, 'crashed' AS how FROM clients WHERE process_status = 'crashed'
        UNION ALL
        SELECT uuid, service_failed_at, 'failed' FROM clients WHERE service_failed_at IS NOT NULL
        UNION ALL
        SELECT uuid, screen_failed_at, 'failed' FROM clients
        WHERE {screen_fails("clients")} AND {may_be_mended("screen_health")}
        UNION ALL
        SELECT uuid, {LAST_SIGN}, 'silent' FROM ({NAMED}) AS h
        WHERE CAST(:since AS timestamptz) < CAST(:now AS timestamptz) - {THRESHOLD}),
    grouped AS (
        SELECT uuid, min(since) AS since, bool_or(how = 'silent') AS silent, bool_and(how = 'failed') AS failed_only
        FROM ill GROUP BY uuid),
    looked_at AS MATERIALIZED (
        /* may_act: SQL sees no obstacle. It only sorts; rules.recovery_state decides. */
        SELECT i.uuid, i.since, k.id IS NULL AND coalesce(r.step, 0) < {len(LADDER)}
            AND coalesce(r.refused_restarts + r.refused_reboots, 0) < {MOST_REFUSED} AND NOT {AT_REST}
            AND coalesce(c.lockout_until <= CAST(:now AS timestamptz), true)
            /* a silent client: a command can reach it, and no breaker of its site is open */
            AND NOT coalesce(i.silent AND ({UNHEARD} OR c.site = ANY(CAST(:blocked AS text[]))), false)
            /* any other client: its heartbeat is fresh, and came in the present listening time */
            AND coalesce(i.silent OR h.last_heartbeat_at
                >= greatest(CAST(:now AS timestamptz) - {THRESHOLD}, CAST(:since AS timestamptz)), false)
            AND NOT (i.silent AND {TOO_LONG})
            /* the last tick did not decide that nothing can be done in this condition */
            AND NOT coalesce(r.decided_at >= i.since AND r.decided IN ('not_recovered', 'held')
                OR NOT i.silent AND r.decided = 'unreachable'
                OR i.failed_only AND r.decided = 'verifying', false) AS may_act
        FROM grouped AS i
        JOIN clients AS c ON c.uuid = i.uuid AND c.deleted_at IS NULL
        {JOIN_RESTING}
        LEFT JOIN client_heartbeats AS h ON h.client_uuid = i.uuid
        LEFT JOIN client_recovery AS r ON r.client_uuid = i.uuid
        LEFT JOIN client_commands AS k ON k.client_uuid = i.uuid AND {occupies("k")}
        /* left out until its next sign of life: a silent client whose last decision says that nothing can be done */
        WHERE NOT coalesce(
            i.silent AND r.decided = 'unreachable' AND r.decided_at >= {LAST_SIGN} AND {UNHEARD}
            OR i.silent AND {TOO_LONG} AND r.decided = 'not_recovered'
                AND r.decided_at - {LAST_SIGN} > CAST(:too_long AS interval), false))
    (SELECT uuid FROM looked_at ORDER BY may_act DESC, since, uuid LIMIT CAST(:most AS int))
    UNION SELECT client_uuid FROM client_recovery WHERE step > 0
    UNION SELECT client_uuid FROM client_recovery WHERE refused_restarts + refused_reboots > 0
    """,
    str,
)


def beats(connection: Connection, now: datetime, stale_seconds: int, seen_since: datetime, late: float) -> Beats:
    """Scan the heartbeats of the whole fleet, once a tick. `late` is a share of the threshold."""
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
    quiet: Collection[int],
) -> list[str]:
    """The clients that a tick examines: crashed, failing or silent, with refused commands, or on the ladder.

    Of the first three kinds, at most `most`. Clients that recovery may act on come first; in both parts the longest
    unwell come first.
    `silent_since`: start of the listening time; earlier silence is not counted. A silent client is left out until its
    next sign of life once it is recorded that no command can reach it, or that it is silent for `too_long`.
    `quiet`: the ids of the quiet times that are on and let recovery rest.
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
        quiet=list(quiet),
    )
