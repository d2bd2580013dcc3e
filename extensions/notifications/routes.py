"""/api/notifications: the messages that were sent."""

from typing import Annotated, Any

import msgspec

from extensions.notifications.deliveries import store as deliveries_store
from extensions.notifications.deliveries.store import ListedMessage
from functions.api.bodies import answer_of
from functions.api.pages import Page, PageQuery, decode_cursor, page
from functions.api.routing import Bound, Call, Routes
from shared.vocabulary import DeliveryState, Role

routes = Routes("notifications", "/api/notifications", "The messages that were sent.")


class Delivery(ListedMessage, frozen=True):
    """One message to one channel. `due_at` is the next try, while it is pending; `error` is of the last try."""


class DeliveryQuery(PageQuery):
    """Which messages to list."""

    channel: Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1, description="a channel's id")] | None = None
    state: DeliveryState | None = None


@routes.get("/deliveries", role=Role.OPERATOR, bound=Bound.FLEET)
def list_notification_deliveries(call: Call, query: DeliveryQuery) -> Page[Delivery]:
    """Messages that were sent or wait to be sent, the newest first."""
    after: Any = decode_cursor(query.cursor, int)
    with call.transaction() as (connection, _):
        before = after[0] if after else None
        rows = deliveries_store.page(connection, query.channel, query.state, query.limit + 1, before)
    return page(rows, query.limit, lambda row: (row.id,), lambda row: answer_of(Delivery, row))
