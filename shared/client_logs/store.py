"""SQL of client logs. A write takes a whole batch, as an array of each column; `clock`: see clients/reports/store."""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final

import msgspec
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.client_logs.rules import LogLine
from shared.postgres import query
from shared.postgres.columns import ColumnQuery
from shared.postgres.many import ManyRows
from shared.tables import client_logs, clients
from shared.vocabulary import SERIOUS_LEVELS, LogLevel


class Log(msgspec.Struct, frozen=True):
    """One log row. `client_time` is the display's own clock; it is not used for the order."""

    id: int
    level: LogLevel
    raw_level: str | None
    message: str
    truncated: bool
    logger: str | None
    context: dict[str, Any] | None
    client_time: datetime | None
    received_at: datetime


class ErrorLog(Log, frozen=True):
    """One error of any client."""

    client_uuid: str
    client_name: str


SHOWN: Final = tuple(client_logs.c[name] for name in Log.__struct_fields__)


# --- writes ---


LINES: Final = ManyRows("said", LogLine)


@query.run(
    f"""
    INSERT INTO client_logs
        (client_uuid, level, raw_level, message, truncated, logger, context, client_time, received_at)
    SELECT uuid, CAST(level AS log_level), raw_level, message, truncated, logger, context, to_timestamp(client_time),
        CAST(:now AS timestamptz) - (CAST(:clock AS float8) - heard) * interval '1 second'
    FROM {LINES}
    """,
    LINES,
)
def add(connection: Connection, now: datetime, clock: float, lines: Sequence[LogLine]) -> None:
    """Store log lines, in their order."""


LAST_LINES: Final = 200  # lines of a client: as many as a late delivery repeats, and few to read


@query.rows(
    f"""
    SELECT said.uuid, CAST(extract(epoch FROM max(l.client_time)) AS float8) AS at
    FROM unnest(CAST(:uuids AS text[])) AS said(uuid), LATERAL (
        SELECT client_time FROM client_logs WHERE client_uuid = said.uuid
        ORDER BY received_at DESC, id DESC LIMIT {LAST_LINES}) AS l
    GROUP BY said.uuid HAVING max(l.client_time) IS NOT NULL
    """
)
def last_times(connection: Connection, uuids: Collection[str]) -> dict[str, float]:
    """Client -> the latest time by its own clock among its last lines, in seconds since 1970."""


# --- reads ---


def page_of_client(
    connection: Connection,
    uuid: str,
    levels: Collection[LogLevel],
    since: datetime | None,
    until: datetime | None,
    text: str | None,
    limit: int,
    cursor: tuple[datetime, int] | None,
) -> list[Log] | None:
    """Up to `limit` lines of one client, the newest first, that come after the pair (received_at, id) `cursor`.

    None if there is no such client or it was deleted. No `levels` means all. `since` is included and `until` is not;
    `text` is searched in message and logger, in any case.
    """
    literally = re.sub("([/%_])", r"/\1", text or "")
    asked = {"since": since, "until": until, "text": literally}
    given = {name: value for name, value in asked.items() if value} | _position(cursor)
    query = _page_of_client(frozenset(given), frozenset(levels))
    return query.all_if_known(connection, uuid=uuid, limit=limit, **given)


@cache
def _page_of_client(given: frozenset[str], levels: frozenset[LogLevel]) -> ColumnQuery[Log]:
    """The statement of a page with the filters `given`, limited to `levels` if there are any.

    Without filters Postgres may keep one plan for all values, which must also be good for a week that was empty when
    the plan was made. So the client is given as a range of one: then only the client's index has the demanded order,
    and not the index of the whole week.
    """
    c, text, uuid = client_logs.c, sa.bindparam("text", type_=sa.Text), sa.bindparam("uuid", type_=sa.Text)
    narrowed = {
        "since": c.received_at >= sa.bindparam("since"),
        "until": c.received_at < sa.bindparam("until"),
        "text": sa.or_(c.message.icontains(text, escape="/"), c.logger.icontains(text, escape="/")),
    }
    wanted = [condition for name, condition in narrowed.items() if name in given]
    if levels:
        wanted.append(_is_of(sorted(levels)))
    of_client = (c.client_uuid == uuid,) if wanted else (c.client_uuid >= uuid, c.client_uuid <= uuid)
    query = _after(sa.select(*SHOWN).where(*of_client, *wanted), given)
    page = _newest(query, *(() if wanted else (c.client_uuid.desc(),)))
    known = sa.exists().where(clients.c.uuid == uuid, clients.c.deleted_at.is_(None))
    return ColumnQuery(lambda: page, Log, known)


def recent_errors(
    connection: Connection, since: datetime, limit: int, cursor: tuple[datetime, int] | None
) -> list[ErrorLog]:
    """Up to `limit` error and critical lines of the fleet, the newest first."""
    place = _position(cursor)
    return _recent_errors(frozenset(place)).all(connection, since=since, limit=limit, **place)


@cache
def _recent_errors(given: frozenset[str]) -> ColumnQuery[ErrorLog]:
    """Planned once: for any values, the index of the weeks gives the newest lines first."""
    c = client_logs.c
    query = (
        sa.select(*SHOWN, c.client_uuid, clients.c.name.label("client_name"))
        .join(clients, clients.c.uuid == c.client_uuid)
        .where(_is_of(SERIOUS_LEVELS), c.received_at >= sa.bindparam("since"), clients.c.deleted_at.is_(None))
    )
    return ColumnQuery(lambda: _newest(_after(query, given)), ErrorLog)


def _is_of(levels: Iterable[LogLevel]) -> sa.ColumnElement[bool]:
    """SQL: whether a line has one of these levels; spelt out, so that the plan leaves out weeks of the other class."""
    level = client_logs.c.level
    return level.in_([sa.literal_column(f"'{one}'", level.type) for one in levels])


def _position(cursor: tuple[datetime, int] | None) -> dict[str, Any]:
    return {} if cursor is None else {"after_time": cursor[0], "after_id": cursor[1]}


def _after(query: sa.Select[Any], given: frozenset[str]) -> sa.Select[Any]:
    if "after_time" not in given:
        return query
    c = client_logs.c  # the first condition lets Postgres leave out whole partitions
    moment, number = sa.bindparam("after_time", type_=c.received_at.type), sa.bindparam("after_id", type_=c.id.type)
    return query.where(c.received_at <= moment, sa.tuple_(c.received_at, c.id) < sa.tuple_(moment, number))


def _newest(query: sa.Select[Any], *first: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """The first rows of `query`, ordered by `first` and then by age, the newest first."""
    c, limit = client_logs.c, sa.bindparam("limit", type_=sa.Integer)
    return query.order_by(*first, c.received_at.desc(), c.id.desc()).limit(limit)


@query.one(
    """
    SELECT CAST(coalesce(sum(greatest(p.reltuples, pg_stat_get_live_tuples(p.oid), 0)), 0) AS bigint)
    FROM pg_partition_tree('client_logs') AS t JOIN pg_class AS p ON p.oid = t.relid WHERE t.isleaf
    """
)
def estimated_count(connection: Connection) -> int:
    """About how many log lines are stored, without counting them."""


# --- partitions ---


@query.one(
    """
    SELECT count(*) FILTER (WHERE make_client_log_partition(severity_class, week_start))
    FROM (
        SELECT severity_class, this_week + 7 * week AS week_start
        FROM unnest(ARRAY['routine', 'serious']) AS severity_class,
            generate_series(0, CAST(:weeks_ahead AS int)) AS week,
            (SELECT CAST(date_trunc('week', CAST(:now AS timestamptz) AT TIME ZONE 'UTC') AS date) AS this_week) AS w
        UNION SELECT severity_class, week_start FROM client_log_weeks_without_partition()) AS wanted
    """
)
def ensure_partitions(connection: Connection, now: datetime, weeks_ahead: int) -> int:
    """Make the missing partitions of this week and `weeks_ahead` more. Returns how many were made.

    Past weeks without a partition get one too, and their lines move there.
    """


@query.rows(
    """
    SELECT CAST(CAST(relid AS regclass) AS text) AS name FROM pg_partition_tree('client_logs')
    WHERE isleaf AND CAST(CAST(relid AS regclass) AS text) ~ '^client_logs_(routine|serious)_[0-9]{4}w[0-9]{2}$'
    ORDER BY name
    """
)
def weekly_partitions(connection: Connection) -> list[str]:
    """The names of all weekly partitions, `client_logs_<class>_<ISO year>w<ISO week>`."""


@query.run("SELECT drop_client_log_partition(:name)")
def drop_partition(connection: Connection, name: str) -> None:
    """Drop one weekly partition with all its lines; `name` comes from `weekly_partitions`."""
