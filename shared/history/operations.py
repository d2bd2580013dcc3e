"""What happened to one client: its uptime and its timeline."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection

from shared.clients import operations as clients
from shared.history import rules, store
from shared.history.rules import Change, Segment, UptimeShares
from shared.vocabulary import ClientStatus, EventKind

CHANGES_READ: Final = 50_000  # of a display that flaps; the time before counts as unknown


@dataclass(frozen=True)
class ClientUptime:
    """How a client fared."""

    windows: Sequence[UptimeShares]
    segments: Sequence[Segment]


@dataclass(frozen=True)
class ClientEvent:
    """Something that happened to a client. `key` tells apart events of one kind and moment."""

    at: datetime
    kind: EventKind
    key: str
    title: str
    details: dict[str, Any]


def uptime(connection: Connection, now: datetime, uuid: str, strip: timedelta) -> ClientUptime:
    """Shares of each state over the usual windows, and the segments of the last `strip` (at most 30 days).

    Raises:
        ClientNotFound: there is none with this uuid.
    """
    client = clients.find(connection, uuid)
    start = max(now - rules.LONGEST, client["created_at"])
    rows = store.state_changes(connection, uuid, start, CHANGES_READ)
    changes = [
        Change(row["at"], ClientStatus(row["from_status"]), ClientStatus(row["to_status"])) for row in reversed(rows)
    ]
    present, complete = ClientStatus(client["status"]), len(rows) < CHANGES_READ
    whole = rules.segments(changes, start, now, present, complete=complete)
    return ClientUptime(
        [rules.window(whole, now, length) for length in rules.WINDOWS],
        rules.drawable(rules.since(whole, now - strip)),
    )


def events(connection: Connection, uuid: str, limit: int, after: tuple[datetime, str, str] | None) -> list[ClientEvent]:
    """Up to `limit` events of a client, the newest first, that come after (at, kind, key).

    Raises:
        ClientNotFound: there is none with this uuid.
    """
    clients.find(connection, uuid)
    return [
        ClientEvent(
            row["at"], EventKind(row["kind"]), row["key"], rules.title(row["kind"], row["details"]), row["details"]
        )
        for row in store.timeline(connection, uuid, limit, after)
    ]
