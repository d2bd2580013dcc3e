"""Use cases of the availability of many displays: the last day of some, and a month or another time of a site."""

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


class DayOfClient(Struct, frozen=True):
    """The worst state of a display in each half hour, the oldest first.

    Null: its shop was closed for the whole half hour, or the display did not exist.
    """

    uuid: str
    states: Sequence[ClientStatus | None]


class ClientMonth(Struct, frozen=True):
    """How one display spent a month."""

    uuid: str
    name: str
    spent: Spent


class SiteMonth(Struct, frozen=True):
    """How the displays of a site spent a month, or some of them: up to the last one of `clients`."""

    time_zone: str
    days: Sequence[tuple[LocalDay, Spent]]
    clients: Sequence[ClientMonth]


def day(connection: Connection, now: datetime, uuids: Collection[str]) -> list[DayOfClient]:
    """The last 24 hours of these displays in half hours; one that does not exist is left out."""
    start = now - rules.DAY
    members = availability_store.some(connection, uuids, now)
    times = quiet_store.of_screens(connection, start, now)
    found = _read(connection, members, times, start, now)
    return [DayOfClient(one.uuid, rules.slots(*found[one.uuid], begins=start, ends=now)) for one in members]


def month(
    connection: Connection,
    now: datetime,
    site: str,
    first: date,
    time_zone: str,
    kept: timedelta,
    limit: int,
    after: str,
) -> SiteMonth:
    """The month that begins on `first`, until now: of up to `limit` displays of a site, by uuid, after this one.

    A display counts at its present site, from when it was created. `site` '' stands for displays without one.
    `time_zone`: where days begin when the site has no opening hours. `kept`: how long changes of state are kept; the
    time before them does not count.

    Raises:
        TimeZoneUnknown: there is no such zone.
    """
    around = [one.begins for one in rules.days_of(first, zones_rules.known(time_zone))]
    times = quiet_store.of_screens(connection, around[0] - ZONES_APART, around[-1] + 2 * ZONES_APART)
    zone = rules.zone_of(times, site or None) or time_zone
    days = rules.days_of(first, zones_rules.or_utc(zone))
    start, end = max(days[0].begins, now - kept), min(days[-1].ends, now)
    members = availability_store.of_site(connection, site, end, limit, after)
    found = _read(connection, members, times, start, end)
    spent = [rules.by_day(*found[one.uuid], days=days) for one in members]
    return SiteMonth(
        zone,
        [(one, sum((days_spent[n] for days_spent in spent), Spent())) for n, one in enumerate(days)],
        [
            ClientMonth(one.uuid, one.name, sum(days_spent, Spent()))
            for one, days_spent in zip(members, spent, strict=True)
        ],
    )


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
