"""SQL on the moments at which displays told of lost connections; clients/reports/store writes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection

from shared.tables import client_losses

KEPT: Final = timedelta(days=1)
UNSTEADY_WITHIN: Final = timedelta(hours=1)
UNSTEADY_FROM: Final = 3  # losses within the hour; once may be the broker's fault, or ours
_UNSTEADY: Final = sa.text(
    f"""
    WITH lately AS (
        SELECT client_uuid, at, sum(losses) OVER (PARTITION BY client_uuid ORDER BY at) AS until_then
        FROM client_losses AS l WHERE at > CAST(:since AS timestamptz) AND at <= CAST(:now AS timestamptz)
            AND since > CAST(:since AS timestamptz) AND NOT EXISTS (
                SELECT FROM incident_members AS m WHERE m.client_uuid = l.client_uuid AND m.failed_at = l.at
                    AND m.symptom = 'disconnected'))
    SELECT client_uuid AS uuid, max(until_then) AS losses, min(at) FILTER (WHERE until_then >= {UNSTEADY_FROM}) AS since
    FROM lately GROUP BY client_uuid HAVING max(until_then) >= {UNSTEADY_FROM} ORDER BY client_uuid
    """  # noqa: S608 - made of constants
)


@dataclass(frozen=True)
class Unsteady:
    """A display that keeps losing the broker."""

    uuid: str
    losses: int
    """Within the last hour."""
    since: datetime
    """When we heard of the third of them."""


def unsteady(connection: Connection, now: datetime) -> Sequence[Unsteady]:
    """The displays that lost the broker three times or more within the last hour, by our own clock.

    What they lost together with others is an incident, and no fault of their connection.
    """
    rows = connection.execute(_UNSTEADY, {"now": now, "since": now - UNSTEADY_WITHIN})
    return [Unsteady(row.uuid, int(row.losses), row.since) for row in rows]


def drop_before(connection: Connection, before: datetime) -> int:
    """Forget the losses before then; how many rows that were."""
    return connection.execute(sa.delete(client_losses).where(client_losses.c.at < before)).rowcount
