"""SQL of service failures: displays open them, people acknowledge them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients.failures_rules import Marker, ServiceFailure
from shared.postgres import query
from shared.postgres.fragments import END_OF_TIME, arrived_at, is_mended, no_failure_stands, service_fails
from shared.postgres.many import ManyRows
from shared.postgres.query import Query

LAST_EVENTS: Final = 100  # events read for a client, even if it fails all the time


class KnownMarker(Marker, frozen=True, kw_only=True):
    """The marker of a client."""

    uuid: str


def _read(stamp: str) -> str:
    """SQL: a stamp as an array, in the order of a Stamp. Old code wrote JSON's null for none."""
    parts = ", ".join(f"{stamp} -> '{part}'" for part in ("install_id", "boot_seq", "seq"))
    return f"CASE WHEN jsonb_typeof({stamp}) = 'object' THEN jsonb_build_array({parts}) END"


STAMP: Final = """CASE WHEN said.stamp IS NOT NULL THEN jsonb_build_object(
    'install_id', said.stamp -> 0, 'boot_seq', said.stamp -> 1, 'seq', said.stamp -> 2) END"""
"""SQL: the stamp of a failure in its stored form."""
LOCK_FAILURES = Query(
    f"""
    SELECT c.uuid, c.service_failed_unit AS unit, {_read("c.service_failed_stamp")} AS stamp,
        c.service_failed_cleared_unit AS cleared_unit, {_read("c.service_failed_cleared_stamp")} AS cleared_stamp,
        ARRAY(SELECT unit FROM (SELECT DISTINCT ON (unit) unit, event FROM (
                SELECT * FROM service_failure_events AS e WHERE e.client_uuid = c.uuid
                ORDER BY at DESC, id DESC LIMIT {LAST_EVENTS}) AS lately
            ORDER BY unit, at DESC, id DESC) AS last WHERE event = 'failed') AS unacknowledged,
        c.service_mended_at IS NOT NULL AS mended
    FROM clients AS c WHERE c.uuid = ANY(:uuids) ORDER BY c.uuid FOR NO KEY UPDATE
    """,
    KnownMarker,
)


def lock_failures(connection: Connection, uuids: Sequence[str]) -> dict[str, Marker]:
    """Each client's open failure and the one acknowledged last; the rows stay locked.

    `unacknowledged`: the services whose last event is a failure.
    """
    return {marker.uuid: marker for marker in LOCK_FAILURES.all(connection, uuids=list(uuids))}


NOT_TAKEN: Final = "service_failed_taken_by = NULL, service_failed_taken_at = NULL, service_failed_taken_note = NULL"
"""SQL: nobody looks after the failure."""
NEITHER_MENDED_NOR_TAKEN: Final = f"service_mended_at = NULL, {NOT_TAKEN}"
"""SQL: nothing that holds for one failure holds for the next."""
FAILURES: Final = ManyRows("said", ServiceFailure)


@query.run(
    f"""
    WITH raised AS (
        UPDATE clients AS c SET service_failed_unit = said.unit, service_failed_stamp = {STAMP},
            service_failed_at = {arrived_at("said")}, {NEITHER_MENDED_NOR_TAKEN}
        FROM {FAILURES} WHERE c.uuid = said.uuid
        RETURNING c.uuid, c.service_failed_at, c.service_failed_unit)
    INSERT INTO service_failure_events (client_uuid, at, event, unit)
    SELECT uuid, service_failed_at, 'failed', service_failed_unit FROM raised ORDER BY uuid
    """,
    FAILURES,
)
def raise_failures(connection: Connection, now: datetime, clock: float, failures: Sequence[ServiceFailure]) -> None:
    """Open these failures, at most one for each client, at their time of arrival, and add them to the history."""


@query.run(
    f"""
    UPDATE clients AS c SET service_failed_stamp = {STAMP} FROM {FAILURES} WHERE c.uuid = said.uuid
    """,
    FAILURES,
)
def name_failures(connection: Connection, failures: Sequence[ServiceFailure]) -> None:
    """Add the missing stamps to open failures."""


_MENDED: Final = f"{service_fails('c')} AND c.deleted_at IS NULL AND {no_failure_stands('c', 'h')}"


@query.rows(
    f"""
    SELECT c.uuid FROM clients AS c JOIN client_health AS h ON h.client_uuid = c.uuid
    WHERE {_MENDED} ORDER BY c.uuid FOR NO KEY UPDATE OF c SKIP LOCKED
    """
)
def lock_mended(connection: Connection) -> list[str]:
    """The clients whose failure is mended; the rows stay locked. Rows that are locked elsewhere are left out."""


@query.run(
    f"""
    UPDATE clients AS c SET service_mended_at = :now, {NOT_TAKEN} FROM client_health AS h
    WHERE c.uuid = ANY(:uuids) AND h.client_uuid = c.uuid AND {_MENDED}
    """
)
def end_mended(connection: Connection, now: datetime, uuids: Collection[str]) -> int:
    """End the failures of these clients that are still mended; nobody looks after them any more. Returns how many."""


class ShownFailure(Struct, frozen=True):
    """A client's open service failure; None: there is none."""

    service_failed_at: datetime | None
    service_failed_unit: str | None


class SeenFailure(Struct, frozen=True):
    """An open failure as a person saw it."""

    uuid: str
    service_failed_at: datetime


class AcknowledgedFailure(Struct, frozen=True):
    """A failure that somebody acknowledged."""

    uuid: str
    name: str
    site: str | None
    unit: str | None
    acknowledged_at: datetime
    acknowledged_by: str


@query.one_or_none(
    """
    SELECT service_failed_at, service_failed_unit FROM clients WHERE uuid = :uuid AND deleted_at IS NULL FOR UPDATE
    """
)
def lock_failure(connection: Connection, uuid: str) -> ShownFailure | None:
    """The client's open failure; the row stays locked until the transaction ends. None: no such client."""


@query.run(
    f"""
    WITH cleared AS (
        UPDATE clients SET service_failed_at = NULL, service_failed_unit = NULL, service_failed_stamp = NULL,
            {NEITHER_MENDED_NOR_TAKEN}, service_failed_cleared_at = :now, service_failed_cleared_by = :by,
            service_failed_cleared_unit = service_failed_unit, service_failed_cleared_stamp = service_failed_stamp
        WHERE uuid = :uuid AND service_failed_at IS NOT NULL
        RETURNING uuid, service_failed_cleared_at, service_failed_cleared_unit, service_failed_cleared_by)
    INSERT INTO service_failure_events (client_uuid, at, event, unit, by)
    SELECT uuid, service_failed_cleared_at, 'cleared', service_failed_cleared_unit, service_failed_cleared_by
    FROM cleared
    """
)
def clear_service_failed(connection: Connection, now: datetime, uuid: str, by: str) -> bool:
    """End the client's open failure, remember it as acknowledged and in the history. False without one."""


class EndedFailure(NamedTuple):
    """A client whose failure was acknowledged."""

    uuid: str
    unit: str


SHOWN: Final = ManyRows("shown", SeenFailure)


@query.rows(
    f"""
    WITH mended AS (
        SELECT c.uuid, c.service_failed_unit AS unit FROM {SHOWN}
        JOIN clients AS c ON c.uuid = shown.uuid AND c.service_failed_at = shown.service_failed_at
        LEFT JOIN client_health AS h ON h.client_uuid = c.uuid
        WHERE c.deleted_at IS NULL AND {is_mended("c", "h")} ORDER BY c.uuid FOR NO KEY UPDATE OF c),
    cleared AS (
        UPDATE clients AS c SET service_failed_at = NULL, service_failed_unit = NULL, service_failed_stamp = NULL,
            {NEITHER_MENDED_NOR_TAKEN}, service_failed_cleared_at = :now, service_failed_cleared_by = :by,
            service_failed_cleared_unit = c.service_failed_unit, service_failed_cleared_stamp = c.service_failed_stamp
        FROM mended WHERE c.uuid = mended.uuid),
    recorded AS (
        INSERT INTO service_failure_events (client_uuid, at, event, unit, by)
        SELECT uuid, :now, 'cleared', unit, :by FROM mended)
    SELECT uuid, unit FROM mended ORDER BY uuid
    """,
    SHOWN,
)
def clear_mended(
    connection: Connection, now: datetime, failures: Collection[SeenFailure], by: str
) -> list[EndedFailure]:
    """End those of these failures that still stand as they were seen and are mended. Returns them, by uuid."""


RECENTLY_CLEARED = Query(
    """
    SELECT uuid, name, site, service_failed_cleared_unit AS unit, service_failed_cleared_at AS acknowledged_at,
        service_failed_cleared_by AS acknowledged_by
    FROM clients
    WHERE service_failed_cleared_at > :since AND deleted_at IS NULL AND service_failed_cleared_at <= :at
        AND (service_failed_cleared_at < :at OR uuid > :uuid)
    ORDER BY service_failed_cleared_at DESC, uuid LIMIT :limit
    """,
    AcknowledgedFailure,
)


def recently_cleared(
    connection: Connection, since: datetime, limit: int, after: tuple[datetime, str] | None = None
) -> list[AcknowledgedFailure]:
    """Failures acknowledged after `since`, the newest first, with the person who did it.

    `after`: time of acknowledgement and uuid of the last entry of the page before.
    """
    at, uuid = after or (END_OF_TIME, "")
    return RECENTLY_CLEARED.all(connection, since=since, limit=limit, at=at, uuid=uuid)
