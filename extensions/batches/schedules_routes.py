"""/api/schedules: commands for later, once or each week, for chosen displays."""

from datetime import date, datetime
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection

from extensions.batches import schedules_answers as shapes
from extensions.batches import schedules_operations as operations
from extensions.batches import schedules_store
from extensions.batches.answers import CommandsForMany, Number, Reason, Share, Waves, batch_request
from extensions.batches.schedules_answers import CommandSchedule, ScheduleDetails, SchedulesOfClient, ScheduleTime
from extensions.batches.schedules_rules import KeptSchedule, WantedSchedule, When
from functions.api.bodies import END, Body, Time, answer_of
from functions.api.idempotency import keyed, once
from functions.api.pages import Page, PageQuery, decode_cursor, page, page_of
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes.commands import ASKED_WITH
from shared.access.rules import check_may_send
from shared.errors import (
    ClientNotFound,
    ClientsUnknown,
    Forbidden,
    InvalidWaves,
    NoClients,
    ScheduleNotFound,
    ScheduleOver,
    ScheduleTimesRefused,
    TimeZoneUnknown,
    TooManySchedules,
)
from shared.vocabulary import Role, Weekday

routes = Routes("schedules", "/api", "Schedules: commands for later, once or weekly. Each time makes a batch.")

LocalTime = Annotated[
    str, msgspec.Meta(pattern=f"^([01][0-9]|2[0-3]):[0-5][0-9]{END}", description="HH:MM in `time_zone`")
]
Zone = Annotated[str, msgspec.Meta(min_length=1, max_length=100, description="IANA name: Europe/Rome")]
Weekdays = Annotated[list[Weekday], msgspec.Meta(min_length=1, max_length=7)]
LastDate = Annotated[date, msgspec.Meta(description="the last local date; null: without end")]


class NewSchedule(CommandsForMany, kw_only=True):
    """A batch for later: once `at` a time, or on each of `weekdays` at `local_time`, both in `time_zone`.

    Where the clocks change, a local time is read by the clock as it was before: one that does not exist comes later by
    what the clocks skip, and one that comes twice counts the first time. A filter is evaluated anew at each time.
    """

    time_zone: Zone
    at: Time | None = None
    weekdays: Weekdays | None = None
    local_time: LocalTime | None = None
    until: LastDate | None = None


class ChangedSchedule(Body):
    """The fields to change; once stays once, and weekly stays weekly."""

    reason: Reason | msgspec.UnsetType = msgspec.UNSET
    waves: Waves | msgspec.UnsetType = msgspec.UNSET
    max_unproven: Number | Share | msgspec.UnsetType = msgspec.UNSET
    time_zone: Zone | msgspec.UnsetType = msgspec.UNSET
    at: Time | msgspec.UnsetType = msgspec.UNSET
    weekdays: Weekdays | msgspec.UnsetType = msgspec.UNSET
    local_time: LocalTime | msgspec.UnsetType = msgspec.UNSET
    until: LastDate | msgspec.UnsetType | None = msgspec.UNSET


class ScheduleQuery(PageQuery):
    """Which schedules to list."""

    current: Annotated[bool, msgspec.Meta(description="true: with a next time; false: over or cancelled")] | None = None


@routes.get("/schedules", role=Role.VIEWER, bound=Bound.LISTS)
def list_schedules(call: Call, query: ScheduleQuery) -> Page[CommandSchedule]:
    """Schedules, the newest first; those that are over stay as history."""
    after: Any = decode_cursor(query.cursor, datetime, str)
    with call.transaction() as (connection, _):
        items = shapes.schedules(connection, schedules_store.page(connection, query.current, query.limit + 1, after))
    return page_of(items, query.limit, lambda one: (one.created_at, one.id))


@routes.post(
    "/schedules",
    role=Role.OPERATOR,
    bound=Bound.CLIENTS,
    statuses={201: "Planned"},
    raises=(
        ClientsUnknown,
        Forbidden,
        InvalidWaves,
        NoClients,
        ScheduleTimesRefused,
        TimeZoneUnknown,
        TooManySchedules,
    ),
    headers=ASKED_WITH,
)
def plan_schedule(call: Call, body: NewSchedule) -> ScheduleDetails:
    """Plan commands for later. A time missed by more than ten minutes is said, and not made up for.

    At each time its maker's rights of then count: without them the time is missed, and says so.
    """
    wanted = WantedSchedule(request=batch_request(call, body), when=_when(body))
    with call.transaction() as (connection, now):

        def plan() -> KeptSchedule:
            planned = operations.plan(connection, now, wanted)
            facts = {"command": body.action, "reason": body.reason, "next_at": planned.next_at}
            call.audit(connection, now, "schedule.create", f"schedule:{planned.id}", **_worded(facts))
            return planned

        return _details(connection, once(connection, keyed(call), "command_schedules", plan, schedules_store.get).id)


def _when(body: NewSchedule) -> When:
    return When(
        time_zone=body.time_zone,
        at=body.at,
        weekdays=tuple(body.weekdays or ()),
        local_time=body.local_time,
        until=body.until,
    )


def _worded(facts: dict[str, Any]) -> dict[str, Any]:
    """Facts for the audit log: times as texts."""
    return {name: value.isoformat() if isinstance(value, date) else value for name, value in facts.items()}


@routes.get("/schedules/<uuid:schedule_id>", role=Role.VIEWER, bound=Bound.LISTS, raises=(ScheduleNotFound,))
def schedule(call: Call, schedule_id: str, query: PageQuery) -> ScheduleDetails:
    """One schedule, its clients, and a page of what became of its times, the latest first."""
    with call.transaction() as (connection, _):
        return _details(connection, schedule_id, query)


def _details(connection: Connection, schedule_id: str, query: PageQuery | None = None) -> ScheduleDetails:
    asked = query or PageQuery()
    after = decode_cursor(asked.cursor, datetime)
    row = operations.find(connection, schedule_id)
    named = schedules_store.clients(connection, row.id)
    [more] = shapes.facts(connection, [row])
    times = schedules_store.runs(connection, row.id, asked.limit + 1, None if after is None else after[0])
    return answer_of(
        ScheduleDetails,
        row,
        **more,
        clients=named,
        covers=operations.covers(connection, row),
        times=page(times, asked.limit, lambda run: (run.due_at,), lambda run: answer_of(ScheduleTime, run)),
    )


@routes.patch(
    "/schedules/<uuid:schedule_id>",
    role=Role.OPERATOR,
    bound=Bound.LISTS,
    raises=(Forbidden, InvalidWaves, ScheduleNotFound, ScheduleOver, ScheduleTimesRefused, TimeZoneUnknown),
)
def change_schedule(call: Call, schedule_id: str, body: ChangedSchedule) -> ScheduleDetails:
    """Change a schedule that is not over. Needs the role that sending its command needs."""
    changes = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not msgspec.UNSET}
    with call.transaction() as (connection, now):
        check_may_send(call.principal, operations.find(connection, schedule_id).action)
        row = operations.change(connection, now, schedule_id, changes, call.principal.actor)
        call.audit(connection, now, "schedule.write", f"schedule:{row.id}", **_worded(changes))
        return _details(connection, row.id)


@routes.delete(
    "/schedules/<uuid:schedule_id>",
    role=Role.OPERATOR,
    bound=Bound.LISTS,
    statuses={204: "Cancelled"},
    raises=(ScheduleNotFound, ScheduleOver),
)
def cancel_schedule(call: Call, schedule_id: str) -> None:
    """Cancel a schedule for good. Batches that it made go on; a cancelled one stays unchanged, as history."""
    with call.transaction() as (connection, now):
        if operations.cancel(connection, now, schedule_id, call.principal.actor):
            call.audit(connection, now, "schedule.cancel", f"schedule:{schedule_id}")


@routes.get("/clients/<uuid:uuid>/schedules", role=Role.VIEWER, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def schedules_of_client(call: Call, uuid: str) -> SchedulesOfClient:
    """What will happen to a client, by the schedules of now; at most 100."""
    with call.transaction() as (connection, _):
        items = shapes.schedules(connection, operations.of_client(connection, uuid))
    return SchedulesOfClient(uuid=uuid, items=items)
