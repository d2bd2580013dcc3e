"""SQL of the gauges: each statement counts by an index, or in a table that stays small. None reads the logs."""

from datetime import datetime
from typing import NamedTuple

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.fragments import is_open, screen_fails
from shared.postgres.query import Query


class Count(NamedTuple):
    """How many rows a word has."""

    word: str
    number: int


class EndedCommands(NamedTuple):
    """How many commands ended in a state for a reason; '' is no reason."""

    state: str
    reason: str
    number: int


class OpenBreakers(NamedTuple):
    """How many breakers of the fleet (0 or 1) and of sites are open."""

    fleet: int
    sites: int


class BrokerFiles(NamedTuple):
    """How many files the broker has open and may open, and how much memory it takes."""

    opened: int
    most: int
    memory_bytes: int


class CertificateLifetime(NamedTuple):
    """The lifetime of the certificate of a door."""

    door: str
    begins_at: datetime
    ends_at: datetime


class OpenCommands(Struct, frozen=True):
    """The open commands in a state. `waiting`: queued commands that no broker has answered yet."""

    state: str
    count: int
    oldest: datetime
    waiting: int
    oldest_waiting: datetime | None
    leased: int


class Conversions(Struct, frozen=True):
    """The conversions in a status: when the oldest was requested, and how many have an expired lease."""

    status: str
    count: int
    oldest: datetime
    leases_over: int


class Deliveries(Struct, frozen=True):
    """The notifications in a state, and when the oldest is due."""

    state: str
    count: int
    oldest_due: datetime


@query.rows(
    f"""
    SELECT k.state, count(*) AS count, min(k.created_at) AS oldest,
        count(*) FILTER (WHERE k.state = 'queued' AND k.publish_answer IS NULL) AS waiting,
        min(k.created_at) FILTER (WHERE k.state = 'queued' AND k.publish_answer IS NULL) AS oldest_waiting,
        count(*) FILTER (WHERE k.publish_lease_until > :now) AS leased
    FROM client_commands AS k WHERE {is_open("k")} GROUP BY k.state
    """
)
def open_commands(connection: Connection, now: datetime) -> list[OpenCommands]:
    """The open commands of each state that has any."""


ENDED_COMMANDS = Query(
    """
    SELECT state, coalesce(outcome_reason, ''), count(*) FROM client_commands WHERE finished_at > :since GROUP BY 1, 2
    """,
    EndedCommands,
)


def ended_commands(connection: Connection, since: datetime) -> dict[tuple[str, str], int]:
    """How many commands ended since then, by state and reason ('' is no reason)."""
    return {(state, reason): count for state, reason, count in ENDED_COMMANDS.all(connection, since=since)}


@query.rows(
    """
    SELECT CASE state WHEN 'succeeded' THEN 'stored' ELSE 'missing' END, count(*) FROM client_commands
    WHERE finished_at > :since AND action = 'screenshot' AND state IN ('succeeded', 'failed', 'timed_out') GROUP BY 1
    """
)
def screenshots(connection: Connection, since: datetime) -> dict[str, int]:
    """How many screenshots that a display took ended since then, by whether their picture is `stored` or `missing`."""


@query.rows(
    """
    SELECT k.action, count(*) FROM recovery_events AS e JOIN client_commands AS k ON k.id = e.command_id
    WHERE e.at > :since GROUP BY k.action
    """
)
def recovery_commands(connection: Connection, since: datetime) -> dict[str, int]:
    """How many commands recovery issued since then, by action."""


@query.one(
    """
    SELECT count(DISTINCT site) FILTER (WHERE site = ''), count(DISTINCT site) FILTER (WHERE site <> '')
    FROM recovery_breakers WHERE open_since IS NOT NULL
    """
)
def open_breakers(connection: Connection) -> OpenBreakers:
    """How many breakers are open."""


@query.rows(
    f"""
    SELECT CAST(c.screen_health AS text), count(*) FROM clients AS c
    WHERE {screen_fails("c")} AND c.deleted_at IS NULL GROUP BY 1
    """
)
def failing_screens(connection: Connection) -> dict[str, int]:
    """How many clients have a failing screen, by what it shows."""


@query.rows(
    """
    SELECT l.kind, count(*) FROM client_limits AS l JOIN clients AS c ON c.uuid = l.client_uuid
    WHERE l.passed_at IS NOT NULL AND c.deleted_at IS NULL GROUP BY l.kind
    """
)
def over_limits(connection: Connection) -> dict[str, int]:
    """How many clients pass each limit."""


@query.rows("SELECT kind, count(*) FROM incidents WHERE closed_at IS NULL GROUP BY kind")
def open_incidents(connection: Connection) -> dict[str, int]:
    """How many incidents are open, by kind."""


@query.rows(
    """
    SELECT status, count(*) AS count, min(coalesce(requested_at, created_at)) AS oldest,
        count(*) FILTER (WHERE status = 'processing' AND claimed_at < :expired_before) AS leases_over
    FROM conversions GROUP BY status
    """
)
def conversions_by_status(connection: Connection, expired_before: datetime) -> list[Conversions]:
    """The conversions of each status that has any."""


@query.rows("SELECT reason, count(*) FROM dead_letters WHERE last_at > :since GROUP BY reason")
def dead_letters_by_reason(connection: Connection, since: datetime) -> dict[str, int]:
    """How many different dead letters came since then, by reason."""


@query.rows(
    """
    SELECT state, count(*) AS count, min(due_at) AS oldest_due FROM notification_deliveries
    WHERE state = 'pending' OR created_at > :since GROUP BY state
    """
)
def deliveries(connection: Connection, since: datetime) -> list[Deliveries]:
    """The notifications of each state: those created since then, and older pending ones."""


@query.one("SELECT count(*) FROM notification_channels WHERE enabled AND last_failed_at IS NOT NULL")
def failing_channels(connection: Connection) -> int:
    """How many enabled channels failed to deliver their last message."""


@query.one(
    """
    SELECT count(*) FROM login_failures
    WHERE at > :since AND (bucket LIKE 'account:% address:%' OR bucket LIKE 'session:%')
    """
)
def sign_in_failures(connection: Connection, since: datetime) -> int:
    """How many sign-ins failed since then."""


@query.one("SELECT pg_database_size(current_database())")
def database_size(connection: Connection) -> int:
    """Bytes of this database."""


BROKER_FILES = Query("SELECT opened, most, memory_bytes FROM broker_files_seen", BrokerFiles)


def broker_files(connection: Connection) -> BrokerFiles:
    """What the broker's launcher recorded last; zeros if it recorded nothing."""
    return BROKER_FILES.one_or_none(connection) or BrokerFiles(0, 0, 0)


@query.one("SELECT count(*) FROM broker_crashes WHERE noticed_at > :since")
def broker_crashes_since(connection: Connection, since: datetime) -> int:
    """How often the broker crashed since then."""


@query.rows("SELECT door, begins_at, ends_at FROM door_certificates WHERE seen_at > :seen_since ORDER BY door")
def certificates(connection: Connection, seen_since: datetime) -> list[CertificateLifetime]:
    """The lifetime of the certificate of each door that was checked since then."""
