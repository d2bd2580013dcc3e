"""The ladder on real Postgres: up with each attempt, back if no display got it, reset after half an hour of health."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.commands import endings_store
from shared.commands import operations as commands
from shared.recovery import operations as recovery_operations
from shared.recovery import store
from shared.tables import client_health, clients
from shared.vocabulary import PublishAnswer
from shared.words.reader import english
from tests.stores.commands_world import BOOT, TIMINGS, command, lockout, seconds
from tests.stores.recovery_world import (
    History,
    answer,
    beat,
    become,
    crash,
    decisions,
    fleet,
    hear,
    look,
    others_beat,
    recover,
    rung,
    running,
    sent,
    tell_twice,
    told,
)

pytestmark = pytest.mark.usefixtures("listening")
LADDER = [(0, "restart_app"), (10, "restart_app"), (20, "reboot_host"), (30, "reboot_host")]


def silent(connection: Connection, now: datetime, minutes: float = 10) -> str:
    """Add a display that fell silent `minutes` ago, in a fleet that is large enough for recovery."""
    fleet(connection, now, 20)
    [client] = fleet(connection, now - timedelta(minutes=minutes), 1)
    return client


def fail(connection: Connection, client: str, at: datetime) -> None:
    values = {"service_failed_at": at, "service_failed_unit": "player.service"}
    connection.execute(sa.update(clients).where(clients.c.uuid == client).values(**values))


def with_failed_service(connection: Connection, now: datetime) -> str:
    """Add a running display whose service failed a moment ago."""
    [client] = fleet(connection, now, 1)
    fail(connection, client, now - seconds(5))
    return client


def mended(connection: Connection, now: datetime) -> tuple[str, History]:
    """A display whose player crashed, was restarted twice, and runs since."""
    client = crash(connection, now)
    history = History(connection, now, every=5)
    history.ticks(11, client)
    become(connection, client, history.at, "running")
    return client, history


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


def crash_again(_connection: Connection, _at: datetime, _display: str) -> None:
    """Heartbeats go on saying `crashed`."""


def service_fails(connection: Connection, at: datetime, display: str) -> None:
    report(connection, display, at, {"service_failed": {"unit": "player.service"}})


def stay_black(connection: Connection, at: datetime, display: str) -> None:
    tell_twice(connection, at, display, "black")


def stay_frozen(connection: Connection, at: datetime, display: str) -> None:
    tell_twice(connection, at, display, "frozen")


KEEPS_FAILING = [
    (crash, crash_again, "crashed", 0),
    (with_failed_service, service_fails, "service_failed", 0),
    (running, stay_black, "screen_failed", 1),  # recovery waits a minute, in case others fail too
    (running, stay_frozen, "screen_failed", 1),
]


@pytest.mark.parametrize(("unwell", "fail_again", "basis", "waits"), KEEPS_FAILING)
def test_a_display_that_keeps_failing_climbs_once_a_lockout_and_is_suspended(
    connection: Connection,
    now: datetime,
    unwell: Callable[[Connection, datetime], str],
    fail_again: Callable[[Connection, datetime, str], None],
    basis: str,
    waits: int,
) -> None:
    client = unwell(connection, now)
    history = History(connection, now)

    for _ in range(46):
        fail_again(connection, history.at, client)
        history.tick(client)

    assert history.acts == [(minute + waits, action) for minute, action in LADDER]
    state = history.told(client)
    assert (state["state"], state["step"], state["until"]) == ("suspended", 4, None)
    assert "2 restarts and 2 reboots did not help" in state["why"]
    actions = [row for row in store.events_page(connection, client, 100, None) if row.command_id]
    assert [row.decision for row in reversed(actions)] == [action for _, action in LADDER]
    assert "attempt 4 of 4. 2 restarts and 1 reboot did not help." in english(actions[0].why)
    assert (actions[0].evidence["step"], actions[0].evidence["basis"]) == (3, basis)


def test_a_failure_that_a_restart_mended_is_not_acted_on_again(connection: Connection, now: datetime) -> None:
    client = with_failed_service(connection, now)
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
    client = with_failed_service(connection, now)
    history = History(connection, now)
    history.ticks(5, client)
    fail(connection, client, history.at - seconds(30))

    history.ticks(6, client)

    assert history.acts == LADDER[:2]


def test_half_an_hour_of_health_begins_the_ladder_anew(connection: Connection, now: datetime) -> None:
    client, history = mended(connection, now)

    history.ticks(30, client)
    before = rung(connection, client)
    last = history.tick(client)
    become(connection, client, history.at, "crashed")
    history.ticks(10, client)

    assert (before, last.recovered, rung(connection, client)) == ((2, 2, 0), 1, (1, 1, 0))
    assert [action for _, action in history.acts] == ["restart_app"] * 3


def test_health_while_nobody_listened_does_not_count(connection: Connection, now: datetime) -> None:
    client, history = mended(connection, now)

    history.ticks(20, client)
    recover(connection, history.at + timedelta(minutes=5))  # the canary is minutes old
    history.at += timedelta(minutes=10)

    history.ticks(20, client)

    assert rung(connection, client)[0] == 2


def test_a_reconnection_of_ours_through_which_it_goes_on_does_not_break_its_health(
    connection: Connection, now: datetime
) -> None:
    client, history = mended(connection, now)

    history.ticks(20, client)
    reconnected_at = history.at
    hear(connection, reconnected_at, timedelta(seconds=10))  # its last heartbeat is older than that
    beat(connection, client, reconnected_at - timedelta(seconds=20))
    recover(connection, reconnected_at)

    history.ticks(11, client)

    assert rung(connection, client)[0] == 0


@pytest.mark.parametrize("unwell", [crash, silent])
def test_an_answer_that_nobody_listens_takes_lockout_and_rung_back_with_the_command(
    connection: Connection, now: datetime, unwell: Callable[[Connection, datetime], str]
) -> None:
    client = unwell(connection, now)
    report = recover(connection, now)
    before = rung(connection, client)

    answer(connection, now + seconds(1), report, PublishAnswer.NO_SUBSCRIBER)

    row = command(connection, report.command_ids[0])
    assert (row["state"], row["outcome_reason"]) == ("cancelled", "no_subscriber")
    assert (before[0], rung(connection, client)) == (1, (0, 0, 0))
    assert lockout(connection, client) is None
    assert told(connection, now + seconds(2), client)["state"] == "unreachable"
    assert recover(connection, now + seconds(60)).command_ids == ()
    heard_again = look(connection, now + seconds(65), client)
    assert len(heard_again.command_ids) == (unwell is crash)


ENDINGS: list[tuple[PublishAnswer | None, str, tuple[int, int, int], bool]] = [
    (None, "never_published", (0, 0, 0), False),
    (PublishAnswer.NOT_AUTHORIZED, "publish_denied", (0, 0, 0), True),
    (PublishAnswer.SUCCESS, "no_ack", (1, 1, 0), True),
]


@pytest.mark.parametrize(("code", "outcome", "used", "is_locked"), ENDINGS)
def test_only_a_command_that_a_display_may_have_had_costs_a_rung(
    connection: Connection,
    now: datetime,
    code: PublishAnswer | None,
    outcome: str,
    used: tuple[int, int, int],
    is_locked: bool,
) -> None:
    client = crash(connection, now)
    report = recover(connection, now)
    if code is not None:
        answer(connection, now, report, code)

    commands.expire(connection, now + seconds(61))

    assert command(connection, report.command_ids[0])["outcome_reason"] == outcome
    assert rung(connection, client) == used
    assert lockout(connection, client) == (now + TIMINGS.lockout if is_locked else None)


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


def test_undoing_twice_takes_one_rung_back(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    history = History(connection, now)
    history.ticks(10, client)
    report = history.tick(client, done=False)

    answer(connection, history.at - seconds(59), report, PublishAnswer.NO_SUBSCRIBER)
    undone = rung(connection, client)
    answer(connection, history.at, report, PublishAnswer.NO_SUBSCRIBER)
    endings_store.cancel(connection, history.at, report.command_ids[0], "x")

    assert undone == rung(connection, client) == (1, 1, 0)


def test_a_suspended_display_that_is_resumed_begins_at_the_foot(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    history = History(connection, now, every=5)
    history.ticks(50, client)

    assert recovery_operations.resume(connection, now, client, "user:anna")
    history.ticks(11, client)

    assert history.acts == [*LADDER, (50, "restart_app"), (60, "restart_app")]
    assert ("none", "suspended") in decisions(connection, client)
