"""An open screenshot holds nothing back: no other command, no recovery, no page; and it is held back by none."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Final

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.clients import store as clients_store
from shared.clients.store import ClientFilter
from shared.commands import operations, proofs_operations
from shared.commands.acks.operations import record_acks
from shared.commands.rules import Ack
from shared.errors import CommandInFlight, ServiceError
from shared.overview import store as overview_store
from shared.tables import client_commands, client_heartbeats
from shared.vocabulary import CommandAction, CommandState
from tests.stores.commands_world import (
    REBOOT,
    RESTART,
    TIMINGS,
    add_client,
    claim,
    command,
    issue,
    issued,
    lockout,
    new_client,
    publish,
    request,
    say,
    seconds,
    state,
)
from tests.stores.recovery_world import crash, hear, recover, sent, told

SCREENSHOT: Final = CommandAction.SCREENSHOT
ABLE: Final = {"capabilities": ["screenshot", "restart_app", "reboot_host", "shutdown_host"]}


@pytest.fixture
def display(connection: Connection, now: datetime) -> str:
    return add_client(connection, now, **ABLE)


@pytest.mark.parametrize("first", [SCREENSHOT, RESTART])
def test_one_screenshot_and_one_other_command_are_open_together(
    connection: Connection, now: datetime, display: str, first: CommandAction
) -> None:
    second = RESTART if first is SCREENSHOT else SCREENSHOT
    names = [issue(connection, now, display, first), issue(connection, now, display, second)]

    for third in (SCREENSHOT, REBOOT):
        with pytest.raises(CommandInFlight) as refused:
            issue(connection, now, display, third)
        assert refused.value.extras == {"command_id": names[(first is SCREENSHOT) != (third is SCREENSHOT)]}

    assert {one.id for one in claim(connection, now, client_uuids=[display])} == set(names)


@pytest.mark.parametrize("attempt", range(3))
def test_of_eight_senders_at_once_one_gets_a_screenshot_and_one_a_restart(engine: Engine, attempt: int) -> None:
    client = new_client(engine, **ABLE)

    def outcome_of(action: CommandAction) -> str:
        try:
            return issued(engine, request(client, action))
        except ServiceError as refusal:
            return refusal.code

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(outcome_of, [SCREENSHOT, RESTART] * 4))

    assert outcomes.count("command_in_flight") == 6
    with engine.connect() as connection:
        open_now = sa.select(client_commands.c.action).where(client_commands.c.client_uuid == client)
        assert sorted(connection.execute(open_now).scalars()) == ["restart_app", "screenshot"]


def test_each_ends_by_itself_and_the_lockout_is_the_restarts(
    connection: Connection, now: datetime, display: str
) -> None:
    restart, screenshot = issue(connection, now, display), issue(connection, now, display, SCREENSHOT)
    publish(connection, now, screenshot, 0)

    operations.expire(connection, now + seconds(31))

    assert state(connection, screenshot) == ("expired", "no_ack")
    assert state(connection, restart) == ("queued", None)
    assert lockout(connection, display) == now + TIMINGS.lockout
    operations.cancel(connection, now + seconds(32), restart, "anna")
    assert lockout(connection, display) is None


def test_a_deleted_clients_screenshot_ends_with_its_other_command(
    connection: Connection, now: datetime, display: str
) -> None:
    names = [issue(connection, now, display), issue(connection, now, display, SCREENSHOT)]
    say(connection, now, display, names[1], "received")

    operations.abandon(connection, now, display, "client_deleted")

    assert [state(connection, name)[0] for name in names] == ["cancelled", "timed_out"]


def test_recovery_restarts_a_display_whose_picture_is_awaited(connection: Connection, now: datetime) -> None:
    hear(connection, now)
    client = crash(connection, now, capabilities=ABLE["capabilities"])
    awaited = issue(connection, now, client, SCREENSHOT)

    assert told(connection, now, client)["state"] == "due"
    report = recover(connection, now)

    assert sent(connection, report) == [(client, "restart_app")]
    assert command(connection, awaited)["state"] == "queued"
    assert told(connection, now, client)["state"] == "in_flight"
    assert recover(connection, now + seconds(1)).command_ids == ()


def test_a_refused_screenshot_proves_no_reboot_that_is_under_way(
    connection: Connection, now: datetime, display: str
) -> None:
    """The stored heartbeat is of another boot than the display's, and both commands are bound to that boot."""
    reboot, screenshot = issue(connection, now, display, REBOOT), issue(connection, now, display, SCREENSHOT)
    publish(connection, now, reboot, 0)

    def refuse(name: str) -> None:
        ack = Ack(display, name, CommandState.REJECTED, "precondition_failed", boot_id="boot-2")
        record_acks(connection, now, [ack], TIMINGS)
        proofs_operations.settle_by_proof(connection, now)

    refuse(screenshot)
    assert state(connection, reboot) == ("sent", None)

    refuse(reboot)
    assert state(connection, reboot) == ("rejected", "precondition_failed")
    boot = sa.select(client_heartbeats.c.boot_id).where(client_heartbeats.c.client_uuid == display)
    assert connection.execute(boot).scalar_one() == "boot-2"


def test_a_client_stands_once_in_each_view_with_what_holds_back_others(
    connection: Connection, now: datetime, display: str
) -> None:
    issue(connection, now, display, SCREENSHOT)
    restart = issue(connection, now, display, RESTART)

    whole = clients_store.get(connection, display)
    listed = clients_store.page(connection, ClientFilter(text=display), 9, None)
    [row] = json.loads(f"[{overview_store.some_clients(connection, [display], {})}]")

    assert [one.command_id for one in (whole, *listed) if one] == [restart] * 2
    assert row[list(overview_store.COLUMNS).index("open_command")]["id"] == restart
