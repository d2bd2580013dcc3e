"""SQL of all displays' log lines in the order in which they were stored."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection

from shared.client_logs.store import ErrorLog
from shared.leadership.store import LIFE
from shared.postgres import query


class FedLog(ErrorLog, frozen=True):
    """One log row of any client."""

    site: str | None


class Horizon(NamedTuple):
    """What is stored at one moment.

    Every transaction with a number below `finished` has ended. A transaction that starts now gets `begun` or more.
    `newest` is the greatest id of a line that can be read. `newest_at` is when that line was received.
    """

    life: str
    finished: int
    begun: int
    newest: int
    newest_at: datetime


@query.one(
    f"""
    SELECT {LIFE} AS life, CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) AS finished,
        CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint) AS begun,
        coalesce(last.id, 0) AS newest, coalesce(last.received_at, now()) AS newest_at
    FROM pg_database AS d
    LEFT JOIN LATERAL (SELECT id, received_at FROM client_logs ORDER BY id DESC LIMIT 1) AS last ON true
    WHERE d.datname = current_database()
    """
)
def horizon(connection: Connection) -> Horizon:
    """What is stored now."""


@query.one(
    """
    SELECT EXISTS (
        SELECT FROM client_logs WHERE id = CAST(:line_id AS bigint) AND received_at = CAST(:at AS timestamptz))
    """
)
def is_stored(connection: Connection, line_id: int, at: datetime) -> bool:
    """Whether the line with this id, received at this time, is stored."""


@query.one(
    """
    SELECT coalesce((
        SELECT id FROM client_logs
        WHERE received_at < CAST(:at AS timestamptz) - CAST(:by_more_than AS interval)
        ORDER BY received_at DESC, id DESC LIMIT 1), 0) AS id
    """
)
def newest_before(connection: Connection, at: datetime, by_more_than: timedelta) -> int:
    """The id of the last line that was received so long before `at`; 0 when there is none."""


@query.rows(
    """
    SELECT l.id, l.level, l.raw_level, l.message, l.truncated, l.logger, l.context, l.client_time, l.received_at,
        l.client_uuid, c.name AS client_name, c.site
    FROM client_logs AS l JOIN clients AS c ON c.uuid = l.client_uuid
    WHERE l.id > CAST(:after AS bigint) AND l.id <= CAST(:upto AS bigint) ORDER BY l.id LIMIT CAST(:limit AS int)
    """
)
def between(connection: Connection, after: int, upto: int, limit: int) -> list[FedLog]:
    """Up to `limit` lines after the id `after`, up to the id `upto`."""
