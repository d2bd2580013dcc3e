"""Fleets of any size, written straight into the database: rows as the bridge leaves them, without a display behind."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy import Engine

CLIENTS = sa.text(
    """
    INSERT INTO clients (uuid, name, site, registered_by, process_status, status, app_version, ip, hostname,
        mqtt_reconnect_count, mqtt_last_disconnect_at, presence)
    SELECT :prefix || lpad(n::text, 12, '0'), :name || ' ' || n, :site, 'enrolment', 'running', 'running',
        '4.2.' || mod(n, 5), '10.' || mod(n, 50) || '.' || mod(n, 250) || '.7', 'host-' || n, mod(n, 9),
        now() - n * interval '1 second', 'unknown'
    FROM generate_series(1, :count) AS n
    """
)
HEARTBEATS = sa.text(
    """
    INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at)
    SELECT uuid, now() - :age * interval '1 second' FROM clients WHERE uuid LIKE :prefix || '%'
    """
)
BEAT = sa.text(
    """
    UPDATE client_heartbeats SET last_heartbeat_at = now() - :age * interval '1 second'
    WHERE client_uuid LIKE :prefix || '%'
    """
)
SAYS = sa.text(
    """
    UPDATE clients SET process_status = CAST(:status AS process_status), status = :status
    WHERE uuid BETWEEN :first AND :last
    """
)
DELETE = sa.text("UPDATE clients SET deleted_at = now() WHERE uuid LIKE :prefix || '%'")


@dataclass(frozen=True)
class Fleet:
    """So many clients of one site."""

    database: Engine
    site: str
    count: int
    prefix: str = field(default_factory=lambda: f"{secrets.token_hex(4)}-0000-4000-8000-")
    """What their uuids begin with; their places in the fleet follow."""

    def uuid(self, n: int) -> str:
        """The uuid of the nth, from 1."""
        return f"{self.prefix}{n:012}"

    def name(self, n: int) -> str:
        return f"{self.site} {n}"

    def insert(self, age_seconds: float = 0) -> None:
        """All run, and were last heard so long ago."""
        values = {"prefix": self.prefix, "name": self.site, "site": self.site, "count": self.count}
        with self.database.begin() as connection:
            connection.execute(CLIENTS, values)
            connection.execute(HEARTBEATS, {"prefix": self.prefix, "age": age_seconds})

    def beat(self, age_seconds: float = 0) -> None:
        """All were last heard so long ago."""
        with self.database.begin() as connection:
            connection.execute(BEAT, {"prefix": self.prefix, "age": age_seconds})

    def says(self, status: str, first: int, last: int) -> None:
        """These say `running` or `crashed` of themselves from now on."""
        with self.database.begin() as connection:
            connection.execute(SAYS, {"status": status, "first": self.uuid(first), "last": self.uuid(last)})

    def delete(self) -> None:
        with self.database.begin() as connection:
            connection.execute(DELETE, {"prefix": self.prefix})


@contextmanager
def inserted(database: Engine, site: str, count: int, age_seconds: float = 0) -> Iterator[Fleet]:
    """A fleet that is deleted afterwards."""
    fleet = Fleet(database, site, count)
    fleet.insert(age_seconds)
    try:
        yield fleet
    finally:
        fleet.delete()
