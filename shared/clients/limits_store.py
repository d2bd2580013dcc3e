"""SQL of health limits: the reports that have to be judged, and what is known of passed limits."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients import limits_rules
from shared.clients.limits_rules import Passing, Reading
from shared.postgres import query
from shared.postgres.many import ManyRows
from shared.postgres.query import Query
from shared.vocabulary import HealthLimit

VALUES: Final[Mapping[HealthLimit, str]] = {
    HealthLimit.DISK: "g.disk_percent",
    HealthLimit.MEMORY: "g.memory_percent",
    HealthLimit.HEAT: "g.temperature_celsius",
    HealthLimit.CERTIFICATE: "CAST(extract(epoch FROM g.certificate_ends_at - g.received_at) / 86400 AS float8)",
    HealthLimit.CLOCK: "g.clock_ahead_seconds",
    HealthLimit.VOLTAGE: "CAST(CAST(g.under_voltage AS int) AS float8)",
    HealthLimit.READ_ONLY: "CAST(CAST(NOT g.disk_writable AS int) AS float8)",
    HealthLimit.REFUSED: "CAST(cardinality(string_to_array(g.refused, ',')) AS float8)",
}
"""SQL: each value of a health report `g`, in the unit of its limit."""


def told(at: str) -> dict[str, str]:
    """SQL: columns of client_health -> what the report `said`, which arrived at `at`, makes of them."""
    return {
        "certificate_ends_at": "to_timestamp(said.certificate_ends_at)",
        "under_voltage": "said.under_voltage",
        "disk_writable": "said.disk_writable",
        "refused": "said.refused",
        "clock_ahead_seconds": f"CAST(said.said_at - extract(epoch FROM {at}) AS float8)",
    }


class PassedLimit(Struct, frozen=True):
    """A limit of health that a client passes, in its unit: %, °C, days left, or seconds ahead (negative: behind).

    `value`: the last one at the limit or worse, 1 for `voltage` and `read_only`; `refused` counts. `at`: the limit.
    """

    limit: HealthLimit
    value: float
    at: float
    since: datetime


PASSED: Final = """coalesce((SELECT json_agg(json_build_object(
        'limit', l.kind, 'value', l.value, 'at', l.limit_at, 'since', l.over_since) ORDER BY l.kind)
    FROM client_limits AS l WHERE l.client_uuid = c.uuid AND l.passed_at IS NOT NULL), '[]')"""
"""SQL: the limits that client `c` passes, as JSON."""
MEASURED: Final = f"""CASE WHEN g.client_uuid IS NOT NULL THEN json_build_object('uuid', g.client_uuid,
    'at', g.received_at, {", ".join(f"'{kind}', {sql}" for kind, sql in VALUES.items())}) END"""
"""SQL: the values of the health report `g` as a Reading."""
AT_A_LIMIT: Final = """(g.disk_percent >= CAST(:disk AS float8) OR g.memory_percent >= CAST(:memory AS float8)
    OR g.temperature_celsius >= CAST(:heat AS float8)
    OR g.certificate_ends_at <= g.received_at + CAST(:certificate AS float8) * interval '1 day'
    OR abs(g.clock_ahead_seconds) >= CAST(:clock AS float8) OR g.under_voltage
    OR NOT g.disk_writable OR g.refused > '')"""
TO_JUDGE = Query(
    f"""
    SELECT g.client_uuid AS uuid, g.received_at AS at, {", ".join(f"{sql} AS {kind}" for kind, sql in VALUES.items())}
    FROM client_health AS g JOIN clients AS c ON c.uuid = g.client_uuid
    WHERE c.deleted_at IS NULL AND g.client_uuid = ANY(ARRAY(
        SELECT g.client_uuid FROM client_health AS g
        WHERE g.received_at >= CAST(:fresh_since AS timestamptz) AND {AT_A_LIMIT}
        UNION SELECT client_uuid FROM client_limits WHERE over_since IS NOT NULL))
    ORDER BY g.client_uuid
    """,
    Reading,
)
"""One scan of the newest reports finds the few that matter: as an array, so that no plan joins the whole fleet."""


def to_judge(connection: Connection, fresh_since: datetime) -> list[Reading]:
    """The newest reports that came after `fresh_since` and pass a limit, and those of displays that passed one."""
    bounds = {kind.value: limit.at for kind, limit in limits_rules.LIMITS.items() if kind not in limits_rules.YES_OR_NO}
    return TO_JUDGE.all(connection, fresh_since=fresh_since, **bounds)


PASSINGS: Final = ManyRows("said", Passing)


@query.rows(
    """
    SELECT client_uuid AS uuid, kind, over_since, passed_at, left_since, value, limit_at FROM client_limits
    WHERE over_since IS NOT NULL
    """
)
def known(connection: Connection) -> list[Passing]:
    """Every limit that a report has reached and that has not ended."""


@query.run(
    f"""
    INSERT INTO client_limits (client_uuid, kind, over_since, passed_at, left_since, value, limit_at)
    SELECT uuid, kind, over_since, passed_at, left_since, value, limit_at FROM {PASSINGS} ORDER BY uuid, kind
    ON CONFLICT (client_uuid, kind) DO UPDATE SET over_since = EXCLUDED.over_since, passed_at = EXCLUDED.passed_at,
        left_since = EXCLUDED.left_since, value = EXCLUDED.value, limit_at = EXCLUDED.limit_at
    """,
    PASSINGS,
)
def put(connection: Connection, passings: Collection[Passing]) -> None:
    """Write what is known of these limits. A row stays when its limit is passed no more: readers must see the end."""
