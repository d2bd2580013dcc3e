"""SQL of screens: the failing ones that a breaker counts, and those that are off outside the plan."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.clients.screens_rules import LASTS
from shared.clients.screens_store import in_a_row
from shared.postgres import query
from shared.postgres.fragments import is_well, may_be_mended, screen_fails
from shared.postgres.query import NO_ROW, Query
from shared.recovery.evidence.store import AT_REST, JOIN_RESTING
from shared.recovery.rules import LADDER
from shared.recovery.screens_rules import FailingScreen

_AS_RECOVERY_SEES_IT: Final = f"""
    clients AS c LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    LEFT JOIN client_recovery AS r ON r.client_uuid = c.uuid {JOIN_RESTING}"""


@query.rows(
    f"""
    SELECT c.uuid FROM clients AS c
    WHERE {screen_fails("c")} AND {may_be_mended("c.screen_health")} AND c.deleted_at IS NULL
    """
)
def mendable(connection: Connection) -> list[str]:
    """The clients with a screen that fails so that another start of the player may mend it."""


@query.rows(
    f"""
    SELECT c.site, c.screen_failed_at AS failed_at FROM {_AS_RECOVERY_SEES_IT}
    WHERE {screen_fails("c")} AND {may_be_mended("c.screen_health")} AND c.deleted_at IS NULL AND {is_well("c")}
        AND NOT coalesce({AT_REST}, false) AND coalesce(r.step, 0) < {len(LADDER)}
        AND NOT EXISTS (SELECT FROM recovery_breakers AS b
            WHERE b.basis = 'screen_failed' AND b.site IN ('', c.site) AND b.released_at >= c.screen_failed_at)
    """
)
def failing(connection: Connection, now: datetime, quiet: Collection[int]) -> list[FailingScreen]:
    """The screens that count for a breaker. A restart of the player may mend each of them.

    Screens of clients that are left alone or suspended do not count. Neither do screens that failed before a breaker
    was released. `quiet`: the ids of the quiet times that are on and let recovery rest.
    """


@query.rows(
    f"""
    SELECT c.site, count(*) FROM clients AS c
    WHERE c.screen_health <> 'unknown' AND c.deleted_at IS NULL AND {is_well("c")} GROUP BY c.site
    """
)
def telling(connection: Connection) -> dict[str | None, int]:
    """How many displays tell how their screen is, by site. Reads every client, so call it only when many fail."""


JUDGE_OFF = Query(
    f"""
    WITH off AS MATERIALIZED (
        SELECT c.uuid, coalesce({AT_REST}, false) OR c.screen_off_by IS NOT NULL AS planned,
            {is_well("c")} AND {in_a_row("c.screen_health_since", "g.previous_at", "g.received_at")}
                AND g.received_at >= CAST(:now AS timestamptz) - interval '{LASTS.total_seconds()} seconds' AS sure
        FROM {_AS_RECOVERY_SEES_IT} LEFT JOIN client_health AS g ON g.client_uuid = c.uuid
        WHERE c.screen_health = 'off' AND c.deleted_at IS NULL),
    wrong AS MATERIALIZED (
        SELECT c.uuid FROM clients AS c JOIN off USING (uuid)
        WHERE c.screen_health = 'off' AND CASE WHEN off.planned THEN {screen_fails("c")}
            ELSE off.sure AND NOT {screen_fails("c")} END
        ORDER BY c.uuid FOR NO KEY UPDATE OF c),
    changed AS (
        UPDATE clients AS c SET screen_failed_at = CASE WHEN off.planned THEN NULL ELSE CAST(:now AS timestamptz) END
        FROM off JOIN wrong USING (uuid) WHERE c.uuid = off.uuid
        RETURNING c.uuid, c.screen_health,
            CASE WHEN off.planned THEN CAST(:now AS timestamptz) ELSE c.screen_health_since END AS at,
            NOT off.planned AS fails)
    INSERT INTO client_screen_changes (client_uuid, at, screen, fails)
    SELECT uuid, at, screen_health, fails FROM changed
    """,
    NO_ROW,
)
"""If a screen is switched on while this statement waits for its row, the statement leaves the row alone."""


@query.rows("SELECT uuid FROM clients WHERE screen_health = 'off' AND deleted_at IS NULL")
def off(connection: Connection) -> list[str]:
    """The clients whose screen is off."""


def judge_off(connection: Connection, now: datetime, quiet: Collection[int]) -> int:
    """Write which screens that are off fail: the unplanned ones; note it for the history. Returns how many changed.

    It is planned if the client is left alone, or if the display says whose plan it is. `quiet`: the ids of the quiet
    times in which a screen may be off.
    """
    return JUDGE_OFF.run(connection, now=now, quiet=list(quiet))
