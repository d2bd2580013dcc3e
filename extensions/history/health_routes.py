"""/api/clients/<uuid>/health/history: the health figures of one display over time."""

from datetime import datetime, timedelta
from typing import Final

from extensions.history import health_operations
from extensions.history.health_operations import HealthHistory
from functions.api.bodies import QueryParameters, Time
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


@routes.get("/<uuid:uuid>/health/history", role=Role.VIEWER, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def client_health_history(call: Call, uuid: str, query: HealthHistoryQuery) -> HealthHistory:
    """The history of processor, memory, disk and temperature."""
    with call.transaction() as (connection, now):
        until = query.until or now
        since = query.since or until - min(USUAL, until - datetime.min.replace(tzinfo=until.tzinfo))
        if since >= until:
            raise InvalidField.at("since", "field_before_until")
        return health_operations.history(connection, now, uuid, since, until)
