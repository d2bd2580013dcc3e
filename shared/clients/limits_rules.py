"""Which values of a health report pass their limit, since when, and how people read that. Pure.

A value that swings around its limit is one trouble. It begins when the value has been at the limit for LASTS_FOR
without a return behind the margin, and ends when the value has been behind the margin for ENDS_AFTER. A report
without the field proves nothing: then the value is not known.
"""

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from shared.clients.screens_rules import IN_A_ROW
from shared.vocabulary import HealthLimit

LASTS_FOR: Final = timedelta(minutes=5)  # from the first report at the limit to the one that makes it a trouble
ENDS_AFTER: Final = timedelta(minutes=15)  # from the first report behind the margin to the one that ends the trouble
YES_OR_NO: Final = frozenset({HealthLimit.VOLTAGE, HealthLimit.READ_ONLY, HealthLimit.REFUSED})
"""Limits that any value above 0 passes."""
CENTURY: Final = 36_525  # days
FRESH_FOR: Final = IN_A_ROW  # an older report says nothing of the time since


class Limit(Struct, frozen=True):
    """A limit, in the unit of its value."""

    at: float
    """The value from which on it is passed."""
    margin: float
    """A passed limit is not passed any more only when the value is further than this from `at`."""
    least: float
    most: float
    """No machine has a value outside `least` to `most`."""
    falls: bool = False
    """Whether smaller values are the worse ones."""

    def is_passed(self, value: float) -> bool:
        """Whether the value is at the limit or worse."""
        return value <= self.at if self.falls else abs(value) >= self.at

    def is_left(self, value: float) -> bool:
        """Whether the value is better than the limit by more than the margin."""
        return value > self.at + self.margin if self.falls else abs(value) < self.at - self.margin


LIMITS: Final[Mapping[HealthLimit, Limit]] = {
    HealthLimit.DISK: Limit(90, 3, 0, 100),  # % in use
    HealthLimit.MEMORY: Limit(95, 5, 0, 100),  # % in use
    HealthLimit.HEAT: Limit(80, 5, -100, 300),  # °C
    HealthLimit.CERTIFICATE: Limit(14, 0, -CENTURY, CENTURY, falls=True),  # days left
    HealthLimit.CLOCK: Limit(60, 30, -CENTURY * 86_400, CENTURY * 86_400),  # seconds ahead, or negative: behind
    HealthLimit.VOLTAGE: Limit(1, 0, 0, 1),
    HealthLimit.READ_ONLY: Limit(1, 0, 0, 1),
    HealthLimit.REFUSED: Limit(1, 0, 0, 100),  # orders
}


class Reading(Struct, frozen=True):
    """The values of a display's newest health report; None: not reported."""

    uuid: str
    at: datetime
    """When the report arrived."""
    disk: float | None = None
    memory: float | None = None
    heat: float | None = None
    certificate: float | None = None
    clock: float | None = None
    voltage: float | None = None
    read_only: float | None = None
    refused: float | None = None

    def value(self, kind: HealthLimit) -> float | None:
        """One of the values."""
        found: float | None = getattr(self, kind.value)
        return found


class Passing(Struct, frozen=True):
    """What is known of a display and one of its limits."""

    uuid: str
    kind: HealthLimit
    over_since: datetime | None
    """When the first report at the limit came; None: it is not passed."""
    passed_at: datetime | None
    """When that had lasted long enough to be a trouble; None: it is none."""
    left_since: datetime | None
    """Since when no report says that the value is within the margin of the limit, or worse."""
    value: float
    """The last value at the limit or worse."""
    limit_at: float
    """The limit that it passed."""


def unusable(kind: HealthLimit, value: float, limit: Limit) -> str | None:
    """Why the value is ignored, in words; None: it is not."""
    if limit.least <= value <= limit.most:  # never true of NaN
        return None
    return f"{kind.value}: not a value between {limit.least:,} and {limit.most:,}"


def usable(reading: Reading, kind: HealthLimit, limit: Limit) -> float | None:
    """The value, if it is one that a machine may have; else None, which is: not known."""
    value = reading.value(kind)
    return None if value is None or unusable(kind, value, limit) else value


def judge(before: Passing | None, reading: Reading, kind: HealthLimit, limit: Limit, now: datetime) -> Passing | None:
    """What is known of the limit after this report; `before` itself if nobody sees a difference.

    The same report twice changes nothing the second time.
    """
    value = usable(reading, kind, limit)
    if now - reading.at > FRESH_FOR:
        return _ended(before) if before is not None and before.passed_at is None else before
    if before is None or before.over_since is None:
        if value is None or not limit.is_passed(value):
            return before
        return Passing(reading.uuid, kind, reading.at, None, None, value, limit.at)
    if value is None or limit.is_left(value):
        return _left(before, reading.at)
    return _lasting(before, reading.at, value, limit)


def _lasting(before: Passing, at: datetime, value: float, limit: Limit) -> Passing:
    """The limit is still passed, or the value is within its margin."""
    lasts = replace(before, left_since=None)
    if before.passed_at is None and before.over_since is not None and at - before.over_since >= LASTS_FOR:
        lasts = replace(lasts, passed_at=at)
    if limit.is_passed(value) and (shown(before.kind, value), limit.at) != (
        shown(before.kind, before.value),
        before.limit_at,
    ):
        lasts = replace(lasts, value=value, limit_at=limit.at)
    return lasts


def _left(before: Passing, at: datetime) -> Passing:
    """The report says that the value is behind the margin, or does not say how it is."""
    if before.passed_at is None or (before.left_since is not None and at - before.left_since >= ENDS_AFTER):
        return _ended(before)
    return before if before.left_since is not None else replace(before, left_since=at)


def _ended(before: Passing) -> Passing:
    if before.over_since is None:
        return before
    return replace(before, over_since=None, passed_at=None, left_since=None)


def shown(kind: HealthLimit, value: float) -> str:
    """The value as people read it. It is never shown worse than it is."""
    if kind is HealthLimit.CERTIFICATE:
        return "has ended" if value <= 0 else f"ends in {_time(math.ceil(value * 86_400))}"
    if kind is HealthLimit.CLOCK:
        return f"{_time(math.floor(abs(value)))} {'fast' if value > 0 else 'slow'}"
    return f"{math.floor(value)} {'°C' if kind is HealthLimit.HEAT else '%'}"


def _time(seconds: int) -> str:
    """A duration in its largest unit of which there are two or more."""
    for unit, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} seconds"
