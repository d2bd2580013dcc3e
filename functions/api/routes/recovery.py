"""/api/clients/<uuid>/recovery and /api/recovery/events: why it did, or did not, restart."""

from datetime import datetime
from typing import Any

from functions.api import shapes
from functions.api.bodies import Answer, Page, PageQuery, answer_of, decode_cursor, page
from functions.api.routes.clients import with_recovery
from functions.api.routing import Call, Routes
from shared.clients import operations as clients
from shared.errors import ClientNotFound
from shared.recovery import store
from shared.vocabulary import RecoveryDecision, Role

routes = Routes("recovery", "/api", "What automatic recovery decided, and on what evidence.")

LAST_EVENTS = 25


class RecoveryEvent(Answer):
    """One decision. `evidence` is what was known when it was made."""

    id: int
    at: datetime
    client_uuid: str
    decision: RecoveryDecision
    why: str
    evidence: dict[str, Any]
    command_id: str | None


class ClientRecovery(Answer):
    """What recovery does about one client now (`recovery` is null while it is healthy), and its last decisions."""

    uuid: str
    enabled: bool
    recovery: shapes.Recovery | None
    events: list[RecoveryEvent]


@routes.get("/clients/<uuid:uuid>/recovery", role=Role.VIEWER, raises=(ClientNotFound,))
def client_recovery(call: Call, uuid: str) -> ClientRecovery:
    """Why a client is, or is not, being recovered."""
    with call.transaction() as (connection, now):
        row = clients.find(connection, uuid)
        recovery = with_recovery(call, connection, now, [row]).get(uuid)
        events = store.events_page(connection, uuid, LAST_EVENTS, None)
    enabled: bool = call.services.config["CRASH_RECOVERY_ENABLED"]
    return ClientRecovery(
        uuid=uuid,
        enabled=enabled,
        recovery=None if recovery is None else answer_of(shapes.Recovery, recovery),
        events=[answer_of(RecoveryEvent, row) for row in events],
    )


@routes.get("/recovery/events", role=Role.VIEWER)
def recovery_events(call: Call, query: PageQuery) -> Page[RecoveryEvent]:
    """Decisions on the whole fleet, the newest first."""
    after = decode_cursor(query.cursor, datetime, int)
    with call.transaction() as (connection, _):
        rows = store.events_page(connection, None, query.limit + 1, after)
    return page(rows, query.limit, lambda row: (row["at"], row["id"]), lambda row: answer_of(RecoveryEvent, row))
