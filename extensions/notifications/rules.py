"""Decide which channel gets which message, and when."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct, field

from extensions.notifications.channels.rules import CRITICAL, Hours, are_on
from extensions.notifications.troubles.rules import Trouble
from shared.quiet.rules import is_left_alone
from shared.vocabulary import DeliveryState, NotificationEvent
from shared.words.languages import ENGLISH

ESCALATES_AFTER: Final = timedelta(hours=1)  # an incident escalates if it is open so long after its first message
GROWN: Final = 2  # or if it has GROWN times the displays of its first message, and GROWN_BY more
GROWN_BY: Final = 5
WELL_FOR: Final = timedelta(minutes=2)  # a display must be well for so long before a message says so
FOLDED_FROM: Final = 4  # this many displays at once on one channel become one message
UNSTEADY_FOR: Final = timedelta(minutes=10)  # a list of unsteady connections waits so long for more displays
UNSTEADY_GAP: Final = timedelta(hours=1)  # the shortest time between two such lists
UNSTEADY_AGAIN: Final = timedelta(days=1)  # a display is on such a list at most once in this time


class Channel(Struct, frozen=True):
    """The facts about a channel that the rules need."""

    id: int
    name: str
    events: frozenset[NotificationEvent]
    delay: timedelta
    sites: frozenset[str] | None
    hours: Hours | None
    critical_passes: bool
    tells_since: datetime
    language: str = ENGLISH

    def lets_through(self, event: NotificationEvent, now: datetime) -> bool:
        """Whether the channel's hours let this event through now. Whether it takes the event at all: `events`."""
        return are_on(self.hours, now) or (self.critical_passes and event in CRITICAL)

    def tells_incidents(self, now: datetime) -> bool:
        """Whether the channel takes the news of an incident at this hour."""
        event = NotificationEvent.INCIDENT_OPENED
        return event in self.events and self.lets_through(event, now)

    def concerns(self, sites: Collection[str] | None) -> bool:
        """Whether the channel watches one of these sites; None is the whole fleet, which concerns every channel."""
        return self.sites is None or sites is None or not self.sites.isdisjoint(sites)


class Notice(Struct, frozen=True):
    """A message, sent or pending, about a trouble that is not known to be over."""

    id: int
    channel_id: int
    root: str
    subject: str
    event: NotificationEvent
    state: DeliveryState
    created_at: datetime
    facts: Mapping[str, Any]
    claimed: bool


class QuietNotices(Struct, frozen=True):
    """The displays and sites about which nobody is told now."""

    uuids: frozenset[str] = frozenset()
    opened: Mapping[str, datetime] = field(default_factory=dict)
    """Uuid of a display whose shop opened a moment ago -> when: it has some minutes to start."""
    sites: frozenset[str] = frozenset()
    """Sites that are quiet as a whole."""
    fleet: bool = False
    """The whole fleet is quiet."""

    def holds(self, trouble: Trouble) -> bool:
        """Whether every display that the trouble affects is quiet."""
        if self.fleet:
            return True
        if met := trouble.displays or trouble.back:
            return all(is_left_alone(self.uuids, d.uuid, self.opened.get(d.uuid), trouble.since) for d in met)
        return self.covers_all_of(trouble.sites)

    def covers_all_of(self, sites: Collection[str] | None) -> bool:
        """Whether all of these sites are quiet; None is the whole fleet."""
        return self.fleet or (sites is not None and bool(sites) and self.sites.issuperset(sites))

    def holds_end(self, uuid: str | None, sites: Collection[str] | None) -> bool:
        """Whether nobody is told that a trouble of this display, or of these sites, is over."""
        return uuid in self.uuids or self.covers_all_of(sites)


def opening_event(channel: Channel, trouble: Trouble, now: datetime) -> NotificationEvent:
    """The event that opens this trouble on the channel. An incident of the night becomes critical when it lasts."""
    lasts = trouble.event is NotificationEvent.INCIDENT_OPENED and now - trouble.noticed_at >= ESCALATES_AFTER
    if lasts and not are_on(channel.hours, now) and NotificationEvent.INCIDENT_ESCALATED in channel.events:
        return NotificationEvent.INCIDENT_ESCALATED
    return trouble.event


def opens(channel: Channel, trouble: Trouble, now: datetime, lately: Collection[tuple[int, str]]) -> bool:
    """Whether the channel gets the first message about this trouble now.

    `lately`: (channel, root) of the troubles that it already has a message about, open or of a short while ago.
    """
    return (
        trouble.event in channel.events
        and channel.concerns(trouble.sites)
        and trouble.noticed_at >= channel.tells_since
        and now - trouble.noticed_at >= channel.delay
        and now - trouble.since >= trouble.min_age
        and (channel.id, trouble.root) not in lately
        and not (trouble.in_incident and channel.tells_incidents(now))
        and channel.lets_through(opening_event(channel, trouble, now), now)
    )


def unsteady_list(
    channel: Channel,
    found: Collection[Trouble],
    now: datetime,
    listed: Collection[tuple[int, str]],
    lately: Collection[int],
) -> list[Trouble]:
    """The displays with an unsteady connection that the channel gets now as one list; empty while none is due.

    `listed`: (channel, root) of the displays on a list of the last day. `lately`: channels that had a list in the
    last hour. The first display that is due brings the others with it, so that they need no list of their own.
    """
    event = NotificationEvent.CONNECTION_UNSTEADY
    if event not in channel.events or channel.id in lately or not channel.lets_through(event, now):
        return []
    mine = [
        trouble
        for trouble in found
        if channel.concerns(trouble.sites)
        and trouble.noticed_at >= channel.tells_since
        and (channel.id, trouble.root) not in listed
    ]
    is_due = any(now - trouble.noticed_at >= max(channel.delay, UNSTEADY_FOR) for trouble in mine)
    return mine if is_due else []


def escalation(notice: Notice, trouble: Trouble, now: datetime) -> NotificationEvent | None:
    """The event that says a trouble got worse since its message; None while it did not, or while somebody is on it."""
    if trouble.taken_by is not None:
        return None
    if notice.event is NotificationEvent.DISPLAY_UNWELL:
        suspended = trouble.event is NotificationEvent.DISPLAY_SUSPENDED
        return NotificationEvent.DISPLAY_SUSPENDED if suspended else None
    if notice.event is NotificationEvent.CERTIFICATE_OLD:
        ending = trouble.event is NotificationEvent.CERTIFICATE_ENDING
        return NotificationEvent.CERTIFICATE_ENDING if ending else None
    if notice.event is not NotificationEvent.INCIDENT_OPENED:
        return None
    before, displays = int(notice.facts.get("displays") or 0), len(trouble.displays)
    grew = displays >= max(GROWN * before, before + GROWN_BY)
    lasts = bool(displays) and now - max(notice.created_at, trouble.opened_at or notice.created_at) >= ESCALATES_AFTER
    return NotificationEvent.INCIDENT_ESCALATED if grew or lasts else None


def is_settled_silently(notice: Notice, channel: Channel | None) -> bool:
    """Whether the end is no news: the message was never delivered, or its channel takes no such event."""
    was_sent = notice.state in {DeliveryState.DELIVERED, DeliveryState.FOLDED}
    return not was_sent or channel is None or NotificationEvent.RECOVERED not in channel.events
