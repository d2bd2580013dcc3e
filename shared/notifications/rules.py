"""Whom to tell what, and when: pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from shared.notifications.channels.rules import CRITICAL, Hours, are_on
from shared.notifications.snoozes_rules import Snoozed
from shared.notifications.troubles.rules import Trouble
from shared.vocabulary import DeliveryState, NotificationEvent

ESCALATES_AFTER: Final = timedelta(hours=1)  # told, and still open
GROWN: Final = 2  # times the displays that were told, and GROWN_BY more
GROWN_BY: Final = 5
WELL_FOR: Final = timedelta(minutes=2)  # before a display is called well again
FOLDED_FROM: Final = 4  # displays told at once to one channel: from here on it is one message
UNSTEADY_FOR: Final = timedelta(minutes=10)  # before a connection is called unsteady: others may begin meanwhile
UNSTEADY_GAP: Final = timedelta(hours=1)  # between two lists of unsteady connections
UNSTEADY_AGAIN: Final = timedelta(days=1)  # until a display is on such a list once more


@dataclass(frozen=True)
class Channel:
    """A channel as far as it decides."""

    id: int
    name: str
    events: frozenset[NotificationEvent]
    delay: timedelta
    sites: frozenset[str] | None
    hours: Hours | None
    critical_passes: bool
    tells_since: datetime

    def may_tell(self, event: NotificationEvent, now: datetime) -> bool:
        """Whether it is told of this at this hour."""
        return are_on(self.hours, now) or (self.critical_passes and event in CRITICAL)

    def tells_incidents(self, now: datetime) -> bool:
        """Whether it is told at this hour that an incident began."""
        event = NotificationEvent.INCIDENT_OPENED
        return event in self.events and self.may_tell(event, now)

    def concerns(self, sites: Collection[str] | None) -> bool:
        """Whether it is told of these sites; None is the whole fleet, which concerns everybody."""
        return self.sites is None or sites is None or not self.sites.isdisjoint(sites)


@dataclass(frozen=True)
class Notice:
    """What a channel was told, or is about to be, of something that is not known to be over."""

    id: int
    channel_id: int
    root: str
    subject: str
    event: NotificationEvent
    state: DeliveryState
    created_at: datetime
    facts: Mapping[str, Any]
    claimed: bool


@dataclass(frozen=True)
class Quiet:
    """Of whom nobody is told now: snoozed by a person, or in a maintenance window."""

    snoozed: Snoozed
    uuids: frozenset[str] = frozenset()
    fleet: bool = False
    """A maintenance window of the whole fleet is on."""

    def holds(self, trouble: Trouble) -> bool:
        """Whether all that is affected is quiet."""
        if self.fleet or self.snoozed.fleet:
            return True
        if met := trouble.displays or trouble.back:
            return all(d.uuid in self.uuids or self.snoozed.covers(d.uuid, d.site) for d in met)
        return self.snoozed.covers_all_of(trouble.sites)


def opening_event(channel: Channel, trouble: Trouble, now: datetime) -> NotificationEvent:
    """As what a channel is told that this began: an incident of the night that lasts for long is critical."""
    lasts = trouble.event is NotificationEvent.INCIDENT_OPENED and now - trouble.noticed_at >= ESCALATES_AFTER
    if lasts and not are_on(channel.hours, now) and NotificationEvent.INCIDENT_ESCALATED in channel.events:
        return NotificationEvent.INCIDENT_ESCALATED
    return trouble.event


def opens(channel: Channel, trouble: Trouble, now: datetime, lately: Collection[tuple[int, str]]) -> bool:
    """Whether the channel is to be told now that this began.

    `lately`: (channel, root) of what stands told, or was told a short while ago: it is not told again.
    """
    return (
        trouble.event in channel.events
        and channel.concerns(trouble.sites)
        and trouble.noticed_at >= channel.tells_since
        and now - trouble.noticed_at >= channel.delay
        and now - trouble.since >= trouble.min_age
        and (channel.id, trouble.root) not in lately
        and not (trouble.in_incident and channel.tells_incidents(now))
        and channel.may_tell(opening_event(channel, trouble, now), now)
    )


def unsteady_list(
    channel: Channel,
    found: Collection[Trouble],
    now: datetime,
    told: Collection[tuple[int, str]],
    lately: Collection[int],
) -> list[Trouble]:
    """Of displays with an unsteady connection, those that the channel is to be told of now: one list, or none.

    `told`: (channel, root) of those on a list of the last day. `lately`: channels that had a list in the last hour.
    One that has gone on for a while brings the others with it, so that they need no list of their own.
    """
    event = NotificationEvent.CONNECTION_UNSTEADY
    if event not in channel.events or channel.id in lately or not channel.may_tell(event, now):
        return []
    mine = [
        trouble
        for trouble in found
        if channel.concerns(trouble.sites)
        and trouble.noticed_at >= channel.tells_since
        and (channel.id, trouble.root) not in told
    ]
    is_due = any(now - trouble.noticed_at >= max(channel.delay, UNSTEADY_FOR) for trouble in mine)
    return mine if is_due else []


def escalation(told: Notice, trouble: Trouble, now: datetime) -> NotificationEvent | None:
    """As what to tell that something got worse that was told already; None while it did not."""
    if told.event is NotificationEvent.DISPLAY_UNWELL:
        suspended = trouble.event is NotificationEvent.DISPLAY_SUSPENDED
        return NotificationEvent.DISPLAY_SUSPENDED if suspended else None
    if told.event is NotificationEvent.CERTIFICATE_OLD:
        ending = trouble.event is NotificationEvent.CERTIFICATE_ENDING
        return NotificationEvent.CERTIFICATE_ENDING if ending else None
    if told.event is not NotificationEvent.INCIDENT_OPENED:
        return None
    before, displays = int(told.facts.get("displays") or 0), len(trouble.displays)
    grew = displays >= max(GROWN * before, before + GROWN_BY)
    lasts = bool(displays) and now - told.created_at >= ESCALATES_AFTER
    return NotificationEvent.INCIDENT_ESCALATED if grew or lasts else None


def is_settled_silently(told: Notice, channel: Channel | None) -> bool:
    """Whether the end of this is no news: it was never told, or its channel does not want to know."""
    was_told = told.state in {DeliveryState.DELIVERED, DeliveryState.FOLDED}
    return not was_told or channel is None or NotificationEvent.RECOVERED not in channel.events
