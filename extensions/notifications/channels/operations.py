"""Admins add, change, test and remove channels."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from extensions.notifications.channels import rules, store
from extensions.notifications.channels.rules import Hours, KeptChannel
from extensions.notifications.deliveries import store as deliveries_store
from extensions.notifications.troubles.rules import VERSION
from extensions.notifications.troubles.words_rules import channel_trial, channel_tried
from shared.config import Config
from shared.errors import ChannelNameTaken, ChannelNotFound
from shared.outside.couriers.letters import Letter
from shared.quiet import store as quiet_store
from shared.vocabulary import ChannelKind, NotificationEvent, Weekday
from shared.words.languages import ENGLISH
from shared.words.reader import words_of
from shared.words.sentences import Sentence


class NewChannel(Struct, frozen=True):
    """A channel to add."""

    name: str
    kind: ChannelKind
    url: str
    signing_secret: str | None
    events: Collection[NotificationEvent]
    delay: timedelta
    sites: Collection[str] | None
    hours: Hours | None
    critical_passes: bool
    enabled: bool
    language: str = ENGLISH


def add(connection: Connection, now: datetime, wanted: NewChannel, by: str) -> KeptChannel:
    """Add a channel. Returns its row. It gets messages about troubles that begin from now on.

    Raises ChannelNameTaken, ChannelAddressRefused, ChannelRefused or TimeZoneUnknown.
    """
    rules.check_address(wanted.kind, wanted.url)
    rules.check_secret(wanted.kind, wanted.signing_secret)
    rules.check_hours(wanted.hours)
    _check_name(connection, wanted.name, None)
    quiet_store.lock_batch(connection)  # who renames its sites waits for this transaction
    values = {
        "name": wanted.name,
        "kind": wanted.kind.value,
        "url": wanted.url,
        "signing_secret": wanted.signing_secret,
        "events": in_order(wanted.events),
        "delay_seconds": int(wanted.delay.total_seconds()),
        "sites": sorted(set(wanted.sites)) if wanted.sites else None,
        **hours_columns(wanted.hours),
        "critical_passes": wanted.critical_passes,
        "enabled": wanted.enabled,
        "language": wanted.language,
    }
    stamps = {"tells_since": now, "created_by": by, "created_at": now, "changed_at": now}
    return store.insert(connection, {**values, **stamps})


def change(connection: Connection, now: datetime, channel_id: int, changes: Mapping[str, Any]) -> KeptChannel:
    """Change columns of a channel. Returns its row.

    A channel that is enabled again gets messages about troubles that begin from now on. After a change of the address,
    failed messages are retried whose trouble is not over.

    Raises ChannelNotFound, and the errors of `add`.
    """
    quiet_store.lock_batch(connection)  # who renames its sites waits for this transaction
    before = find(connection, channel_id, locked=True)
    after = replace(before, **changes, changed_at=now)
    rules.check_address(after.kind, after.url)
    rules.check_secret(after.kind, after.signing_secret)
    rules.check_hours(after.hours)
    if "name" in changes:
        _check_name(connection, after.name, channel_id)
    if after.enabled and not before.enabled:
        after = replace(after, tells_since=now)
    if "url" in changes:  # errors of the old address do not apply to the new one
        after = replace(after, last_failed_at=None, last_error=None)
        deliveries_store.revive(connection, now, channel_id)
    store.update(connection, after)
    return after


def find(connection: Connection, channel_id: int, *, locked: bool = False) -> KeptChannel:
    """One channel, with its secrets. Raises ChannelNotFound."""
    row = (store.lock if locked else store.get)(connection, channel_id)
    if row is None:
        raise ChannelNotFound
    return row


def remove(connection: Connection, channel_id: int) -> KeptChannel:
    """Delete a channel and its messages. Returns its row. Raises ChannelNotFound."""
    row = find(connection, channel_id, locked=True)
    store.delete(connection, channel_id)
    return row


def note(connection: Connection, now: datetime, channel_id: int, error: Sentence | None) -> None:
    """Store the outcome of the channel's last try; `error` None: the receiver took the message."""
    if error is None:
        store.note_delivered(connection, now, channel_id)
    else:
        store.note_failed(connection, now, channel_id, error)


def trial(name: str, language: str, now: datetime, by: str, request_id: str, config: Config) -> Letter:
    """A test message in the form of the real messages of the channel with this name."""
    said = (channel_trial(), channel_tried(by=by, channel=name))
    title, text = map(words_of(language).say, said)
    url = config["PUBLIC_URL"] or None
    facts = {
        "id": f"signage-test-{request_id}",
        "version": VERSION,
        "event": "test",
        "phase": "test",
        "title": title,
        "text": text,
        "at": now.isoformat(),
        "url": url,
        "channel": name,
    }
    return Letter(f"signage-test-{request_id}", title, f"{text}\n{url or ''}".strip(), facts)


def hours_columns(hours: Hours | None) -> dict[str, Any]:
    """The columns of these hours."""
    if hours is None:
        return dict.fromkeys(("time_zone", "weekdays", "from_time", "to_time"))
    weekdays = [day for day in Weekday if day in hours.weekdays]
    return {"time_zone": hours.time_zone, "weekdays": weekdays, "from_time": hours.begin, "to_time": hours.end}


def in_order(events: Collection[NotificationEvent]) -> list[str]:
    """These events, each once, in the order of the vocabulary."""
    return [event.value for event in NotificationEvent if event in events]


def _check_name(connection: Connection, name: str, but: int | None) -> None:
    store.lock_names(connection)
    if store.is_taken(connection, name, but):
        raise ChannelNameTaken
