"""/api/quiet-times: whatever is to be left alone: holds, snoozes, maintenance, opening hours, exclusions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
from sqlalchemy import Connection

from functions.api.bodies import END, Answer, Body, Time, Uuid, answer_of
from functions.api.idempotency import HEADER, keyed, once
from functions.api.pages import Page, PageQuery, decode_cursor, page
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes.quiet import QuietTime
from functions.api.shapes.sites import SiteName, Tag
from functions.problems import InvalidField
from shared.clients import operations as clients
from shared.errors import (
    ClientNotFound,
    ClientsUnknown,
    OpeningHoursExist,
    QuietTimeNotFound,
    QuietTimeOver,
    QuietTimesRefused,
    TimeZoneUnknown,
)
from shared.quiet import hours_rules, operations, rules, store
from shared.quiet.hours_rules import Span
from shared.quiet.rules import KeptQuietTime, WantedQuietTime
from shared.quiet.store import QuietFilter
from shared.vocabulary import Quiet, QuietPreset, QuietScope, Role, Weekday
from shared.words.sentences import Sentence

routes = Routes("quiet_times", "/api", "Quiet times: what is left alone, when, by whom and why.")

SHOWN: Final = 100  # quiet times of one client
GOES_WITH: Final = {QuietScope.SITE: "site", QuietScope.TAG: "tag", QuietScope.CLIENTS: "clients"}

Clock = Annotated[
    str,
    msgspec.Meta(
        pattern=rf"^(([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?|24:00){END}",
        max_length=8,
        description="local time, HH:MM or HH:MM:SS",
    ),
]
Reason = Annotated[str, msgspec.Meta(max_length=1500, description="why, for people")]
Zone = Annotated[str, msgspec.Meta(min_length=1, max_length=100, description="IANA name: Europe/Rome")]


class WeeklyHoursBody(Body, kw_only=True):
    """Weekly hours. Without `nights`, a `to` that is not after `from` is on the next day."""

    days: Annotated[list[Weekday], msgspec.Meta(min_length=1, max_length=7)]
    begins: Clock = msgspec.field(name="from")
    ends: Clock = msgspec.field(name="to")
    nights: Annotated[int, msgspec.Meta(ge=0, le=7, description="midnights between both")] | None = None


WeeklyHours = Annotated[list[WeeklyHoursBody], msgspec.Meta(max_length=50)]


class NewQuietTime(Body, kw_only=True):
    """A quiet time to make. `starts_at` defaults to now; without `ends_at` it lasts until somebody ends it.

    `hold` and `leave_out` make recovery quiet and need a reason; `snooze` messages; `maintenance` recovery, messages
    and batches; `opening_hours` recovery, messages and the screen, outside of `hours`; `custom` what `quiet` says.
    """

    preset: QuietPreset
    quiet: (
        Annotated[list[Quiet], msgspec.Meta(min_length=1, max_length=4, description="with preset `custom` only")] | None
    ) = None
    scope: QuietScope
    site: Annotated[SiteName, msgspec.Meta(description="with scope `site` only")] | None = None
    tag: Annotated[Tag, msgspec.Meta(description="with scope `tag` only")] | None = None
    clients: Annotated[list[Uuid], msgspec.Meta(max_length=10_000, description="with scope `clients` only")] = (
        msgspec.field(default_factory=list)
    )
    starts_at: Time | None = None
    ends_at: Time | None = None
    hours: WeeklyHours = msgspec.field(default_factory=list)
    time_zone: Zone | None = None
    reason: Reason = ""


class QuietTimeChanges(Body, kw_only=True):
    """New values; a field that is left out stays. `starts_at` only before it begins."""

    reason: Reason | msgspec.UnsetType = msgspec.UNSET
    starts_at: Time | msgspec.UnsetType = msgspec.UNSET
    ends_at: Time | msgspec.UnsetType | None = msgspec.UNSET
    hours: WeeklyHours | msgspec.UnsetType = msgspec.UNSET
    time_zone: Zone | msgspec.UnsetType | None = msgspec.UNSET


class QuietTimeQuery(PageQuery):
    """Which quiet times to list."""

    current: Annotated[bool, msgspec.Meta(description="true: on or still to come; false: over or ended")] | None = None
    client: Annotated[Uuid, msgspec.Meta(description="those that cover this client now")] | None = None
    preset: QuietPreset | None = None


class ClientQuietTimes(Answer):
    """What is quiet for one client now, and why. `until`: when the last of it ends; null: when somebody ends it.

    `items`: at most 100, the one that ends last first.
    """

    uuid: str
    quiet: list[Quiet]
    until: datetime | None
    words: Sentence
    items: list[QuietTime]


@routes.get("/quiet-times", role=Role.VIEWER, bound=Bound.LISTS)
def list_quiet_times(call: Call, query: QuietTimeQuery) -> Page[QuietTime]:
    """Quiet times, the newest first; ended ones stay as history."""
    after: Any = decode_cursor(query.cursor, datetime, int)
    wanted = QuietFilter(query.current, query.client, query.preset)
    with call.transaction() as (connection, now):
        rows = store.page(connection, now, wanted, query.limit + 1, after)
        shown = _shapes(connection, now, rows)
    return page(rows, query.limit, lambda row: (row.created_at, row.id), lambda row: shown[row.id])


@routes.post(
    "/quiet-times",
    role=Role.OPERATOR,
    bound=Bound.LISTS,
    statuses={201: "Made"},
    raises=(QuietTimesRefused, TimeZoneUnknown, ClientsUnknown, OpeningHoursExist),
    headers=HEADER,
)
def make_quiet_time(call: Call, body: NewQuietTime) -> QuietTime:
    """Make a quiet time. Several may overlap: quiet is what one of them makes quiet. Commands of people are still sent.

    A site or tag that no display bears yet is allowed; `note` says so. The fleet, each site and each tag has opening
    hours once.
    """
    _check(body)
    with call.transaction() as (connection, now):

        def make() -> KeptQuietTime:
            made = operations.make(connection, now, _wanted(body), call.principal.actor)
            _audit(call, connection, now, "quiet_time.create", made, preset=body.preset, reason=body.reason)
            return made

        return _shape(connection, now, once(connection, keyed(call), "quiet_times", make, store.get))


@routes.get("/quiet-times/<id:quiet_id>", role=Role.VIEWER, bound=Bound.LISTS, raises=(QuietTimeNotFound,))
def quiet_time(call: Call, quiet_id: int) -> QuietTime:
    """One quiet time."""
    with call.transaction() as (connection, now):
        return _shape(connection, now, operations.find(connection, quiet_id))


@routes.patch(
    "/quiet-times/<id:quiet_id>",
    role=Role.OPERATOR,
    bound=Bound.LISTS,
    raises=(QuietTimeNotFound, QuietTimeOver, QuietTimesRefused, TimeZoneUnknown, OpeningHoursExist),
)
def write_quiet_time(call: Call, quiet_id: int, body: QuietTimeChanges) -> QuietTime:
    """Change its times or its reason.

    If it has begun and gets other hours, it ends and a new one with another id goes on. So the past stays as it was.
    """
    given = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not msgspec.UNSET}
    changes = {**given}
    if "hours" in changes:
        changes["spans"] = _spans(changes.pop("hours"))
    with call.transaction() as (connection, now):
        row = operations.change(connection, now, quiet_id, changes, call.principal.actor)
        _audit(call, connection, now, "quiet_time.write", row, changed=quiet_id, fields=sorted(given))
        return _shape(connection, now, row)


@routes.delete(
    "/quiet-times/<id:quiet_id>",
    role=Role.OPERATOR,
    bound=Bound.LISTS,
    statuses={204: "Ended"},
    raises=(QuietTimeNotFound,),
)
def end_quiet_time(call: Call, quiet_id: int) -> None:
    """End a quiet time at once and for good. An ended one stays unchanged; the row stays as history."""
    with call.transaction() as (connection, now):
        if operations.end(connection, now, quiet_id, call.principal.actor):
            _audit(call, connection, now, "quiet_time.end", operations.find(connection, quiet_id))


@routes.get("/clients/<uuid:uuid>/quiet-times", role=Role.VIEWER, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def client_quiet_times(call: Call, uuid: str) -> ClientQuietTimes:
    """What is quiet for a client now, and why."""
    with call.transaction() as (connection, now):
        clients.find(connection, uuid)
        on = operations.of_client(connection, now, uuid)
        rows = store.some(connection, [one.time.id for one in on[:SHOWN]])
        shown = _shapes(connection, now, rows)
    return answer_of(
        ClientQuietTimes,
        {
            "uuid": uuid,
            "quiet": rules.union(on),
            "until": on[0].until if on else None,
            "words": rules.in_words(on[:SHOWN]),
            "items": [shown[one.time.id] for one in on[:SHOWN]],
        },
    )


def _check(body: NewQuietTime) -> None:
    """Check that the scope's own field is given, and no other scope's. Raises InvalidField."""
    for scope, field in GOES_WITH.items():
        given = bool(getattr(body, field))
        if given != (body.scope is scope):
            said = "field_nothing_unless" if given else "field_with_scope"
            raise InvalidField.at(field, said, scope=scope.value)


def _wanted(body: NewQuietTime) -> WantedQuietTime:
    return WantedQuietTime(
        preset=body.preset,
        quiet=rules.chosen(body.preset, body.quiet),
        scope=body.scope,
        site=body.site,
        tag=body.tag,
        clients=tuple(body.clients),
        starts_at=body.starts_at,
        ends_at=body.ends_at,
        spans=_spans(body.hours),
        time_zone=body.time_zone,
        reason=body.reason,
    )


def _spans(hours: Sequence[WeeklyHoursBody]) -> tuple[Span, ...]:
    return tuple(hours_rules.span(one.days, one.begins, one.ends, one.nights) for one in hours)


def _audit(call: Call, connection: Connection, now: datetime, action: str, row: KeptQuietTime, **details: Any) -> None:
    """Write the audit line: about the client if it names only one, so that it stands in the client's timeline."""
    target = row.clients[0] if len(row.clients) == 1 else f"quiet_time:{row.id}"
    call.audit(connection, now, action, target, quiet_time_id=row.id, **details)


def _shape(connection: Connection, now: datetime, row: KeptQuietTime) -> QuietTime:
    return _shapes(connection, now, [row])[row.id]


def _shapes(connection: Connection, now: datetime, rows: Sequence[KeptQuietTime]) -> dict[int, QuietTime]:
    """Each row as its answer, by id."""
    covers = store.coverage(connection, [row.id for row in rows]) if rows else {}
    return {row.id: _answer(row, now, covers.get(row.id, 0)) for row in rows}


def _answer(row: KeptQuietTime, now: datetime, covers: int) -> QuietTime:
    at = rules.occurrence_at(row, now) or rules.next_occurrence(row, now)
    return answer_of(
        QuietTime,
        row,
        hours=[{"days": one.days, "from": one.begins, "to": one.ends, "nights": one.nights} for one in row.spans],
        state=rules.state_at(row, now),
        occurrence=at and {"starts_at": at.starts_at, "ends_at": at.ends_at},
        covers=covers,
        note=rules.nobody(row.site, row.tag, covers),
    )
