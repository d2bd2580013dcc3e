"""Use case of health limits: the tick judges the newest reports."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients import limits_rules, limits_store
from shared.clients.limits_rules import FRESH_FOR, Limit, Passing, Reading
from shared.config import Config
from shared.vocabulary import HealthLimit

CENTURY: Final = 36_525  # days


def limits_of(config: Config) -> dict[HealthLimit, Limit]:
    """The limits in force. Units: %, %, °C, days left, seconds (ahead, or negative: behind), 0 or 1, 0 or 1, orders."""
    clock = config["LIMIT_CLOCK_SECONDS"]
    return {
        HealthLimit.DISK: Limit(config["LIMIT_DISK_PERCENT"], 3, 0, 100),
        HealthLimit.MEMORY: Limit(config["LIMIT_MEMORY_PERCENT"], 5, 0, 100),
        HealthLimit.HEAT: Limit(config["LIMIT_TEMPERATURE_CELSIUS"], 5, -100, 300),
        HealthLimit.CERTIFICATE: Limit(config["LIMIT_CERTIFICATE_DAYS"], 0, -CENTURY, CENTURY, falls=True),
        HealthLimit.CLOCK: Limit(clock, clock / 2, -CENTURY * 86_400, CENTURY * 86_400),
        HealthLimit.VOLTAGE: Limit(1, 0, 0, 1),
        HealthLimit.READ_ONLY: Limit(1, 0, 0, 1),
        HealthLimit.REFUSED: Limit(1, 0, 0, 100),
    }


class Judged(Struct, frozen=True):
    """What one look at the limits changed."""

    passed: int
    """Limits that became a trouble."""
    ended: int
    """Troubles that are over."""
    ignored: Mapping[str, int]
    """Values that no machine has: why each was ignored -> how many."""


def judge(connection: Connection, now: datetime, config: Config) -> Judged:
    """Judge each report that may change what is known of a limit. Only changes are written."""
    limits = limits_of(config)
    before = {(row.uuid, row.kind): row for row in limits_store.known(connection)}
    readings = limits_store.to_judge(connection, now - FRESH_FOR, limits)
    after = [
        passing
        for reading in readings
        for kind, limit in limits.items()
        if (passing := limits_rules.judge(before.get((reading.uuid, kind)), reading, kind, limit, now)) is not None
    ]
    changed = [one for one in after if one != before.get((one.uuid, one.kind))]
    if changed:
        limits_store.put(connection, changed)
    return Judged(
        sum(one.passed_at is not None and not _is_trouble(before, one) for one in changed),
        sum(one.passed_at is None and _is_trouble(before, one) for one in changed),
        _ignored(readings, limits),
    )


def _is_trouble(before: Mapping[tuple[str, HealthLimit], Passing], one: Passing) -> bool:
    known = before.get((one.uuid, one.kind))
    return known is not None and known.passed_at is not None


def _ignored(readings: Sequence[Reading], limits: Mapping[HealthLimit, Limit]) -> Mapping[str, int]:
    return Counter(
        why
        for reading in readings
        for kind, limit in limits.items()
        if (value := reading.value(kind)) is not None and (why := limits_rules.unusable(kind, value, limit))
    )
