"""/api/clients/<uuid>/recovery and /api/recovery: recovery's decisions with their evidence, and people's orders."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection

from functions.api.bodies import Answer, Body, Time, answer_of
from functions.api.pages import Page, PageQuery, decode_cursor, page, page_of
from functions.api.routing import Call, Routes
from functions.api.shapes import clients as shapes
from functions.api.shapes.fleet import Breaker, Bridge
from shared.clients import operations as clients
from shared.errors import ClientNotFound, Refused
from shared.overview import operations as overview
from shared.recovery import holds_operations, holds_store, store
from shared.recovery.breakers import operations as breakers
from shared.recovery.operations import states_of
from shared.recovery.store import LadderRow, RecoveryEvent
from shared.vocabulary import Role

routes = Routes("recovery", "/api", "Decisions of automatic recovery with their evidence, and people's orders to it.")

LAST_EVENTS = 25
LAST_BREAKERS = 5
NOTHING_TRIED: dict[str, Any] = {
    **dict.fromkeys(("step", "restarts", "reboots", "refused_restarts", "refused_reboots"), 0),
    **dict.fromkeys(("since", "healthy_since")),
}
Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=500, description="why, for people")]
SiteName = Annotated[str, msgspec.Meta(min_length=1, max_length=100, description="as in the clients' `site`")]


class Hold(Answer):
    """A person ordered recovery to leave the client alone. `until` null: until a person resumes it."""

    at: datetime
    by: str
    reason: str
    until: datetime | None


class Exclusion(Answer):
    """A client, or with `site` every client of the site, that recovery leaves alone until it is included again."""

    client_uuid: str | None
    site: str | None
    reason: str
    excluded_by: str
    excluded_at: datetime


class Tried(Answer):
    """How far up the ladder of four attempts recovery has gone, and since when the client is healthy again.

    A command that the display refused or did not begin is not an attempt; it is counted in `refused_…`.
    """

    step: int
    restarts: int
    reboots: int
    refused_restarts: int
    refused_reboots: int
    since: datetime | None
    healthy_since: datetime | None


class ClientRecovery(Answer):
    """What recovery does about one client now, and why. `recovery` is null while the client is healthy."""

    uuid: str
    enabled: bool
    recovery: shapes.Recovery | None
    tried: Tried
    hold: Hold | None
    exclusion: Exclusion | None
    breaker: Breaker
    bridge: Bridge
    events: list[RecoveryEvent]
    breaker_events: list[RecoveryEvent]


class SaidOfClient(ClientRecovery):
    """The same as `GET /api/clients/<uuid>/recovery`. `changed` is false when the order stood already."""

    changed: bool


class HoldBody(Body):
    """Leave the client alone."""

    reason: Reason
    until: Time | None = None


class ExcludeBody(Body):
    """Never recover the client."""

    reason: Reason


class ExcludeSiteBody(Body):
    """Never recover a client of this site."""

    site: SiteName
    reason: Reason


class IncludeSiteBody(Body):
    """Recover the clients of this site again."""

    site: SiteName


class ReleaseBody(Body):
    """Which breaker: the site's, or without `site` every open breaker."""

    site: SiteName | None = None


class Released(Answer):
    """The sites whose breaker was released; null is the fleet's breaker. Empty when none was open."""

    released: list[str | None]
    breaker: Breaker


class SaidOfSite(Answer):
    """The exclusion of a site. `changed` is false when the order stood already."""

    site: str
    exclusion: Exclusion | None
    changed: bool


@routes.get("/clients/<uuid:uuid>/recovery", role=Role.VIEWER, raises=(ClientNotFound,))
def client_recovery(call: Call, uuid: str) -> ClientRecovery:
    """Why recovery acts, or does not act, on a client."""
    with call.transaction() as (connection, now):
        return ClientRecovery(**_recovery_of(call, connection, now, uuid))


def _recovery_of(call: Call, connection: Connection, now: datetime, uuid: str) -> dict[str, Any]:
    config = call.services.config
    row = clients.find(connection, uuid)
    recovery = states_of(connection, now, config, [row]).get(uuid)
    exclusion = holds_store.exclusion(connection, uuid, row.site)
    return {
        "uuid": uuid,
        "enabled": config["CRASH_RECOVERY_ENABLED"],
        "recovery": None if recovery is None else answer_of(shapes.Recovery, recovery),
        **_tried_and_hold(store.ladder_of(connection, uuid), now),
        "exclusion": None if exclusion is None else answer_of(Exclusion, exclusion),
        "breaker": Breaker(**breakers.state(connection, config)),
        "bridge": Bridge(**overview.bridge_state(connection, now, config)),
        "events": store.events_page(connection, uuid, LAST_EVENTS, None),
        "breaker_events": store.breaker_events(connection, row.site, LAST_BREAKERS),
    }


def _tried_and_hold(ladder: LadderRow | None, now: datetime) -> dict[str, Any]:
    """The answer's `tried` and `hold`."""
    if ladder is None:
        return {"tried": Tried(**NOTHING_TRIED), "hold": None}
    tried = answer_of(Tried, ladder, since=ladder.tried_since)
    held = ladder.held_at is not None and (ladder.held_until is None or ladder.held_until > now)
    hold = {name: getattr(ladder, f"held_{name}") for name in ("at", "by", "reason", "until")}
    return {"tried": tried, "hold": Hold(**hold) if held else None}


def _answer_after(call: Call, connection: Connection, now: datetime, uuid: str, *, changed: bool) -> SaidOfClient:
    return SaidOfClient(**_recovery_of(call, connection, now, uuid), changed=changed)


@routes.post("/clients/<uuid:uuid>/recovery/hold", role=Role.OPERATOR, raises=(ClientNotFound, Refused))
def hold_client(call: Call, uuid: str, body: HoldBody) -> SaidOfClient:
    """Hold a client until this time, or until a person resumes it. After this answer recovery sends it nothing."""
    with call.transaction() as (connection, now):
        changed = holds_operations.hold(connection, now, uuid, call.principal.actor, body.reason, body.until)
        if changed:
            until = body.until.isoformat() if body.until else None
            call.audit(connection, now, "recovery.hold", uuid, reason=body.reason, until=until)
        return _answer_after(call, connection, now, uuid, changed=changed)


@routes.post("/clients/<uuid:uuid>/recovery/resume", role=Role.OPERATOR, raises=(ClientNotFound,))
def resume_client(call: Call, uuid: str) -> SaidOfClient:
    """End a hold or a suspension. Recovery begins again at the first step of its ladder, after the lockout."""
    with call.transaction() as (connection, now):
        changed = holds_operations.resume(connection, uuid)
        if changed:
            call.audit(connection, now, "recovery.resume", uuid)
        return _answer_after(call, connection, now, uuid, changed=changed)


@routes.post("/clients/<uuid:uuid>/recovery/exclude", role=Role.OPERATOR, raises=(ClientNotFound,))
def exclude_client(call: Call, uuid: str, body: ExcludeBody) -> SaidOfClient:
    """Exclude a client from recovery until it is included again."""
    with call.transaction() as (connection, now):
        changed = holds_operations.exclude(connection, now, uuid, call.principal.actor, body.reason)
        if changed:
            call.audit(connection, now, "recovery.exclude", uuid, reason=body.reason)
        return _answer_after(call, connection, now, uuid, changed=changed)


@routes.post("/clients/<uuid:uuid>/recovery/include", role=Role.OPERATOR, raises=(ClientNotFound,))
def include_client(call: Call, uuid: str) -> SaidOfClient:
    """Include a client in recovery again; an exclusion of its whole site stays."""
    with call.transaction() as (connection, now):
        changed = holds_operations.include(connection, uuid)
        if changed:
            call.audit(connection, now, "recovery.include", uuid)
        return _answer_after(call, connection, now, uuid, changed=changed)


@routes.get("/recovery/exclusions", role=Role.VIEWER)
def recovery_exclusions(call: Call, query: PageQuery) -> Page[Exclusion]:
    """Clients and sites that are excluded from recovery, the latest exclusion first."""
    after = decode_cursor(query.cursor, int)
    with call.transaction() as (connection, _):
        rows = holds_store.exclusions(connection, query.limit + 1, None if after is None else after[0])
    return page(rows, query.limit, lambda row: (row.id,), lambda row: answer_of(Exclusion, row))


@routes.post("/recovery/sites/exclude", role=Role.OPERATOR)
def exclude_site(call: Call, body: ExcludeSiteBody) -> SaidOfSite:
    """Exclude all present and future clients of a site from recovery, until the site is included again."""
    with call.transaction() as (connection, now):
        row, changed = holds_operations.exclude_site(connection, now, body.site, call.principal.actor, body.reason)
        if changed:
            call.audit(connection, now, "recovery.exclude", f"site:{body.site}", reason=body.reason)
    return SaidOfSite(site=body.site, exclusion=answer_of(Exclusion, row), changed=changed)


@routes.post("/recovery/sites/include", role=Role.OPERATOR)
def include_site(call: Call, body: IncludeSiteBody) -> SaidOfSite:
    """Include the clients of a site in recovery again; exclusions of single clients stay."""
    with call.transaction() as (connection, now):
        changed = holds_operations.include_site(connection, body.site)
        if changed:
            call.audit(connection, now, "recovery.include", f"site:{body.site}")
    return SaidOfSite(site=body.site, exclusion=None, changed=changed)


@routes.post("/recovery/breaker/release", role=Role.OPERATOR)
def release_breaker(call: Call, body: ReleaseBody) -> Released:
    """Release breakers: recovery acts on silent displays and bad screens again. Only new ones open a breaker again."""
    with call.transaction() as (connection, now):
        released = breakers.release(connection, now, call.principal.actor, body.site)
        for site in released:
            call.audit(connection, now, "recovery.release_breaker", "fleet" if site is None else f"site:{site}")
        state = breakers.state(connection, call.services.config)
    return Released(released=released, breaker=Breaker(**state))


@routes.get("/recovery/events", role=Role.VIEWER)
def recovery_events(call: Call, query: PageQuery) -> Page[RecoveryEvent]:
    """Recovery's decisions about all clients and breakers, the newest first."""
    after = decode_cursor(query.cursor, datetime, int)
    with call.transaction() as (connection, _):
        rows = store.events_page(connection, None, query.limit + 1, after)
    return page_of(rows, query.limit, lambda row: (row.at, row.id))
