"""Use case of shown states that change with time alone."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients import statuses_store
from shared.clients.reports import rules
from shared.clients.signs_rules import last_sign
from shared.clients.statuses_store import Candidate, StatusChange
from shared.leadership.rules import Listening
from shared.vocabulary import ClientStatus


class Swept(Struct, frozen=True):
    """How many stored states changed, and the last client that was looked at; None: all were."""

    changed: int
    last: str | None


def sweep(connection: Connection, now: datetime, stale_seconds: int, bridge: Listening, after: str = "") -> Swept:
    """Update stored states that time has changed, of the next clients after this one: go on after `last`.

    `stale_seconds` is HEARTBEAT_STALE_SECONDS, `bridge` comes from `leadership.rules.listening`.
    """
    rows = statuses_store.candidates(connection, now, stale_seconds, after, deaf=bridge.deaf, since=bridge.since)
    changes = [change for row in rows if (change := _status_change(row, now, stale_seconds, bridge))]
    changed = statuses_store.change(connection, now, changes) if changes else 0
    return Swept(changed, rows[-1].uuid if len(rows) == statuses_store.MOST_CANDIDATES else None)


def _status_change(row: Candidate, now: datetime, stale_seconds: int, bridge: Listening) -> StatusChange | None:
    status, cause = rules.shown_status(
        row.process_status,
        row.last_heartbeat_at,
        row.interval_seconds,
        now,
        stale_seconds,
        deaf=bridge.deaf,
        listening_since=bridge.since,
        sign_at=row.sign_at,
    )
    if status == row.status:
        return None
    at = now
    if status is ClientStatus.UNKNOWN and bridge.deaf_since is not None:
        at = rules.unknown_from(row.last_heartbeat_at, row.interval_seconds, bridge.deaf_since)
    elif status in {ClientStatus.LATE, ClientStatus.STALE} and bridge.since is not None:
        at = rules.silent_from(last_sign(row.last_heartbeat_at, row.sign_at), bridge.since)
    return StatusChange(row.uuid, row.status, status, cause, at)
