"""When the screen is meant to be on: by opening hours, by an operator's order, or because nobody says otherwise. Pure.

Hours begin and end at the same local time each week, also when the clocks change. If a local time comes twice, or not
at all, the longer opening counts: a screen that is on too long harms nobody.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from displays.client.contract import BadMessage

DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")  # as date.weekday
ALONE_FOR: Final = timedelta(days=7)  # after this time without the service no plan holds, and the screen is on
CONTACT_STEP: Final = timedelta(hours=1)  # the last contact is not written to the disk more often
A_WEEK: Final = timedelta(days=7, hours=2)  # hours that change at all change within it, also when the clocks do
SET_BACK: Final = timedelta(hours=1)  # a clock that is further behind the last contact is wrong
TIMES: Final = ("until", "contact_at")
COMMAND, HOURS = "command", "hours"
_CLOCK: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])|24:00")


@dataclass(frozen=True, slots=True)
class OpenTime:
    """A time on these days (Monday is 0), in minutes after midnight."""

    days: frozenset[int]
    opens: int
    until: int
    """Above 1,440 when it ends on the day after."""


@dataclass(frozen=True, slots=True)
class Hours:
    """Weekly opening hours in a time zone."""

    zone: ZoneInfo
    open: tuple[OpenTime, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a display must know of its screen after a power cut."""

    version: str | None = None
    hours: Hours | None = None
    document: dict[str, Any] | None = None
    """The hours as they came."""
    ordered: bool | None = None
    """Whether an operator ordered the screen on; None: no order holds."""
    until: datetime | None = None
    """When the order ends: at the next change of the hours. None: it is not known yet, or there are no hours."""
    contact_at: datetime | None = None
    """When the service was last heard, by a clock that could be trusted; an hour or so may be missing."""
    switched_off: bool = False
    """Whether this display itself switched the screen off, or was about to."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How the screen is meant to be. `is_on` None: leave it as it is."""

    is_on: bool | None
    by: str | None = None
    """COMMAND or HOURS if it is meant to be off, else None."""
    why: str = ""
    """For people."""


def hours_of(document: dict[str, Any]) -> Hours:
    """The hours of a message. Raises BadMessage."""
    zone, times = document.get("zone"), document.get("open")
    if not isinstance(zone, str) or not isinstance(times, list):
        raise BadMessage("hours: expected a zone and a list of times")
    try:
        return Hours(ZoneInfo(zone), tuple(_open_time(one) for one in times))
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:
        if isinstance(error, BadMessage):
            raise
        raise BadMessage(f"hours: this display knows no time zone {zone[:64]!r}", "unknown_zone") from None


def _open_time(said: Any) -> OpenTime:
    days = said.get("days") if isinstance(said, dict) else None
    if not isinstance(days, list) or not days or not all(day in DAYS for day in days):
        raise BadMessage("hours: expected the days of each time")
    opens, until = _minutes(said.get("from")), _minutes(said.get("until"))
    return OpenTime(frozenset(map(DAYS.index, days)), opens, until if until > opens else until + 24 * 60)


def _minutes(said: Any) -> int:
    if not isinstance(said, str) or not _CLOCK.fullmatch(said):
        raise BadMessage("hours: expected times such as 08:00")
    return int(said[:2]) * 60 + int(said[3:])


def next_change(hours: Hours, now: datetime) -> datetime | None:
    """When the hours open or close next; None when they never do."""
    moments = [moment for opening in _openings(hours, now) for moment in opening if now < moment <= now + A_WEEK]
    return min(moments, default=None)


def is_open(hours: Hours, now: datetime) -> bool:
    """Whether it is open now."""
    return any(begins <= now < ends for begins, ends in _openings(hours, now))


def _openings(hours: Hours, now: datetime) -> list[tuple[datetime, datetime]]:
    """The openings from two days ago to nine days ahead, joined where they touch."""
    joined: list[tuple[datetime, datetime]] = []
    for begins, ends in sorted(_single_openings(hours, now)):
        if joined and begins <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], ends))
        else:
            joined.append((begins, ends))
    return joined


def _single_openings(hours: Hours, now: datetime) -> Iterator[tuple[datetime, datetime]]:
    today = now.astimezone(hours.zone).date()
    for number in range(-2, 10):
        day = today + timedelta(days=number)
        for one in hours.open:
            if day.weekday() in one.days:
                yield min(_readings(day, one.opens, hours.zone)), max(_readings(day, one.until, hours.zone))


def _readings(day: date, minutes: int, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Both times of a local time; they are equal unless the clocks change at it."""
    local = datetime.combine(day, time()) + timedelta(minutes=minutes)
    first, second = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return first, second


def is_trusted(plan: Plan, now: datetime, *, is_sure: bool) -> bool:
    """Whether the clock may switch the screen. `is_sure`: the machine knows no reason against it."""
    return is_sure and (plan.contact_at is None or now >= plan.contact_at - SET_BACK)


def heard(plan: Plan, now: datetime, *, is_sure: bool) -> Plan:
    """The plan after the service was heard. It is the same object while there is nothing to write."""
    last = plan.contact_at
    return replace(plan, contact_at=now) if is_sure and (last is None or abs(now - last) >= CONTACT_STEP) else plan


def with_hours(plan: Plan, version: str | None, document: dict[str, Any] | None) -> Plan:
    """The plan after a message with hours. Other hours end an operator's order. Raises BadMessage."""
    if version == plan.version:
        return plan
    hours = None if document is None else hours_of(document)
    return replace(plan, version=version, hours=hours, document=document, ordered=None, until=None)


def with_order(plan: Plan, *, is_on: bool) -> Plan:
    """The plan after an operator's order."""
    return replace(plan, ordered=is_on, until=None)


def at(plan: Plan, now: datetime, *, is_sure: bool) -> tuple[Plan, Wish]:
    """The plan and what it wants now. An order that is over leaves the plan."""
    if not is_trusted(plan, now, is_sure=is_sure):
        return plan, _untrusted(plan)
    if plan.contact_at is not None and now - plan.contact_at > ALONE_FOR:
        return plan, Wish(is_on=True, why=f"on: the service was not heard for {ALONE_FOR.days} days")
    plan = _without_old_order(plan, now)
    if plan.ordered is not None:
        return plan, _ordered(plan, plan.ordered)
    if plan.hours is None:
        return plan, Wish(is_on=True)
    if is_open(plan.hours, now):
        return plan, Wish(is_on=True, why="on by its hours")
    return plan, Wish(is_on=False, by=HOURS, why="off by its hours")


def _untrusted(plan: Plan) -> Wish:
    """What can be wanted without a clock: only what an operator ordered."""
    if plan.ordered is not None:
        return _ordered(plan, plan.ordered)
    if plan.hours is None:
        return Wish(is_on=True)
    return Wish(is_on=None, by=HOURS if plan.switched_off else None, why="left as it is: the clock is not trusted")


def _without_old_order(plan: Plan, now: datetime) -> Plan:
    """The plan without an order that is over. An order without an end gets one, if there are hours."""
    if plan.ordered is None or plan.hours is None:
        return plan
    if plan.until is None:
        return replace(plan, until=next_change(plan.hours, now))
    return replace(plan, ordered=None, until=None) if now >= plan.until else plan


def _ordered(plan: Plan, is_on: bool) -> Wish:
    until = "" if plan.until is None else f" until {plan.until:%Y-%m-%d %H:%M} UTC"
    return Wish(is_on, None if is_on else COMMAND, f"{'on' if is_on else 'off'} by an operator{until}")


def to_json(plan: Plan) -> dict[str, Any]:
    """The plan as the disk keeps it."""
    return {
        "version": plan.version,
        "hours": plan.document,
        "ordered": plan.ordered,
        "until": None if plan.until is None else plan.until.isoformat(),
        "contact_at": None if plan.contact_at is None else plan.contact_at.isoformat(),
        "switched_off": plan.switched_off,
    }


def from_json(body: dict[str, Any]) -> Plan:
    """The plan that the disk kept. Raises ValueError, KeyError, TypeError for a damaged one."""
    document = body["hours"]
    until, contact_at = (None if body[name] is None else datetime.fromisoformat(body[name]) for name in TIMES)
    hours = None if document is None else hours_of(document)
    return Plan(body["version"], hours, document, body["ordered"], until, contact_at, bool(body["switched_off"]))
