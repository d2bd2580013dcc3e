"""The overview loses no change, whatever the order of commits; a heartbeat is not a change."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.clients import store as clients_store
from shared.clients.store import ClientFilter
from shared.overview import problems_store, rules, store, summary_store
from shared.overview.rules import OverviewCursor
from shared.overview.summary_store import FleetSummary
from shared.postgres.door import database_now, transaction
from shared.recovery.evidence.rules import is_unwell
from shared.tables import client_commands, client_heartbeats, clients
from shared.vocabulary import ClientStatus, ProcessStatus, RegisteredBy

STALE = timedelta(seconds=180)


def uuid(number: int) -> str:
    return f"00000000-0000-4000-9000-{number:012d}"


@pytest.fixture
def now(connection: Connection) -> datetime:
    return database_now(connection)


def cursor(connection: Connection) -> OverviewCursor:
    """The cursor of a reader that reads from now on."""
    return changes(connection, None).cursor


def changes(connection: Connection, since: OverviewCursor | None) -> FleetSummary:
    """What a reader learns that has read until `since`."""
    xid = None if since is None else since.xid
    return summary_store.summary(connection, database_now(connection), xid, 1, 1)


def add(
    connection: Connection, number: int, *, heartbeat: datetime | None = None, interval: int = 30, **facts: object
) -> str:
    """Add a client, with its last heartbeat if one is given. Returns its uuid."""
    identity = uuid(number)
    clients_store.register(connection, database_now(connection), identity, RegisteredBy.ENROLMENT)
    if facts:
        connection.execute(sa.update(clients).where(clients.c.uuid == identity).values(**facts))
    if heartbeat is not None:
        row = {"client_uuid": identity, "last_heartbeat_at": heartbeat, "interval_seconds": interval}
        connection.execute(sa.insert(client_heartbeats).values(**row))
    return identity


def told(rows: str) -> list[dict[str, Any]]:
    """The rows that Postgres wrote, as dicts."""
    return [dict(zip(store.COLUMNS, row, strict=True)) for row in json.loads(f"[{rows}]")]


HOSTILE = 'say "hi" \\ to\tü \u2028 \U0001f600 </script>'


def test_what_postgres_writes_of_a_client_is_what_its_columns_hold(connection: Connection, now: datetime) -> None:
    half = now.replace(microsecond=120_000)
    facts: dict[str, Any] = {
        "name": HOSTILE,
        "site": HOSTILE,
        "tags": [HOSTILE, ""],
        "service_failed_unit": HOSTILE,
        "app_version": HOSTILE,
        "ip": HOSTILE,
        "hostname": HOSTILE,
        "service_failed_at": half,
        "mqtt_last_disconnect_at": now.replace(microsecond=0),
        "shared_login_seen_at": half,
        "mqtt_reconnect_count": 7,
    }
    full = add(connection, 1, heartbeat=half, **facts)
    bare = add(connection, 2)
    times = {"created_at": half, "expires_at": half + timedelta(minutes=1)}
    row = {"id": "c1", "client_uuid": full, "action": "restart_app", "source": "operator", "requested_by": "user:a"}
    connection.execute(sa.insert(client_commands).values(**row, **times))

    rows = {row["uuid"]: row for row in told(store.whole_fleet(connection, {full: '{"state":"off"}'}))}

    text = half.isoformat().replace("+00:00", "Z")
    assert {name: rows[full][name] for name in facts} == {
        **facts,
        "service_failed_at": text,
        "shared_login_seen_at": text,
        "mqtt_last_disconnect_at": now.replace(microsecond=0).isoformat().replace("+00:00", "Z"),
    }
    assert rows[full]["last_heartbeat_at"] == half.replace(microsecond=0).isoformat().replace("+00:00", "Z")
    assert rows[full]["recovery"] == {"state": "off"}
    assert list(rows[full]["open_command"]) == ["id", "action", "state", "source", "created_at", "expires_at"]
    assert rows[full]["open_command"]["created_at"] == text
    empty = {name for name, value in rows[bare].items() if value is None}
    assert empty == set(store.COLUMNS) - {
        *("uuid", "name", "tags", "process_status", "status", "status_since", "screen_health", "presence", "limits")
    }


def test_counts_hold_every_state_the_total_and_the_failed_ones(connection: Connection, now: datetime) -> None:
    add(connection, 1, status="late", service_failed_at=now, service_failed_unit="x")
    add(connection, 2, status="late")
    add(connection, 3, status="running", deleted_at=now)

    add(connection, 4, status="late", screen_health="black", screen_health_since=now, screen_failed_at=now)
    add(connection, 5, screen_health="ok", screen_failed_at=now)  # old code ended it

    counts = store.counts(connection).by_name()

    assert (counts["late"], counts["running"], counts["total"]) == (3, 0, 4)
    assert (counts["service_failed"], counts["screen_failed"]) == (1, 1)


def test_whom_recovery_may_speak_of_is_told_by_the_rule(connection: Connection, now: datetime) -> None:
    for number, status in enumerate(ClientStatus):
        for process in ProcessStatus:
            add(connection, 100 * number + list(ProcessStatus).index(process), status=status, process_status=process)
    failing = add(connection, 999, service_failed_at=now, service_failed_unit="x")
    add(connection, 997, service_failed_at=now, service_failed_unit="x", service_mended_at=now)
    add(connection, 998, screen_health="frozen", screen_health_since=now, screen_failed_at=now)
    everybody = clients_store.page(connection, ClientFilter(), 1000, None)

    found = set(store.unwell(connection))
    among = {one.uuid for one in store.unwell_among(connection, [one.uuid for one in everybody])}

    by_rule = {
        one.uuid
        for one in everybody
        if is_unwell(one.status, one.process_status, one.uuid == failing, one.screen_failed_since)
    }
    assert found == among == by_rule
    assert 0 < len(found) < len(everybody)


def test_crashed_lists_who_says_so_and_who_is_silent_but_not_who_was_never_heard(
    connection: Connection, now: datetime
) -> None:
    says_so = add(connection, 1, heartbeat=now, process_status="crashed")
    silent = add(connection, 2, heartbeat=now - timedelta(seconds=181))
    add(connection, 3, heartbeat=now - timedelta(seconds=179))
    add(connection, 4)
    add(connection, 5, heartbeat=now - timedelta(seconds=200), interval=600)  # beats every ten minutes
    patient = add(connection, 6, heartbeat=now - timedelta(seconds=1801), interval=600)

    listed = [one.uuid for one in problems_store.crashed(connection, now, STALE, 10).clients]

    assert listed == [patient, silent, says_so]


def test_a_deleted_client_is_not_crashed(connection: Connection, now: datetime) -> None:
    add(connection, 1, heartbeat=now - timedelta(hours=1), deleted_at=now)

    assert problems_store.crashed(connection, now, STALE, 10).clients == []


def test_a_change_that_commits_after_a_later_one_is_still_told(engine: Engine) -> None:
    with transaction(engine) as connection:
        early, late = add(connection, 11), add(connection, 12)
    with engine.connect() as slow:
        slow.execute(sa.update(clients).where(clients.c.uuid == early).values(name="slow"))
        with transaction(engine) as fast:
            fast.execute(sa.update(clients).where(clients.c.uuid == late).values(name="fast"))
        with transaction(engine) as reader:
            here = cursor(reader)
            seen = {row["uuid"]: row["name"] for row in told(store.whole_fleet(reader, {}))}
        slow.commit()

    with transaction(engine) as reader:
        uuids = changes(reader, here).changed
        then = {row["uuid"]: row["name"] for row in told(store.some_clients(reader, uuids, {}))}

    assert (seen[early], seen[late]) == ("", "fast")
    assert then[early] == "slow"


def test_a_heartbeat_is_no_change_and_a_command_is_one(engine: Engine) -> None:
    with transaction(engine) as connection:
        quiet = add(connection, 21, heartbeat=database_now(connection))
        commanded = add(connection, 22)
    with transaction(engine) as connection:
        here = cursor(connection)
    with transaction(engine) as connection:
        now = database_now(connection)
        beat = sa.update(client_heartbeats).where(client_heartbeats.c.client_uuid == quiet)
        connection.execute(beat.values(last_heartbeat_at=now))
        row = {"id": "cmd-1", "client_uuid": commanded, "action": "restart_app", "source": "operator"}
        times = {"created_at": now, "expires_at": now + timedelta(minutes=1)}
        connection.execute(sa.insert(client_commands).values(**row, **times, requested_by="user:a"))

    with transaction(engine) as reader:
        uuids = changes(reader, here).changed
        changed = [row["uuid"] for row in told(store.some_clients(reader, uuids, {}))]
        beats = dict(json.loads(f"[{store.heartbeats(reader)}]"))

    assert [uuid for uuid in changed if uuid in {quiet, commanded}] == [commanded]
    assert datetime.fromisoformat(beats[quiet]) == now.replace(microsecond=0)


def test_a_client_deleted_since_is_named_as_gone(engine: Engine) -> None:
    with transaction(engine) as connection:
        doomed = add(connection, 31)
        here = cursor(connection)
    with transaction(engine) as connection:
        clients_store.tombstone(connection, database_now(connection), doomed)

    with transaction(engine) as reader:
        then = changes(reader, here)
        assert doomed in then.gone
        assert doomed in then.changed
        assert doomed not in [row["uuid"] for row in told(store.some_clients(reader, then.changed, {}))]


def test_whoever_is_deleted_is_gone_once_though_its_command_ends_with_it(engine: Engine) -> None:
    with transaction(engine) as connection:
        doomed, gone_before = add(connection, 32), add(connection, 33)
        clients_store.tombstone(connection, database_now(connection), gone_before)
    with transaction(engine) as connection:
        here = cursor(connection)
    with transaction(engine) as connection:
        now = database_now(connection)
        clients_store.tombstone(connection, now, doomed)
        for number, uuid in enumerate((doomed, gone_before)):
            row = {"id": f"cmd-gone-{number}", "client_uuid": uuid, "action": "restart_app", "source": "operator"}
            times = {"created_at": now, "expires_at": now + timedelta(minutes=1)}
            connection.execute(sa.insert(client_commands).values(**row, **times, requested_by="user:a"))

    with transaction(engine) as reader:
        then = changes(reader, here)

    assert then.gone.count(doomed) == 1
    assert gone_before in then.changed  # its command is new
    assert gone_before not in then.gone  # a reader from this position never saw it


CURSORS = [
    ("abc-12", True),
    ("abc-99999999999999999999", False),  # one that Postgres cannot have
    ("abc-13", False),  # from the future: the database was restored
    ("abd-12", False),  # another epoch
    ("abc-", False),
    ("abc", False),
    ("-5", False),
    ("abc-1x", False),
    ("abc-٣", False),  # a digit, but not one of ours
    ("", False),
]


@pytest.mark.parametrize(("text", "continues"), CURSORS)
def test_only_a_cursor_of_this_life_of_the_database_continues(text: str, continues: bool) -> None:
    assert rules.can_continue(rules.parse_cursor(text), OverviewCursor("abc", 12)) is continues


def test_a_tick_that_ends_late_does_not_hide_a_newer_one(connection: Connection, now: datetime) -> None:
    store.record_tick(connection, now, 12, {"expired": 1})
    store.record_tick(connection, now - timedelta(minutes=2), 9000, {"expired": 9})

    assert store.scheduler(connection).did == {"expired": 1}


def test_the_scheduler_is_late_after_three_periods_or_when_never_seen() -> None:
    now, minute = datetime.fromisoformat("2026-01-01T12:00:00+00:00"), timedelta(minutes=1)

    assert not rules.is_scheduler_late(now - 3 * minute, now)
    assert rules.is_scheduler_late(now - 3 * minute - timedelta(seconds=1), now)
    assert rules.is_scheduler_late(None, now)
