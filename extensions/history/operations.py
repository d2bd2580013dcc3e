"""Use cases of one client's history: uptime and timeline."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Connection

from extensions.history import rules, store
from extensions.history.store import ClientEventRow
from shared.availability import segments_rules
from shared.availability.segments_rules import Segment, UptimeShares
from shared.clients import operations as clients
from shared.quiet import rules as quiet_rules
from shared.quiet import store as quiet_store
from shared.vocabulary import EventKind
from shared.words.sentences import Sentence, sentences_in

CHANGES_READ: Final = 50_000  # the limit for a display that flaps; the time before them counts as unknown


class ClientUptime(Struct, frozen=True):
    """A client's uptime: shares of each state, and segments."""

    windows: Sequence[UptimeShares]
    segments: Sequence[Segment]
    closed: Sequence[tuple[datetime, datetime]]
    """The times in which its screen was meant to be off."""


class ClientEvent(Struct, frozen=True):
    """An event of a client. `key` distinguishes events of the same kind and time."""

    at: datetime
    kind: EventKind
    key: str
    title: Sentence
    details: dict[str, Any]


def uptime(connection: Connection, now: datetime, uuid: str, strip: timedelta) -> ClientUptime:
    """Shares of each state over the usual windows, and the segments of the last `strip` (at most 30 days).

    Only time within opening hours counts for the shares, by the hours that were set at that time.

    Raises:
        ClientNotFound: there is none with this uuid.
    """
    client = clients.find(connection, uuid)
    start = max(now - segments_rules.LONGEST, client.created_at)
    changes = store.state_changes(connection, uuid, start, CHANGES_READ)
    is_complete = len(changes) < CHANGES_READ
    whole = segments_rules.segments(changes[::-1], start, now, client.status, complete=is_complete)
    closed = quiet_rules.closed_times(quiet_store.of_screen(connection, uuid, start, now), start, now)
    return ClientUptime(
        [segments_rules.window(whole, now, length, closed) for length in segments_rules.WINDOWS],
        segments_rules.drawable(segments_rules.since(whole, now - strip)),
        [(max(begins, now - strip), ends) for begins, ends in closed if ends > now - strip],
    )


def events(connection: Connection, uuid: str, limit: int, after: tuple[datetime, str, str] | None) -> list[ClientEvent]:
    """Up to `limit` events of a client, the newest first, that come after (at, kind, key).

    Raises:
        ClientNotFound: there is none with this uuid.
    """
    clients.find(connection, uuid)
    return [_event(one) for one in store.timeline(connection, uuid, limit, after)]


def _event(row: ClientEventRow) -> ClientEvent:
    details = sentences_in(row.details)
    return ClientEvent(row.at, row.kind, row.key, rules.title(row.kind, details), details)
