"""/api/incidents: displays that failed together, and times in which the bridge did not hear the fleet."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection

from functions.api.bodies import Answer, Time, answer_of
from functions.api.pages import Page, PageQuery, decode_cursor, page, page_of
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes.clients import GivenBack, HeldBy, TakeBody, taking
from functions.api.shapes.sites import AnySite
from shared.errors import AlreadyTaken, IncidentNotFound, NothingToTake
from shared.incidents import taken_operations, timeline_operations, timeline_store
from shared.incidents.timeline_store import IncidentFilter, ListedIncident, Member
from shared.quiet import operations as quiet_times
from shared.vocabulary import IncidentEventKind, Quiet, Role
from shared.words.sentences import Sentence

routes = Routes("incidents", "/api/incidents", "Displays that fail together: one incident with one timeline.")

FIRST_PAGE = 25


class IncidentQuery(PageQuery):
    """Which incidents to list."""

    is_open: Annotated[bool, msgspec.Meta(description="true: open incidents; false: closed incidents")] | (
        None
    ) = msgspec.field(default=None, name="open")
    site: Annotated[AnySite, msgspec.Meta(description="with a display of this site")] | None = None
    since: Annotated[Time, msgspec.Meta(description="open at this time or later")] | None = None


class Incident(ListedIncident, frozen=True):
    """Displays that failed together, and the likely `cause`.

    `members` counts the displays that were ever part of it, `unwell` those that still are. `group_size` counts the
    displays of the site or subnet that were heard in the day before; null for other kinds. An incident that became part
    of another one is closed with `merged_into`. Kind `listening` means that the bridge did not hear the fleet; it has
    no members. `again_of` is the incident of the same displays or place within the day before; `times` counts those of
    that day, this one too. `taken_by` has looked after it since `taken_at`, and left `note`; null: nobody does.
    """


class IncidentEvent(Answer):
    """An event of an incident. `title` is for people; it concerns `count` displays, `uuids` are up to ten of them."""

    at: datetime
    kind: IncidentEventKind
    title: Sentence
    count: int | None
    uuids: list[str]
    details: dict[str, Any]


class IncidentDetails(Incident, frozen=True):
    """An incident with the first page of its displays and of its timeline.

    `in_maintenance` counts the unwell displays that are in a quiet time of recovery now: it sends them nothing.
    """

    in_maintenance: int
    displays: Page[Member]
    timeline: Page[IncidentEvent]


@routes.get("", role=Role.VIEWER, bound=Bound.LISTS)
def list_incidents(call: Call, query: IncidentQuery) -> Page[Incident]:
    """Incidents, the newest first, so that pages go on where they ended; the overview has the gravest first."""
    after: Any = decode_cursor(query.cursor, datetime, int)
    wanted = IncidentFilter(query.is_open, query.site, query.since)
    with call.transaction() as (connection, _):
        rows = timeline_store.page(connection, wanted, query.limit + 1, after)
    return page(rows, query.limit, lambda row: (row.opened_at, row.id), _incident)


@routes.get("/<id:incident_id>", role=Role.VIEWER, bound=Bound.LISTS, raises=(IncidentNotFound,))
def incident(call: Call, incident_id: int) -> IncidentDetails:
    """One incident with its displays and its timeline."""
    with call.transaction() as (connection, now):
        found = _incident(timeline_operations.find(connection, incident_id))
        return IncidentDetails(
            **msgspec.structs.asdict(found),
            in_maintenance=len(
                quiet_times.covered(
                    connection,
                    quiet_times.now_quiet(connection, now),
                    Quiet.RECOVERY,
                    timeline_store.present(connection, incident_id),
                )
            ),
            displays=_members(connection, incident_id, FIRST_PAGE, None),
            timeline=_events(connection, incident_id, FIRST_PAGE, None),
        )


@routes.get("/<id:incident_id>/displays", role=Role.VIEWER, bound=Bound.LISTS, raises=(IncidentNotFound,))
def displays_of_incident(call: Call, incident_id: int, query: PageQuery) -> Page[Member]:
    """Displays that were ever part of an incident, by name."""
    after: Any = decode_cursor(query.cursor, str, str)
    with call.transaction() as (connection, _):
        timeline_operations.find(connection, incident_id)
        return _members(connection, incident_id, query.limit, after)


@routes.get("/<id:incident_id>/events", role=Role.VIEWER, bound=Bound.LISTS, raises=(IncidentNotFound,))
def events_of_incident(call: Call, incident_id: int, query: PageQuery) -> Page[IncidentEvent]:
    """The timeline of an incident: opened, displays failed and well again, commands, recovery, closed; newest first."""
    after: Any = decode_cursor(query.cursor, datetime, str, str)
    with call.transaction() as (connection, _):
        timeline_operations.find(connection, incident_id)
        return _events(connection, incident_id, query.limit, after)


@routes.post(
    "/<id:incident_id>/take",
    role=Role.OPERATOR,
    bound=Bound.LISTS,
    raises=(IncidentNotFound, AlreadyTaken, NothingToTake),
)
def take_incident(call: Call, incident_id: int, body: TakeBody) -> HeldBy:
    """Look after an incident: messages about it do not escalate while somebody does. Whoever does may change the note.

    Somebody else's is taken over with `instead_of`.
    """
    with call.transaction() as (connection, now):
        was, held = taken_operations.take_incident(connection, now, incident_id, taking(call.principal.actor, body))
        if was.taken_by != held.taken_by:
            call.audit(connection, now, "incident.take", f"incident:{incident_id}", was=was.taken_by)
    return answer_of(HeldBy, held)


@routes.post(
    "/<id:incident_id>/give_back", role=Role.OPERATOR, bound=Bound.LISTS, raises=(IncidentNotFound, AlreadyTaken)
)
def give_incident_back(call: Call, incident_id: int) -> GivenBack:
    """Look after an incident no longer. Without somebody who does, nothing changes."""
    with call.transaction() as (connection, now):
        changed = taken_operations.give_incident_back(connection, now, incident_id, call.principal.actor)
        if changed:
            call.audit(connection, now, "incident.give_back", f"incident:{incident_id}")
    return GivenBack(changed=changed)


def _incident(row: ListedIncident) -> Incident:
    return answer_of(Incident, row)


def _members(connection: Connection, incident_id: int, limit: int, after: tuple[str, str] | None) -> Page[Member]:
    rows = timeline_store.members_page(connection, incident_id, limit + 1, after)
    return page_of(rows, limit, lambda row: (row.name, row.uuid))


def _events(
    connection: Connection, incident_id: int, limit: int, after: tuple[datetime, str, str] | None
) -> Page[IncidentEvent]:
    found = timeline_operations.events(connection, incident_id, limit + 1, after)
    return page(
        found,
        limit,
        lambda event: (event.at, event.kind.value, event.key),
        lambda event: answer_of(IncidentEvent, event),
    )
