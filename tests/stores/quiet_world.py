"""Quiet times for tests."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection

from shared.quiet import operations, rules
from shared.quiet.hours_rules import Span
from shared.quiet.rules import KeptQuietTime, WantedQuietTime
from shared.vocabulary import Quiet, QuietPreset, QuietScope, Weekday

EVERY_DAY = tuple(Weekday)


def wanted(
    preset: QuietPreset,
    *,
    site: str | None = None,
    tag: str | None = None,
    clients: Iterable[str] = (),
    starts: datetime | None = None,
    until: datetime | None = None,
    spans: tuple[Span, ...] = (),
    zone: str | None = None,
    quiet: tuple[Quiet, ...] = (),
    reason: str = "",
) -> WantedQuietTime:
    """A quiet time of these clients, this site or tag, else of the fleet."""
    named = tuple(clients)
    scope = QuietScope.CLIENTS if named else QuietScope.SITE if site else QuietScope.TAG if tag else QuietScope.FLEET
    what = rules.MAKES_QUIET.get(preset, quiet)
    return WantedQuietTime(preset, what, scope, site, tag, named, starts, until, spans, zone, reason)


def make(connection: Connection, now: datetime, one: WantedQuietTime, by: str = "user:anna") -> KeptQuietTime:
    return operations.make(connection, now, one, by)


def hold(
    connection: Connection, now: datetime, client: str, reason: str = "mine", until: datetime | None = None
) -> int:
    return make(connection, now, wanted(QuietPreset.HOLD, clients=[client], until=until, reason=reason)).id


def leave_out(connection: Connection, now: datetime, client: str, reason: str = "spare") -> int:
    return make(connection, now, wanted(QuietPreset.LEAVE_OUT, clients=[client], reason=reason)).id


def leave_out_site(connection: Connection, now: datetime, site: str, reason: str = "being sold") -> int:
    return make(connection, now, wanted(QuietPreset.LEAVE_OUT, site=site, reason=reason)).id


def maintain(
    connection: Connection, now: datetime, until: datetime, *, site: str | None = None, clients: Iterable[str] = ()
) -> int:
    asked = wanted(QuietPreset.MAINTENANCE, site=site, clients=clients, until=until, reason="New cables")
    return make(connection, now, asked).id


def snooze(
    connection: Connection, now: datetime, until: datetime, *, site: str | None = None, clients: Iterable[str] = ()
) -> int:
    return make(connection, now, wanted(QuietPreset.SNOOZE, site=site, clients=clients, until=until)).id


def open_between(begins: str, ends: str, days: tuple[Weekday, ...] = EVERY_DAY, nights: int = 0) -> tuple[Span, ...]:
    """Weekly hours."""
    return (Span(days, begins, ends, nights),)


def opening_hours(connection: Connection, now: datetime, spans: tuple[Span, ...], site: str, zone: str = "UTC") -> int:
    return make(connection, now, wanted(QuietPreset.OPENING_HOURS, site=site, spans=spans, zone=zone)).id
