"""Fleets of any size, written directly into the database: rows as the bridge writes them, without real displays."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Engine

CLIENTS = sa.text(
    """
    INSERT INTO clients (uuid, name, site, registered_by, process_status, status, status_since, app_version, ip,
        hostname, mqtt_reconnect_count, mqtt_last_disconnect_at, presence)
    SELECT uuid, :site || ' ' || n, :site, 'enrolment', 'running', 'running',
        now() - random() * :spread * interval '1 hour', '4.2.' || mod(n, 5),
        '10.' || mod(n, 50) || '.' || mod(n, 250) || '.7', 'host-' || n, mod(n, 9),
        date_trunc('second', now() - n * interval '1 second' - random() * :spread * interval '1 hour'), 'unknown'
    FROM unnest(CAST(:uuids AS text[])) WITH ORDINALITY AS numbered(uuid, n)
    """
)
HEARTBEATS = sa.text(
    """
    INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at)
    SELECT uuid, now() - (:age + random() * :spread) * interval '1 second' FROM unnest(CAST(:uuids AS text[])) AS uuid
    """
)
BEAT = sa.text(
    """
    UPDATE client_heartbeats SET last_heartbeat_at = now() - :age * interval '1 second'
    WHERE client_uuid = ANY(CAST(:uuids AS text[]))
    """
)
SAYS = sa.text(
    """
    UPDATE clients SET process_status = CAST(:status AS process_status), status = :status
    WHERE uuid = ANY(CAST(:uuids AS text[]))
    """
)
OLD = sa.text(
    """
    UPDATE clients SET created_at = now() - :days * interval '1 day' WHERE uuid = ANY(CAST(:uuids AS text[]))
    """
)
DOWN = sa.text(
    """
    INSERT INTO client_state_changes (client_uuid, at, from_status, to_status, cause)
    VALUES (:uuid, :begins, 'running', :status, '{"code": "as_given", "facts": {"text": "The test says so."}}'),
        (:uuid, :ends, :status, 'running', '{"code": "as_given", "facts": {"text": "It is back."}}')
    """
)
DELETE = sa.text("UPDATE clients SET deleted_at = now() WHERE uuid = ANY(CAST(:uuids AS text[]))")


@dataclass(frozen=True)
class Fleet:
    """So many clients of one site, with random uuids as displays have them."""

    database: Engine
    site: str
    count: int
    uuids: list[str] = field(default_factory=list)

    def uuid(self, n: int) -> str:
        """Return the uuid of the nth client, from 1."""
        return self.uuids[n - 1]

    def name(self, n: int) -> str:
        return f"{self.site} {n}"

    def row_name(self, n: int) -> str:
        """Return the accessible name of the nth client's button in lists: name and site."""
        return f"{self.name(n)}, {self.site}"

    def insert(self, age_seconds: float = 0, spread: float = 0) -> None:
        """Insert the clients, all running, last heard `age_seconds` ago and up to `spread` seconds earlier.

        Their state changes and their last losses of the broker are spread over as many hours.
        """
        self.uuids.extend(str(uuid.uuid4()) for _ in range(self.count))
        with self.database.begin() as connection:
            connection.execute(CLIENTS, {"uuids": self.uuids, "site": self.site, "spread": spread})
            connection.execute(HEARTBEATS, {"uuids": self.uuids, "age": age_seconds, "spread": spread})

    def beat(self, age_seconds: float = 0) -> None:
        """Set the last heartbeat of all clients to so many seconds ago."""
        with self.database.begin() as connection:
            connection.execute(BEAT, {"uuids": self.uuids, "age": age_seconds})

    def says(self, status: str, first: int, last: int) -> None:
        """Set the reported process status of these clients to `running` or `crashed`."""
        with self.database.begin() as connection:
            connection.execute(SAYS, {"status": status, "uuids": self.uuids[first - 1 : last]})

    def lived(self, days: int) -> None:
        """Say that the clients were created so many days ago."""
        with self.database.begin() as connection:
            connection.execute(OLD, {"days": days, "uuids": self.uuids})

    def was(self, n: int, status: str, begins: datetime, ends: datetime) -> None:
        """Say that the nth client, which runs, had another state for a time."""
        with self.database.begin() as connection:
            connection.execute(DOWN, {"uuid": self.uuid(n), "status": status, "begins": begins, "ends": ends})

    def delete(self) -> None:
        with self.database.begin() as connection:
            connection.execute(DELETE, {"uuids": self.uuids})


@contextmanager
def inserted(database: Engine, site: str, count: int, age_seconds: float = 0, spread: float = 0) -> Iterator[Fleet]:
    """Insert a fleet, and delete it afterwards."""
    fleet = Fleet(database, site, count)
    fleet.insert(age_seconds, spread)
    try:
        yield fleet
    finally:
        fleet.delete()
