"""/api/clients/<uuid>/recovery and /api/recovery: recovery's decisions with their evidence, and people's orders."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from functions.api.bodies import Answer, Body, QueryParameters, Time, answer_of
from functions.api.pages import Page, PageQuery, decode_cursor, page_of
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes import clients as shapes
from functions.api.shapes.fleet import Breaker
from functions.api.shapes.sites import SiteName
from shared.clients import operations as clients
from shared.errors import ClientNotFound
from shared.overview import operations as overview
from shared.overview.operations import Bridge
from shared.recovery import operations as recovery
from shared.recovery import store
from shared.recovery.breakers import operations as breakers
from shared.recovery.store import RecoveryEvent, Tried
from shared.vocabulary import Role

routes = Routes("recovery", "/api", "Decisions of automatic recovery with their evidence, and people's orders to it.")

LAST_EVENTS = 25
LAST_BREAKERS = 5
MENDED_WITHIN = timedelta(days=7)
NOTHING_TRIED = Tried(0, 0, 0, 0, 0, None, None)


class ClientRecovery(Answer):
    """What recovery does about one client now, and why. `recovery` is null while the client is healthy."""

    uuid: str
    enabled: bool
    recovery: shapes.Recovery | None
    tried: Tried
    breaker: Breaker
    bridge: Bridge
    events: list[RecoveryEvent]
    breaker_events: list[RecoveryEvent]


class SaidOfClient(ClientRecovery):
    """The same as `GET /api/clients/<uuid>/recovery`. `changed` is false when the order stood already."""

    changed: bool


class ReleaseBody(Body):
    """Which breaker: the site's, or without `site` every open breaker."""

    site: SiteName | None = None


class Released(Answer):
    """The sites whose breaker was released; null is the fleet's breaker. Empty when none was open."""

    released: list[str | None]
    breaker: Breaker


class MendedQuery(QueryParameters):
    """Since when to count."""

    since: Time


class Mended(Answer):
    """How often recovery mended a display since then: its restarts and reboots that provably happened."""

    since: datetime
    count: int


@routes.get("/clients/<uuid:uuid>/recovery", role=Role.VIEWER, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def client_recovery(call: Call, uuid: str) -> ClientRecovery:
    """Why recovery acts, or does not act, on a client."""
    with call.transaction() as (connection, now):
        return ClientRecovery(**_recovery_of(call, connection, now, uuid))


def _recovery_of(call: Call, connection: Connection, now: datetime, uuid: str) -> dict[str, Any]:
    config = call.services.config
    row = clients.find(connection, uuid)
    state = recovery.states_of(connection, now, config, [row]).get(uuid)
    return {
        "uuid": uuid,
        "enabled": config["CRASH_RECOVERY_ENABLED"],
        "recovery": None if state is None else answer_of(shapes.Recovery, state),
        "tried": store.ladder_of(connection, uuid) or NOTHING_TRIED,
        "breaker": Breaker(**breakers.state(connection, config)),
        "bridge": overview.bridge_state(connection, now),
        "events": store.events_page(connection, uuid, LAST_EVENTS, None),
        "breaker_events": store.breaker_events(connection, row.site, LAST_BREAKERS),
    }


def _answer_after(call: Call, connection: Connection, now: datetime, uuid: str, *, changed: bool) -> SaidOfClient:
    return SaidOfClient(**_recovery_of(call, connection, now, uuid), changed=changed)


@routes.post("/clients/<uuid:uuid>/recovery/resume", role=Role.OPERATOR, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def resume_client(call: Call, uuid: str) -> SaidOfClient:
    """End a suspension and the holds that name only this client. Recovery begins at its ladder's first step again.

    The lockout stays, and so does every other quiet time.
    """
    with call.transaction() as (connection, now):
        changed = recovery.resume(connection, now, uuid, call.principal.actor)
        if changed:
            call.audit(connection, now, "recovery.resume", uuid)
        return _answer_after(call, connection, now, uuid, changed=changed)


@routes.post("/recovery/breaker/release", role=Role.OPERATOR, bound=Bound.LISTS)
def release_breaker(call: Call, body: ReleaseBody) -> Released:
    """Release breakers: recovery acts on silent displays and bad screens again. Only new ones open a breaker again."""
    call.check_site(body.site)
    with call.transaction() as (connection, now):
        released = breakers.release(connection, now, call.principal.actor, body.site)
        for site in released:
            call.audit(connection, now, "recovery.release_breaker", "fleet" if site is None else f"site:{site}")
        state = breakers.state(connection, call.services.config)
    return Released(released=released, breaker=Breaker(**state))


@routes.get("/recovery/mended", role=Role.VIEWER, bound=Bound.LISTS)
def mended(call: Call, query: MendedQuery) -> Mended:
    """How often recovery mended a display since a time, at most since a week ago."""
    with call.transaction() as (connection, now):
        since = max(query.since, now - MENDED_WITHIN)
        return Mended(since=since, count=store.count_mended(connection, since))


@routes.get("/recovery/events", role=Role.VIEWER, bound=Bound.LISTS)
def recovery_events(call: Call, query: PageQuery) -> Page[RecoveryEvent]:
    """Recovery's decisions about all clients and breakers, the newest first."""
    after = decode_cursor(query.cursor, datetime, int)
    with call.transaction() as (connection, _):
        rows = store.events_page(connection, None, query.limit + 1, after)
    return page_of(rows, query.limit, lambda row: (row.at, row.id))
