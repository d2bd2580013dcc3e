"""/api/client-logs: what displays log."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

import msgspec

from functions.api.bodies import Answer, NoQuery, QueryParameters, Time, Uuid
from functions.api.pages import CursorText, LongLimit, Page, decode_cursor, encode_cursor, page_of
from functions.api.routing import Bound, Call, Routes
from functions.problems import InvalidField
from shared.client_logs import feed_operations, hourly_counts_store, store
from shared.client_logs.feed_operations import FeedPlace
from shared.client_logs.feed_store import FedLog
from shared.client_logs.hourly_counts_store import ClientSummary
from shared.client_logs.store import ErrorLog, Log
from shared.errors import ClientNotFound
from shared.vocabulary import LogLevel, Role

routes = Routes("client_logs", "/api/client-logs", "What displays log, newest first.")

Hours = Annotated[int, msgspec.Meta(ge=1, le=24 * 90, description="how far to look back, in hours")]


class LogQuery(QueryParameters):
    """Which log rows of a client to list."""

    level: list[LogLevel] = msgspec.field(default_factory=list)
    since: Time | None = None
    until: Time | None = None
    q: Annotated[str, msgspec.Meta(max_length=200, description="part of the message")] | None = None
    limit: LongLimit = 100
    cursor: CursorText | None = None


class SummaryQuery(QueryParameters):
    """How far the summary looks back, and for which client."""

    hours: Hours = 24
    client: Annotated[Uuid, msgspec.Meta(description="only this client")] | None = None


class RecentErrorsQuery(QueryParameters):
    """Which errors to list."""

    hours: Hours = 24
    limit: LongLimit = 100
    cursor: CursorText | None = None


class FeedQuery(QueryParameters):
    """How far the reader is."""

    cursor: Annotated[str, msgspec.Meta(max_length=1024, description="`next_cursor` of the last answer")] | None = None
    start: Annotated[Literal["now", "oldest"], msgspec.Meta(description="where to begin without a cursor")] = "now"
    limit: LongLimit = 1000


class Feed(Answer):
    """The next lines of all displays. `next_cursor` is for the next request, also when there are no lines."""

    items: list[FedLog]
    next_cursor: str


class Summary(Answer):
    """The number of log lines since `since`, by level and by client."""

    since: datetime
    totals: dict[str, int]
    clients: list[ClientSummary]


class TestAnswer(Answer):
    """Proof that the blueprint answers; `logs` is Postgres' own estimate of the rows stored."""

    status: str
    blueprint: str
    logs: int


@routes.get("/<uuid:uuid>/logs", role=Role.VIEWER, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def client_logs(call: Call, uuid: str, query: LogQuery) -> Page[Log]:
    """Logs of one client, newest first."""
    if query.since and query.until and query.since > query.until:
        raise InvalidField.at("since", "field_before_until")
    after = decode_cursor(query.cursor, datetime, int)
    with call.transaction() as (connection, _):
        rows = store.page_of_client(
            connection, uuid, query.level, query.since, query.until, query.q, query.limit + 1, after
        )
    if rows is None:
        raise ClientNotFound
    return page_of(rows, query.limit, _place)


@routes.get("/summary", role=Role.VIEWER, bound=Bound.LISTS)
def summary(call: Call, query: SummaryQuery) -> Summary:
    """Counts by level, per client and in total, over whole hours."""
    with call.transaction() as (connection, now):
        since = (now - timedelta(hours=query.hours)).replace(minute=0, second=0, microsecond=0)
        rows = hourly_counts_store.summary(connection, since, query.client)
    totals = dict.fromkeys(map(str, LogLevel), 0)
    for row in rows:
        for level, count in row.counts.items():
            totals[level] += count
    return Summary(since=since, totals=totals, clients=rows)


@routes.get("/feed", role=Role.VIEWER, bound=Bound.FLEET)
def feed(call: Call, query: FeedQuery) -> Feed:
    """Every line of all displays in the order in which it was stored, each once, also while others are being stored.

    After Postgres forgot commits the lines of the last minutes come again.
    """
    known = decode_cursor(query.cursor, str, int, int, int, datetime)
    with call.transaction() as (connection, _):
        place = FeedPlace(*known) if known else None
        lines, place = feed_operations.feed(connection, place, query.limit, oldest=query.start == "oldest")
    reached = (place.life, place.after, place.upto, place.begun, place.at)
    return Feed(items=list(lines), next_cursor=encode_cursor(reached))


@routes.get("/recent-errors", role=Role.VIEWER, bound=Bound.LISTS)
def recent_errors(call: Call, query: RecentErrorsQuery) -> Page[ErrorLog]:
    """Error and critical logs of the whole fleet, newest first."""
    after = decode_cursor(query.cursor, datetime, int)
    with call.transaction() as (connection, now):
        rows = store.recent_errors(connection, now - timedelta(hours=query.hours), query.limit + 1, after)
    return page_of(rows, query.limit, _place)


def _place(row: Log) -> tuple[datetime, int]:
    """The cursor's values: the place of a row in a list of logs."""
    return row.received_at, row.id


@routes.get("/test", role=Role.VIEWER, bound=Bound.FLEET)
def test_route(call: Call, query: NoQuery) -> TestAnswer:  # noqa: ARG001 - no parameter is accepted
    """Whether this blueprint answers and the database holds logs."""
    with call.transaction() as (connection, _):
        return TestAnswer(status="ok", blueprint="client_logs", logs=store.estimated_count(connection))
