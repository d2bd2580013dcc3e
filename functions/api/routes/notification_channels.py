"""/api/notifications/channels: who is told what, and where. Their addresses are secrets: written, never answered."""

import time as clock
from datetime import datetime, time, timedelta
from typing import Annotated, Any

import msgspec

from functions.api.bodies import END, Answer, Body, Page, PageQuery, answer_of, decode_cursor, page
from functions.api.routing import Call, Routes
from shared.errors import (
    ChannelAddressRefused,
    ChannelNameTaken,
    ChannelNotFound,
    ChannelRefused,
    TimeZoneUnknown,
)
from shared.notifications.channels import operations as channels
from shared.notifications.channels import rules, store
from shared.notifications.channels.operations import NewChannel
from shared.notifications.channels.rules import Hours, KeptChannel
from shared.outside import couriers
from shared.outside.couriers.letters import Result
from shared.vocabulary import ChannelKind, NotificationEvent, Role, Weekday

routes = Routes("notification_channels", "/api/notifications/channels", "Who is told of what goes wrong, and where.")

REFUSALS = (ChannelNameTaken, ChannelAddressRefused, ChannelRefused, TimeZoneUnknown)
LocalTime = Annotated[str, msgspec.Meta(pattern=rf"^([01][0-9]|2[0-3]):[0-5][0-9]{END}", description="such as 08:30")]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
Site = Annotated[str, msgspec.Meta(min_length=1, max_length=100, description="as the clients' `site` says it")]
Address = Annotated[str, msgspec.Meta(min_length=8, max_length=2000, description="a secret: never answered")]
Secret = Annotated[str, msgspec.Meta(max_length=200, description="a secret: signs what is posted to a webhook")]
Delay = Annotated[int, msgspec.Meta(ge=0, le=86_400, description="what is over before then says nothing")]
Events = Annotated[list[NotificationEvent], msgspec.Meta(min_length=1, max_length=len(NotificationEvent))]
Sites = Annotated[list[Site], msgspec.Meta(max_length=1000, description="of which it is told; empty or null: of all")]


class HoursBody(Body, kw_only=True):
    """When it is told: from then to then on these days, by the clock of a time zone."""

    time_zone: Annotated[str, msgspec.Meta(min_length=1, max_length=100, description="IANA name: Europe/Rome")]
    weekdays: Annotated[list[Weekday], msgspec.Meta(min_length=1, max_length=7, description="on which they begin")]
    begin: LocalTime
    end: Annotated[LocalTime, msgspec.Meta(description="not after `begin`: of the next day")]


class NewNotificationChannel(Body, kw_only=True):
    """A channel to add. `url`: where a webhook is posted to, or an address of Apprise (`mailto://…`, `slack://…`)."""

    name: Name
    kind: ChannelKind
    url: Address
    signing_secret: Secret | None = None
    events: Events = msgspec.field(default_factory=lambda: list(rules.DEFAULT_EVENTS))
    delay_seconds: Delay = 120
    sites: Sites | None = None
    hours: HoursBody | None = None
    critical_passes: bool = True
    enabled: bool = True


class ChannelChanges(Body, kw_only=True):
    """What to change; what is left out stays. `signing_secret`, `sites` and `hours` null: none."""

    name: Name | msgspec.UnsetType = msgspec.UNSET
    url: Address | msgspec.UnsetType = msgspec.UNSET
    signing_secret: Secret | msgspec.UnsetType | None = msgspec.UNSET
    events: Events | msgspec.UnsetType = msgspec.UNSET
    delay_seconds: Delay | msgspec.UnsetType = msgspec.UNSET
    sites: Sites | msgspec.UnsetType | None = msgspec.UNSET
    hours: HoursBody | msgspec.UnsetType | None = msgspec.UNSET
    critical_passes: bool | msgspec.UnsetType = msgspec.UNSET
    enabled: bool | msgspec.UnsetType = msgspec.UNSET


class ChannelHours(Answer):
    """When it is told. `begin` and `end` are local times."""

    time_zone: str
    weekdays: list[Weekday]
    begin: str
    end: str


class NotificationChannel(Answer):
    """A channel. `address` is what may be shown of its url; `last_error` is null since the last delivery."""

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
    created_by: str
    created_at: datetime
    changed_at: datetime
    last_delivered_at: datetime | None
    last_failed_at: datetime | None
    last_error: str | None


class ChannelTest(Answer):
    """What became of a test: `words` are the receiver's answer as we understand it."""

    delivered: bool
    words: str
    duration_ms: int
    channel: NotificationChannel


@routes.get("", role=Role.ADMIN)
def list_notification_channels(call: Call, query: PageQuery) -> Page[NotificationChannel]:
    """Channels, the oldest first; never their secrets."""
    after: Any = decode_cursor(query.cursor, int)
    with call.transaction() as (connection, _):
        rows = store.page(connection, query.limit + 1, after[0] if after else None)
    return page(rows, query.limit, lambda row: (row.id,), _channel)


@routes.post("", role=Role.ADMIN, statuses={201: "Added"}, raises=REFUSALS)
def add_notification_channel(call: Call, body: NewNotificationChannel) -> NotificationChannel:
    """Add a channel. It is told what begins from now on."""
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
    )
    with call.transaction() as (connection, now):
        row = channels.add(connection, now, wanted, call.principal.actor)
        call.audit(connection, now, "notification_channel.add", _target(row), name=body.name, kind=body.kind)
        return _channel(row)


@routes.patch("/<id:channel_id>", role=Role.ADMIN, raises=(ChannelNotFound, *REFUSALS))
def change_notification_channel(call: Call, channel_id: int, body: ChannelChanges) -> NotificationChannel:
    """Change a channel. Switched on again, it is told what begins from then on."""
    if body.url is not msgspec.UNSET:
        with call.transaction() as (connection, _):
            kind = channels.find(connection, channel_id).kind
        _check_service(call, kind, body.url)
    changes = _changes(body)
    with call.transaction() as (connection, now):
        row = channels.change(connection, now, channel_id, changes)
        said = sorted(name for name in body.__struct_fields__ if getattr(body, name) is not msgspec.UNSET)
        call.audit(connection, now, "notification_channel.change", _target(row), name=row.name, changed=said)
        return _channel(row)


@routes.delete("/<id:channel_id>", role=Role.ADMIN, statuses={204: "Removed"}, raises=(ChannelNotFound,))
def remove_notification_channel(call: Call, channel_id: int) -> None:
    """Remove a channel, and the list of what it was told. What waits to be sent to it is not."""
    with call.transaction() as (connection, now):
        row = channels.remove(connection, channel_id)
        call.audit(connection, now, "notification_channel.remove", _target(row), name=row.name, kind=row.kind)


@routes.post("/<id:channel_id>/test", role=Role.ADMIN, raises=(ChannelNotFound,))
def test_notification_channel(call: Call, channel_id: int) -> ChannelTest:
    """Send a test message now, whatever the channel's hours, and say what became of it."""
    with call.transaction() as (connection, now):
        row = channels.find(connection, channel_id)
        call.audit(connection, now, "notification_channel.test", _target(row), name=row.name)
        letter = channels.trial(row, now, call.principal.actor, call.request_id, call.services.config)
    began = clock.monotonic()
    reach = couriers.reach_of(call.services.config)
    outcome = couriers.send(row.kind, row.url, row.signing_secret, letter, reach)
    duration_ms = round((clock.monotonic() - began) * 1000)
    delivered = outcome.result is Result.DELIVERED
    with call.transaction() as (connection, now):
        channels.note(connection, now, channel_id, None if delivered else outcome.words)
        after = _channel(channels.find(connection, channel_id))
    return ChannelTest(delivered=delivered, words=outcome.words, duration_ms=duration_ms, channel=after)


def _check_service(call: Call, kind: ChannelKind, url: str) -> None:
    """Refuse an address that Apprise does not understand, outside of any transaction: asking takes a while."""
    rules.check_address(kind, url)
    if kind is ChannelKind.APPRISE and _is_unknown(call, url):
        raise ChannelAddressRefused("Apprise does not understand this address, or it does not lead to people.")


def _is_unknown(call: Call, url: str) -> bool:
    """Whether Apprise says that this is nothing; without an answer the address is taken, and its test will tell."""
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
        changes |= channels.events_columns(changes["events"])
    if "sites" in changes:
        changes["sites"] = sorted(set(changes["sites"] or ())) or None
    if "signing_secret" in changes:
        changes["signing_secret"] = changes["signing_secret"] or None
    return changes


def _channel(row: KeptChannel) -> NotificationChannel:
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
    )
