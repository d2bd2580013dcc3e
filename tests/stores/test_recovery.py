"""Recovery on real Postgres: which clients it acts on, which it leaves alone, and what people see."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.clients import store as clients_store
from shared.clients.store import ClientFilter
from shared.commands import operations as commands
from shared.commands.outbox import operations as outbox
from shared.commands.rules import Attempt
from shared.postgres.door import database_now
from shared.recovery import operations, store
from shared.recovery.evidence.operations import MOST_LOOKED_AT
from shared.recovery.operations import RecoveryReport
from shared.tables import bridge_status, client_commands, clients, recovery_events
from shared.vocabulary import CommandAction, PublishAnswer
from tests.stores.commands_world import TIMINGS, add_client, command, lockout, request, seconds
from tests.stores.recovery_world import OFF, ON, beat, crash, decisions, finish, fleet, hear, recover, sent, told

LOCKOUT = TIMINGS.lockout


@pytest.fixture
def now(connection: Connection) -> datetime:
    at = database_now(connection)
    hear(connection, at)
    return at


def tick_at(connection: Connection, client: str, at: datetime) -> RecoveryReport:
    """Run a tick at `at`, while the bridge listens and the client was just heard."""
    hear(connection, at)
    beat(connection, client, at)
    commands.expire(connection, at)
    return recover(connection, at)


def test_recovery_asks_a_crashed_display_to_restart_with_its_preconditions(
    connection: Connection, now: datetime
) -> None:
    client = crash(connection, now)

    [name] = recover(connection, now).command_ids

    row = command(connection, name)
    assert (row["client_uuid"], row["action"], row["source"]) == (client, "restart_app", "recovery")
    assert (row["requested_by"], row["if_app_instance"]) == ("recovery", "start-1")
    assert "crashed" in row["reason"]
    assert lockout(connection, client) == now + LOCKOUT


def test_with_recovery_off_nothing_is_sent(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)

    assert recover(connection, now, OFF) == RecoveryReport()

    assert lockout(connection, client) is None
    assert decisions(connection, client) == []
    assert told(connection, now, client, OFF)["state"] == "off"


LEFT_ALONE: list[tuple[Callable[[Connection, datetime], str], str]] = [
    (lambda c, now: crash(c, now, 19), "crashed a moment ago"),
    (lambda c, now: crash(c, now, lockout_until=now + seconds(1)), "locked"),
    (lambda c, now: crash(c, now, capabilities=["reboot_host"]), "cannot restart"),
    (lambda c, now: crash(c, now, deleted_at=now), "deleted"),
    (lambda c, now: crash(c, now, presence="offline", presence_at=now), "gone since its heartbeat"),
    (lambda c, now: add_client(c, now, process_status="stopped"), "stopped on purpose"),
    (lambda c, now: add_client(c, now, process_status="running"), "healthy"),
    (
        lambda c, now: add_client(c, now - seconds(181), process_status="running", status="stale", presence="offline"),
        "silent and not connected",
    ),
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
    assert len(tick_at(connection, client, now + seconds(3001)).command_ids) == 1


@pytest.mark.parametrize("canary_age", [46, 3600])
def test_while_the_bridge_is_silent_nothing_is_sent(connection: Connection, now: datetime, canary_age: int) -> None:
    client = crash(connection, now)
    connection.execute(sa.update(bridge_status).values(canary_at=now - seconds(canary_age)))

    assert recover(connection, now) == RecoveryReport(blocked_bridge=True)

    assert decisions(connection, client) == [("none", "blocked_bridge")]


def test_a_bridge_that_is_not_connected_hears_nobody(connection: Connection, now: datetime) -> None:
    crash(connection, now)
    connection.execute(sa.update(bridge_status).values(connected_since=None))

    assert recover(connection, now).blocked_bridge


def test_a_display_that_always_crashes_climbs_once_a_lockout_and_is_suspended(
    connection: Connection, now: datetime
) -> None:
    client = crash(connection, now)
    asked: list[tuple[int, str]] = []

    for minute in range(46):
        at = now + timedelta(minutes=minute)
        report = tick_at(connection, client, at)
        asked += [(minute, command(connection, name)["action"]) for name in report.command_ids]
        finish(connection, at, report)

    assert asked == [(0, "restart_app"), (10, "restart_app"), (20, "reboot_host"), (30, "reboot_host")]
    state = told(connection, now + timedelta(minutes=45), client)
    assert (state["state"], state["step"], state["until"]) == ("suspended", 4, None)
    assert "2 restarts and 2 reboots did not help" in state["why"]


def test_decisions_are_recorded_when_they_change_only(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)

    for minute in range(12):
        at = now + timedelta(minutes=minute)
        finish(connection, at, tick_at(connection, client, at))

    assert decisions(connection, client) == [
        ("restart_app", "due"),
        ("none", "verifying"),
        ("restart_app", "due"),
        ("none", "verifying"),
    ]


def test_an_action_is_recorded_with_its_command_its_reason_and_what_was_seen(
    connection: Connection, now: datetime
) -> None:
    client = crash(connection, now)

    [name] = recover(connection, now).command_ids

    [event] = store.events_page(connection, client, 10, None)
    assert (event.at, event.command_id, event.decision) == (now, name, "restart_app")
    assert event.evidence["process_status_since"] == (now - seconds(60)).isoformat()
    assert event.evidence["canary_at"] == now.isoformat()
    assert event.why.endswith(".")


def test_a_display_without_an_answer_is_not_asked_again_before_its_next_heartbeat(
    connection: Connection, now: datetime
) -> None:
    client = crash(connection, now)
    [name] = recover(connection, now).command_ids
    [claimed] = outbox.claim_due(connection, now + seconds(1), only_ids=[name])
    unheard = Attempt(name, claimed.lease_until, 1, PublishAnswer.NO_SUBSCRIBER, may_have_left=True)
    outbox.record_publish_answers(connection, now + seconds(1), [unheard], TIMINGS)

    assert recover(connection, now + seconds(30)).command_ids == ()
    assert told(connection, now + seconds(30), client)["state"] == "unreachable"

    assert len(tick_at(connection, client, now + seconds(35)).command_ids) == 1


def test_no_more_than_the_cap_are_open_and_the_longest_crashed_go_first(connection: Connection, now: datetime) -> None:
    fleet = [crash(connection, now, crashed_for=100 + number) for number in range(15)]

    first = recover(connection, now)
    second = recover(connection, now)

    asked = connection.execute(sa.select(client_commands.c.client_uuid)).scalars().all()
    assert (len(first.command_ids), first.waiting) == (10, 5)
    assert (second.command_ids, second.waiting) == ((), 5)
    assert set(asked) == set(fleet[5:])


IN_THE_WAY: list[tuple[dict[str, Any], str]] = [
    ({"capabilities": []}, "not_recovered"),
    ({"presence": "offline"}, "unreachable"),
]


@pytest.mark.parametrize(("facts", "state"), IN_THE_WAY)
def test_many_that_cannot_be_helped_never_keep_the_tick_from_one_that_can(
    connection: Connection, now: datetime, facts: dict[str, Any], state: str
) -> None:
    many = fleet(connection, now, MOST_LOOKED_AT + 10, status="crashed", process_status="crashed")
    beyond_help = sa.update(clients).where(clients.c.uuid.in_(many))
    connection.execute(beyond_help.values(presence_at=now, **facts))
    client = crash(connection, now)

    first, second = recover(connection, now), recover(connection, now + seconds(1))

    assert (first.command_ids, sent(connection, second)) == ((), [(client, "restart_app")])
    assert told(connection, now, many[0])["state"] == state


def test_crashed_displays_that_have_gone_dark_do_not_keep_it_from_others_either(
    connection: Connection, now: datetime
) -> None:
    fleet(connection, now - timedelta(minutes=30), MOST_LOOKED_AT + 10, status="crashed", process_status="crashed")
    client = crash(connection, now)

    assert sent(connection, recover(connection, now)) == [(client, "restart_app")]


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


def test_of_a_thousand_crashed_under_six_overlapping_rounds_ten_are_restarted(engine: Engine) -> None:
    with engine.begin() as connection:
        at = database_now(connection)
        hear(connection, at)
        connection.execute(
            sa.text(
                """
                WITH fleet AS (INSERT INTO clients
                    (uuid, registered_by, status, process_status, process_status_since)
                    SELECT '00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'), 'enrolment',
                        'crashed', 'crashed', now() - interval '5 minutes'
                    FROM generate_series(1, 1000) AS n RETURNING uuid)
                INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at) SELECT uuid, now() FROM fleet
                """
            )
        )

    def round_of(_number: int) -> int:
        with engine.begin() as connection:
            return len(recover(connection, database_now(connection)).command_ids)

    with ThreadPoolExecutor(6) as pool:
        counts = list(pool.map(round_of, range(6)))

    assert sorted(counts) == [0, 0, 0, 0, 0, 10]
    with engine.connect() as connection:
        asked = connection.execute(sa.select(client_commands.c.client_uuid)).scalars().all()
        events = connection.execute(sa.select(sa.func.count()).select_from(recovery_events)).scalar_one()
    assert (len(asked), len(set(asked)), events) == (10, 10, 10)
