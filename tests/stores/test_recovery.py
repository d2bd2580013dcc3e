"""Recovery on real Postgres: which clients it acts on, which it leaves alone, and what people see."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.clients import store as clients_store
from shared.clients.store import ClientFilter
from shared.commands import operations as commands
from shared.recovery import operations, store
from shared.recovery.evidence.operations import MOST_LOOKED_AT
from shared.recovery.operations import RecoveryReport
from shared.tables import bridge_status, client_commands, clients
from shared.vocabulary import CommandAction
from tests.stores.commands_world import TIMINGS, add_client, command, lockout, request, seconds
from tests.stores.recovery_world import OFF, ON, crash, decisions, finish, fleet, look, recover, sent, told

pytestmark = pytest.mark.usefixtures("listening")
LOCKOUT = TIMINGS.lockout


def test_a_crashed_display_is_asked_to_restart_and_what_was_seen_is_recorded(
    connection: Connection, now: datetime
) -> None:
    client = crash(connection, now)

    [name] = recover(connection, now).command_ids

    row = command(connection, name)
    assert (row["client_uuid"], row["action"], row["source"]) == (client, "restart_app", "recovery")
    assert (row["requested_by"], row["if_app_instance"]) == ("recovery", "start-1")
    assert "crashed" in row["reason"]
    assert lockout(connection, client) == now + LOCKOUT
    [event] = store.events_page(connection, client, 10, None)
    assert (event.at, event.command_id, event.decision) == (now, name, "restart_app")
    assert event.evidence["process_status_since"] == (now - seconds(60)).isoformat()
    assert event.evidence["canary_at"] == now.isoformat()


def test_with_recovery_off_nothing_is_sent(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)

    assert recover(connection, now, OFF) == RecoveryReport()

    assert lockout(connection, client) is None
    assert decisions(connection, client) == []
    assert told(connection, now, client, OFF)["state"] == "off"


LEFT_ALONE: list[tuple[Callable[[Connection, datetime], str], str]] = [
    (lambda c, now: crash(c, now, deleted_at=now), "deleted"),
    (lambda c, now: add_client(c, now, process_status="stopped"), "stopped on purpose"),
    (lambda c, now: add_client(c, now, process_status="running"), "healthy"),
    (
        lambda c, now: add_client(c, now - timedelta(hours=1), process_status="stopped", status="stale"),
        "stopped on purpose, then silent",
    ),
    (lambda c, now: add_client(c, now - seconds(180), process_status="running"), "silent, not beyond the threshold"),
    (lambda c, now: crash(c, now, shared_login_seen_at=now - seconds(3599)), "two devices with its login"),
]


@pytest.mark.parametrize(("given", "note"), LEFT_ALONE, ids=[note for _, note in LEFT_ALONE])
def test_everybody_else_is_left_alone(
    connection: Connection, now: datetime, given: Callable[[Connection, datetime], str], note: str
) -> None:
    given(connection, now)

    assert recover(connection, now).command_ids == ()


def test_of_two_devices_with_one_login_it_is_told_until_an_hour_after_they_were_seen(
    connection: Connection, now: datetime
) -> None:
    client = crash(connection, now, shared_login_seen_at=now - seconds(600))

    verdict = told(connection, now, client)

    assert (verdict["state"], verdict["until"]) == ("held", now + seconds(3000))
    assert "Two devices use this login, last seen 10 minutes ago" in verdict["why"]
    assert recover(connection, now + seconds(2999)).command_ids == ()
    assert len(look(connection, now + seconds(3001), client).command_ids) == 1


@pytest.mark.parametrize(("column", "age"), [("canary_at", 46), ("canary_at", 3600), ("connected_since", None)])
def test_while_the_bridge_is_silent_nothing_is_sent(
    connection: Connection, now: datetime, column: str, age: float | None
) -> None:
    client = crash(connection, now)
    connection.execute(sa.update(bridge_status).values({column: None if age is None else now - seconds(age)}))

    assert recover(connection, now) == RecoveryReport(blocked_bridge=True)

    assert decisions(connection, client) == [("none", "blocked_bridge")]


def test_decisions_are_recorded_when_they_change_only(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)

    for minute in range(12):
        at = now + timedelta(minutes=minute)
        finish(connection, at, look(connection, at, client))

    assert decisions(connection, client) == [
        ("restart_app", "due"),
        ("none", "verifying"),
        ("restart_app", "due"),
        ("none", "verifying"),
    ]


def test_no_more_than_the_cap_are_open_and_the_longest_crashed_go_first(connection: Connection, now: datetime) -> None:
    fleet = [crash(connection, now, crashed_for=100 + number) for number in range(15)]

    first = recover(connection, now)
    second = recover(connection, now)

    asked = connection.execute(sa.select(client_commands.c.client_uuid)).scalars().all()
    assert (len(first.command_ids), first.waiting) == (10, 5)
    assert (second.command_ids, second.waiting) == ((), 5)
    assert set(asked) == set(fleet[5:])


IN_THE_WAY: list[tuple[dict[str, Any], int, str]] = [
    ({"capabilities": []}, 0, "not_recovered"),
    ({"presence": "offline"}, 0, "unreachable"),
    ({}, 30, "blocked_breaker"),
]


@pytest.mark.parametrize(("facts", "silent_minutes", "state"), IN_THE_WAY)
def test_many_that_cannot_be_helped_never_keep_the_tick_from_one_that_can(
    connection: Connection, now: datetime, facts: dict[str, Any], silent_minutes: int, state: str
) -> None:
    heard_at = now - timedelta(minutes=silent_minutes)
    many = fleet(connection, heard_at, MOST_LOOKED_AT + 10, status="crashed", process_status="crashed")
    beyond_help = sa.update(clients).where(clients.c.uuid.in_(many))
    connection.execute(beyond_help.values(presence_at=now, **facts))
    client = crash(connection, now)

    asked = [one for second in range(2) for one in sent(connection, recover(connection, now + seconds(second)))]

    assert asked == [(client, "restart_app")]
    assert told(connection, now, many[0])["state"] == state


def test_an_operators_command_in_flight_is_not_doubled(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    commands.issue(connection, now, request(client, CommandAction.SHUTDOWN_HOST), TIMINGS)

    assert recover(connection, now).command_ids == ()

    state = told(connection, now, client)
    assert (state["state"], state["until"]) == ("in_flight", now + seconds(120))


def test_what_people_read_of_healthy_clients_is_nothing(connection: Connection, now: datetime) -> None:
    add_client(connection, now, process_status="running", status="running")
    crashed = crash(connection, now)
    shown = clients_store.page(connection, ClientFilter(), 100, None)

    assert set(operations.states_of(connection, now, ON, shown)) == {crashed}


def test_history_of_decisions_is_dropped_by_age(connection: Connection, now: datetime) -> None:
    crash(connection, now)
    recover(connection, now)

    assert store.drop_history(connection, now) == 0
    assert store.drop_history(connection, now + seconds(1)) == 1
