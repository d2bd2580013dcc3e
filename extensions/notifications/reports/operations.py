"""Make the reports that channels get in the morning: each day, and each Monday."""

from collections.abc import Callable, Collection
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from extensions.notifications.deliveries import store as deliveries_store
from extensions.notifications.deliveries.store import NewMessage
from extensions.notifications.reports import rules, store
from extensions.notifications.reports.rules import SiteWeek
from extensions.notifications.rules import Channel
from extensions.notifications.troubles.rules import Addressee
from shared.availability import operations as availability_operations
from shared.availability import rules as availability_rules
from shared.clients import zones_rules
from shared.quiet import store as quiet_store
from shared.quiet.rules import QuietNow
from shared.vocabulary import NotificationEvent, NotificationPhase, Quiet


def make(
    connection: Connection,
    now: datetime,
    channels: Collection[Channel],
    quiet: QuietNow,
    addressee: Callable[[Channel], Addressee],
) -> list[NewMessage]:
    """The reports that are due now and that their channels do not have yet."""
    roots = [rules.root(event) for event in rules.REPORTS]
    had = deliveries_store.opened_since(connection, roots, now - rules.DAY / 2)
    made = []
    for channel in channels:
        zone = _zone(connection, now, channel)
        for event in sorted(rules.REPORTS):
            due = rules.due_day(event, channel, zone, now)
            if due is None or (channel.id, rules.root(event)) in had:
                continue
            to = addressee(channel)
            if event is NotificationEvent.DAILY_REPORT:
                message = _daily(connection, now, channel.sites, quiet.ids(Quiet.SCREEN), due, to)
            else:
                message = _weekly(connection, now, channel.sites, zone, due, to)
            made.append(_row(channel, event, due, message))
    return made


def _zone(connection: Connection, now: datetime, channel: Channel) -> ZoneInfo:
    """The time zone of the channel's hours, else of the opening hours of its first site or of the fleet, else UTC."""
    if channel.hours is not None:
        return zones_rules.or_utc(channel.hours.time_zone)
    times = quiet_store.of_screens(connection, now - rules.DAY, now + rules.DAY)
    sites = sorted(channel.sites or ())
    found = next((zone for site in (*sites, None) if (zone := availability_rules.zone_of(times, site))), None)
    return zones_rules.or_utc(found or "UTC")


def _daily(
    connection: Connection,
    now: datetime,
    sites: Collection[str] | None,
    quiet: Collection[int],
    day: date,
    to: Addressee,
) -> Any:
    places = store.places(connection, sites, quiet)
    past = store.incidents(connection, sites, now - rules.DAY)
    return rules.daily(places, past, store.recovered(connection, sites, now - rules.DAY), day, to, now)


def _weekly(
    connection: Connection,
    now: datetime,
    sites: Collection[str] | None,
    zone: ZoneInfo,
    day: date,
    to: Addressee,
) -> Any:
    begins, ends = rules.last_week(day, zone)
    weeks, counted = [], 0
    places = store.places(connection, sites, ())
    for place in places:
        counted += place.displays
        if counted > rules.MOST_DISPLAYS:
            break
        spent = availability_operations.between(connection, place.site, begins, ends, place.displays)
        weeks.append(SiteWeek(place.site, place.displays, spent))
    return rules.weekly(weeks, len(places) - len(weeks), day, to, now)


def _row(channel: Channel, event: NotificationEvent, day: date, message: dict[str, Any]) -> NewMessage:
    return NewMessage(
        channel_id=channel.id,
        root=rules.root(event),
        subject=rules.subject(event, day),
        phase=NotificationPhase.OPENED,
        event=event,
        message=message,
    )
