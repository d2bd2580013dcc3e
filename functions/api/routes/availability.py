"""/api/availability: how available displays were while their shops were open."""

from datetime import date, datetime, timedelta
from typing import Annotated, Any

import msgspec

from functions.api.bodies import Answer, QueryParameters, Uuid
from functions.api.pages import CursorText, Limit, decode_cursor, encode_cursor
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes.sites import AnySite
from functions.problems import InvalidField
from shared.availability import operations, rules
from shared.availability.operations import DayOfClient, Period
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


class PeriodQuery(QueryParameters, kw_only=True):
    """Which days: those of each shop's zone; those to come, and of more than a year ago, are left out."""

    since: Annotated[date, msgspec.Meta(description="the first day")]
    until: Annotated[date, msgspec.Meta(description="the last day, included")]
    time_zone: Annotated[
        str, msgspec.Meta(max_length=100, description="where days begin, unless the site has opening hours")
    ] = "UTC"


class SiteQuery(PeriodQuery, kw_only=True):
    """Which site, and which days."""

    site: Annotated[AnySite, msgspec.Meta(description="empty: displays without a site")]
    limit: Limit = 100
    cursor: CursorText | None = None


class TimeSpent(Answer):
    """How a time was spent. The availability is `up_seconds` as a share of `up_seconds` and `down_seconds`.

    `up_seconds`: the player ran. `down_seconds`: it did not run, or was silent. `unknown_seconds`: nobody knows.
    `closed_seconds`: outside of opening hours, and in no other figure. Of several displays each is the sum of their
    seconds: divide by their number for an average display. Time before a display was created is in none.
    """

    up_seconds: float
    down_seconds: float
    unknown_seconds: float
    closed_seconds: float


class DayOfSite(TimeSpent):
    """A day of all displays of this page together."""

    date: date


class SpentByClient(TimeSpent):
    """A period of one display."""

    uuid: str
    name: str


class SpentAtSite(Answer):
    """A period of a site until now, as long as `period_seconds`; a display counts at its present site.

    `days` are the sums of `items`: with a `next_cursor` add those of the next page. `time_zone`: that of the site's
    opening hours, or as it was asked for.
    """

    time_zone: str
    period_seconds: float
    days: list[DayOfSite]
    items: list[SpentByClient]
    next_cursor: str | None


class SpentBySite(TimeSpent):
    """A period of all `displays` of a site together; until now it is as long as `period_seconds`."""

    site: str
    displays: int
    time_zone: str
    period_seconds: float


class SpentBySites(Answer):
    """A period of every site; '' is displays without one."""

    items: list[SpentBySite]


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


@routes.get("/sites", role=Role.VIEWER, bound=Bound.LISTS, raises=(TimeZoneUnknown,))
def availability_of_sites(call: Call, query: PeriodQuery) -> SpentBySites:
    """How available the displays of every site were on some days, within opening hours."""
    period = _period(call, query)
    with call.transaction() as (connection, now):
        found = operations.by_site(connection, now, period)
    return SpentBySites(
        items=[
            SpentBySite(
                site=one.site,
                displays=one.displays,
                time_zone=one.time_zone,
                period_seconds=one.length.total_seconds(),
                **_seconds(one.spent),
            )
            for one in found
        ]
    )


@routes.get("/site", role=Role.VIEWER, bound=Bound.LISTS, raises=(TimeZoneUnknown,))
def availability_of_site(call: Call, query: SiteQuery) -> SpentAtSite:
    """How available the displays of a site were on some days, within opening hours."""
    after: Any = decode_cursor(query.cursor, str) or ("",)
    period = _period(call, query)
    with call.transaction() as (connection, now):
        found = operations.of_site(connection, now, query.site, period, query.limit, after[0])
    clients = found.clients
    return SpentAtSite(
        time_zone=found.time_zone,
        period_seconds=found.length.total_seconds(),
        days=[DayOfSite(date=day.date, **_seconds(spent)) for day, spent in found.days],
        items=[SpentByClient(uuid=one.uuid, name=one.name, **_seconds(one.spent)) for one in clients],
        next_cursor=encode_cursor([clients[-1].uuid]) if len(clients) == query.limit else None,
    )


def _period(call: Call, query: PeriodQuery) -> Period:
    if query.since > query.until:
        raise InvalidField.at("since", "field_before_until")
    kept = timedelta(days=call.services.config["HISTORY_RETENTION_DAYS"])
    return Period(query.since, query.until, query.time_zone, kept)


def _seconds(spent: Spent) -> dict[str, float]:
    return {
        "up_seconds": spent.up.total_seconds(),
        "down_seconds": spent.down.total_seconds(),
        "unknown_seconds": spent.unknown.total_seconds(),
        "closed_seconds": spent.closed.total_seconds(),
    }
