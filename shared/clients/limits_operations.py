"""Use case of health limits: the tick judges the newest reports."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients import limits_rules, limits_store
from shared.clients.limits_rules import FRESH_FOR, LIMITS, Passing, Reading
from shared.vocabulary import HealthLimit


class Judged(Struct, frozen=True):
    """What one look at the limits changed."""

    passed: int
    """Limits that became a trouble."""
    ended: int
    """Troubles that are over."""
    ignored: Mapping[str, int]
    """Values that no machine has: why each was ignored -> how many."""


def judge(connection: Connection, now: datetime) -> Judged:
    """Judge each report that may change what is known of a limit. Only changes are written."""
    before = {(row.uuid, row.kind): row for row in limits_store.known(connection)}
    readings = limits_store.to_judge(connection, now - FRESH_FOR)
    after = [
        passing
        for reading in readings
        for kind, limit in LIMITS.items()
        if (passing := limits_rules.judge(before.get((reading.uuid, kind)), reading, kind, limit, now)) is not None
    ]
    changed = [one for one in after if one != before.get((one.uuid, one.kind))]
    if changed:
        limits_store.put(connection, changed)
    return Judged(
        sum(one.passed_at is not None and not _is_trouble(before, one) for one in changed),
        sum(one.passed_at is None and _is_trouble(before, one) for one in changed),
        _ignored(readings),
    )


def _is_trouble(before: Mapping[tuple[str, HealthLimit], Passing], one: Passing) -> bool:
    known = before.get((one.uuid, one.kind))
    return known is not None and known.passed_at is not None


def _ignored(readings: Sequence[Reading]) -> Mapping[str, int]:
    return Counter(
        why
        for reading in readings
        for kind, limit in LIMITS.items()
        if (value := reading.value(kind)) is not None and (why := limits_rules.unusable(kind, value, limit))
    )
