"""SQL of hourly counts: how much each client logged in each hour, by level, counted as the lines are stored."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.postgres.columns import ColumnQuery
from shared.postgres.many import ManyRows
from shared.postgres.query import NO_ROW, Query
from shared.tables import client_log_hours, clients
from shared.vocabulary import SERIOUS_LEVELS, LogLevel

Counts = Mapping[tuple[str, datetime, LogLevel], tuple[int, datetime]]
"""(client, hour, level) -> how many lines, and when the last one came."""


class HourCount(NamedTuple):
    """How many lines of a level a client logged in an hour, and when the last one came."""

    uuid: str
    hour: datetime
    level: LogLevel
    lines: int
    last_at: datetime


COUNTED: Final = ManyRows("logged", HourCount)
_SUMS: Final = ", ".join(f"coalesce(sum(lines) FILTER (WHERE level = '{level}'), 0)" for level in LogLevel)
_SERIOUS: Final = ", ".join(f"'{level}'" for level in SERIOUS_LEVELS)
ADD = Query(
    f"""
    INSERT INTO client_log_hours AS h (client_uuid, hour, {", ".join(LogLevel)}, last_error_at)
    SELECT uuid, hour, {_SUMS}, max(last_at) FILTER (WHERE level IN ({_SERIOUS}))
    FROM {COUNTED} GROUP BY hour, uuid ORDER BY hour, uuid
    ON CONFLICT (hour, client_uuid) DO UPDATE
        SET {", ".join(f"{level} = h.{level} + EXCLUDED.{level}" for level in LogLevel)},
            last_error_at = greatest(h.last_error_at, EXCLUDED.last_error_at)
    """,
    NO_ROW,
)


def add(connection: Connection, counts: Counts) -> None:
    """Add these counts to each client's hours."""
    ADD.run(connection, **COUNTED.of([HourCount(*which, *counted) for which, counted in counts.items()]))


class ClientSummary(msgspec.Struct, frozen=True):
    """How much one client logged, by level."""

    uuid: str
    name: str
    counts: dict[str, int]
    last_error_at: datetime | None


def summary(connection: Connection, since: datetime, client_uuid: str | None = None) -> list[ClientSummary]:
    """The counts of each client that logged, ordered by name, in whole hours from that of `since`; or of one client."""
    return _summary(of_one=client_uuid is not None).all(connection, since=since, client_uuid=client_uuid)


@cache
def _summary(*, of_one: bool) -> ColumnQuery[ClientSummary]:
    h = client_log_hours.c
    since = sa.bindparam("since", type_=h.hour.type)
    whose = h.client_uuid == sa.bindparam("client_uuid", type_=sa.Text) if of_one else sa.true()
    theirs = (
        sa.select(h.client_uuid, _counts(h).label("counts"), sa.func.max(h.last_error_at).label("last_error_at"))
        .where(h.hour >= sa.func.date_trunc("hour", since), whose)
        .group_by(h.client_uuid)
        .subquery()
    )
    query = (
        sa.select(clients.c.uuid, clients.c.name, theirs.c.counts, theirs.c.last_error_at)
        .join(theirs, theirs.c.client_uuid == clients.c.uuid)
        .where(clients.c.deleted_at.is_(None))
        .order_by(clients.c.name, clients.c.uuid)
    )
    return ColumnQuery(lambda: query, ClientSummary)


def _counts(h: Any) -> sa.ColumnElement[Any]:
    """SQL: a JSON object with the number of lines of each level that has any, in one pass over the hours.

    It is built by hand, because the function of Postgres takes three times as long.
    """
    pairs = (
        sa.literal_column(f"'\"{level}\":'", sa.Text).op("||")(sa.func.nullif(sa.func.sum(h[level.value]), 0))
        for level in LogLevel
    )
    return sa.cast(sa.func.concat("{", sa.func.concat_ws(",", *pairs), "}"), sa.JSON)


DROP = Query("DELETE FROM client_log_hours WHERE hour < :before", NO_ROW)


def drop(connection: Connection, before: datetime) -> int:
    """Delete the hours that ended before `before`. Returns how many rows."""
    return DROP.run(connection, before=before - timedelta(hours=1))
