"""100,000 displays at 1,000 sites, written directly into a stack's database, for the test and the bench of the page."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy import Engine

CLIENTS: Final = 100_000
SITES: Final = 1_000
FILL: Final = (
    f"""
    INSERT INTO clients (uuid, name, site, registered_by, process_status, status, status_since, app_version, ip,
        hostname, presence, screen_health)
    SELECT CAST(md5('display ' || n) AS uuid)::text, 'Display ' || n, 'Shop ' || lpad(mod(n, {SITES})::text, 3, '0'),
        'enrolment', CAST(state AS process_status), state, now() - mod(n, 86400) * interval '1 second',
        '4.2.' || mod(n, 5), concat('10.', mod(n, 100), '.', mod(n / 100, 250), '.', 1 + mod(n / 7, 250)),
        'host-' || n, 'unknown', 'ok'
    FROM generate_series(1, {CLIENTS}) AS n,
        LATERAL (SELECT CASE WHEN mod(n, 1000) = 7 AND mod(n, 4000) < 3000 THEN 'crashed' ELSE 'running' END) s(state)
    """,
    """
    INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at, interval_seconds) SELECT uuid, now(), 86400
    FROM clients
    """,
)
"""75 displays of Shop 007 have crashed."""


def fill(engine: Engine) -> None:
    """Write the fleet. Its next heartbeats are due in a day, so that no display becomes late."""
    patient = sa.create_engine(engine.url, isolation_level="AUTOCOMMIT")  # without the limit of the door's sockets
    with patient.connect() as connection:
        connection.execute(sa.text("SET statement_timeout = '300s'"))
        for statement in FILL:
            connection.execute(sa.text(statement))
        connection.execute(sa.text("VACUUM ANALYZE clients, client_heartbeats"))
    patient.dispose()
