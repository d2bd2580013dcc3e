"""Reports of displays, and queries for what is stored of a client, for the tests of reports."""

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from shared.clients.reports import operations as reports
from shared.clients.reports.rules import Heartbeat
from shared.tables import client_heartbeats, clients
from shared.vocabulary import ProcessStatus

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CLOCK = 1000.0
U = "0b54ad5e-3a8b-4a3f-9d0e-000000000001"
V = "0b54ad5e-3a8b-4a3f-9d0e-000000000002"
RUNNING = ProcessStatus.RUNNING


def register(connection: Connection, *uuids: str) -> None:
    reports.admit(connection, NOW, list(uuids), uuids, auto_register=True)


def client(connection: Connection, uuid: str = U) -> dict[str, Any]:
    return dict(connection.execute(sa.select(clients).where(clients.c.uuid == uuid)).mappings().one())


def heard(connection: Connection, uuid: str = U) -> dict[str, Any]:
    query = sa.select(client_heartbeats).where(client_heartbeats.c.client_uuid == uuid)
    return dict(connection.execute(query).mappings().one())


def beat(
    seq: int | None = None, boot_seq: int = 1, install: str = "i", *, uuid: str = U, at: float = CLOCK, **more: Any
) -> Heartbeat:
    """A heartbeat; with a stamp if it has a seq."""
    stamp: dict[str, Any] = {} if seq is None else {"install_id": install, "boot_seq": boot_seq, "seq": seq}
    return Heartbeat(uuid, at, **{"process_status": RUNNING, "boot_id": f"b{boot_seq}", **more}, **stamp)


def take(connection: Connection, *said: Heartbeat, now: datetime = NOW) -> list[reports.NewStart]:
    """Record one batch of heartbeats."""
    installs = [(one.uuid, one.install_id) for one in said if one.install_id is not None]
    reports.note_installs(connection, now, list(dict.fromkeys(installs)))
    return reports.record_heartbeats(connection, now, CLOCK, said).started
