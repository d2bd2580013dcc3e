"""/api/monitoring: the whole fleet, or the changes since an earlier answer; a large one in pages."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

from functions.api.bodies import Answer, QueryParameters, Uuid, answer_of
from functions.api.pages import LongPageQuery, decode_cursor, encode_cursor
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes import clients as shapes
from functions.api.shapes.fleet import Breaker
from functions.api.shapes.quiet import QuietNowView, quiet_now_view
from functions.api.shapes.sites import AnySite, SearchText, Tag
from functions.problems import InvalidField
from functions.reader import words
from shared import typed
from shared.clients.limits_store import PassedLimit
from shared.clients.store import ClientFilter
from shared.overview import operations
from shared.overview.large_store import DisplayFilter, PlaceCounts
from shared.overview.operations import Bridge, Overview, Scheduler
from shared.overview.rules import OverviewCursor, parse_cursor
from shared.overview.summary_store import FailedService, OngoingIncident
from shared.vocabulary import ClientStatus, Presence, ProcessStatus, Role, ScreenHealthStatus

routes = Routes("monitoring", "/api/monitoring", "The fleet at one moment.")


class OverviewQuery(QueryParameters):
    """The form of the answer."""

    format: Annotated[
        Literal["objects", "packed"],
        msgspec.Meta(description="objects for scripts; packed, column by column, for the dashboard"),
    ] = "objects"
    since: Annotated[str, msgspec.Meta(max_length=100, description="the `cursor` of the last answer")] | None = None
    hb: Annotated[Literal["0", "1"], msgspec.Meta(description="1: also every client's last heartbeat")] = "0"
    most: Annotated[int, msgspec.Meta(ge=0, le=1_000_000, description="a fleet of more displays is `large`")] | None = (
        None
    )


class DisplaysQuery(LongPageQuery):
    """Which displays to list; each parameter narrows the list."""

    client: Annotated[list[Uuid], msgspec.Meta(max_length=100)] = msgspec.field(default_factory=list)
    status: Annotated[list[ClientStatus], msgspec.Meta(max_length=10, description="any of these")] = msgspec.field(
        default_factory=list
    )
    site: AnySite | None = None
    nosite: Annotated[bool, msgspec.Meta(description="true: displays without a site")] = False
    tag: Tag | None = None
    q: SearchText | None = None
    screen_failed: bool | None = None
    limit_passed: Annotated[bool, msgspec.Meta(description="true: displays past a limit")] = False
    incident: Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1, description="displays now in this incident")] | None = (
        None
    )


class StandingIncident(OngoingIncident, frozen=True):
    """An open incident of clients; see `GET /api/incidents/<id>`. `members` were ever in it. The gravest is first."""

    key: Annotated[str, msgspec.Meta(description="the site or the subnet; empty for a cluster")]


class OverviewClient(shapes.Client, frozen=True):
    """A client, and the open incident in which it is unwell."""

    incident_id: int | None


Ago = int | str | None
"""A time of a packed answer: how many seconds before `server_time`, cut to the second. A time with a fraction is a text
that ends in its six digits."""


class Words(Answer):
    """A column with few different values: each value once in `words`, and each client's index into them in `places`."""

    words: list[str | None]
    places: list[int]


class Packed(Answer):
    """Clients column by column: the nth value of each column belongs to the nth client.

    `uuid` holds 16 bytes of each client, in base64. `status_since`, `last_heartbeat_at`, `screen_failed_since`,
    `service_failed_at`, `service_mended_at`, `mqtt_last_disconnect_at`, `shared_login_seen_at` and `lockout_until` are
    seconds before `server_time`, cut to the second. A time with a fraction is a text that adds its six digits
    ("12.034500").
    """

    uuid: str
    name: list[str]
    site: list[str | None] | Words
    tags: list[list[str]]
    process_status: list[ProcessStatus]
    status: list[ClientStatus]
    status_since: list[Ago]
    last_heartbeat_at: list[Ago]
    screen_health: list[ScreenHealthStatus]
    screen_failed_since: list[Ago]
    limits: list[list[PassedLimit]]
    service_failed_at: list[Ago]
    service_failed_unit: list[str | None]
    service_mended_at: list[Ago]
    mqtt_reconnect_count: list[int | None]
    mqtt_last_disconnect_at: list[Ago]
    shared_login_seen_at: list[Ago]
    presence: list[Presence]
    app_version: list[str | None] | Words
    ip: list[str | None]
    hostname: list[str | None]
    lockout_until: list[Ago]
    recovery: list[shapes.Recovery | None]
    open_command: list[shapes.OpenCommand | None]
    incident_id: list[int | None]


class PackedHeartbeats(Answer):
    """The last heartbeat of each client, in the packed form."""

    uuid: str
    last_heartbeat_at: list[Ago]


class PlaceOfFleet(Answer):
    """A site; null: the displays without one. `unwell` of its `total` displays need help.

    `states`: how many are in each state; of displays that run, those with another fault are `bad`.
    """

    site: str | None
    total: int
    unwell: int
    states: dict[str, int]


class LargeFleet(Answer):
    """Each place of a large fleet; with `full` false those with changed displays, and a total of 0 for an empty one.

    A display that moved is still counted at its old place: when the totals' sum is not `counts.total`, ask again
    without `since`.
    """

    places: list[PlaceOfFleet]


class DisplaysAnswer(Answer):
    """A page of displays in the order of name and uuid, in the overview's packed form."""

    server_time: datetime
    packed: Packed
    next_cursor: str | None


class OverviewAnswer(Answer, omit_defaults=True):
    """The fleet. `full` false: only clients that changed since the cursor; forget the clients in `gone`.

    `quiet_times`: those that are on; a client is meant by its uuid, site or tags. Left out when they are the same as at
    the cursor. `large`: the fleet has more displays than `most`, so that a full answer names few of them: those to
    help first, without heartbeats.
    """

    server_time: datetime
    epoch: str
    cursor: str
    full: bool
    counts: dict[str, int]
    gone: list[str]
    service_failed: list[FailedService]
    incidents: list[StandingIncident]
    bridge: Bridge
    scheduler: Scheduler
    breaker: Breaker
    quiet_times: list[QuietNowView] | msgspec.UnsetType = msgspec.UNSET
    clients: list[OverviewClient] | msgspec.UnsetType = msgspec.UNSET
    heartbeats: list[tuple[str, datetime]] | msgspec.UnsetType = msgspec.UNSET
    packed: Packed | msgspec.UnsetType = msgspec.UNSET
    packed_heartbeats: PackedHeartbeats | msgspec.UnsetType = msgspec.UNSET
    large: LargeFleet | msgspec.UnsetType = msgspec.UNSET


@routes.get("/overview", role=Role.VIEWER, bound=Bound.LISTS)
def overview(call: Call, query: OverviewQuery) -> OverviewAnswer:
    """The whole fleet, or with `since` its changes. A heartbeat alone is not a change; `hb=1` adds the heartbeats."""
    with call.transaction() as (connection, now):
        seen = operations.overview(
            connection,
            now,
            call.services.config,
            _asked(query.since),
            with_heartbeats=query.hb == "1",
            packed=query.format == "packed",
            sites=call.principal.sites,
            most=query.most,
            say=words().say,
        )
    return OverviewAnswer(
        server_time=seen.now,
        epoch=seen.here.epoch,
        cursor=str(seen.here),
        full=seen.full,
        counts=dict(seen.counts),
        gone=list(seen.gone),
        service_failed=list(seen.service_failed),
        incidents=[answer_of(StandingIncident, row) for row in seen.incidents],
        bridge=seen.bridge,
        scheduler=seen.scheduler,
        breaker=Breaker(**seen.breaker),
        quiet_times=msgspec.UNSET if seen.quiet_times is None else [quiet_now_view(one) for one in seen.quiet_times],
        large=msgspec.UNSET if seen.places is None else LargeFleet(places=[_place(one) for one in seen.places]),
        **_written(seen),
    )


@routes.get("/displays", role=Role.VIEWER, bound=Bound.LISTS)
def displays(call: Call, query: DisplaysQuery) -> DisplaysAnswer:
    """Some displays of a fleet, page by page, as the dashboard reads them; scripts read `GET /api/clients`."""
    wanted = DisplayFilter(
        ClientFilter(site=query.site, tag=query.tag, text=query.q, screen_failed=query.screen_failed),
        query.status,
        query.nosite,
        query.limit_passed,
        query.incident,
        query.client,
    )
    after: Any = decode_cursor(query.cursor, str, str)
    with call.transaction() as (connection, now):
        page = operations.displays(connection, now, call.services.config, wanted, query.limit, after, words().say)
    packed: Any = msgspec.Raw(page.rows)
    return DisplaysAnswer(
        server_time=page.now, packed=packed, next_cursor=None if page.last is None else encode_cursor(page.last)
    )


def _place(counts: PlaceCounts) -> PlaceOfFleet:
    return PlaceOfFleet(site=counts.site, total=counts.total, unwell=counts.unwell, states=dict(counts.states))


def _written(seen: Overview) -> dict[str, Any]:
    """The clients and heartbeats, from the JSON that Postgres wrote."""
    written: dict[str, Any] = {}
    if seen.packed:
        written["packed"] = msgspec.Raw(seen.rows)
    else:
        rows = typed.decode(seen.rows, list[list[Any]])
        written["clients"] = [dict(zip(seen.columns, row, strict=True)) for row in rows]
    if seen.heartbeats is not None:
        beats = "packed_heartbeats" if seen.packed else "heartbeats"
        written[beats] = msgspec.Raw(seen.heartbeats)
    return written


def _asked(since: str | None) -> OverviewCursor | None:
    if since is None:
        return None
    cursor = parse_cursor(since)
    if cursor is None:
        raise InvalidField.at("since", "field_earlier_cursor")
    return cursor
