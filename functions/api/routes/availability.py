"""/api/availability: how available displays were while their shops were open."""

from datetime import date, datetime, timedelta
from typing import Annotated, Any

import msgspec

from functions.api.bodies import END, Answer, QueryParameters, Uuid
from functions.api.pages import CursorText, Limit, decode_cursor, encode_cursor
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes.sites import AnySite
from shared.availability import operations, rules
from shared.availability.operations import DayOfClient
from shared.availability.rules import Spent
from shared.errors import TimeZoneUnknown
from shared.vocabulary import Role

routes = Routes("availability", "/api/availability", "How available displays were while their shops were open.")


class DayQuery(QueryParameters):
    """Which displays to tell of."""

    client: Annotated[
        list[Uuid], msgspec.Meta(min_length=1, max_length=100, description="repeat it for several displays")
    ]


class LastDay(Answer):
    """The last 24 hours of some displays; one that does not exist is left out."""

    begins: datetime = msgspec.field(name="from")
    ends: datetime = msgspec.field(name="to")
    slot_seconds: int
    items: list[DayOfClient]


class MonthQuery(QueryParameters):
    """Which site, and which month."""

    site: Annotated[AnySite, msgspec.Meta(description="empty: displays without a site")]
    month: Annotated[str, msgspec.Meta(pattern=rf"^20[0-9]{{2}}-(0[1-9]|1[0-2]){END}", description="such as 2026-03")]
    time_zone: Annotated[
        str, msgspec.Meta(max_length=100, description="where days begin, unless the site has opening hours")
    ] = "UTC"
    limit: Limit = 100
    cursor: CursorText | None = None


class TimeSpent(Answer):
    """How a time was spent. The availability is `up_seconds` as a share of `up_seconds` and `down_seconds`.

    `up_seconds`: the player ran. `down_seconds`: it did not run, or was silent. `unknown_seconds`: nobody knows.
    `closed_seconds`: outside of opening hours, and in no other figure.
    """

    up_seconds: float
    down_seconds: float
    unknown_seconds: float
    closed_seconds: float


class DayOfSite(TimeSpent):
    """A day of all displays of this page together."""

    date: date


class MonthOfClient(TimeSpent):
    """A month of one display."""

    uuid: str
    name: str


class MonthOfSite(Answer):
    """A month of a site until now; a display counts at its present site, from when it was created.

    `days` are the sums of `items`: with a `next_cursor` add those of the next page. `time_zone`: that of the site's
    opening hours, or as it was asked for.
    """

    time_zone: str
    days: list[DayOfSite]
    items: list[MonthOfClient]
    next_cursor: str | None


@routes.get("/day", role=Role.VIEWER, bound=Bound.LISTS)
def availability_of_day(call: Call, query: DayQuery) -> LastDay:
    """The last 24 hours of some displays in half hours, within opening hours."""
    with call.transaction() as (connection, now):
        items = operations.day(connection, now, query.client)
    return LastDay(
        begins=now - rules.DAY,
        ends=now,
        slot_seconds=rules.SLOT // timedelta(seconds=1),
        items=items,
    )


@routes.get("/month", role=Role.VIEWER, bound=Bound.LISTS, raises=(TimeZoneUnknown,))
def availability_of_month(call: Call, query: MonthQuery) -> MonthOfSite:
    """How available the displays of a site were in a month, within opening hours."""
    after: Any = decode_cursor(query.cursor, str) or ("",)
    kept = timedelta(days=call.services.config["HISTORY_RETENTION_DAYS"])
    first = date.fromisoformat(f"{query.month}-01")
    with call.transaction() as (connection, now):
        found = operations.month(
            connection, now, query.site, first, query.time_zone, kept=kept, limit=query.limit, after=after[0]
        )
    clients = found.clients
    return MonthOfSite(
        time_zone=found.time_zone,
        days=[DayOfSite(date=day.date, **_seconds(spent)) for day, spent in found.days],
        items=[MonthOfClient(uuid=one.uuid, name=one.name, **_seconds(one.spent)) for one in clients],
        next_cursor=encode_cursor([clients[-1].uuid]) if len(clients) == query.limit else None,
    )


def _seconds(spent: Spent) -> dict[str, float]:
    return {
        "up_seconds": spent.up.total_seconds(),
        "down_seconds": spent.down.total_seconds(),
        "unknown_seconds": spent.unknown.total_seconds(),
        "closed_seconds": spent.closed.total_seconds(),
    }
