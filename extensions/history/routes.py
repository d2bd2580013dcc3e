"""/api/clients/<uuid>/uptime and /events: what happened to one client."""

from datetime import datetime, timedelta
from typing import Annotated, Any

import msgspec

from extensions.history import operations
from functions.api.bodies import Answer, QueryParameters, answer_of
from functions.api.pages import Page, PageQuery, decode_cursor, page
from functions.api.routing import Bound, Call, Routes
from shared.errors import ClientNotFound
from shared.vocabulary import ClientStatus, EventKind, Role
from shared.words.sentences import Sentence

routes = Routes("history", "/api/clients", "What happened to one display: its uptime and its timeline.")


class UptimeQuery(QueryParameters):
    """How many days to show."""

    days: Annotated[int, msgspec.Meta(ge=1, le=30, description="how far back `segments` go")] = 7


class UptimeWindow(Answer):
    """The share of each state in the last `hours`, or since the client exists.

    Only opening hours count: `closed_seconds`, in which the screen was meant to be off, are in no other figure. Time in
    the state `unknown` (never heard, or the bridge was silent) is not counted: the other shares add up to 1.
    All are 0 when the whole time is unknown.
    """

    hours: int
    shares: dict[str, float]
    known_seconds: float
    unknown_seconds: float
    closed_seconds: float


class ClosedTime(Answer):
    """A time in which the screen was meant to be off."""

    begins: datetime = msgspec.field(name="from")
    ends: datetime = msgspec.field(name="to")


class UptimeSegment(Answer):
    """A time in which the shown state did not change."""

    begins: datetime = msgspec.field(name="from")
    ends: datetime = msgspec.field(name="to")
    status: ClientStatus


class Uptime(Answer):
    """Shares over 24 hours, 7 days and 30 days, and the states of the requested days, the oldest first.

    `segments` hold every state, also of the times in `closed`, which count for no share.

    If the display changed its state more than 1,000 times in those days, `segments` are 480 equal slots, each with the
    worst state in it.
    """

    uuid: str
    windows: list[UptimeWindow]
    segments: list[UptimeSegment]
    closed: list[ClosedTime]


class Event(Answer):
    """An event of a client. `title` is for people; the fields of `details` depend on `kind`."""

    at: datetime
    kind: EventKind
    title: Sentence
    details: dict[str, Any]


@routes.get("/<uuid:uuid>/uptime", role=Role.VIEWER, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def client_uptime(call: Call, uuid: str, query: UptimeQuery) -> Uptime:
    """How long a client was in each state, within its opening hours."""
    with call.transaction() as (connection, now):
        found = operations.uptime(connection, now, uuid, timedelta(days=query.days))
    windows = [
        UptimeWindow(
            hours=window.length // timedelta(hours=1),
            shares={status.value: round(share, 6) for status, share in window.shares.items()},
            known_seconds=window.known.total_seconds(),
            unknown_seconds=window.unknown.total_seconds(),
            closed_seconds=window.closed.total_seconds(),
        )
        for window in found.windows
    ]
    segments = [UptimeSegment(begins=s.begins, ends=s.ends, status=s.status) for s in found.segments]
    closed = [ClosedTime(begins=begins, ends=ends) for begins, ends in found.closed]
    return Uptime(uuid=uuid, windows=windows, segments=segments, closed=closed)


@routes.get("/<uuid:uuid>/events", role=Role.VIEWER, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def client_events(call: Call, uuid: str, query: PageQuery) -> Page[Event]:
    """One timeline: states, failures, errors, commands, recovery and changes, the newest first."""
    after: Any = decode_cursor(query.cursor, datetime, str, str)
    with call.transaction() as (connection, _):
        found = operations.events(connection, uuid, query.limit + 1, after)
    return page(
        found,
        query.limit,
        lambda event: (event.at, event.kind.value, event.key),
        lambda event: answer_of(Event, event),
    )
