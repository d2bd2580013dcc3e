"""/api/monitoring/overview: the whole fleet at once, or what changed since the last look."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

from functions.api import shapes
from functions.api.bodies import Answer, Query, answer_of
from functions.api.problems import InvalidField
from functions.api.routes.clients import Bridge
from functions.api.routing import Call, Routes
from shared.monitoring import operations
from shared.monitoring.operations import Overview
from shared.monitoring.rules import Cursor, parse_cursor
from shared.vocabulary import Role

routes = Routes("monitoring", "/api/monitoring", "The fleet at one moment.")


class OverviewQuery(Query):
    """How to tell the fleet."""

    format: Annotated[
        Literal["objects", "columns"], msgspec.Meta(description="objects for scripts; columns + rows, half the bytes")
    ] = "objects"
    since: Annotated[str, msgspec.Meta(max_length=100, description="the `cursor` of the last answer")] | None = None
    hb: Annotated[Literal["0", "1"], msgspec.Meta(description="1: also every client's last heartbeat")] = "0"


class FailedService(Answer):
    """A client with a service failure."""

    uuid: str
    name: str
    site: str | None
    service_failed_at: datetime
    service_failed_unit: str


class Scheduler(Answer):
    """Whether ticks come, how long the last one took and what each of its steps did."""

    last_tick_at: datetime | None
    late: bool
    duration_ms: int | None
    did: dict[str, Any]


class Breaker(Answer):
    """Whether recovery holds back because too many displays went silent at once."""

    open: bool
    why: str | None


class OverviewAnswer(Answer, omit_defaults=True):
    """The fleet. `full` false: only clients whose state changed since the cursor; `gone` are to be forgotten."""

    server_time: datetime
    epoch: str
    cursor: str
    full: bool
    counts: dict[str, int]
    gone: list[str]
    service_failed: list[FailedService]
    bridge: Bridge
    scheduler: Scheduler
    breaker: Breaker
    clients: list[shapes.Client] | msgspec.UnsetType = msgspec.UNSET
    columns: list[str] | msgspec.UnsetType = msgspec.UNSET
    rows: list[list[Any]] | msgspec.UnsetType = msgspec.UNSET
    heartbeats: list[tuple[str, datetime]] | msgspec.UnsetType = msgspec.UNSET


@routes.get("/overview", role=Role.VIEWER)
def overview(call: Call, query: OverviewQuery) -> OverviewAnswer:
    """The whole fleet, or with `since` what changed. Heartbeats alone are no change: `hb=1` tells them apart."""
    with call.transaction() as (connection, now):
        seen = operations.overview(
            connection,
            now,
            call.services.config,
            _asked(query.since),
            with_heartbeats=query.hb == "1",
        )
    return OverviewAnswer(
        server_time=seen.now,
        epoch=seen.here.epoch,
        cursor=str(seen.here),
        full=seen.full,
        counts=dict(seen.counts),
        gone=list(seen.gone),
        service_failed=[answer_of(FailedService, row) for row in seen.service_failed],
        bridge=Bridge(**seen.bridge),
        scheduler=answer_of(Scheduler, seen.scheduler),
        breaker=Breaker(**seen.breaker),
        **_written(seen, query.format),
    )


def _written(seen: Overview, form: str) -> dict[str, Any]:
    """The fields that Postgres wrote as JSON, which goes into the answer as it is."""
    written: dict[str, Any] = {}
    if form == "columns":
        written |= {"columns": list(seen.columns), "rows": msgspec.Raw(seen.rows)}
    else:
        rows = msgspec.json.decode(seen.rows, type=list[list[Any]])
        written["clients"] = [dict(zip(seen.columns, row, strict=True)) for row in rows]
    if seen.heartbeats is not None:
        written["heartbeats"] = msgspec.Raw(seen.heartbeats.encode())
    return written


def _asked(since: str | None) -> Cursor | None:
    if since is None:
        return None
    cursor = parse_cursor(since)
    if cursor is None:
        raise InvalidField(
            "since: expected the cursor of an earlier answer.",
            errors=[{"field": "since", "expected": "the cursor of an earlier answer"}],
        )
    return cursor
