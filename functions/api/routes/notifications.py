"""/api/notifications: snoozes, and the messages that were sent."""

from datetime import datetime
from typing import Annotated, Any

import msgspec

from functions.api.bodies import Answer, Body, Time, Uuid, answer_of
from functions.api.pages import Page, PageQuery, decode_cursor, page
from functions.api.routing import Call, Routes
from functions.problems import InvalidField
from shared.errors import ClientNotFound, SnoozeNotFound, SnoozeRefused
from shared.notifications import snoozes_operations, snoozes_store
from shared.notifications.deliveries import store as deliveries_store
from shared.notifications.deliveries.store import ListedMessage
from shared.notifications.snoozes_rules import KeptSnooze
from shared.vocabulary import DeliveryState, NotificationEvent, NotificationPhase, Role, SnoozeScope

routes = Routes("notifications", "/api/notifications", "Snoozes, and the messages that were sent.")

WHOM = {SnoozeScope.SITE: "site", SnoozeScope.CLIENT: "client"}


class NewSnooze(Body, kw_only=True):
    """Send no messages about the fleet, a site or a client until this time."""

    scope: SnoozeScope
    site: Annotated[str, msgspec.Meta(min_length=1, max_length=100, description="with scope `site` only")] | None = None
    client: Annotated[Uuid, msgspec.Meta(description="with scope `client` only")] | None = None
    until: Time
    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""


class Snooze(Answer):
    """A time without messages about the fleet, a site or a client. `current` is false when it is over or was ended."""

    id: int
    scope: SnoozeScope
    site: str | None
    client: str | None
    client_name: str | None
    reason: str
    until: datetime
    current: bool
    created_by: str
    created_at: datetime
    ended_at: datetime | None
    ended_by: str | None


class SnoozeQuery(PageQuery):
    """Which snoozes to list."""

    current: Annotated[bool, msgspec.Meta(description="true: on; false: over or ended")] | None = None
    client: Annotated[Uuid, msgspec.Meta(description="snoozes that cover this client")] | None = None


class Delivery(Answer):
    """One message to one channel. `due_at` is the next try, while it is pending; `error` is of the last try."""

    id: int
    channel_id: int
    channel_name: str
    subject: str
    phase: NotificationPhase
    event: NotificationEvent
    title: str
    text: str
    state: DeliveryState
    attempts: int
    created_at: datetime
    due_at: datetime | None
    finished_at: datetime | None
    error: str | None


class DeliveryQuery(PageQuery):
    """Which messages to list."""

    channel: Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1, description="a channel's id")] | None = None
    state: DeliveryState | None = None


@routes.get("/deliveries", role=Role.OPERATOR)
def list_notification_deliveries(call: Call, query: DeliveryQuery) -> Page[Delivery]:
    """Messages that were sent or wait to be sent, the newest first."""
    after: Any = decode_cursor(query.cursor, int)
    with call.transaction() as (connection, _):
        before = after[0] if after else None
        rows = deliveries_store.page(connection, query.channel, query.state, query.limit + 1, before)
    return page(rows, query.limit, lambda row: (row.id,), _delivery)


@routes.get("/snoozes", role=Role.VIEWER)
def list_notification_snoozes(call: Call, query: SnoozeQuery) -> Page[Snooze]:
    """Snoozes, the newest first; ended ones stay as history."""
    after: Any = decode_cursor(query.cursor, datetime, int)
    with call.transaction() as (connection, now):
        wanted = snoozes_store.SnoozeFilter(query.current, query.client)
        rows = snoozes_store.page(connection, now, wanted, query.limit + 1, after)
    return page(rows, query.limit, lambda row: (row.created_at, row.id), lambda row: _snooze(row, now))


@routes.post("/snoozes", role=Role.OPERATOR, statuses={201: "Begun"}, raises=(SnoozeRefused, ClientNotFound))
def begin_notification_snooze(call: Call, body: NewSnooze) -> Snooze:
    """Snooze the fleet, a site or a client. Troubles that outlast the snooze are sent when it ends."""
    _check_whom(body)
    actor = call.principal.actor
    with call.transaction() as (connection, now):
        whom = body.site or body.client
        row = snoozes_operations.begin(connection, now, body.scope, whom, body.until, body.reason, actor)
        until = body.until.isoformat()
        call.audit(connection, now, "notification_snooze.begin", f"snooze:{row.id}", scope=body.scope, until=until)
        return _snooze(row, now)


@routes.delete("/snoozes/<id:snooze_id>", role=Role.OPERATOR, statuses={204: "Ended"}, raises=(SnoozeNotFound,))
def end_notification_snooze(call: Call, snooze_id: int) -> None:
    """End a snooze at once. An ended snooze stays unchanged."""
    with call.transaction() as (connection, now):
        if snoozes_operations.end(connection, now, snooze_id, call.principal.actor):
            call.audit(connection, now, "notification_snooze.end", f"snooze:{snooze_id}")


def _check_whom(body: NewSnooze) -> None:
    """Check that the scope's own field is given, and no other scope's. Raises InvalidField."""
    for scope, field in WHOM.items():
        given = getattr(body, field) is not None
        if given != (body.scope is scope):
            expected = f"nothing unless scope is {scope}" if given else f"given with scope {scope}"
            raise InvalidField(f"{field}: expected {expected}.", errors=[{"field": field, "expected": expected}])


def _snooze(row: KeptSnooze, now: datetime) -> Snooze:
    return answer_of(Snooze, row, client=row.client_uuid, current=row.is_on(now))


def _delivery(row: ListedMessage) -> Delivery:
    due_at = row.due_at if row.state is DeliveryState.PENDING else None
    return answer_of(Delivery, row, due_at=due_at)
