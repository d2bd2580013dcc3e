"""Use cases of the availability of many displays: the last day of some, and a period of sites."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.availability import rules, segments_rules
from shared.availability import store as availability_store
from shared.availability.rules import LocalDay, Spent
from shared.availability.segments_rules import Change, Segment
from shared.availability.store import CountedClient
from shared.clients import zones_rules
from shared.quiet import rules as quiet_rules
from shared.quiet import store as quiet_store
from shared.quiet.rules import StoredQuietTime
from shared.vocabulary import ClientStatus

CHANGES_READ: Final = 2_000  # the limit for each display that flaps; the time before them counts as unknown
ZONES_APART: Final = timedelta(days=1)  # no local midnight is further from that of UTC
ONE_DAY: Final = timedelta(days=1)
LONGEST: Final = timedelta(days=366)
READ_AT_ONCE: Final = 500  # displays whose changes are in memory


class DayOfClient(Struct, frozen=True):
    """The worst state of a display in each half hour, the oldest first.

    Null: its shop was closed for the whole half hour, or the display did not exist.
    """

    uuid: str
    states: Sequence[ClientStatus | None]


class Period(Struct, frozen=True):
    """The days that are asked for, both included."""

    since: date
    until: date
    time_zone: str
    """Where days begin when the site has no opening hours."""
    kept: timedelta
    """How long changes of state are kept; the time before them does not count."""

    def days(self, now: datetime, zone: str) -> list[LocalDay]:
        """Its days of the last year that have begun."""
        tomorrow = now.date() + ONE_DAY
        first, last = max(self.since, tomorrow - LONGEST), min(self.until, tomorrow)
        return [one for one in rules.days_of(first, last, zones_rules.or_utc(zone)) if one.begins < now]


class ClientSpent(Struct, frozen=True):
    """How one display spent a period."""

    uuid: str
    name: str
    spent: Spent


class SiteDays(Struct, frozen=True):
    """How the displays of a site spent a period, or some of them: up to the last one of `clients`."""

    time_zone: str
    length: timedelta
    days: Sequence[tuple[LocalDay, Spent]]
    clients: Sequence[ClientSpent]


class SiteSpent(Struct, frozen=True):
    """How the displays of a site spent a period together. `length`: that of the period until now."""

    site: str
    displays: int
    time_zone: str
    length: timedelta
    spent: Spent


def day(connection: Connection, now: datetime, uuids: Collection[str]) -> list[DayOfClient]:
    """The last 24 hours of these displays in half hours; one that does not exist is left out."""
    start = now - rules.DAY
    members = availability_store.some(connection, uuids, now)
    times = quiet_store.of_screens(connection, start, now)
    found = _read(connection, members, times, start, now)
    return [DayOfClient(one.uuid, rules.slots(*found[one.uuid], begins=start, ends=now)) for one in members]


def of_site(connection: Connection, now: datetime, site: str, period: Period, limit: int, after: str) -> SiteDays:
    """A period until now, day by day: of up to `limit` displays of a site, by uuid, after this one.

    A display counts at its present site, from when it was created. `site` '' stands for displays without one.

    Raises:
        TimeZoneUnknown: there is no such zone.
    """
    start, end, times = _around(connection, now, period)
    zone = rules.zone_of(times, site or None) or period.time_zone
    days = period.days(now, zone)
    members = availability_store.of_site(connection, site, end, limit, after)
    found = _read(connection, members, times, start, end)
    spent = [rules.by_day(*found[one.uuid], days=days) for one in members]
    return SiteDays(
        zone,
        _length(days, now),
        [(one, sum((days_spent[n] for days_spent in spent), Spent())) for n, one in enumerate(days)],
        [
            ClientSpent(one.uuid, one.name, sum(days_spent, Spent()))
            for one, days_spent in zip(members, spent, strict=True)
        ],
    )


def by_site(connection: Connection, now: datetime, period: Period) -> list[SiteSpent]:
    """A period until now of every site, by name; its days are those of the site.

    Raises:
        TimeZoneUnknown: there is no such zone.
    """
    start, end, times = _around(connection, now, period)
    whole: dict[str, tuple[str, list[LocalDay]]] = {}
    sums: dict[str, list[Spent]] = {}
    every = availability_store.every(connection, end)
    for first in range(0, len(every), READ_AT_ONCE):
        members = every[first : first + READ_AT_ONCE]
        found = _read(connection, members, times, start, end)
        for one in members:
            if one.site not in whole:
                zone = rules.zone_of(times, one.site or None) or period.time_zone
                days = period.days(now, zone)
                whole[one.site] = zone, [LocalDay(day.date, day.begins, days[-1].ends) for day in days[:1]]
            spent = rules.by_day(*found[one.uuid], days=whole[one.site][1])
            sums.setdefault(one.site, []).append(sum(spent, Spent()))
    return [
        SiteSpent(site, len(spent), zone, _length(days, now), sum(spent, Spent()))
        for (site, (zone, days)), spent in zip(whole.items(), sums.values(), strict=True)
    ]


def _around(
    connection: Connection, now: datetime, period: Period
) -> tuple[datetime, datetime, Sequence[StoredQuietTime]]:
    """From when until when the period lasts in any zone, as far as it is kept, and the quiet times then."""
    zones_rules.known(period.time_zone)
    days = period.days(now, "UTC") or [LocalDay(now.date(), now, now)]
    start = max(days[0].begins - ZONES_APART, now - period.kept)
    end = min(days[-1].ends + ZONES_APART, now)
    return start, end, quiet_store.of_screens(connection, start, end)


def _length(days: Sequence[LocalDay], now: datetime) -> timedelta:
    return min(days[-1].ends, now) - days[0].begins if days else timedelta()


def between(connection: Connection, site: str, start: datetime, end: datetime, limit: int) -> Spent:
    """How up to `limit` displays of a site spent the time between two moments. `site` '' stands for no site."""
    members = availability_store.of_site(connection, site, end, limit, "")
    times = quiet_store.of_screens(connection, start, end)
    found = _read(connection, members, times, start, end)
    whole = [LocalDay(start.date(), start, end)]
    return sum((rules.by_day(*found[one.uuid], days=whole)[0] for one in members), Spent())


class ClientStrip(Struct, frozen=True):
    """The states of one display over a time, and when its screen was meant to be off."""

    name: str
    segments: Sequence[Segment]
    closed: Sequence[tuple[datetime, datetime]]


def strips(connection: Connection, site: str, start: datetime, end: datetime, limit: int) -> list[ClientStrip]:
    """How up to `limit` displays of a site fared between two moments, each from when it was created."""
    members = availability_store.of_site(connection, site, end, limit, "")
    times = quiet_store.of_screens(connection, start, end)
    found = _read(connection, members, times, start, end)
    return [ClientStrip(one.name, *found[one.uuid]) for one in members]


def _read(
    connection: Connection,
    members: Sequence[CountedClient],
    times: Sequence[StoredQuietTime],
    start: datetime,
    end: datetime,
) -> Mapping[str, tuple[list[Segment], Sequence[tuple[datetime, datetime]]]]:
    """For each display its states from `start` to `end`, and the closed times of its shop."""
    uuids = [one.uuid for one in members]
    changes: dict[str, list[Change]] = {uuid: [] for uuid in uuids}
    for one in availability_store.changes(connection, uuids, start, end, CHANGES_READ):
        changes[one.uuid].append(Change(one.at, one.was, one.became))
    covering: dict[str, set[int]] = {uuid: set() for uuid in uuids}
    for covered in quiet_store.covered(connection, [one.id for one in times], uuids):
        covering[covered.uuid].add(covered.quiet_id)
    closed = {
        ids: quiet_rules.closed_times([one for one in times if one.id in ids], start, end)
        for ids in {frozenset(one) for one in covering.values()}
    }
    return {
        one.uuid: (
            segments_rules.segments(
                changes[one.uuid],
                max(start, one.created_at),
                end,
                one.status,
                complete=len(changes[one.uuid]) < CHANGES_READ,
            ),
            closed[frozenset(covering[one.uuid])],
        )
        for one in members
    }
