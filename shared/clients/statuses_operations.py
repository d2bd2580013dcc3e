"""Use case of shown states that change with time alone."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from shared.clients import statuses_store
from shared.clients.reports import rules
from shared.clients.signs_rules import last_sign
from shared.clients.statuses_store import Candidate, StatusChange
from shared.leadership.rules import Listening
from shared.vocabulary import ClientStatus


def candidates(connection: Connection, now: datetime, stale_seconds: int, bridge: Listening) -> list[str]:
    """The clients that `sweep` has to look at, by uuid, in one look at the fleet.

    `stale_seconds` is HEARTBEAT_STALE_SECONDS, `bridge` comes from `leadership.rules.listening`.
    """
    return statuses_store.candidates(connection, now, stale_seconds, bridge)


def sweep(connection: Connection, now: datetime, stale_seconds: int, bridge: Listening, uuids: Sequence[str]) -> int:
    """Update stored states that time has changed, of MOST_AT_ONCE of these clients at most. Returns how many.

    They are judged here, for they may have been heard since somebody looked for candidates.
    """
    if not uuids:
        return 0
    rows = statuses_store.judged(connection, now, stale_seconds, bridge, uuids)
    changes = [change for row in rows if (change := _status_change(row, now, stale_seconds, bridge))]
    return statuses_store.change(connection, now, changes) if changes else 0


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
