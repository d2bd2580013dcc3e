"""The history of one client, read from the tables of several nouns, on real Postgres."""

from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from extensions.history import operations
from extensions.history.operations import ClientEvent
from shared.availability import store as availability_store
from shared.clients import failures_operations, statuses_operations
from shared.clients import operations as clients
from shared.clients.failures_rules import ServiceFailure
from shared.clients.reports import operations as reports
from shared.clients.reports.rules import LATE_AT_LEAST, Heartbeat
from shared.errors import ClientNotFound
from shared.leadership.rules import Listening
from shared.postgres.door import database_now
from shared.tables import (
    audit_log,
    client_commands,
    client_logs,
    client_screen_changes,
    client_state_changes,
    recovery_events,
    service_failure_events,
)
from shared.tables import clients as clients_table
from shared.vocabulary import ClientStatus, EventKind, ProcessStatus
from shared.words.reader import english
from shared.words.sentences import as_given, to_row
from tests.stores.commands_world import NOWHERE, add_client

CLOCK = 1000.0


@pytest.fixture
def now(connection: Connection) -> datetime:
    return database_now(connection)


def client(connection: Connection, now: datetime, **facts: Any) -> str:
    """A client that is ten days old."""
    return add_client(connection, now, **{"created_at": now - timedelta(days=10), **facts})


def add(connection: Connection, table: sa.Table, uuid: str, at: datetime, **values: Any) -> None:
    columns = {"client_uuid": uuid, "at": at, **values}
    connection.execute(sa.insert(table).values(**columns))


def changed(connection: Connection, uuid: str, at: datetime, was: str, became: str) -> None:
    values = {"from_status": was, "to_status": became, "cause": to_row(as_given(text=f"{became} because"))}
    add(connection, client_state_changes, uuid, at, **values)


def logged(connection: Connection, uuid: str, at: datetime, level: str, message: str) -> None:
    row = {"client_uuid": uuid, "received_at": at, "level": level, "message": message}
    connection.execute(sa.insert(client_logs).values(**row))


def commanded(connection: Connection, uuid: str, at: datetime, name: str, **steps: Any) -> None:
    row = {"id": name, "client_uuid": uuid, "source": "operator", "requested_by": "user:a", "action": "restart_app"}
    times = {"created_at": at, "expires_at": at + timedelta(minutes=1)}
    connection.execute(sa.insert(client_commands).values(**{**row, **times, **steps}))


def everything(connection: Connection, uuid: str, limit: int) -> list[ClientEvent]:
    """All events, read page by page."""
    found: list[ClientEvent] = []
    after = None
    while page := operations.events(connection, uuid, limit, after):
        found += page
        after = (page[-1].at, page[-1].kind, page[-1].key)
    return found


# --- uptime ---


def test_uptime_is_what_the_changes_say_and_no_older_than_the_client(connection: Connection, now: datetime) -> None:
    uuid = client(connection, now, status="running")
    changed(connection, uuid, now - timedelta(days=9), "unknown", "running")
    changed(connection, uuid, now - timedelta(days=2), "running", "crashed")
    changed(connection, uuid, now - timedelta(hours=12), "crashed", "running")

    found = operations.uptime(connection, now, uuid, timedelta(days=7))

    day, week, month = found.windows
    assert day.shares[ClientStatus.RUNNING] == pytest.approx(0.5)
    assert week.shares[ClientStatus.CRASHED] == pytest.approx(1.5 / 7)
    assert (month.known, month.unknown) == (timedelta(days=9), timedelta(days=1))
    assert [(s.begins, s.status.value) for s in found.segments] == [
        (now - timedelta(days=7), "running"),
        (now - timedelta(days=2), "crashed"),
        (now - timedelta(hours=12), "running"),
    ]


def test_a_client_that_never_changed_was_what_it_is(connection: Connection, now: datetime) -> None:
    uuid = client(connection, now, created_at=now - timedelta(days=90), status="stopped")
    changed(connection, uuid, now - timedelta(days=60), "unknown", "stopped")

    found = operations.uptime(connection, now, uuid, timedelta(days=1))

    assert [window.shares[ClientStatus.STOPPED] for window in found.windows] == [1.0, 1.0, 1.0]
    assert [window.known for window in found.windows] == [timedelta(days=d) for d in (1, 7, 30)]


def test_time_in_which_nobody_listened_is_unknown_though_nobody_could_note_it(
    connection: Connection, now: datetime
) -> None:
    """The whole box was off for a night: the first sweep afterwards records since when nothing is known."""
    night = now - timedelta(hours=8)
    uuid = client(connection, now, status="running", status_since=now - timedelta(days=10))
    changed(connection, uuid, now - timedelta(days=10), "unknown", "running")
    reports.record_heartbeats(connection, night, CLOCK, [Heartbeat(uuid, CLOCK, ProcessStatus.RUNNING)])

    deaf = Listening(deaf=True, since=None, deaf_since=night)
    statuses_operations.sweep(connection, now, 180, deaf, statuses_operations.candidates(connection, now, 180, deaf))
    reports.record_heartbeats(connection, now, CLOCK, [Heartbeat(uuid, CLOCK, ProcessStatus.RUNNING)])

    day, *_ = operations.uptime(connection, now, uuid, timedelta(days=1)).windows
    assert day.unknown == timedelta(hours=8) - LATE_AT_LEAST
    assert day.shares[ClientStatus.RUNNING] == 1.0


def test_there_is_no_history_of_a_client_that_is_none(connection: Connection, now: datetime) -> None:
    with pytest.raises(ClientNotFound):
        operations.uptime(connection, now, NOWHERE, timedelta(days=1))
    with pytest.raises(ClientNotFound):
        operations.events(connection, NOWHERE, 10, None)


# --- service failures ---


def test_a_failure_and_its_acknowledgement_are_kept_after_the_next_one(connection: Connection, now: datetime) -> None:
    uuid = client(connection, now)
    failures_operations.record(
        connection, now - timedelta(hours=2), CLOCK, [ServiceFailure(uuid, CLOCK - 60, "player", None, True)]
    )
    clients.clear_service_failed(connection, now - timedelta(hours=1), uuid, "user:anna", None)
    clients.clear_service_failed(connection, now, uuid, "user:anna", None)  # nothing to clear
    failures_operations.record(connection, now, CLOCK, [ServiceFailure(uuid, CLOCK, "network", None, True)])

    kept = connection.execute(
        sa.select(service_failure_events.c.at, service_failure_events.c.event, service_failure_events.c.unit)
        .where(service_failure_events.c.client_uuid == uuid)
        .order_by(service_failure_events.c.at)
    ).all()

    assert [tuple(row) for row in kept] == [
        (now - timedelta(hours=2, seconds=60), "failed", "player"),
        (now - timedelta(hours=1), "cleared", "player"),
        (now, "failed", "network"),
    ]


# --- the timeline ---


@pytest.fixture
def crash(connection: Connection, now: datetime) -> str:
    """A client that crashed, logged, was restarted by recovery and recovered; another client's rows lie between."""
    uuid, neighbour = client(connection, now), client(connection, now)
    at = {minute: now - timedelta(minutes=minute) for minute in range(60)}
    for one in (uuid, neighbour):
        changed(connection, one, at[30], "running", "crashed")
        logged(connection, one, at[29], "critical", "segfault")
        logged(connection, one, at[29], "info", "routine")
    commanded(
        connection,
        uuid,
        at[20],
        "c1",
        state="succeeded",
        received_at=at[19],
        running_at=at[18],
        finished_at=at[15],
        confirmed_by="both",
    )
    why = to_row(as_given(text="The player crashed."))
    decided = {"decision": "restart_app", "why": why, "evidence": {}, "command_id": "c1"}
    add(connection, recovery_events, uuid, at[20], **decided)
    changed(connection, uuid, at[14], "crashed", "running")
    failures_operations.record(connection, at[10], CLOCK, [ServiceFailure(uuid, CLOCK, "player", None, True)])
    clients.clear_service_failed(connection, at[9], uuid, "user:anna", None)
    for number, action in enumerate(("service_failed.clear", "command.restart_app", "client.write")):
        line = {"actor": "user:anna", "action": action, "target": uuid, "result": "done"}
        connection.execute(sa.insert(audit_log).values(at=at[8 - number], details={"address": "10.0.0.1"}, **line))
    return uuid


def test_the_timeline_tells_the_whole_story_once_and_newest_first(connection: Connection, crash: str) -> None:
    told = [(event.kind.value, english(event.title)) for event in operations.events(connection, crash, 100, None)]

    assert told == [
        ("audit", "Facts changed, by anna"),
        ("service_cleared", "Failure of player acknowledged by anna"),
        ("service_failed", "Service player failed"),
        ("state", "Crashed → running: running because"),
        ("command", "Restart succeeded (the display confirmed it, and what it did after it proved it)"),
        ("command", "Restart received by the display"),
        ("recovery", "Recovery asks for a restart: The player crashed."),
        ("command", "Restart asked for by a"),
        ("log", "Critical: segfault"),
        ("state", "Running → crashed: crashed because"),
        ("registered", "Created by an enrolment code."),
    ]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_of_any_size_tell_the_same_story(connection: Connection, crash: str, limit: int) -> None:
    assert everything(connection, crash, limit) == operations.events(connection, crash, 100, None)


def test_events_of_one_moment_are_each_told_once(connection: Connection, now: datetime) -> None:
    uuid = client(connection, now)
    for number in range(12):
        changed(connection, uuid, now, "running", "crashed")
        logged(connection, uuid, now, "error", f"line {number}")
    for number in range(5):
        at = now - timedelta(minutes=10 * number)
        commanded(connection, uuid, at, f"m{number}", state="expired", finished_at=at, late_state="failed", late_at=at)

    seen = [(event.kind, event.key) for event in everything(connection, uuid, 4)]

    assert len(seen) == len(set(seen)) == 12 + 12 + 15 + 1
    assert seen == [(e.kind, e.key) for e in operations.events(connection, uuid, 100, None)]


def test_the_end_of_a_reboot_is_told_after_many_screenshots_beside_it(connection: Connection, now: datetime) -> None:
    uuid, ago = client(connection, now), [now - timedelta(minutes=minute) for minute in range(10)]
    for minute in range(1, 8):
        over = {"state": "expired", "finished_at": ago[minute]}
        commanded(connection, uuid, ago[minute], f"s{minute}", action="screenshot", **over)
    commanded(connection, uuid, ago[9], "reboot", action="reboot_host", state="failed", finished_at=now)

    titles = [english(event.title) for event in everything(connection, uuid, 2)]

    assert (titles[0], titles[-2], len(titles)) == ("Reboot failed", "Reboot asked for by a", 2 + 14 + 1)


def test_addresses_of_the_audit_log_are_not_shown_to_viewers(connection: Connection, crash: str) -> None:
    line = next(e for e in operations.events(connection, crash, 100, None) if e.kind is EventKind.AUDIT)

    assert line.details == {"actor": "user:anna", "action": "client.write", "result": "done"}


def test_history_is_dropped_when_it_has_been_kept_long_enough(connection: Connection, now: datetime) -> None:
    uuid = client(connection, now)
    for days in (400, 300):
        changed(connection, uuid, now - timedelta(days=days), "running", "crashed")
        event = {"event": "failed", "unit": "player"}
        add(connection, service_failure_events, uuid, now - timedelta(days=days), **event)
        add(connection, client_screen_changes, uuid, now - timedelta(days=days), screen="black", fails=True)

    assert availability_store.drop_before(connection, now - timedelta(days=365)) == 3

    kinds = [event.kind.value for event in operations.events(connection, uuid, 100, None)]
    assert kinds == ["registered", "state", "service_failed", "screen"]


def test_a_deleted_clients_history_is_not_told(connection: Connection, now: datetime, crash: str) -> None:
    connection.execute(sa.update(clients_table).where(clients_table.c.uuid == crash).values(deleted_at=now))

    with pytest.raises(ClientNotFound):
        operations.events(connection, crash, 10, None)
