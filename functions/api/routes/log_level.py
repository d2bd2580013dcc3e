"""/api/clients/<uuid>/log-level: change a display's log level for a limited time."""

import time
from datetime import datetime, timedelta
from typing import Annotated

import msgspec

from functions.api.bodies import Answer, Body
from functions.api.routing import Bound, Call, Routes
from shared.clients import operations as clients
from shared.errors import BrokerUnavailable, ClientNotFound, ClientNotListening, PublishUnanswered
from shared.vocabulary import LogLevel, Role

routes = Routes("log_level", "/api/clients", "A display's log level, for a limited time.")

PUBLISH_SECONDS = 3.0  # a request waits no longer for the broker


class NewLogLevel(Body):
    """The lowest level that a display logs, and for how long."""

    level: LogLevel
    minutes: Annotated[int, msgspec.Meta(ge=1, le=1440, description="then the display returns to its own level")]


class OrderedLogLevel(Answer):
    """The level that was sent to the display. Its health reports name the level in force; `until` is by our clock."""

    uuid: str
    level: LogLevel
    until: datetime


@routes.post(
    "/<uuid:uuid>/log-level",
    role=Role.OPERATOR,
    bound=Bound.CLIENTS,
    statuses={202: "The broker took it for the display"},
    raises=(ClientNotFound, ClientNotListening, BrokerUnavailable),
)
def set_log_level(call: Call, uuid: str, body: NewLogLevel) -> OrderedLogLevel:
    """Set a display's log level for a limited time. It is not stored for a display that is offline: send it again."""
    length = timedelta(minutes=body.minutes)
    with call.transaction() as (connection, _):
        clients.find(connection, uuid)
    deadline = time.monotonic() + PUBLISH_SECONDS  # wait for the broker without a database connection
    try:
        clients.order_log_level(call.services.publisher, uuid, body.level, length, deadline)
    except PublishUnanswered:
        _audit(call, uuid, body, answered=False)  # the display may have received it
        raise
    now = _audit(call, uuid, body, answered=True)
    return OrderedLogLevel(uuid=uuid, level=body.level, until=now + length)


def _audit(call: Call, uuid: str, body: NewLogLevel, *, answered: bool) -> datetime:
    """Write an audit line. Returns its time."""
    with call.transaction() as (connection, now):
        details = {"level": body.level.value, "minutes": body.minutes, "answered": answered}
        call.audit(connection, now, "client.log_level", uuid, **details)
    return now
