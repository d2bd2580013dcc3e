"""SQL of reports: how the displays of sites are, and what happened lately."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection

from extensions.notifications.reports.rules import PastIncident, SiteNow
from shared.postgres import query
from shared.postgres.fragments import screen_fails, service_fails
from shared.quiet.store import covered_by
from shared.vocabulary import CommandSource, CommandState

OF_SITES = "(CAST(:sites AS text[]) IS NULL OR c.site = ANY(CAST(:sites AS text[])))"


@query.rows(
    f"""
    WITH rests AS {covered_by(":quiet")},
    one AS (
        SELECT coalesce(c.site, '') AS site, c.status,
            {service_fails("c")} OR {screen_fails("c")} AS fails,
            EXISTS (SELECT FROM rests WHERE rests.uuid = c.uuid) AS resting
        FROM clients AS c WHERE c.deleted_at IS NULL AND {OF_SITES})
    SELECT site, count(*) AS displays,
        count(*) FILTER (WHERE NOT resting AND status = 'stale') AS silent,
        count(*) FILTER (WHERE NOT resting AND status = 'crashed') AS crashed,
        count(*) FILTER (WHERE NOT resting AND status NOT IN ('stale', 'crashed') AND fails) AS failing,
        count(*) FILTER (WHERE resting) AS resting
    FROM one GROUP BY site ORDER BY site
    """
)
def places(connection: Connection, sites: Collection[str] | None, quiet: Collection[int]) -> list[SiteNow]:
    """The displays of these sites (None: all), counted by site. `quiet`: the quiet times in which screens are off."""


@query.rows(
    f"""
    SELECT i.cause, i.closed_at IS NOT NULL AS is_over FROM incidents AS i
    WHERE i.opened_at > :since AND i.merged_into IS NULL AND (CAST(:sites AS text[]) IS NULL OR EXISTS (
        SELECT FROM incident_members AS m JOIN clients AS c ON c.uuid = m.client_uuid
        WHERE m.incident_id = i.id AND {OF_SITES}))
    ORDER BY i.opened_at DESC
    """
)
def incidents(connection: Connection, sites: Collection[str] | None, since: datetime) -> list[PastIncident]:
    """The incidents at these sites (None: all) that opened after `since`, the newest first."""


@query.rows(
    f"""
    SELECT k.action, count(*) AS times FROM client_commands AS k JOIN clients AS c ON c.uuid = k.client_uuid
    WHERE k.finished_at > :since AND k.source = '{CommandSource.RECOVERY}' AND k.state = '{CommandState.SUCCEEDED}'
        AND {OF_SITES}
    GROUP BY k.action
    """
)
def recovered(connection: Connection, sites: Collection[str] | None, since: datetime) -> dict[str, int]:
    """How often each action of recovery succeeded after `since` at these sites (None: all)."""
