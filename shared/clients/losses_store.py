"""SQL of lost connections, as displays reported them; clients/reports/health_store writes them."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.query import Query

KEPT: Final = timedelta(days=1)
UNSTEADY_WITHIN: Final = timedelta(hours=1)
UNSTEADY_FROM: Final = 3  # losses in an hour; fewer may be the fault of the broker or of this service
ITS_OWN: Final = """
    NOT EXISTS (SELECT FROM incident_members AS m WHERE m.client_uuid = l.client_uuid AND m.failed_at = l.at
        AND m.symptom = 'disconnected')"""
"""SQL: the loss is not part of an incident, in which many displays lost the broker together."""


class UnsteadyClient(Struct, frozen=True):
    """A client that keeps losing the broker: how often within the last hour, and since when it counts as unsteady."""

    uuid: str
    name: str
    site: str | None
    losses: int
    since: datetime
    """When the service heard of the third loss."""


UNSTEADY = Query(
    f"""
    WITH lately AS (
        SELECT client_uuid, at, sum(losses) OVER (PARTITION BY client_uuid ORDER BY at) AS until_then
        FROM client_losses AS l WHERE at > CAST(:since AS timestamptz) AND at <= CAST(:now AS timestamptz)
            AND since > CAST(:since AS timestamptz) AND {ITS_OWN})
    SELECT c.uuid, c.name, c.site, CAST(max(until_then) AS bigint) AS losses,
        min(at) FILTER (WHERE until_then >= {UNSTEADY_FROM}) AS since
    FROM lately JOIN clients AS c ON c.uuid = lately.client_uuid AND c.deleted_at IS NULL
    GROUP BY c.uuid, c.name, c.site HAVING max(until_then) >= {UNSTEADY_FROM} ORDER BY max(until_then) DESC, c.uuid
    """,
    UnsteadyClient,
)
UNSTEADY_LOSSES: Final = f"""(
    SELECT CASE WHEN sum(l.losses) >= {UNSTEADY_FROM} THEN CAST(sum(l.losses) AS bigint) END FROM client_losses AS l
    WHERE l.client_uuid = c.uuid AND l.at > now() - interval '1 hour' AND l.since > now() - interval '1 hour'
        AND {ITS_OWN})"""
"""SQL: how often client `c` lost the broker within the last hour; null below UNSTEADY_FROM."""


def unsteady(connection: Connection, now: datetime) -> list[UnsteadyClient]:
    """The displays that lost the broker at least UNSTEADY_FROM times within the last hour; the worst first."""
    return UNSTEADY.all(connection, now=now, since=now - UNSTEADY_WITHIN)


@query.run("DELETE FROM client_losses WHERE at < :before")
def drop_before(connection: Connection, before: datetime) -> int:
    """Delete the losses before `before`. Returns how many rows."""
