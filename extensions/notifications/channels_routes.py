"""/api/notifications/channels: which messages go to which address. Addresses are secrets: they are never answered."""

import time as clock
from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Annotated, Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection

from extensions.notifications.channels import operations as channels
from extensions.notifications.channels import rules, store
from extensions.notifications.channels.operations import NewChannel
from extensions.notifications.channels.rules import Hours, KeptChannel
from functions.api.bodies import END, Answer, Body, answer_of
from functions.api.folding import NAME
from functions.api.pages import Page, PageQuery, decode_cursor, page_of
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes.sites import EmptySites, SiteName, empty_sites
from shared.errors import (
    ChannelAddressRefused,
    ChannelNameTaken,
    ChannelNotFound,
    ChannelRefused,
    TimeZoneUnknown,
)
from shared.outside import couriers
from shared.outside.couriers.letters import DeliveryAttempt, Result
from shared.vocabulary import ChannelKind, NotificationEvent, Role, Weekday
from shared.words.languages import ENGLISH, LANGUAGES
from shared.words.sentences import Sentence

routes = Routes("notification_channels", "/api/notifications/channels", "Where messages about troubles are sent.")

REFUSALS = (ChannelNameTaken, ChannelAddressRefused, ChannelRefused, TimeZoneUnknown)
LocalTime = Annotated[str, msgspec.Meta(pattern=rf"^([01][0-9]|2[0-3]):[0-5][0-9]{END}", description="such as 08:30")]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100, extra=NAME)]
Address = Annotated[str, msgspec.Meta(min_length=8, max_length=2000, description="a secret: never answered")]
Secret = Annotated[str, msgspec.Meta(max_length=200, description="a secret: signs the messages to a webhook")]
Delay = Annotated[int, msgspec.Meta(ge=0, le=86_400, description="a trouble that is over sooner sends no message")]
Events = Annotated[list[NotificationEvent], msgspec.Meta(min_length=1, max_length=len(NotificationEvent))]
Language = Annotated[
    str, msgspec.Meta(pattern=rf"^({'|'.join(LANGUAGES)}){END}", description="in which the messages are written")
]
Sites = Annotated[list[SiteName], msgspec.Meta(max_length=1000, description="only these sites; empty or null: all")]


class HoursBody(Body, kw_only=True):
    """The hours in which a channel gets messages: from `begin` to `end` on these days, in local time."""

    time_zone: Annotated[str, msgspec.Meta(min_length=1, max_length=100, description="IANA name: Europe/Rome")]
    weekdays: Annotated[list[Weekday], msgspec.Meta(min_length=1, max_length=7, description="days of `begin`")]
    begin: LocalTime
    end: Annotated[LocalTime, msgspec.Meta(description="on the next day if it is not after `begin`")]


class ChannelTrial(Body, kw_only=True):
    """A channel that is not saved, to try: its fields mean the same as when it is added."""

    name: Name
    kind: ChannelKind
    url: Address
    signing_secret: Secret | None = None
    language: Language = ENGLISH


class NewNotificationChannel(ChannelTrial, kw_only=True):
    """A channel to add. `url` is a webhook's URL or an Apprise address (`mailto://…`, `slack://…`)."""

    events: Events = msgspec.field(default_factory=lambda: list(rules.DEFAULT_EVENTS))
    delay_seconds: Delay = 120
    sites: Sites | None = None
    hours: HoursBody | None = None
    critical_passes: bool = True
    enabled: bool = True


class ChannelChanges(Body, kw_only=True):
    """Changes of a channel; fields that are left out stay. Null removes `signing_secret`, `sites` or `hours`."""

    name: Name | msgspec.UnsetType = msgspec.UNSET
    url: Address | msgspec.UnsetType = msgspec.UNSET
    signing_secret: Secret | msgspec.UnsetType | None = msgspec.UNSET
    events: Events | msgspec.UnsetType = msgspec.UNSET
    delay_seconds: Delay | msgspec.UnsetType = msgspec.UNSET
    sites: Sites | msgspec.UnsetType | None = msgspec.UNSET
    hours: HoursBody | msgspec.UnsetType | None = msgspec.UNSET
    critical_passes: bool | msgspec.UnsetType = msgspec.UNSET
    enabled: bool | msgspec.UnsetType = msgspec.UNSET
    language: Language | msgspec.UnsetType = msgspec.UNSET


class ChannelHours(Answer):
    """The hours in which a channel gets messages. `begin` and `end` are local times."""

    time_zone: str
    weekdays: list[Weekday]
    begin: str
    end: str


class NotificationChannel(Answer):
    """A channel. `address` is its url without secrets; `last_error` is null after a successful delivery."""

    id: int
    name: str
    kind: ChannelKind
    address: str
    signed: bool
    events: list[NotificationEvent]
    delay_seconds: int
    sites: list[str] | None
    hours: ChannelHours | None
    critical_passes: bool
    enabled: bool
    language: str
    created_by: str
    created_at: datetime
    changed_at: datetime
    last_delivered_at: datetime | None
    last_failed_at: datetime | None
    last_error: Sentence | None
    empty_sites: EmptySites


class TrialResult(Answer):
    """The result of a test message; `words` tells people the receiver's answer."""

    delivered: bool
    words: Sentence
    duration_ms: int


class ChannelTest(TrialResult):
    """The result of a test message, and the channel, which shows the result."""

    channel: NotificationChannel


@routes.get("", role=Role.ADMIN, bound=Bound.FLEET)
def list_notification_channels(call: Call, query: PageQuery) -> Page[NotificationChannel]:
    """Channels, the oldest first, without their secrets."""
    after: Any = decode_cursor(query.cursor, int)
    with call.transaction() as (connection, _):
        rows = store.page(connection, query.limit + 1, after[0] if after else None)
        items = _channels(connection, rows)
    return page_of(items, query.limit, lambda channel: (channel.id,))


@routes.post("", role=Role.ADMIN, bound=Bound.FLEET, statuses={201: "Added"}, raises=REFUSALS)
def add_notification_channel(call: Call, body: NewNotificationChannel) -> NotificationChannel:
    """Add a channel. It gets messages about troubles that begin from now on."""
    _check_service(call, body.kind, body.url)
    wanted = NewChannel(
        name=body.name,
        kind=body.kind,
        url=body.url,
        signing_secret=body.signing_secret or None,
        events=body.events,
        delay=timedelta(seconds=body.delay_seconds),
        sites=body.sites,
        hours=_hours(body.hours),
        critical_passes=body.critical_passes,
        enabled=body.enabled,
        language=body.language,
    )
    with call.transaction() as (connection, now):
        row = channels.add(connection, now, wanted, call.principal.actor)
        call.audit(connection, now, "notification_channel.add", _target(row), name=body.name, kind=body.kind)
        return _channels(connection, [row])[0]


@routes.patch("/<id:channel_id>", role=Role.ADMIN, bound=Bound.FLEET, raises=(ChannelNotFound, *REFUSALS))
def change_notification_channel(call: Call, channel_id: int, body: ChannelChanges) -> NotificationChannel:
    """Change a channel. A channel that is enabled again gets messages about troubles that begin from then on."""
    if body.url is not msgspec.UNSET:
        with call.transaction() as (connection, _):
            kind = channels.find(connection, channel_id).kind
        _check_service(call, kind, body.url)
    changes = _changes(body)
    with call.transaction() as (connection, now):
        row = channels.change(connection, now, channel_id, changes)
        said = sorted(name for name in body.__struct_fields__ if getattr(body, name) is not msgspec.UNSET)
        call.audit(connection, now, "notification_channel.change", _target(row), name=row.name, changed=said)
        return _channels(connection, [row])[0]


@routes.delete(
    "/<id:channel_id>", role=Role.ADMIN, bound=Bound.FLEET, statuses={204: "Removed"}, raises=(ChannelNotFound,)
)
def remove_notification_channel(call: Call, channel_id: int) -> None:
    """Remove a channel and the list of its messages. Messages that still wait are not sent."""
    with call.transaction() as (connection, now):
        row = channels.remove(connection, channel_id)
        call.audit(connection, now, "notification_channel.remove", _target(row), name=row.name, kind=row.kind)


@routes.post("/<id:channel_id>/test", role=Role.ADMIN, bound=Bound.FLEET, raises=(ChannelNotFound,))
def test_notification_channel(call: Call, channel_id: int) -> ChannelTest:
    """Send a test message now, also outside the channel's hours, and show the result."""
    with call.transaction() as (connection, now):
        row = channels.find(connection, channel_id)
        call.audit(connection, now, "notification_channel.test", _target(row), name=row.name)
    tried = _try(call, answer_of(ChannelTrial, row), now)
    with call.transaction() as (connection, now):
        channels.note(connection, now, channel_id, None if tried.was_delivered else tried.outcome.sentence)
        [after] = _channels(connection, [channels.find(connection, channel_id)])
    return answer_of(ChannelTest, tried.shown, channel=after)


@routes.post("/test", role=Role.ADMIN, bound=Bound.FLEET, raises=(ChannelAddressRefused, ChannelRefused))
def test_new_notification_channel(call: Call, body: ChannelTrial) -> TrialResult:
    """Send a test message to a channel that is not saved, and show the result. Nothing of the channel is stored."""
    _check_service(call, body.kind, body.url)
    rules.check_secret(body.kind, body.signing_secret or None)
    with call.transaction() as (connection, now):
        call.audit(connection, now, "notification_channel.test", "notification_channel:new", name=body.name)
    return answer_of(TrialResult, _try(call, body, now).shown)


class _Tried(Struct, frozen=True):
    outcome: DeliveryAttempt
    duration_ms: int

    @property
    def was_delivered(self) -> bool:
        return self.outcome.result is Result.DELIVERED

    @property
    def shown(self) -> dict[str, Any]:
        """The fields of a `TrialResult`."""
        return {"delivered": self.was_delivered, "words": self.outcome.sentence, "duration_ms": self.duration_ms}


def _try(call: Call, tried: ChannelTrial, now: datetime) -> _Tried:
    """Send a test message, outside any transaction."""
    config = call.services.config
    letter = channels.trial(tried.name, tried.language, now, call.principal.actor, call.request_id, config)
    began = clock.monotonic()
    outcome = couriers.send(tried.kind, tried.url, tried.signing_secret or None, letter, couriers.reach_of(config))
    return _Tried(outcome, round((clock.monotonic() - began) * 1000))


def _check_service(call: Call, kind: ChannelKind, url: str) -> None:
    """Check an address, outside any transaction: asking Apprise takes a while. Raises ChannelAddressRefused."""
    rules.check_address(kind, url)
    if kind is ChannelKind.APPRISE and _is_unknown(call, url):
        raise ChannelAddressRefused("apprise_refused")


def _is_unknown(call: Call, url: str) -> bool:
    """Whether Apprise does not know this address. Without an answer it counts as known: a test message will show."""
    from shared.outside.couriers import messenger  # noqa: PLC0415 - cold start

    return messenger.is_known(url, couriers.reach_of(call.services.config)) is False


def _target(channel: KeptChannel) -> str:
    return f"notification_channel:{channel.id}"


def _hours(body: HoursBody | None) -> Hours | None:
    if body is None:
        return None
    begin, end = time.fromisoformat(body.begin), time.fromisoformat(body.end)
    return Hours(body.time_zone, frozenset(body.weekdays), begin, end)


def _changes(body: ChannelChanges) -> dict[str, Any]:
    """The columns that change."""
    given = {name: getattr(body, name) for name in body.__struct_fields__}
    changes = {name: value for name, value in given.items() if value is not msgspec.UNSET}
    if "hours" in changes:
        changes |= channels.hours_columns(_hours(changes.pop("hours")))
    if "events" in changes:
        changes["events"] = channels.in_order(changes["events"])
    if "sites" in changes:
        changes["sites"] = sorted(set(changes["sites"] or ())) or None
    if "signing_secret" in changes:
        changes["signing_secret"] = changes["signing_secret"] or None
    return changes


def _channels(connection: Connection, rows: Sequence[KeptChannel]) -> list[NotificationChannel]:
    empty = empty_sites(connection, [row.sites for row in rows])
    return [_channel(row, sites) for row, sites in zip(rows, empty, strict=True)]


def _channel(row: KeptChannel, empty: list[str]) -> NotificationChannel:
    hours = row.hours
    shown = None
    if hours is not None:
        times = {"begin": f"{hours.begin:%H:%M}", "end": f"{hours.end:%H:%M}"}
        shown = ChannelHours(time_zone=hours.time_zone, weekdays=list(row.weekdays or ()), **times)
    return answer_of(
        NotificationChannel,
        row,
        address=rules.masked(row.kind, row.url),
        signed=row.signing_secret is not None,
        hours=shown,
        events=row.told_of,
        empty_sites=empty,
    )
