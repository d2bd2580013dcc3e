"""/api/clients: the displays, their states and failures."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

import msgspec
from msgspec.structs import asdict
from sqlalchemy import Connection

from functions.api.bodies import Answer, Body, Time, Uuid, answer_of
from functions.api.folding import NAME
from functions.api.pages import LongPageQuery, Page, PageQuery, decode_cursor, encode_cursor, page_of
from functions.api.routing import Bound, Call, Header, Routes
from functions.api.shapes import clients as shapes
from functions.api.shapes.clients import GivenBack, HeldBy, TakeBody, taking
from functions.api.shapes.sites import AnySite, SearchText, Tag
from functions.problems import InvalidField
from shared.access import enrolment_operations
from shared.clients import failures_store, losses_store, operations, store
from shared.clients.failures_store import AcknowledgedFailure, SeenFailure
from shared.clients.losses_store import UnsteadyClient
from shared.clients.store import ClientFilter, ManyFactsChange, WholeClient
from shared.commands import operations as commands
from shared.commands.news_operations import log_news
from shared.commands.rules import CLIENT_DELETED
from shared.errors import AlreadyTaken, ClientNotFound, FailureChanged, NothingToTake
from shared.expectations import store as expectations_store
from shared.incidents import taken_operations
from shared.overview import operations as overview
from shared.overview import problems_operations
from shared.overview.operations import Bridge
from shared.quiet import operations as quiet_times
from shared.recovery import operations as recovery
from shared.sites import operations as sites
from shared.vocabulary import ClientStatus, Role

routes = Routes("clients", "/api/clients", "Displays: their states, their failures, their names and sites.")

ACKNOWLEDGED_FOR: Final = timedelta(hours=24)
IF_MATCH: Final = Header(
    "the `service_failed_at` of the failure to acknowledge, in double quotes; or `*`",
    {
        "type": "string",
        "pattern": r'^(\*|(W/)?"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3])'
        r':[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])")$',
        "examples": ["*", '"2026-03-01T12:00:00.123456Z"'],
    },
)

Name = Annotated[str, msgspec.Meta(max_length=200, description="what people call the display", extra=NAME)]
MOST_TAGS: Final = 32
Notes = Annotated[str, msgspec.Meta(max_length=4000)]


class ClientQuery(PageQuery):
    """Which clients to list."""

    status: ClientStatus | None = None
    site: AnySite | None = None
    tag: Tag | None = None
    version: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    q: SearchText | None = None
    stale: bool | None = None
    service_failed: bool | None = None
    screen_failed: bool | None = None


class ClientFacts(Body):
    """The fields of a client that people write; a field that is left out stays unchanged."""

    name: Name | msgspec.UnsetType = msgspec.UNSET
    site: AnySite | msgspec.UnsetType | None = msgspec.UNSET
    tags: Annotated[list[Tag], msgspec.Meta(max_length=MOST_TAGS)] | msgspec.UnsetType = msgspec.UNSET
    notes: Notes | msgspec.UnsetType = msgspec.UNSET


class ManyFacts(Body):
    """What to write for many clients: `site` moves them (null or empty: to no site), the tags are added or removed."""

    clients: Annotated[list[Uuid], msgspec.Meta(min_length=1, max_length=1000)]
    site: AnySite | msgspec.UnsetType | None = msgspec.UNSET
    add_tags: Annotated[list[Tag], msgspec.Meta(max_length=MOST_TAGS)] = msgspec.field(default_factory=list)
    remove_tags: Annotated[list[Tag], msgspec.Meta(max_length=MOST_TAGS)] = msgspec.field(default_factory=list)


class WrittenClients(Answer):
    """The clients that were changed. `left`: unknown ones, and those that would have more than 32 tags.

    `no_longer_quiet`: a quiet time covered these clients before the change, and does not cover them now.
    """

    written: list[str]
    left: list[str]
    no_longer_quiet: list[str]


class WrittenClient(shapes.ClientDetails, frozen=True):
    """The client after the change. `no_longer_quiet`: a quiet time left it alone before, and now does not any more."""

    no_longer_quiet: bool


class CrashedClient(shapes.Client, frozen=True):
    """A client that is crashed or silent: `reason` is for people, `since` is when it began."""

    reason: str
    since: datetime | None


class CrashedClients(Answer):
    """Clients that are crashed or silent beyond the threshold; the longest silent comes first."""

    items: list[CrashedClient]
    next_cursor: str | None
    bridge: Bridge


class ClearedFailure(shapes.ClientDetails, frozen=True):
    """The client after the acknowledgement; `cleared` is false when it had no failure."""

    cleared: bool


class GivenFailure(Body):
    """A failure as the caller saw it."""

    uuid: Uuid
    service_failed_at: Time


class MendedBody(Body):
    """The failures that the caller saw and takes for mended."""

    failures: Annotated[list[GivenFailure], msgspec.Meta(min_length=1, max_length=1000)]


class TakeFailureBody(TakeBody, kw_only=True):
    """Who takes the failure that the caller saw."""

    service_failed_at: Time


class MendedFailures(Answer):
    """The clients whose failure was acknowledged. The others failed again, are not mended, or have no failure."""

    acknowledged: list[str]


@routes.get("", role=Role.VIEWER, bound=Bound.LISTS)
def list_clients(call: Call, query: ClientQuery) -> Page[shapes.Client]:
    """Clients by name, narrowed by the filters given."""
    wanted = ClientFilter(
        query.status,
        query.site,
        query.tag,
        query.version,
        query.q,
        query.stale,
        query.service_failed,
        query.screen_failed,
    )
    after = decode_cursor(query.cursor, str, str)
    with call.transaction() as (connection, now):
        rows = store.page(connection, wanted, query.limit + 1, after)
        states = recovery.states_of(connection, now, call.services.config, rows)
    shown = rows[: query.limit]
    more = len(rows) > query.limit
    return Page(
        items=[shapes.client(row, states.get(row.uuid)) for row in shown],
        next_cursor=encode_cursor((shown[-1].name, shown[-1].uuid)) if more else None,
    )


@routes.patch("", role=Role.OPERATOR, bound=Bound.CLIENTS)
def write_clients(call: Call, body: ManyFacts) -> WrittenClients:
    """Move and tag many clients in one transaction. A client that cannot be written is left as it is."""
    moves = body.site is not msgspec.UNSET
    change = ManyFactsChange(moves, (body.site or None) if moves else None, body.add_tags, body.remove_tags, MOST_TAGS)
    if moves:
        call.check_site(change.site)
    with call.transaction() as (connection, now):
        left = sites.take_from(connection, body.clients) if moves else []
        quiet = quiet_times.coverage(connection, now, body.clients)
        written = store.update_many(connection, body.clients, change)
        woken = {uuid for uuid, _ in quiet - quiet_times.coverage(connection, now, body.clients)}
        fields = [*(["site"] if moves else []), *(["tags"] if body.add_tags or body.remove_tags else [])]
        for uuid in written:
            call.audit(connection, now, "client.write", uuid, fields=fields)
        audit_emptied(call, connection, now, left)
    kept = set(written)
    return WrittenClients(
        written=written,
        left=[uuid for uuid in dict.fromkeys(body.clients) if uuid not in kept],
        no_longer_quiet=sorted(woken),
    )


@routes.get("/crashed", role=Role.VIEWER, bound=Bound.LISTS)
def crashed_clients(call: Call, query: LongPageQuery) -> CrashedClients:
    """Clients that report a crash or are silent beyond the threshold, even while the bridge is silent."""
    config = call.services.config
    after: Any = decode_cursor(query.cursor, datetime | None, str)
    with call.transaction() as (connection, now):
        found = problems_operations.crashed(connection, now, config, query.limit + 1, after)
    items = [
        answer_of(
            CrashedClient,
            row,
            recovery=found.recovery.get(row.uuid),
            open_command=shapes.open_command(row),
            **problems_operations.why_crashed(row, now),
        )
        for row in found.clients
    ]
    bridge = overview.bridge_state_of(found.bridge, now)
    listed = page_of(items, query.limit, lambda item: (item.last_heartbeat_at, item.uuid))
    return CrashedClients(items=listed.items, next_cursor=listed.next_cursor, bridge=bridge)


@routes.get("/service_failed", role=Role.VIEWER, bound=Bound.LISTS)
def service_failed_clients(call: Call, query: LongPageQuery) -> Page[shapes.Client]:
    """Clients with a recorded service failure, the newest first."""
    after: Any = decode_cursor(query.cursor, datetime, str)
    with call.transaction() as (connection, now):
        found = problems_operations.failed(connection, now, call.services.config, query.limit + 1, after)
    items = [shapes.client(row, found.recovery.get(row.uuid)) for row in found.clients]
    return page_of(items, query.limit, lambda item: (item.service_failed_at, item.uuid))


@routes.get("/unsteady", role=Role.VIEWER, bound=Bound.LISTS)
def unsteady_clients(call: Call, query: LongPageQuery) -> Page[UnsteadyClient]:
    """Clients that lost the broker three times or more within the last hour, outside incidents; the worst first."""
    after: Any = decode_cursor(query.cursor, int, str)
    with call.transaction() as (connection, now):
        found = losses_store.unsteady(connection, now)
    rest = [one for one in found if after is None or (-one.losses, one.uuid) > (-after[0], after[1])]
    return page_of(rest[: query.limit + 1], query.limit, lambda one: (one.losses, one.uuid))


@routes.get("/service_failed/acknowledged", role=Role.VIEWER, bound=Bound.LISTS)
def acknowledged_failures(call: Call, query: LongPageQuery) -> Page[AcknowledgedFailure]:
    """Failures acknowledged in the last 24 hours, the newest first, with the person who did it."""
    after: Any = decode_cursor(query.cursor, datetime, str)
    with call.transaction() as (connection, now):
        rows = failures_store.recently_cleared(connection, now - ACKNOWLEDGED_FOR, query.limit + 1, after)
    return page_of(rows, query.limit, lambda row: (row.acknowledged_at, row.uuid))


@routes.post("/service_failed/mended", role=Role.OPERATOR, bound=Bound.CLIENTS)
def acknowledge_mended(call: Call, body: MendedBody) -> MendedFailures:
    """Acknowledge the given failures at once: those that still stand as they were seen, and are mended.

    A failure is mended when the client runs and a health report of a minute after it, or later, names none.
    """
    shown = [SeenFailure(one.uuid, one.service_failed_at) for one in body.failures]
    with call.transaction() as (connection, now):
        cleared = failures_store.clear_mended(connection, now, shown, call.principal.actor)
        for one in cleared:
            call.audit(connection, now, "service_failed.clear", one.uuid, unit=one.unit, mended=True)
    return MendedFailures(acknowledged=[one.uuid for one in cleared])


@routes.get("/<uuid:uuid>", role=Role.VIEWER, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def client_details(call: Call, uuid: str) -> shapes.ClientDetails:
    """One client with all its details."""
    with call.transaction() as (connection, now):
        row = operations.find(connection, uuid)
        return details(call, connection, now, row)


@routes.patch("/<uuid:uuid>", role=Role.OPERATOR, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def write_client(call: Call, uuid: str, body: ClientFacts) -> WrittenClient:
    """Write name, site, tags or notes."""
    facts = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not msgspec.UNSET}
    if "site" in facts:
        facts["site"] = facts["site"] or None
    with call.transaction() as (connection, now):
        left = sites.take_from(connection, [uuid]) if "site" in facts else []
        quiet = quiet_times.coverage(connection, now, [uuid])
        row = operations.write_facts(connection, uuid, facts)
        call.audit(connection, now, "client.write", row.uuid, fields=sorted(facts))
        woken = bool(quiet - quiet_times.coverage(connection, now, [uuid]))
        audit_emptied(call, connection, now, left)
        return WrittenClient(**asdict(details(call, connection, now, row)), no_longer_quiet=woken)


@routes.delete(
    "/<uuid:uuid>", role=Role.ADMIN, bound=Bound.CLIENTS, statuses={204: "Deleted"}, raises=(ClientNotFound,)
)
def delete_client(call: Call, uuid: str) -> None:
    """Delete a client. Its login is revoked, its open command ends, its history stays.

    Its later messages are put aside.
    """
    with call.transaction() as (connection, now):
        left = sites.take_from(connection, [uuid])
        enrolment_operations.revoke(connection, now, uuid)
        operations.delete(connection, now, uuid)
        ended = commands.abandon(connection, now, uuid, CLIENT_DELETED)
        call.audit(connection, now, "client.delete", uuid)
        audit_emptied(call, connection, now, left)
    log_news(ended)


@routes.post(
    "/<uuid:uuid>/clear_service_failed",
    role=Role.OPERATOR,
    bound=Bound.CLIENTS,
    raises=(ClientNotFound, FailureChanged),
    headers={"If-Match": IF_MATCH},
)
def clear_service_failed(call: Call, uuid: str) -> ClearedFailure:
    """Acknowledge a client's service failure. Without a failure nothing changes."""
    expected = _failure_meant(call.request.headers.get("If-Match"))
    with call.transaction() as (connection, now):
        row, cleared = operations.clear_service_failed(connection, now, uuid, call.principal.actor, expected)
        if cleared:
            call.audit(connection, now, "service_failed.clear", row.uuid, unit=row.service_failed_cleared_unit)
        shown = details(call, connection, now, row)
    return ClearedFailure(**msgspec.structs.asdict(shown), cleared=cleared)


@routes.post(
    "/<uuid:uuid>/service_failed/take",
    role=Role.OPERATOR,
    bound=Bound.CLIENTS,
    raises=(ClientNotFound, FailureChanged, AlreadyTaken, NothingToTake),
)
def take_failure(call: Call, uuid: str, body: TakeFailureBody) -> HeldBy:
    """Look after a client's failed service, until it is acknowledged or fails again. Whoever does may change the note.

    Somebody else's is taken over with `instead_of`.
    """
    with call.transaction() as (connection, now):
        who = taking(call.principal.actor, body)
        was, held = taken_operations.take_failure(connection, now, uuid, body.service_failed_at, who)
        if was.taken_by != held.taken_by:
            call.audit(connection, now, "service_failed.take", uuid, was=was.taken_by)
    return answer_of(HeldBy, held)


@routes.post(
    "/<uuid:uuid>/service_failed/give_back",
    role=Role.OPERATOR,
    bound=Bound.CLIENTS,
    raises=(ClientNotFound, AlreadyTaken),
)
def give_failure_back(call: Call, uuid: str) -> GivenBack:
    """Look after a client's failed service no longer. Without somebody who does, nothing changes."""
    with call.transaction() as (connection, now):
        changed = taken_operations.give_failure_back(connection, uuid, call.principal.actor)
        if changed:
            call.audit(connection, now, "service_failed.give_back", uuid)
    return GivenBack(changed=changed)


def details(call: Call, connection: Connection, now: datetime, row: WholeClient) -> shapes.ClientDetails:
    """A client's row as its own page shows it."""
    state = recovery.states_of(connection, now, call.services.config, [row]).get(row.uuid)
    quiet = quiet_times.of_client(connection, now, row.uuid) if row.may_be_quiet else []
    return shapes.client_details(row, state, quiet, expectations_store.of_client(connection, row.uuid))


def audit_emptied(call: Call, connection: Connection, now: datetime, left: Sequence[str]) -> None:
    """Write down which of these sites have no display any more although things name them. The tick tells people."""
    for one in sites.emptied(connection, left):
        call.audit(connection, now, "site.emptied", f"site:{one.site}", things=sum(one.names.values()))


def _failure_meant(if_match: str | None) -> datetime | None:
    if if_match is None or if_match.strip() == "*":
        return None
    try:
        meant = datetime.fromisoformat(if_match.strip().removeprefix("W/").strip('"'))
    except ValueError:
        meant = None
    if meant is None or meant.tzinfo is None:
        raise InvalidField.at("If-Match", "field_etag_of_failure")
    return meant
