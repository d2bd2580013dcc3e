"""Displays that fail and recover, and queries for incidents, for the tests of incidents."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from msgspec.structs import asdict
from sqlalchemy import Connection

from shared import config
from shared.config import Config
from shared.incidents import operations, timeline_operations, timeline_store
from shared.incidents.operations import IncidentReport
from shared.incidents.timeline_store import IncidentFilter
from shared.tables import bridge_status, client_heartbeats, client_losses, client_state_changes, clients
from shared.words.reader import english
from shared.words.sentences import as_given, to_row
from tests.stores.commands_world import add_client, seconds

CONFIG: Config = config.load({})
NOTHING = IncidentReport()
MINUTE = timedelta(minutes=1)
WRONGLY_COUNTED = sa.text(
    """
    SELECT i.id, i.members, i.present, i.peak, m.members, m.present FROM incidents AS i LEFT JOIN LATERAL (
        SELECT count(DISTINCT client_uuid) AS members, count(*) FILTER (WHERE left_at IS NULL) AS present
        FROM incident_members WHERE incident_id = i.id) AS m ON true
    WHERE i.closed_at IS NULL AND i.members <> m.members OR i.present <> m.present OR i.peak < i.present
        OR i.closed_at IS NOT NULL AND i.present <> 0
    """
)


def listen(connection: Connection, at: datetime, since: datetime | None = None) -> None:
    """Record that the bridge has listened since `since`, by default for a day."""
    values = {"connected_since": since or at - timedelta(days=1), "canary_at": at}
    connection.execute(sa.update(bridge_status).values(**values))


def site(connection: Connection, now: datetime, name: str | None = "Rome", count: int = 12, **facts: Any) -> list[str]:
    """Add a site with running displays that were just heard. Returns their uuids."""
    return [add_client(connection, now, site=name, status="running", **facts) for _ in range(count)]


def change(connection: Connection, at: datetime, uuids: Sequence[str], status: str) -> None:
    """Change the shown status of these displays, as the sweep and the bridge do."""
    mine = clients.c.uuid.in_(uuids)
    changed = {"at": at, "from_status": "running", "to_status": status, "cause": to_row(as_given(text="test"))}
    rows = [{"client_uuid": uuid, **changed} for uuid in uuids]
    connection.execute(sa.update(clients).where(mine).values(status=status, status_since=at))
    connection.execute(sa.insert(client_state_changes), rows)


def go_silent(connection: Connection, at: datetime, uuids: Sequence[str], heard_before: float = 190) -> None:
    """Show these displays as silent: their last heartbeats came `heard_before` seconds earlier, a second apart."""
    rows = []
    for number, uuid in enumerate(uuids):
        heard_at = at - seconds(heard_before) + seconds(number)
        mine, beats = clients.c.uuid == uuid, client_heartbeats.c.client_uuid == uuid
        connection.execute(sa.update(client_heartbeats).where(beats).values(last_heartbeat_at=heard_at))
        connection.execute(sa.update(clients).where(mine).values(status="stale", status_since=heard_at))
        rows.append({"client_uuid": uuid, "at": heard_at, "noticed_at": at})
    words = {"from_status": "running", "to_status": "stale", "cause": to_row(as_given(text="test"))}
    connection.execute(sa.insert(client_state_changes), [{**row, **words} for row in rows])


def lose(connection: Connection, at: datetime, uuids: Sequence[str], losses: int = 1, known_for: float = 30) -> None:
    """Report at `at` that these displays lost the broker since their report `known_for` seconds earlier."""
    since = at - seconds(known_for)
    rows = [{"client_uuid": uuid, "at": at, "since": since, "losses": losses} for uuid in uuids]
    connection.execute(sa.insert(client_losses), rows)


def come_back(connection: Connection, at: datetime, uuids: Sequence[str]) -> None:
    mine = client_heartbeats.c.client_uuid.in_(uuids)
    connection.execute(sa.update(client_heartbeats).where(mine).values(last_heartbeat_at=at))
    change(connection, at, uuids, "running")


def observe(connection: Connection, at: datetime) -> IncidentReport:
    """Observe incidents. Their counters are then what their members' rows say."""
    connection.execute(sa.update(bridge_status).values(canary_at=at))
    report = operations.observe(connection, at)
    assert connection.execute(WRONGLY_COUNTED).all() == []
    return report


def all_of(connection: Connection, **wanted: Any) -> list[dict[str, Any]]:
    """Incidents as in a list, the oldest first."""
    found = reversed(timeline_store.page(connection, IncidentFilter(**wanted), 100, None))
    return [{**asdict(row), "cause": english(row.cause)} for row in found]


def only(connection: Connection) -> dict[str, Any]:
    [row] = all_of(connection)
    return row


def happened(connection: Connection, incident_id: int) -> list[tuple[str, int | None]]:
    """(kind, displays) of the timeline, the oldest first."""
    return [
        (event.kind.value, event.count)
        for event in reversed(timeline_operations.events(connection, incident_id, 100, None))
    ]


def notice_silence(
    connection: Connection, at: datetime, uuids: Sequence[str], heard_before: float = 190
) -> IncidentReport:
    """Observe incidents after these displays went silent."""
    go_silent(connection, at, uuids, heard_before)
    return observe(connection, at)


def notice_return(connection: Connection, at: datetime, uuids: Sequence[str]) -> IncidentReport:
    """Observe incidents after these displays came back."""
    come_back(connection, at, uuids)
    return observe(connection, at)
