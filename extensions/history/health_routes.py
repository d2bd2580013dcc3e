"""/api/clients/<uuid>/health/history: the health figures of one display over time."""

from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import asdict

from extensions.history import health_operations as health_history_operations
from extensions.history.health_rules import Extremes
from functions.api.bodies import Answer, QueryParameters, Time
from functions.api.routing import Bound, Call, Routes
from functions.problems import InvalidField
from shared.errors import ClientNotFound
from shared.vocabulary import Role

routes = Routes("health_history", "/api/clients", "The health figures of one display over time.")
USUAL: Final = timedelta(hours=24)


class HealthHistoryQuery(QueryParameters):
    """The time range. `until` defaults to now, `since` to 24 hours before `until`."""

    since: Time | None = None
    until: Time | None = None


class HealthPoint(Answer):
    """The averages over `step_seconds` from `at` on; null when nothing was reported."""

    at: datetime
    cpu_percent: float | None
    memory_percent: float | None
    disk_percent: float | None
    temperature_celsius: float | None


class HealthExtremes(Answer):
    """The lowest and the highest sample, and the last sample with its time."""

    least: float
    most: float
    last: float
    last_at: datetime


class HealthSummary(Answer):
    """The extremes of each figure; null when it was not reported in this time."""

    cpu_percent: HealthExtremes | None
    memory_percent: HealthExtremes | None
    disk_percent: HealthExtremes | None
    temperature_celsius: HealthExtremes | None


class HealthHistory(Answer):
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


@routes.get("/<uuid:uuid>/health/history", role=Role.VIEWER, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def client_health_history(call: Call, uuid: str, query: HealthHistoryQuery) -> HealthHistory:
    """The history of processor, memory, disk and temperature."""
    with call.transaction() as (connection, now):
        until = query.until or now
        since = query.since or until - min(USUAL, until - datetime.min.replace(tzinfo=until.tzinfo))
        if since >= until:
            raise InvalidField.at("since", "field_before_until")
        found = health_history_operations.history(connection, now, uuid, since, until)
    return HealthHistory(
        uuid=uuid,
        since=found.since,
        until=found.until,
        step_seconds=int(found.step.total_seconds()),
        points=[HealthPoint(**asdict(point)) for point in found.points],
        summary=HealthSummary(**{name: _extremes(one) for name, one in found.summary.items()}),
    )


def _extremes(found: Extremes | None) -> HealthExtremes | None:
    return None if found is None else HealthExtremes(**asdict(found))
