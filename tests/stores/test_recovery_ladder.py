"""The ladder on real Postgres: up with each attempt, back if no display got it, reset after half an hour of health."""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.commands import endings_store
from shared.commands import operations as commands
from shared.postgres.door import database_now
from shared.recovery import operations as recovery_operations
from shared.recovery import store
from shared.tables import client_health, clients
from shared.vocabulary import PublishAnswer
from tests.stores.commands_world import BOOT, TIMINGS, command, lockout, seconds
from tests.stores.recovery_world import (
    History,
    answer,
    beat,
    become,
    crash,
    decisions,
    finish,
    fleet,
    hear,
    others_beat,
    recover,
    rung,
    sent,
    told,
)

LADDER = [(0, "restart_app"), (10, "restart_app"), (20, "reboot_host"), (30, "reboot_host")]


@pytest.fixture
def now(connection: Connection) -> datetime:
    at = database_now(connection)
    hear(connection, at)
    return at


def silent(connection: Connection, now: datetime, minutes: float = 10) -> str:
    """Add a display that fell silent `minutes` ago, in a fleet that is large enough for recovery."""
    fleet(connection, now, 20)
    [client] = fleet(connection, now - timedelta(minutes=minutes), 1)
    return client


def fail(connection: Connection, client: str, at: datetime) -> None:
    values = {"service_failed_at": at, "service_failed_unit": "player.service"}
    connection.execute(sa.update(clients).where(clients.c.uuid == client).values(**values))


def report(connection: Connection, client: str, at: datetime, body: dict[str, object]) -> None:
    """Store the display's newest health report."""
    connection.execute(sa.delete(client_health).where(client_health.c.client_uuid == client))
    connection.execute(sa.insert(client_health).values(client_uuid=client, received_at=at, body=body))


def test_a_silent_display_is_rebooted_only_if_it_still_runs_the_boot_that_was_seen(
    connection: Connection, now: datetime
) -> None:
    client = silent(connection, now)

    report = recover(connection, now)

    [name] = report.command_ids
    row = command(connection, name)
    assert (row["client_uuid"], row["action"], row["if_boot_id"]) == (client, "reboot_host", BOOT)
    assert (report.restarts, report.reboots) == (0, 1)


def test_a_failed_service_that_keeps_failing_climbs_the_ladder_too(connection: Connection, now: datetime) -> None:
    [client] = fleet(connection, now, 1)
    fail(connection, client, now - seconds(5))
    history = History(connection, now, every=5)

    for _ in range(9):
        report(connection, client, history.at, {"service_failed": {"unit": "player.service"}})
        history.tick(client)

    assert history.acts == LADDER
    assert history.told(client)["state"] == "suspended"


def test_a_failure_that_a_restart_mended_is_not_acted_on_again(connection: Connection, now: datetime) -> None:
    [client] = fleet(connection, now, 1)
    fail(connection, client, now - seconds(5))
    history = History(connection, now, every=5)

    history.ticks(120, client)  # a simple display: its reports do not mention services

    assert history.acts == [(0, "restart_app")]
    state = history.told(client)
    assert (state["state"], state["until"]) == ("verifying", None)
    assert "acknowledge the failure" in state["why"]
    assert rung(connection, client) == (0, 0, 0)


def test_a_service_that_fails_again_after_the_restart_goes_on_up_the_ladder(
    connection: Connection, now: datetime
) -> None:
    [client] = fleet(connection, now, 1)
    fail(connection, client, now - seconds(5))
    history = History(connection, now)
    history.ticks(5, client)
    fail(connection, client, history.at - seconds(30))

    history.ticks(6, client)

    assert history.acts == LADDER[:2]


def test_half_an_hour_of_health_begins_the_ladder_anew(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    history = History(connection, now, every=5)
    history.ticks(11, client)
    become(connection, client, history.at, "running")

    history.ticks(30, client)
    before = rung(connection, client)
    last = history.tick(client)
    become(connection, client, history.at, "crashed")
    history.ticks(10, client)

    assert (before, last.recovered, rung(connection, client)) == ((2, 2, 0), 1, (1, 1, 0))
    assert [action for _, action in history.acts] == ["restart_app"] * 3


def test_health_while_nobody_listened_does_not_count(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    history = History(connection, now, every=5)
    history.ticks(11, client)
    become(connection, client, history.at, "running")
    history.ticks(20, client)
    recover(connection, history.at + timedelta(minutes=5))  # the canary is minutes old
    history.at += timedelta(minutes=10)

    history.ticks(20, client)

    assert rung(connection, client)[0] == 2


def test_a_reconnection_of_ours_through_which_it_goes_on_does_not_break_its_health(
    connection: Connection, now: datetime
) -> None:
    client = crash(connection, now)
    history = History(connection, now, every=5)
    history.ticks(11, client)
    become(connection, client, history.at, "running")
    history.ticks(20, client)
    reconnected_at = history.at
    hear(connection, reconnected_at, timedelta(seconds=10))  # its last heartbeat is older than that
    beat(connection, client, reconnected_at - timedelta(seconds=20))
    recover(connection, reconnected_at)

    history.ticks(11, client)

    assert rung(connection, client)[0] == 0


def test_an_answer_that_nobody_listens_takes_lockout_and_rung_back_with_the_command(
    connection: Connection, now: datetime
) -> None:
    client = silent(connection, now)
    report = recover(connection, now)
    before = rung(connection, client)

    answer(connection, now + seconds(1), report, PublishAnswer.NO_SUBSCRIBER)

    row = command(connection, report.command_ids[0])
    assert (row["state"], row["outcome_reason"]) == ("cancelled", "no_subscriber")
    assert (before, rung(connection, client)) == ((1, 0, 1), (0, 0, 0))
    assert lockout(connection, client) is None
    assert told(connection, now + seconds(2), client)["state"] == "unreachable"
    assert recover(connection, now + seconds(60)).command_ids == ()


def test_a_display_that_nobody_listens_for_is_never_suspended(connection: Connection, now: datetime) -> None:
    others = fleet(connection, now, 20)
    [client] = fleet(connection, now - timedelta(minutes=10), 1)
    history = History(connection, now, every=5)

    for _ in range(12):
        report = history.tick(others, done=False)
        if report.command_ids:
            answer(connection, history.at - seconds(299), report, PublishAnswer.NO_SUBSCRIBER)

    assert len(history.acts) == 1  # it gave no sign since
    assert rung(connection, client) == (0, 0, 0)
    assert decisions(connection, client) == [("reboot_host", "due"), ("none", "unreachable")]


def test_a_display_that_comes_online_without_a_heartbeat_is_tried_again(connection: Connection, now: datetime) -> None:
    client = silent(connection, now)
    answer(connection, now + seconds(1), recover(connection, now), PublishAnswer.NO_SUBSCRIBER)
    connected = {"presence": "online", "presence_at": now + seconds(20)}
    connection.execute(sa.update(clients).where(clients.c.uuid == client).values(**connected))

    at_once = recover(connection, now + seconds(40))
    hear(connection, now + seconds(140))
    others_beat(connection, [client], now + seconds(130))
    again = recover(connection, now + seconds(140))

    assert at_once.command_ids == ()  # recovery waits for its first heartbeat
    assert sent(connection, again) == [(client, "reboot_host")]


def test_only_the_undone_rung_comes_back(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    history = History(connection, now)
    history.ticks(10, client)
    second = history.tick(client, done=False)

    answer(connection, history.at - seconds(59), second, PublishAnswer.NO_SUBSCRIBER)

    assert rung(connection, client) == (1, 1, 0)


def test_what_was_never_published_costs_no_rung(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    recover(connection, now)

    commands.expire(connection, now + seconds(61))

    assert (rung(connection, client), lockout(connection, client)) == ((0, 0, 0), None)


def test_what_the_broker_refuses_costs_no_rung_and_waits_for_the_lockout(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    report = recover(connection, now)

    answer(connection, now, report, PublishAnswer.NOT_AUTHORIZED)

    assert command(connection, report.command_ids[0])["outcome_reason"] == "publish_denied"
    assert rung(connection, client) == (0, 0, 0)
    assert lockout(connection, client) == now + TIMINGS.lockout


def test_what_a_display_had_is_never_undone(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    report = recover(connection, now)
    answer(connection, now, report, PublishAnswer.SUCCESS)

    commands.expire(connection, now + seconds(61))

    assert command(connection, report.command_ids[0])["outcome_reason"] == "no_ack"
    assert rung(connection, client) == (1, 1, 0)


def test_undoing_twice_takes_one_rung_back(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    history = History(connection, now)
    history.ticks(10, client)
    report = history.tick(client, done=False)

    answer(connection, history.at - seconds(59), report, PublishAnswer.NO_SUBSCRIBER)
    answer(connection, history.at, report, PublishAnswer.NO_SUBSCRIBER)
    endings_store.cancel(connection, history.at, report.command_ids[0], "x")

    assert rung(connection, client) == (1, 1, 0)


def test_while_it_is_verified_people_read_until_when(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    finish(connection, now + seconds(5), recover(connection, now))
    beat(connection, client, now + seconds(30))

    state = told(connection, now + seconds(30), client)

    assert (state["state"], state["until"], state["step"]) == ("verifying", lockout(connection, client), 1)


def test_a_suspended_display_that_is_resumed_begins_at_the_foot(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    history = History(connection, now, every=5)
    history.ticks(50, client)

    assert recovery_operations.resume(connection, now, client, "user:anna")
    history.ticks(11, client)

    assert history.acts == [*LADDER, (50, "restart_app"), (60, "restart_app")]
    assert ("none", "suspended") in decisions(connection, client)


def test_the_record_says_which_attempt_it_was_and_what_had_been_tried(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    history = History(connection, now, every=10)
    history.ticks(31, client)

    actions = [row for row in store.events_page(connection, client, 100, None) if row.command_id]

    assert [row.decision for row in reversed(actions)] == [action for _, action in LADDER]
    assert "attempt 4 of 4. 2 restarts and 1 reboot did not help." in actions[0].why
    assert (actions[0].evidence["step"], actions[0].evidence["basis"]) == (3, "crashed")
