"""/api/clients/<uuid>/log-level: let a display tell more, or less, for a while."""

import time
from datetime import datetime, timedelta
from typing import Annotated

import msgspec

from functions.api.bodies import Answer, Body
from functions.api.routing import Call, Routes
from shared.clients import operations as clients
from shared.errors import BrokerUnavailable, ClientNotFound, ClientNotListening, PublishUnanswered
from shared.vocabulary import LogLevel, Role

routes = Routes("log_level", "/api/clients", "A display's log level, for a time.")

PUBLISH_SECONDS = 3.0  # what a request may wait for the broker


class NewLogLevel(Body):
    """From which level on a display logs, and for how long."""

    level: LogLevel
    minutes: Annotated[int, msgspec.Meta(ge=1, le=1440, description="it ends by itself after them")]


class OrderedLogLevel(Answer):
    """What the display was told. Its health reports the level in force; `until` is by our clock."""

    uuid: str
    level: LogLevel
    until: datetime


@routes.post(
    "/<uuid:uuid>/log-level",
    role=Role.OPERATOR,
    statuses={202: "The broker took it for the display"},
    raises=(ClientNotFound, ClientNotListening, BrokerUnavailable),
)
def set_log_level(call: Call, uuid: str, body: NewLogLevel) -> OrderedLogLevel:
    """Set a display's log level for a time. Nothing is kept for a display that does not listen: send it again."""
    length = timedelta(minutes=body.minutes)
    with call.transaction() as (connection, _):
        clients.find(connection, uuid)
    deadline = time.monotonic() + PUBLISH_SECONDS  # no connection is held while the broker is waited for
    try:
        clients.order_log_level(call.services.publisher, uuid, body.level, length, deadline)
    except PublishUnanswered:
        _audit(call, uuid, body, answered=False)  # it may have reached the display all the same
        raise
    now = _audit(call, uuid, body, answered=True)
    return OrderedLogLevel(uuid=uuid, level=body.level, until=now + length)


def _audit(call: Call, uuid: str, body: NewLogLevel, *, answered: bool) -> datetime:
    """Write it down; when that was."""
    with call.transaction() as (connection, now):
        details = {"level": body.level.value, "minutes": body.minutes, "answered": answered}
        call.audit(connection, now, "client.log_level", uuid, **details)
    return now
