"""/api/maintenance-windows: planned times in which recovery sends nothing to displays."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection

from functions.api.bodies import Answer, Body, Time, Uuid, answer_of
from functions.api.pages import Page, PageQuery, decode_cursor, page
from functions.api.routing import Call, Routes
from functions.problems import InvalidField
from shared.errors import ClientsUnknown, MaintenanceTimesRefused, MaintenanceWindowNotFound, TimeZoneUnknown
from shared.maintenance import operations, rules, store
from shared.maintenance.operations import NewWindow
from shared.maintenance.rules import KeptWindow, Schedule
from shared.maintenance.store import WindowFilter
from shared.vocabulary import MaintenanceScope, MaintenanceState, Role, Weekday

routes = Routes("maintenance", "/api/maintenance-windows", "Planned times in which recovery sends displays nothing.")

GOES_WITH = {MaintenanceScope.SITE: "site", MaintenanceScope.CLIENTS: "clients"}


class RecurrenceBody(Body, kw_only=True):
    """Weekly repetition on `weekdays`, at the local times in `time_zone` of the first occurrence."""

    time_zone: Annotated[str, msgspec.Meta(min_length=1, max_length=100, description="IANA name: Europe/Rome")]
    weekdays: Annotated[list[Weekday], msgspec.Meta(min_length=1, max_length=7)]
    until: Annotated[date, msgspec.Meta(description="the last local date on which it begins")] | None = None


class NewMaintenanceWindow(Body, kw_only=True):
    """A window to plan. `starts_at` defaults to now; with `recurrence` the times are those of the first occurrence."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    reason: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    scope: MaintenanceScope
    site: Annotated[str, msgspec.Meta(min_length=1, max_length=100, description="with scope `site` only")] | None = None
    clients: Annotated[list[Uuid], msgspec.Meta(max_length=10_000, description="with scope `clients` only")] = (
        msgspec.field(default_factory=list)
    )
    starts_at: Time | None = None
    ends_at: Time
    recurrence: RecurrenceBody | None = None


class Recurrence(Answer):
    """Weekly repetition on `weekdays`; `until` is the last local date on which it begins, null for no end."""

    time_zone: str
    weekdays: list[Weekday]
    until: date | None


class Occurrence(Answer):
    """One occurrence of a window."""

    starts_at: datetime
    ends_at: datetime


class MaintenanceWindow(Answer):
    """A window. `occurrence` is the present or the next one; null when none is left."""

    id: int
    name: str
    reason: str
    scope: MaintenanceScope
    site: str | None
    clients: list[str]
    starts_at: datetime
    ends_at: datetime
    recurrence: Recurrence | None
    state: MaintenanceState
    occurrence: Occurrence | None
    created_by: str
    created_at: datetime
    ended_at: datetime | None
    ended_by: str | None


class MaintenanceQuery(PageQuery):
    """Which windows to list."""

    current: Annotated[bool, msgspec.Meta(description="true: on or still to come; false: over or ended")] | None = None
    client: Annotated[Uuid, msgspec.Meta(description="windows that cover this client")] | None = None


@routes.get("", role=Role.VIEWER)
def list_maintenance_windows(call: Call, query: MaintenanceQuery) -> Page[MaintenanceWindow]:
    """Maintenance windows, the newest first; ended ones stay as history."""
    after: Any = decode_cursor(query.cursor, datetime, int)
    wanted = WindowFilter(query.current, query.client)
    with call.transaction() as (connection, now):
        rows = store.page(connection, now, wanted, query.limit + 1, after)
        shown = _shapes(connection, now, rows)
    return page(rows, query.limit, lambda row: (row.created_at, row.id), lambda row: shown[row.id])


@routes.post(
    "",
    role=Role.OPERATOR,
    statuses={201: "Planned"},
    raises=(MaintenanceTimesRefused, TimeZoneUnknown, ClientsUnknown),
)
def plan_maintenance_window(call: Call, body: NewMaintenanceWindow) -> MaintenanceWindow:
    """Plan a window. Windows may overlap. Commands of people are sent during a window too."""
    _check_scope(body)
    with call.transaction() as (connection, now):
        row = operations.plan(connection, now, _wanted(body, now), call.principal.actor)
        call.audit(connection, now, "maintenance.create", f"maintenance:{row.id}", name=body.name, scope=body.scope)
        return _shapes(connection, now, [row])[row.id]


@routes.delete("/<id:window_id>", role=Role.OPERATOR, statuses={204: "Ended"}, raises=(MaintenanceWindowNotFound,))
def end_maintenance_window(call: Call, window_id: int) -> None:
    """End a window at once and for good. An ended window stays unchanged; the row stays as history."""
    with call.transaction() as (connection, now):
        if operations.end(connection, now, window_id, call.principal.actor):
            call.audit(connection, now, "maintenance.end", f"maintenance:{window_id}")


def _check_scope(body: NewMaintenanceWindow) -> None:
    """Check that the scope's own field is given, and no other scope's. Raises InvalidField."""
    for scope, field in GOES_WITH.items():
        given = bool(getattr(body, field))
        if given != (body.scope is scope):
            expected = f"nothing unless scope is {scope}" if given else f"given with scope {scope}"
            raise InvalidField(f"{field}: expected {expected}.", errors=[{"field": field, "expected": expected}])


def _wanted(body: NewMaintenanceWindow, now: datetime) -> NewWindow:
    recurrence = None
    if body.recurrence is not None:
        recurrence = rules.WeeklyRecurrence(
            body.recurrence.time_zone, frozenset(body.recurrence.weekdays), body.recurrence.until
        )
    schedule = Schedule(body.starts_at or now, body.ends_at, recurrence)
    return NewWindow(body.name, body.reason, body.scope, body.site, body.clients, schedule)


def _shapes(connection: Connection, now: datetime, rows: Sequence[KeptWindow]) -> dict[int, MaintenanceWindow]:
    """Each row as its answer, by id."""
    named = store.clients_of(connection, [row.id for row in rows if row.scope is MaintenanceScope.CLIENTS])
    return {row.id: _shape(row, now, named.get(row.id, [])) for row in rows}


def _shape(row: KeptWindow, now: datetime, named: list[str]) -> MaintenanceWindow:
    schedule = row.schedule
    at = rules.occurrence_at(schedule, now) or rules.next_occurrence(schedule, now)
    again = schedule.recurrence
    recurrence = again and {"time_zone": again.time_zone, "weekdays": row.weekdays, "until": again.until}
    return answer_of(
        MaintenanceWindow,
        row,
        clients=named,
        recurrence=recurrence,
        state=rules.state_at(schedule, now),
        occurrence=at and {"starts_at": at.starts_at, "ends_at": at.ends_at},
    )
