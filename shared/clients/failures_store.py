"""SQL on the service failures that clients show."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.clients.failures_rules import Marker, ServiceFailure
from shared.postgres.fragments import arrived_at
from shared.postgres.many import ManyRows
from shared.postgres.query import NO_ROW, Query

LAST_EVENTS: Final = 100  # of one client: a display that fails all the time costs no more


@dataclass(frozen=True, kw_only=True)
class KnownMarker(Marker):
    """The marker of a client."""

    uuid: str


def _read(stamp: str) -> str:
    """SQL: a stamp as an array, in the order of a Stamp."""
    parts = ", ".join(f"{stamp} -> '{part}'" for part in ("install_id", "boot_seq", "seq"))
    return f"CASE WHEN {stamp} IS NOT NULL THEN jsonb_build_array({parts}) END"


STAMP: Final = """CASE WHEN said.stamp IS NOT NULL THEN jsonb_build_object(
    'install_id', said.stamp -> 0, 'boot_seq', said.stamp -> 1, 'seq', said.stamp -> 2) END"""
"""SQL: the stamp of a failure as it is stored."""
LOCK_FAILURES = Query(
    f"""
    SELECT c.uuid, c.service_failed_unit AS unit, {_read("c.service_failed_stamp")} AS stamp,
        c.service_failed_cleared_unit AS cleared_unit, {_read("c.service_failed_cleared_stamp")} AS cleared_stamp,
        ARRAY(SELECT unit FROM (SELECT DISTINCT ON (unit) unit, event FROM (
                SELECT * FROM service_failure_events AS e WHERE e.client_uuid = c.uuid
                ORDER BY at DESC, id DESC LIMIT {LAST_EVENTS}) AS lately
            ORDER BY unit, at DESC, id DESC) AS last WHERE event = 'failed') AS unacknowledged
    FROM clients AS c WHERE c.uuid = ANY(:uuids) ORDER BY c.uuid FOR NO KEY UPDATE
    """,  # noqa: S608 - made of constants
    KnownMarker,
)


def lock_failures(connection: Connection, uuids: Sequence[str]) -> dict[str, Marker]:
    """The failure that each of these clients shows and the one acknowledged last; the rows stay locked.

    `unacknowledged`: the services whose last event is a failure.
    """
    return {marker.uuid: marker for marker in LOCK_FAILURES.all(connection, uuids=list(uuids))}


FAILURES: Final = ManyRows("said", ServiceFailure)
RAISE_FAILURES = Query(
    f"""
    WITH raised AS (
        UPDATE clients AS c SET service_failed_unit = said.unit, service_failed_stamp = {STAMP},
            service_failed_at = {arrived_at("said")}
        FROM {FAILURES} WHERE c.uuid = said.uuid
        RETURNING c.uuid, c.service_failed_at, c.service_failed_unit)
    INSERT INTO service_failure_events (client_uuid, at, event, unit)
    SELECT uuid, service_failed_at, 'failed', service_failed_unit FROM raised ORDER BY uuid
    """,  # noqa: S608 - made of constants
    NO_ROW,
)


def raise_failures(connection: Connection, now: datetime, clock: float, failures: Sequence[ServiceFailure]) -> None:
    """Show these failures, at most one of each client, from their arrival on, and keep them in the history."""
    RAISE_FAILURES.run(connection, now=now, clock=clock, **FAILURES.of(failures))


NAME_FAILURES = Query(
    f"""
    UPDATE clients AS c SET service_failed_stamp = {STAMP} FROM {FAILURES} WHERE c.uuid = said.uuid
    """,  # noqa: S608 - made of constants
    NO_ROW,
)


def name_failures(connection: Connection, failures: Sequence[ServiceFailure]) -> None:
    """Give the failures that are shown the stamps that were not known when they were raised."""
    NAME_FAILURES.run(connection, **FAILURES.of(failures))
