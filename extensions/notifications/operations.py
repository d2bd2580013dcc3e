"""Decide which messages to send, in one transaction that writes them into the outbox."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from extensions.notifications import rules, store
from extensions.notifications.channels import store as channels_store
from extensions.notifications.channels.rules import OpenChannel
from extensions.notifications.deliveries import operations as deliveries
from extensions.notifications.deliveries import store as deliveries_store
from extensions.notifications.deliveries.rules import over_before_sent
from extensions.notifications.deliveries.store import NewMessage
from extensions.notifications.reports import operations as reports
from extensions.notifications.reports.rules import REPORTS
from extensions.notifications.rules import Channel, Notice, QuietNotices
from extensions.notifications.troubles import operations as troubles
from extensions.notifications.troubles import rules as troubles_rules
from extensions.notifications.troubles.rules import Addressee, Trouble
from shared.config import Config
from shared.quiet import operations as quiet_times
from shared.quiet.rules import QuietNow
from shared.vocabulary import (
    DeliveryState,
    IncidentKind,
    NotificationEvent,
    NotificationPhase,
    Quiet,
    QuietScope,
)

AT_ONCE: Final = 500  # the most messages that one tick enqueues again; the next tick takes the rest
ASKED_FOR: Final = 20  # with more single displays, which become one message, recovery's state is not read for each
OF_CERTIFICATES: Final = frozenset({NotificationEvent.CERTIFICATE_OLD, NotificationEvent.CERTIFICATE_ENDING})
OF_DISPLAYS: Final = frozenset({NotificationEvent.DISPLAY_UNWELL, NotificationEvent.DISPLAY_SUSPENDED})
UNSTEADY: Final = NotificationEvent.CONNECTION_UNSTEADY
FOLDED: Final = (
    (OF_DISPLAYS, rules.FOLDED_FROM),
    (frozenset({NotificationEvent.SERVICE_FAILED}), rules.FOLDED_FROM),
    (frozenset({NotificationEvent.SCREEN_BAD}), rules.FOLDED_FROM),
    (frozenset({NotificationEvent.LIMIT_PASSED}), rules.FOLDED_FROM),
    (frozenset({NotificationEvent.LOGIN_SHARED}), rules.FOLDED_FROM),
    (frozenset({UNSTEADY}), 2),
)
"""Events about one display, and how many messages about them become one."""
OF_RECOVERY: Final = OF_DISPLAYS | {NotificationEvent.SERVICE_FAILED, NotificationEvent.SCREEN_BAD}
OF_ONE: Final = frozenset().union(*(events for events, _ in FOLDED))


class MessageAbout(NewMessage, frozen=True, kw_only=True):
    """A message with its event: messages about the same event may become one."""

    about: NotificationEvent


class Decided(Struct, frozen=True):
    """The outcome of one decision."""

    tasks: tuple[tuple[int, int], ...] = ()
    """(id, generation) of each message to enqueue after the commit."""
    told: int = 0
    recovered: int = 0
    dropped: int = 0
    again: int = 0
    """How many of the tasks replace a lost one."""


def decide(connection: Connection, now: datetime, config: Config) -> Decided:
    """Decide which messages people get now. Running it twice, at once, or half and again gives the same rows.

    1. One transaction decides at a time. Without channels and open messages there is nothing to do.
    2. A trouble that is over gets a closing message, where its first one was sent; unsent messages are dropped.
    3. A trouble that began or got worse gets a message, unless it is quiet, too young or had one a short while ago.
    4. A message that should have been sent by now is put on the queue again.
    """
    store.lock_notifications(connection)
    listeners = {row.id: _channel(row) for row in channels_store.enabled(connection)}
    standing = deliveries_store.standing(connection)
    again = deliveries.sweep(connection, now, AT_ONCE)
    if not listeners and not standing:
        return Decided(tasks=tuple(again), again=len(again))
    desk = _Desk(connection, now, config, listeners, quiet_times.now_quiet(connection, now))
    recovered, dropped, standing = _settle(desk, standing)
    opened = _open(desk, _gather(desk), standing)
    new = tuple((delivery_id, 1) for delivery_id in (*recovered, *opened))
    return Decided((*new, *again), len(opened), len(recovered), dropped, len(again))


def report(connection: Connection, now: datetime, config: Config) -> list[tuple[int, int]]:
    """Write the reports that are due. Returns (id, generation) of each, to enqueue after the commit.

    It is apart from `decide`: a report that cannot be made holds back no message about a trouble.
    """
    listeners = {one.id: one for one in map(_channel, channels_store.enabled(connection)) if one.events & REPORTS}
    if not listeners:
        return []
    desk = _Desk(connection, now, config, listeners, quiet_times.now_quiet(connection, now))
    rows = reports.make(connection, now, listeners.values(), desk.quiet, desk.addressee)
    return [(delivery_id, 1) for row in rows for delivery_id in _insert(desk, [row]).values()]


class _Desk(Struct, frozen=True):
    """The connection, time, settings, channels and quiet times that every step of one decision uses."""

    connection: Connection
    now: datetime
    config: Config
    channels: Mapping[int, Channel]
    quiet: QuietNow

    def addressee(self, channel: Channel) -> Addressee:
        time_zone = channel.hours.time_zone if channel.hours else None
        return Addressee(channel.name, channel.language, time_zone, self.config["PUBLIC_URL"])


def _channel(kept: OpenChannel) -> Channel:
    return Channel(
        id=kept.id,
        name=kept.name,
        events=frozenset(kept.told_of),
        delay=timedelta(seconds=kept.delay_seconds),
        sites=None if kept.sites is None else frozenset(kept.sites),
        hours=kept.hours,
        critical_passes=kept.critical_passes,
        tells_since=kept.tells_since,
        language=kept.language,
    )


def _settle(desk: _Desk, standing: Sequence[Notice]) -> tuple[list[int], int, list[Notice]]:
    """Close the messages whose trouble is over: ids to send, how many were dropped, and the notices that stay."""
    connection, now = desk.connection, desk.now
    roots = {notice.root for notice in standing}
    over = troubles.over(connection, now, desk.config, roots, now - rules.WELL_FOR) if roots else {}
    ended = {notice.facts.get("uuid") for notice in standing if notice.root in over}
    quiet = _quiet(desk, {uuid for uuid in ended if uuid is not None})
    was_over = over_before_sent()
    takers = troubles.takers(connection, over)
    dropped, settled, rows, rest = 0, list[int](), list[MessageAbout](), list[Notice]()
    for notice in standing:
        channel = desk.channels.get(notice.channel_id)
        if notice.root not in over:
            rest.append(notice)
        elif notice.state is DeliveryState.PENDING:
            gone = deliveries_store.drop_unsent(connection, now, notice.channel_id, notice.subject, was_over)
            dropped += gone
            rest += [] if gone else [notice]  # it is being sent: its closing message comes after that
        elif over[notice.root] or rules.is_settled_silently(notice, channel):
            settled.append(notice.id)
        elif channel and channel.lets_through(notice.event, now) and not _is_quiet(notice, quiet):
            dropped += deliveries_store.drop_unsent(connection, now, notice.channel_id, notice.subject, was_over)
            settled.append(notice.id)
            rows.append(_recovered(notice, now, takers.get(notice.root), desk.addressee(channel)))
        else:
            rest.append(notice)
    deliveries_store.settle(connection, settled)
    return _send(desk, rows, over=True), dropped, rest


def _is_quiet(notice: Notice, quiet: QuietNotices) -> bool:
    """Whether the display or the sites that the notice names are quiet now."""
    return quiet.holds_end(notice.facts.get("uuid"), notice.facts.get("sites"))


def _recovered(notice: Notice, now: datetime, taken_by: str | None, to: Addressee) -> MessageAbout:
    message = troubles_rules.recovered(notice.facts, now, taken_by, to)
    phase, event = NotificationPhase.RECOVERED, NotificationEvent.RECOVERED
    return _row(notice.channel_id, notice.root, notice.subject, phase, event, message, about=notice.event)


def _row(
    channel_id: int,
    root: str,
    subject: str,
    phase: NotificationPhase,
    event: NotificationEvent,
    message: dict[str, Any],
    *,
    about: NotificationEvent,
) -> MessageAbout:
    return MessageAbout(channel_id, root, subject, phase, event, message, about=about)


def _gather(desk: _Desk) -> list[Trouble]:
    """The troubles of now that any channel takes, without the quiet ones."""
    connection, now, config = desk.connection, desk.now, desk.config
    wanted = frozenset().union(*(channel.events for channel in desk.channels.values()))
    if not wanted:
        return []
    since = min(channel.tells_since for channel in desk.channels.values())
    found = list(troubles.incidents(connection))
    if count := sum(not channel.events.isdisjoint(OF_DISPLAYS) for channel in desk.channels.values()):
        found += troubles.displays(connection, now, config, since, count)
    found += troubles.ailments(connection, now, wanted, since)
    if UNSTEADY in wanted:
        found += troubles.unsteady(connection, now)
    if NotificationEvent.BREAKER_OPEN in wanted:
        dark_sites = {site for one in found if one.more.get("kind") == IncidentKind.SITE for site in one.sites or ()}
        found += troubles.open_breakers(connection, config, dark_sites)
    if not wanted.isdisjoint(OF_CERTIFICATES):
        found += troubles.certificates(connection, now)
    if NotificationEvent.SITE_EMPTIED in wanted:
        found += troubles.emptied_sites(connection)
    if NotificationEvent.CONVERSION_FAILED in wanted:
        found += troubles.failed_conversions(connection, now, since)
    quiet = _quiet(desk, {display.uuid for trouble in found for display in (*trouble.displays, *trouble.back)})
    return [trouble for trouble in found if not quiet.holds(trouble)]


def _quiet(desk: _Desk, uuids: Collection[str]) -> QuietNotices:
    """What is quiet now, with these displays."""
    found, connection = desk.quiet, desk.connection
    places = [one.time for one in found.on if Quiet.NOTICES in one.time.quiet]
    return QuietNotices(
        uuids=frozenset(quiet_times.covered(connection, found, Quiet.NOTICES, uuids)),
        opened=quiet_times.opened(connection, found, Quiet.NOTICES, uuids),
        sites=frozenset(time.site for time in places if time.site is not None),
        fleet=any(time.scope is QuietScope.FLEET for time in places),
    )


def _open(desk: _Desk, found: Sequence[Trouble], standing: Sequence[Notice]) -> list[int]:
    """Write messages about troubles that began or got worse: ids to send."""
    if not found:
        return []
    gap_began = desk.now - troubles_rules.AGAIN_AFTER
    lately = deliveries_store.opened_since(desk.connection, [trouble.root for trouble in found], gap_began)
    lately |= {(notice.channel_id, notice.root) for notice in standing}
    by_root: dict[str, list[Notice]] = defaultdict(list)
    for notice in standing:
        by_root[notice.root].append(notice)
    rows = _unsteady_rows(desk, [trouble for trouble in found if trouble.event is UNSTEADY])
    found = [trouble for trouble in found if trouble.event is not UNSTEADY]
    few = sum(trouble.event in OF_RECOVERY for trouble in found) < ASKED_FOR
    for trouble in found:
        detail = _Detail(desk, trouble, ask=trouble.event not in OF_ONE or (few and trouble.event in OF_RECOVERY))
        rows += _escalations(desk, trouble, by_root[trouble.root], detail)
        rows += _openings(desk, trouble, lately, detail)
    return _send(desk, rows, over=False)


def _unsteady_rows(desk: _Desk, found: Sequence[Trouble]) -> list[MessageAbout]:
    """One list of unsteady connections for each channel that is due one."""
    if not found:
        return []
    connection, now, phase = desk.connection, desk.now, NotificationPhase.OPENED
    listed = deliveries_store.opened_since(connection, [one.root for one in found], now - rules.UNSTEADY_AGAIN)
    lately = deliveries_store.told_of_since(connection, UNSTEADY, now - rules.UNSTEADY_GAP)
    rows = []
    for channel in desk.channels.values():
        for trouble in rules.unsteady_list(channel, found, now, listed, lately):
            message = troubles_rules.opened(trouble, UNSTEADY, phase, desk.addressee(channel), now)
            rows.append(_row(channel.id, trouble.root, trouble.subject, phase, UNSTEADY, message, about=UNSTEADY))
    return rows


class _Detail:
    """A trouble with what recovery does about it, read once and only when a message is written."""

    def __init__(self, desk: _Desk, trouble: Trouble, *, ask: bool) -> None:
        self._desk, self._trouble, self._ask = desk, trouble, ask

    @cached_property
    def whole(self) -> Trouble:
        if not self._ask:
            return self._trouble
        return troubles.with_recovery(self._desk.connection, self._desk.now, self._desk.config, self._trouble)


def _openings(
    desk: _Desk, trouble: Trouble, lately: Collection[tuple[int, str]], detail: _Detail
) -> list[MessageAbout]:
    phase = NotificationPhase.OPENED
    rows = []
    for channel in desk.channels.values():
        if rules.opens(channel, trouble, desk.now, lately):
            event = rules.opening_event(channel, trouble, desk.now)
            message = troubles_rules.opened(detail.whole, event, phase, desk.addressee(channel), desk.now)
            new = _row(channel.id, trouble.root, trouble.subject, phase, event, message, about=event)
            rows.append(replace(new, standing=trouble.recovers))
    return rows


def _escalations(desk: _Desk, trouble: Trouble, notices: Sequence[Notice], detail: _Detail) -> list[MessageAbout]:
    """Messages that the trouble got worse since a channel's notice; a unique row sends each once."""
    phase = NotificationPhase.ESCALATED
    rows = []
    for notice in notices:
        channel, event = desk.channels.get(notice.channel_id), rules.escalation(notice, trouble, desk.now)
        if channel and event and event in channel.events and channel.lets_through(event, desk.now):
            message = troubles_rules.opened(detail.whole, event, phase, desk.addressee(channel), desk.now)
            rows.append(_row(channel.id, notice.root, notice.subject, phase, event, message, about=event))
    return rows


def _send(desk: _Desk, rows: Sequence[MessageAbout], *, over: bool) -> list[int]:
    """Write messages into the outbox. Returns the ids to enqueue. Messages about many displays become one."""
    ids: list[int] = []
    for channel_id, channel in desk.channels.items():
        mine = [row for row in rows if row.channel_id == channel_id]
        for events, most in FOLDED:
            alike = [row for row in mine if row.about in events]
            if len(alike) >= most:
                ids += _fold(desk, alike, channel, over=over)
                mine = [row for row in mine if row.about not in events]
        ids += _insert(desk, mine).values()
    return ids


def _fold(desk: _Desk, rows: Sequence[MessageAbout], channel: Channel, *, over: bool) -> list[int]:
    """Write one message about many displays: the first row carries it, the other rows are folded into it."""
    messages = [row.message for row in rows]
    message = troubles_rules.many(messages, rows[0].about, over, desk.addressee(channel))
    first = _insert(desk, [replace(rows[0], message=message)])
    for lead in first.values():
        _insert(desk, [replace(row, folded_into=lead) for row in rows[1:]])
    return list(first.values())


def _insert(desk: _Desk, rows: Sequence[NewMessage]) -> dict[str, int]:
    return deliveries_store.insert(desk.connection, desk.now, rows) if rows else {}
