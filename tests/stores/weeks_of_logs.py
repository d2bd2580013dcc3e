"""Statements that fill a database with weeks of logs, and with the other rows that queries on logs read.

The logs end at a fixed time late in a week. If the last week had only a few hours of lines, Postgres would rightly read
all its few pages, and the use of indexes would depend on when the tests run.
"""

from datetime import UTC, datetime

NOW = datetime(2020, 3, 8, 23, tzinfo=UTC)  # a Sunday, years before any week that the migrations make
LINES = 120_000
SHARE = 10_000  # lines of one statement
CLIENTS = 60
WEEKS = 6  # whole weeks before the week of NOW
BEGAN = datetime(2020, 1, 20, tzinfo=UTC)  # the first of their Mondays
QUIET, LOUD = (f"00000000-0000-4000-8000-{number:012d}" for number in (1, 0))

FILL = (
    f"""
    INSERT INTO clients (uuid, registered_by, created_at)
    SELECT '00000000-0000-4000-8000-' || lpad(n::text, 12, '0'), 'enrolment', timestamptz '{NOW}' - interval '90 days'
    FROM generate_series(0, CAST(:clients AS int) - 1) AS n
    """,
    f"""
    SELECT make_client_log_partition(class, date '{BEGAN.date()}' + 7 * week)
    FROM unnest(ARRAY['routine', 'serious']) AS class, generate_series(0, CAST(:weeks AS int)) AS week
    """,
    f"""
    INSERT INTO client_logs (client_uuid, level, message, logger, received_at)
    SELECT '00000000-0000-4000-8000-'
            || lpad((CASE WHEN mod(n, 3) = 0 THEN 0 ELSE mod(n, CAST(:clients AS int)) END)::text, 12, '0'),
        (CASE WHEN mod(n, 50) = 0 THEN 'critical' WHEN mod(n, 20) = 0 THEN 'error' WHEN mod(n, 7) = 0 THEN 'warning'
            WHEN mod(n, 2) = 0 THEN 'info' ELSE 'debug' END)::log_level,
        'line ' || n || ' of the player', 'player',
        timestamptz '{NOW}' - n * ((timestamptz '{NOW}' - timestamptz '{BEGAN}') / (CAST(:lines AS int) + 1))
    FROM generate_series(CAST(:first AS int), CAST(:first AS int) + CAST(:share AS int) - 1) AS n
    """,
    """
    INSERT INTO client_log_hours
    SELECT client_uuid, date_trunc('hour', received_at),
        count(*) FILTER (WHERE level = 'debug'), count(*) FILTER (WHERE level = 'info'),
        count(*) FILTER (WHERE level = 'warning'), count(*) FILTER (WHERE level = 'error'),
        count(*) FILTER (WHERE level = 'critical'),
        max(received_at) FILTER (WHERE level IN ('error', 'critical'))
    FROM client_logs GROUP BY 1, 2
    """,
    f"""
    INSERT INTO dead_letters (topic, payload, payload_bytes, sha256, reason, first_at, last_at)
    SELECT 'signage/x/health', '', 0, md5(n::text), 'not_json', timestamptz '{NOW}',
        timestamptz '{NOW}' - n * interval '1 second'
    FROM generate_series(1, 20000) AS n
    """,
    f"""
    INSERT INTO audit_log (at, actor, action, target, result)
    SELECT timestamptz '{NOW}' - n * interval '1 minute', 'user:a', 'client.write',
        '00000000-0000-4000-8000-' || lpad(mod(n, CAST(:clients AS int))::text, 12, '0'), 'done'
    FROM generate_series(1, 20000) AS n
    """,
    """
    INSERT INTO client_state_changes (client_uuid, at, from_status, to_status, cause)
    SELECT target, at, 'running', 'late', '{}' FROM audit_log
    """,
    "ANALYZE",
)


FULL_WEEK = """
    INSERT INTO client_logs (client_uuid, level, message, received_at)
    SELECT CASE WHEN mod(n, 500) = 0 THEN :quiet ELSE :loud END, CAST('error' AS log_level), 'x',
        CAST(:then AS timestamptz) - n * interval '1 second'
    FROM generate_series(1, 20000) AS n
"""
