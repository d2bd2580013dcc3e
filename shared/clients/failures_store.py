"""SQL on the service failures that clients show; see clients/reports/store for `clock`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping

from shared.clients.failures_rules import ServiceFailure

LAST_EVENTS: Final = 100  # of one client: a display that fails all the time costs no more


def lock_failures(connection: Connection, uuids: Sequence[str]) -> Sequence[RowMapping]:
    """The failure that each of these clients shows and the one acknowledged last; the rows stay locked.

    `unacknowledged`: the services whose last event is a failure.
    """
    statement = sa.text(
        f"""
        SELECT c.uuid, c.service_failed_unit, c.service_failed_stamp, c.service_failed_cleared_unit,
            c.service_failed_cleared_stamp,
            ARRAY(SELECT unit FROM (SELECT DISTINCT ON (unit) unit, event FROM (
                    SELECT * FROM service_failure_events AS e WHERE e.client_uuid = c.uuid
                    ORDER BY at DESC, id DESC LIMIT {LAST_EVENTS}) AS lately
                ORDER BY unit, at DESC, id DESC) AS last WHERE event = 'failed') AS unacknowledged
        FROM clients AS c WHERE c.uuid = ANY(CAST(:uuids AS text[])) ORDER BY c.uuid FOR NO KEY UPDATE
        """  # noqa: S608 - a constant
    )
    return connection.execute(statement, {"uuids": list(uuids)}).mappings().all()


def raise_failures(connection: Connection, now: datetime, clock: float, failures: Sequence[ServiceFailure]) -> None:
    """Show these failures, at most one of each client, as of their arrival, and keep them in its history."""
    statement = sa.text(
        """
        WITH raised AS (
            UPDATE clients AS c SET service_failed_unit = said.unit, service_failed_stamp = nullif(said.stamp, 'null'),
                service_failed_at =
                    CAST(:now AS timestamptz) - (CAST(:clock AS float8) - said.heard) * interval '1 second'
            FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(uuid text, heard float8, unit text, stamp jsonb)
            WHERE c.uuid = said.uuid
            RETURNING c.uuid, c.service_failed_at, c.service_failed_unit)
        INSERT INTO service_failure_events (client_uuid, at, event, unit)
        SELECT uuid, service_failed_at, 'failed', service_failed_unit FROM raised ORDER BY uuid
        """
    )
    connection.execute(statement, {"now": now, "clock": clock, "rows": _rows(failures)})


def name_failures(connection: Connection, failures: Sequence[ServiceFailure]) -> None:
    """Give the failures that are shown the stamps that were not known when they were raised."""
    statement = sa.text(
        """
        UPDATE clients AS c SET service_failed_stamp = said.stamp
        FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(uuid text, stamp jsonb)
        WHERE c.uuid = said.uuid
        """
    )
    connection.execute(statement, {"rows": _rows(failures)})


def _rows(failures: Sequence[ServiceFailure]) -> str:
    return msgspec.json.encode([_row(failure) for failure in failures]).decode()


def _row(failure: ServiceFailure) -> dict[str, Any]:
    stamp = dict(zip(("install_id", "boot_seq", "seq"), failure.stamp, strict=True)) if failure.stamp else None
    return {"uuid": failure.uuid, "heard": failure.heard, "unit": failure.unit, "stamp": stamp}
