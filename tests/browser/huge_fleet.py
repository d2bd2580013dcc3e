"""Huge fleets: sites of 100 displays, written directly into a stack's database, for a test and a bench of the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

DISPLAYS_OF_A_SITE: Final = 100
SITE: Final = "Shop "
FILL: Final = (
    """
    INSERT INTO clients (uuid, name, site, registered_by, process_status, status, status_since, app_version, ip,
        hostname, presence, screen_health)
    SELECT CAST(md5('display ' || n) AS uuid)::text, 'Display ' || n, :site || lpad(mod(n, :sites)::text, 3, '0'),
        'enrolment', CAST(state AS process_status), state, now() - mod(n, 86400) * interval '1 second',
        '4.2.' || mod(n, 5), concat('10.', mod(n, 100), '.', mod(n / 100, 250), '.', 1 + mod(n / 7, 250)),
        'host-' || n, 'unknown', 'ok'
    FROM generate_series(1, :clients) AS n, LATERAL (
        SELECT CASE WHEN mod(n, :sites) = 7 AND mod(n, 4 * :sites) < 3 * :sites THEN 'crashed' ELSE 'running' END
    ) AS s(state)
    """,
    """
    INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at, interval_seconds) SELECT uuid, now(), 86400
    FROM clients WHERE deleted_at IS NULL
    """,
)
"""75 displays of Shop 007 have crashed."""
CLEAR: Final = "UPDATE clients SET deleted_at = now() WHERE deleted_at IS NULL"


def fill(engine: Engine, sites: int) -> None:
    """Write the fleet. Its next heartbeats are due in a day, so that no display becomes late."""
    facts = {"site": SITE, "sites": sites, "clients": sites * DISPLAYS_OF_A_SITE}
    with patient(engine) as connection:
        for statement in FILL:
            connection.execute(sa.text(statement), facts)
        connection.execute(sa.text("VACUUM ANALYZE clients, client_heartbeats"))


def clear(engine: Engine) -> None:
    """Delete every display."""
    with patient(engine) as connection:
        connection.execute(sa.text(CLEAR))


@contextmanager
def patient(engine: Engine) -> Iterator[Connection]:
    """A connection without the limit of the door's sockets, and with five minutes for a statement."""
    own = sa.create_engine(engine.url, isolation_level="AUTOCOMMIT")
    with own.connect() as connection:
        connection.execute(sa.text("SET statement_timeout = '300s'"))
        yield connection
    own.dispose()
