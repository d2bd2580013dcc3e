"""A display that sends other messages but no heartbeats, on real Postgres: not silent, explained, never rebooted."""

from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from shared.clients import signs_rules, signs_store
from shared.incidents import operations as incidents
from shared.leadership import operations as leadership
from shared.overview import problems_operations
from shared.overview import store as overview
from shared.postgres import set_back
from shared.postgres.door import database_now
from shared.recovery.evidence import store as evidence
from shared.tables import client_heartbeats, clients
from shared.vocabulary import ClientStatus, DeadLetterReason
from tests.stores.commands_world import seconds
from tests.stores.recovery_world import OFF, ON, become, fleet, hear, open_breakers, recover, rung, sent, sweep, told

MINUTE = timedelta(minutes=1)


@pytest.fixture
def now(connection: Connection) -> datetime:
    at = database_now(connection)
    hear(connection, at)
    return at


def talk(connection: Connection, at: datetime, *uuids: str) -> None:
    """Store a sign of life of these clients at `at`."""
    mine = client_heartbeats.c.client_uuid.in_(uuids)
    connection.execute(sa.update(client_heartbeats).where(mine).values(sign_at=at))


def refuse(connection: Connection, at: datetime, client: str, reason: DeadLetterReason, *payloads: bytes) -> None:
    """Store heartbeats of this client as dead letters."""
    letters = [(f"signage/{client}/heartbeat", payload, reason, None) for payload in payloads]
    leadership.put_aside(connection, at, letters)


def shown(connection: Connection, client: str) -> dict[str, Any]:
    row = connection.execute(sa.select(clients).where(clients.c.uuid == client)).mappings().one()
    return dict(row)


ROWS = st.tuples(
    st.sampled_from(ClientStatus), st.integers(0, 2000), st.one_of(st.none(), st.integers(0, 2000)), st.integers(5, 400)
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROWS, min_size=1, max_size=8), stale=st.sampled_from([30, 180, 600]))
def test_what_sql_and_the_rules_say_of_silence_is_the_same(
    connection: Connection, rows: list[tuple[ClientStatus, int, int | None, int]], stale: int
) -> None:
    now = database_now(connection)
    with connection.begin_nested() as savepoint:
        for status, beat, sign, interval in rows:
            client = fleet(connection, now - seconds(beat), 1, status=status.value)[0]
            at = None if sign is None else now - seconds(sign)
            mine = client_heartbeats.c.client_uuid == client
            connection.execute(sa.update(client_heartbeats).where(mine).values(sign_at=at, interval_seconds=interval))
        query = sa.text(
            f"SELECT c.status, h.last_heartbeat_at, h.sign_at, h.interval_seconds,"
            f" {signs_store.LAST_SIGN} AS last_sign, {signs_store.SILENT} AS silent,"
            f" coalesce({signs_store.MAY_BE_MUTE}, false) AS mute"
            " FROM client_heartbeats AS h JOIN clients AS c ON c.uuid = h.client_uuid"
        )
        for row in connection.execute(query, {"now": now, "stale": stale}):
            heard = (row.last_heartbeat_at, row.sign_at)
            assert row.last_sign == signs_rules.last_sign(*heard)
            assert row.silent is signs_rules.is_silent_by_age(heard[0], row.interval_seconds, heard[1], now, stale)
            talks_without_heartbeats = row.sign_at is not None and row.sign_at > row.last_heartbeat_at
            assert row.mute is (row.status == "unknown" and talks_without_heartbeats)
        savepoint.rollback()


def test_a_display_that_talks_is_never_rebooted_and_says_why_no_heartbeats_come(
    connection: Connection, now: datetime
) -> None:
    [client] = fleet(connection, now, 1)
    refuse(connection, now + MINUTE, client, DeadLetterReason.TOO_LARGE, *(b"%d" % n * 1025 for n in range(7)))
    for minute in range(1, 31):
        at = now + minute * MINUTE
        hear(connection, at)
        talk(connection, at - seconds(20), client)
        sweep(connection, at)
        assert sent(connection, recover(connection, at)) == []

    said = told(connection, now + 30 * MINUTE, client)
    why = "Its reports come, its heartbeats do not: 7 of them were too large."
    assert (said["state"], said["why"], said["until"]) == ("verifying", why, None)
    assert shown(connection, client)["status"] == "unknown"
    off = told(connection, now + 30 * MINUTE, client, OFF)
    assert (off["state"], off["why"]) == (
        "off",
        f"{why} Automatic recovery is switched off by the setting CRASH_RECOVERY_ENABLED.",
    )
    assert overview.unwell(connection) == [client]


def test_without_a_dead_letter_the_brokers_rights_are_named(connection: Connection, now: datetime) -> None:
    [client] = fleet(connection, now - 10 * MINUTE, 1)
    refuse(connection, now - 20 * MINUTE, client, DeadLetterReason.TOO_LARGE, b"x")  # before its last heartbeat
    talk(connection, now, client)

    assert "look at what the broker lets it publish" in told(connection, now, client)["why"]


def test_it_is_stale_and_recovered_once_nothing_comes_any_more(connection: Connection, now: datetime) -> None:
    [client] = fleet(connection, now - 60 * MINUTE, 1)
    talk(connection, now, client)
    sweep(connection, now)
    assert shown(connection, client)["status"] == "unknown"

    for at in (now + seconds(181), now + seconds(239)):  # a third longer than its threshold, from its last sign on
        hear(connection, at)
        sweep(connection, at)
        assert sent(connection, recover(connection, at)) == []
    assert shown(connection, client)["status"] == "stale"
    hear(connection, now + seconds(241))
    assert sent(connection, recover(connection, now + seconds(241))) == [(client, "reboot_host")]


def test_a_crash_still_needs_a_fresh_heartbeat_and_then_is_recovered_as_ever(
    connection: Connection, now: datetime
) -> None:
    [client] = fleet(connection, now - 10 * MINUTE, 1)
    become(connection, client, now - 10 * MINUTE, "crashed")
    talk(connection, now, client)
    sweep(connection, now)

    assert sent(connection, recover(connection, now)) == []
    said = told(connection, now, client)
    assert (said["state"], said["why"][:46]) == ("verifying", "Its reports come, its heartbeats do not: look ")
    become(connection, client, now, "crashed")
    hear(connection, now + seconds(30))
    assert sent(connection, recover(connection, now + seconds(30))) == [(client, "restart_app")]


def test_what_was_tried_and_what_a_person_said_is_told_beside_it(connection: Connection, now: datetime) -> None:
    [client] = fleet(connection, now - 10 * MINUTE, 1)
    talk(connection, now, client)
    connection.execute(
        sa.text("INSERT INTO client_recovery (client_uuid, step, reboots) VALUES (:u, 4, 4)"), {"u": client}
    )

    said = told(connection, now, client)

    assert said["state"] == "suspended"
    assert said["why"].startswith("Its reports come, its heartbeats do not")
    assert "4 reboots did not help" in said["why"]
    assert rung(connection, client) == (4, 0, 4)


def test_half_a_fleet_that_talks_opens_no_breaker_and_is_no_incident(connection: Connection, now: datetime) -> None:
    talking = fleet(connection, now - 10 * MINUTE, 10, site="Kiel")
    fleet(connection, now, 10, site="Kiel")
    talk(connection, now, *talking)
    sweep(connection, now)

    recover(connection, now)
    report = incidents.observe(connection, now)

    assert (open_breakers(connection), report.opened) == (set(), 0)
    assert {shown(connection, one)["status"] for one in talking} == {"unknown"}
    assert evidence.beats(connection, now, 180, now - timedelta(days=1), 0.5) == evidence.Beats(20, 0, [])
    assert problems_operations.crashed(connection, now, ON, 100).clients == []


def test_those_that_talked_until_a_moment_ago_fall_silent_together(connection: Connection, now: datetime) -> None:
    """Their heartbeats stopped days ago, one after another; all other messages stopped a moment ago."""
    cut_off = [
        client for day in range(2, 12) for client in fleet(connection, now - timedelta(days=day), 1, site="Kiel")
    ]
    fleet(connection, now, 10, site="Kiel")
    talk(connection, now - 4 * MINUTE, *cut_off)
    sweep(connection, now)

    assert {shown(connection, one)["status"] for one in cut_off} == {"stale"}
    assert sent(connection, recover(connection, now)) == []
    assert open_breakers(connection) == {None}
    assert incidents.observe(connection, now).opened == 1


def test_a_sign_of_a_time_that_has_not_come_counts_as_given_now(connection: Connection, now: datetime) -> None:
    [ahead, other] = fleet(connection, now - MINUTE, 2)
    talk(connection, now + timedelta(hours=1), ahead)

    assert set_back.forget_the_future(connection, now, "client_heartbeats") == 1

    rows = connection.execute(sa.select(client_heartbeats.c.client_uuid, client_heartbeats.c.sign_at))
    assert {row.client_uuid: row.sign_at for row in rows} == {ahead: now, other: None}
