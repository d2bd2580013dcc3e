"""SQL that finds troubles, and troubles that are over. Its cost grows with the troubles, not with the fleet."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec import Struct
from sqlalchemy import Connection

from extensions.notifications.troubles.rules import Display, Spell
from shared.clients.limits_store import VALUES
from shared.clients.logins_rules import SHARED_FOR
from shared.clients.store import ClientState
from shared.postgres import query
from shared.postgres.fragments import is_unwell, is_well, screen_failed_since, screen_fails, service_fails
from shared.postgres.query import Query
from shared.recovery.rules import LADDER, MOST_REFUSED
from shared.vocabulary import ClientStatus, Door, IncidentKind, ScreenHealthStatus
from shared.words.sentences import Sentence

MOST: Final = 1000  # the most rows of a query, the newest first; the next tick takes the rest


class IncidentToTell(Struct, frozen=True):
    """An open incident; `reopened` is how often it was reopened."""

    id: int
    kind: IncidentKind
    key: str
    began_at: datetime
    opened_at: datetime
    cause: Sentence
    reopened: int
    reopened_at: datetime | None
    taken_by: str | None


class Affected(Display, frozen=True):
    """A display that is part of an incident, or was part of it and is `back`."""

    incident_id: int
    back: bool


class UnwellDisplay(Display, frozen=True):
    """A display that is silent or crashed, or whose service or screen fails; `suspended`: recovery tried everything."""

    status: ClientStatus
    status_since: datetime
    service_failed_at: datetime | None
    service_failed_unit: str | None
    screen_health: ScreenHealthStatus
    screen_failed_since: datetime | None
    suspended: bool
    decided_at: datetime | None
    noticed_at: datetime
    taken_by: str | None


class AilingDisplay(Display, frozen=True):
    """A display with one of its AILMENTS."""

    since: datetime
    at: datetime
    """When it counted as a trouble."""
    what: str = ""
    """The unit, the state of the screen, or the limit."""
    value: float = 0
    limit_at: float = 0
    taken_by: str | None = None


class EndedTrouble(NamedTuple):
    """A trouble that is over."""

    name: str
    silently: bool


class FailedConversion(Struct, frozen=True):
    """A conversion that failed for good, with the name of its presentation."""

    id: int
    generation: int
    finished_at: datetime
    error_message: str | None
    media_id: int
    filename: str


class DoorCertificate(Struct, frozen=True):
    """The last certificate that was seen at one of our doors."""

    door: Door
    begins_at: datetime
    ends_at: datetime
    seen_at: datetime


IN_NO_INCIDENT: Final = """
    NOT EXISTS (SELECT FROM incident_members AS m WHERE m.client_uuid = c.uuid AND m.left_at IS NULL)"""
SUSPENDED: Final = f"""CAST(:recovers AS boolean) AND coalesce(r.decided = 'suspended'
    AND (r.step >= {len(LADDER)} OR r.refused_restarts + r.refused_reboots >= {MOST_REFUSED}), false)"""
DISPLAYS = Query(  # uses the partial index of unwell clients; displays that every channel was told of are left out
    f"""
    SELECT c.uuid, c.name, c.site, c.status, c.status_since,
        CASE WHEN {service_fails("c")} THEN c.service_failed_at END AS service_failed_at,
        CASE WHEN {service_fails("c")} THEN c.service_failed_unit END AS service_failed_unit,
        CAST(c.screen_health AS text) AS screen_health, {screen_failed_since("c")} AS screen_failed_since,
        {SUSPENDED} AS suspended, r.decided_at, n.noticed_at,
        CASE WHEN {service_fails("c")} THEN c.service_failed_taken_by END AS taken_by
    FROM clients AS c LEFT JOIN client_recovery AS r ON r.client_uuid = c.uuid
    CROSS JOIN LATERAL (SELECT coalesce(max(s.noticed_at), c.status_since) AS noticed_at FROM client_state_changes AS s
        WHERE s.client_uuid = c.uuid AND s.at = c.status_since) AS n
    WHERE {is_unwell("c")} AND c.deleted_at IS NULL
        AND (c.status IN ('crashed', 'stale')
                AND (c.status_since <= CAST(:noticed_before AS timestamptz) OR {SUSPENDED})
            OR ({service_fails("c")} OR {screen_fails("c")}) AND {SUSPENDED})
        AND greatest(n.noticed_at, c.service_failed_at, r.decided_at) >= CAST(:since AS timestamptz)
        AND {IN_NO_INCIDENT}
        AND (SELECT count(*) FROM notification_deliveries AS d WHERE d.root = 'client:' || c.uuid
            AND d.created_at >= greatest(c.status_since, r.decided_at)) < CAST(:channels AS integer)
    ORDER BY c.status_since DESC, c.uuid LIMIT {MOST}
    """,
    UnwellDisplay,
)
_KEY: Final = "split_part(asked.name, ':', 2)"
_WHEN: Final = " ".join(f"WHEN '{kind}' THEN {sql}" for kind, sql in VALUES.items())
_HEARD: Final = f"c.status NOT IN ('stale', 'unknown') AND {IN_NO_INCIDENT}"


class Ailment(Struct, frozen=True):
    """A kind of trouble of single displays, in SQL about the client `c`."""

    fails: str
    at: str = ""
    """When it counted as a trouble; empty: `displays` finds it."""
    since: str = ""
    """When it began; empty: `at`."""
    facts: str = ""
    more: str = "true"
    """What else must hold before a message is sent. A deleted display is never in one."""
    silently: str = "false"
    """Nobody needs to hear that it is over."""
    joins: str = ""
    one: str = ""
    """Which row of the last join is meant, where a display may have several."""


AILMENTS: Final[Mapping[str, Ailment]] = {
    "client": Ailment(  # also recovery's end: suspended with a failure
        fails=f"""NOT ({is_well("c")} AND c.status_since <= CAST(:well_since AS timestamptz)
            AND NOT (({service_fails("c")} OR {screen_fails("c")}) AND {SUSPENDED}))""",
        joins="LEFT JOIN client_recovery AS r ON r.client_uuid = c.uuid",
    ),
    "service": Ailment(
        fails=service_fails("c"),
        at="c.service_failed_at",
        facts=", c.service_failed_unit AS what, c.service_failed_taken_by AS taken_by",
        more=IN_NO_INCIDENT,
    ),
    "screen": Ailment(
        fails=screen_fails("c"),
        at="c.screen_failed_at",
        since="c.screen_health_since",
        facts=", CAST(c.screen_health AS text) AS what",
        more=_HEARD,
        silently="c.screen_health IN ('off', 'unknown')",
    ),
    "limit": Ailment(  # silently: its newest report does not have the value, so it may not be well
        fails="l.passed_at IS NOT NULL",
        at="l.passed_at",
        since="l.over_since",
        facts=", l.kind AS what, l.value, l.limit_at",
        more=_HEARD,
        silently=f"(CASE {_KEY} {_WHEN} END) IS NULL",
        joins="""LEFT JOIN client_health AS g ON g.client_uuid = c.uuid
            LEFT JOIN client_limits AS l ON l.client_uuid = c.uuid""",
        one=f"AND l.kind = {_KEY}",
    ),
    "login": Ailment(  # two devices were seen lately with the client's login, and not for the first time
        fails=f"""(c.shared_login_seen_at IS NOT NULL AND c.shared_login_seen_at > c.shared_login_since
            AND c.shared_login_seen_at > CAST(:now AS timestamptz) - interval '{SHARED_FOR.total_seconds():.0f} s')""",
        at="c.shared_login_since",
    ),
}
"""The first word of a root -> the trouble."""
AILING: Final = {
    kind: Query(
        f"""
        SELECT c.uuid, c.name, c.site, {one.since or one.at} AS since, {one.at} AS at {one.facts}
        FROM clients AS c {one.joins}
        WHERE {one.fails} AND {one.at} >= CAST(:since AS timestamptz) AND c.deleted_at IS NULL AND {one.more}
        ORDER BY {one.at} DESC, c.uuid LIMIT {MOST}
        """,
        AilingDisplay,
    )
    for kind, one in AILMENTS.items()
    if one.at
}
OVER: Final = {
    kind: Query(
        f"""
        SELECT asked.name, c.deleted_at IS NOT NULL OR {one.silently} AS silently
        FROM unnest(CAST(:names AS text[])) AS asked(name) JOIN clients AS c ON c.uuid = split_part(asked.name, ':', 1)
        {one.joins} {one.one} WHERE c.deleted_at IS NOT NULL OR NOT coalesce({one.fails}, false)
        """,
        EndedTrouble,
    )
    for kind, one in AILMENTS.items()
}


@query.rows(
    """
    SELECT i.id, i.kind, i.key, i.began_at, i.opened_at, i.cause, count(e.id) AS reopened, max(e.at) AS reopened_at,
        i.taken_by
    FROM incidents AS i LEFT JOIN incident_events AS e ON e.incident_id = i.id AND e.kind = 'reopened'
    WHERE i.closed_at IS NULL GROUP BY i.id ORDER BY i.id
    """
)
def incidents(connection: Connection) -> list[IncidentToTell]:
    """Every open incident, with how often it was reopened and when last."""


@query.rows(
    """
    WITH RECURSIVE line AS (
        SELECT i.id AS of, i.opened_at AS last_at, i.id, i.again_of, i.opened_at, i.closed_at FROM incidents AS i
        WHERE i.id = ANY(CAST(:incident_ids AS bigint[]))
        UNION ALL SELECT l.of, l.last_at, i.id, i.again_of, i.opened_at, i.closed_at
        FROM line AS l JOIN incidents AS i ON i.id = l.again_of AND (i.closed_at > l.last_at - interval '1 day'
            OR i.closed_at > l.opened_at - CAST(:gap AS interval)))
    SELECT of, id, opened_at, closed_at, coalesce(closed_at > last_at - interval '1 day', true) AS is_of_the_day
    FROM line ORDER BY of, opened_at, id
    """
)
def lines(connection: Connection, incident_ids: Collection[int], gap: timedelta) -> list[Spell]:
    """These incidents and those before them, of the day before or not well for `gap` in between, the oldest first."""


@query.rows(
    """
    SELECT m.incident_id, c.uuid, c.name, c.site, bool_and(m.left_at IS NOT NULL) AS back
    FROM incident_members AS m JOIN clients AS c ON c.uuid = m.client_uuid
    WHERE m.incident_id = ANY(CAST(:incident_ids AS bigint[]))
    GROUP BY m.incident_id, c.uuid ORDER BY m.incident_id, c.name, c.uuid
    """
)
def members(connection: Connection, incident_ids: Collection[int]) -> list[Affected]:
    """The displays that were ever part of these incidents, by incident and name."""


def displays(
    connection: Connection, noticed_before: datetime, since: datetime, channels: int, *, recovers: bool
) -> list[UnwellDisplay]:
    """Unwell displays in no open incident: unwell since before `noticed_before`, or suspended by recovery.

    Troubles from before `since` are left out, and displays about which `channels` channels (all that take such events)
    have a message.
    """
    bounds = {"noticed_before": noticed_before, "since": since, "channels": channels}
    return DISPLAYS.all(connection, **bounds, recovers=recovers)


def ailing(connection: Connection, now: datetime, kind: str, since: datetime) -> list[AilingDisplay]:
    """Displays with this trouble since `since`."""
    return AILING[kind].all(connection, now=now, since=since)


def over(connection: Connection, kind: str, names: Collection[str], **values: object) -> dict[str, bool]:
    """Which of these troubles (`uuid`, `uuid:limit`) are over; True when nobody needs to hear of it.

    That is when the client was deleted, and when nobody knows whether it is well.
    """
    return {ended.name: ended.silently for ended in OVER[kind].all(connection, names=list(names), **values)}


@query.rows(
    f"""
    SELECT c.id, c.generation, c.finished_at, c.error_message, m.id AS media_id, m.filename
    FROM conversions AS c JOIN event_media AS m ON m.id = c.source_event_media_id AND m.deleted_at IS NULL
    WHERE c.status = 'failed' AND c.finished_at >= CAST(:since AS timestamptz)
    ORDER BY c.finished_at DESC, c.id LIMIT {MOST}
    """
)
def conversions(connection: Connection, since: datetime) -> list[FailedConversion]:
    """Conversions that failed for good since `since`."""


@query.rows(
    """
    SELECT asked.id, i.merged_into IS NOT NULL OR i.id IS NULL OR EXISTS (
        SELECT FROM incidents AS n WHERE n.again_of = i.id AND n.opened_at <= i.closed_at) AS silently
    FROM unnest(CAST(:ids AS bigint[])) AS asked(id) LEFT JOIN incidents AS i ON i.id = asked.id
    WHERE i.id IS NULL OR i.closed_at IS NOT NULL
    """
)
def over_incidents(connection: Connection, ids: Collection[int]) -> dict[int, bool]:
    """Which of these incidents are over; True when it went on as another one or was deleted."""


@query.rows(
    """
    WITH RECURSIVE later AS (
        SELECT id AS of, id, closed_at, merged_into FROM incidents WHERE id = ANY(CAST(:ids AS bigint[]))
        UNION ALL
        SELECT l.of, n.id, n.closed_at, n.merged_into FROM later AS l JOIN incidents AS n ON n.again_of = l.id)
    SELECT asked.id, coalesce(bool_or(l.merged_into IS NOT NULL), true) AS silently
    FROM unnest(CAST(:ids AS bigint[])) AS asked(id) LEFT JOIN later AS l ON l.of = asked.id
    GROUP BY asked.id
    HAVING coalesce(bool_and(l.closed_at IS NOT NULL AND l.closed_at <= CAST(:well_since AS timestamptz)), true)
    """
)
def over_flapping(connection: Connection, ids: Collection[int], well_since: datetime) -> dict[int, bool]:
    """Which of these incidents were, with all that followed them, over by `well_since`; True as in `over_incidents`."""


@query.rows("SELECT id, taken_by FROM incidents WHERE id = ANY(:ids) AND taken_by IS NOT NULL")
def takers(connection: Connection, ids: Collection[int]) -> dict[int, str]:
    """Who looks after these incidents, or did until their end."""


@query.rows("SELECT door, begins_at, ends_at, seen_at FROM door_certificates ORDER BY door")
def certificates(connection: Connection) -> list[DoorCertificate]:
    """The last certificates that were seen at our doors."""


@query.rows(
    f"""
    SELECT c.uuid, c.status, c.process_status, c.service_failed_at, c.service_mended_at,
        {screen_failed_since("c")} AS screen_failed_since
    FROM clients AS c WHERE c.uuid = ANY(:uuids)
    """
)
def states(connection: Connection, uuids: Collection[str]) -> list[ClientState]:
    """The columns that decide whether a client is unwell, for each of these clients."""
