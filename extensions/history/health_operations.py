"""Use cases of the health history: the tick samples it, people read it."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from extensions.history import health_rules, health_store
from extensions.history.health_rules import HealthPoint, HealthSummary
from shared.clients import operations as clients


class HealthHistory(Struct, frozen=True):
    """At most 300 points in equal steps, the oldest first.

    A display is sampled every five minutes. `since` and `until` are the range of the answer. It can be shorter than the
    requested one: it excludes the future and times more than a week ago.
    """

    uuid: str
    since: datetime
    until: datetime
    step_seconds: int
    points: list[HealthPoint]
    summary: HealthSummary


def sample(connection: Connection, now: datetime, turn: int, at: datetime) -> tuple[int, int]:
    """Sample the displays of a turn at `at` and drop their samples older than a week. Returns rows made and dropped.

    A repetition for the same `at` changes nothing.
    """
    return health_store.sample(connection, turn, at, now - health_rules.EVERY), health_store.drop_before(
        connection, turn, now - health_rules.KEPT
    )


def history(connection: Connection, now: datetime, uuid: str, since: datetime, until: datetime) -> HealthHistory:
    """A client's history between `since` and `until`; the answer covers only the part that is kept.

    Raises:
        ClientNotFound: there is none with this uuid.
    """
    clients.check_known(connection, uuid)
    since = max(since, now - health_rules.KEPT)
    until = max(since, min(until, now))
    samples = health_store.samples_of(connection, uuid, since, until)
    return HealthHistory(
        uuid,
        since,
        until,
        int(health_rules.step_of(since, until).total_seconds()),
        health_rules.points(samples, since, until),
        health_rules.summary(samples),
    )
