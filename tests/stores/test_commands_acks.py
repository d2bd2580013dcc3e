"""How ACKs and heartbeats change a command, on real Postgres."""

from collections.abc import Sequence
from datetime import datetime

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.commands import operations
from shared.commands.acks import operations as acks
from shared.commands.rules import Ack
from shared.tables import client_heartbeats
from shared.vocabulary import CommandAction, CommandState, PublishAnswer
from tests.stores.commands_world import (
    BOOT,
    LOCKOUT,
    REBOOT,
    RESTART,
    SHUTDOWN,
    START,
    TIMINGS,
    add_client,
    command,
    issue,
    lockout,
    publish,
    say,
    seconds,
    see,
    state,
)

# --- ACKs ---


def test_the_whole_way_leaves_a_stamp_at_each_step(connection: Connection, now: datetime) -> None:
    client = add_client(connection, now, boot=None, start=None)
    name = issue(connection, now, client)
    publish(connection, now + seconds(1), name, PublishAnswer.SUCCESS)

    for second, word in enumerate(("received", "running", "succeeded"), start=2):
        assert say(connection, now + seconds(second), client, name, word).moved == {name}

    row = command(connection, name)
    stamps = ["created_at", "sent_at", "received_at", "running_at", "finished_at"]
    assert [row[stamp] for stamp in stamps] == [now + seconds(second) for second in range(5)]
    assert row["result_deadline"] == now + seconds(2 + 120)
    assert (row["state"], row["confirmed_by"]) == ("succeeded", "ack")
    assert lockout(connection, client) == now + seconds(2) + LOCKOUT  # raised again at received, not at running


@pytest.mark.parametrize(
    "words",
    [
        ["succeeded", "running", "received"],
        ["received", "received", "succeeded", "succeeded"],
        ["running", "succeeded"],
        ["succeeded"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("together", [True, False], ids=["one batch", "one by one"])
def test_any_order_of_acks_ends_in_the_highest(
    connection: Connection, now: datetime, words: Sequence[str], together: bool
) -> None:
    client = add_client(connection, now, boot=None, start=None)
    name = issue(connection, now, client)

    for batch in [words] if together else [[word] for word in words]:
        say(connection, now, client, name, *batch)

    assert state(connection, name) == ("succeeded", None)


@pytest.mark.parametrize(
    ("words", "is_locked"),
    [
        (("running", "failed"), True),
        (("received", "failed"), False),  # it sends `running` before it acts
        (("rejected",), False),
    ],
)
def test_a_result_keeps_the_displays_reason_and_the_lockout_of_what_was_begun(
    connection: Connection, now: datetime, client: str, words: tuple[str, ...], is_locked: bool
) -> None:
    name = issue(connection, now, client)

    say(connection, now, client, name, *words, reason="precondition_failed")

    assert state(connection, name) == (words[-1], "precondition_failed")
    assert command(connection, name)["confirmed_by"] is None
    assert lockout(connection, client) == (now + LOCKOUT if is_locked else None)


def test_a_heartbeat_heals_a_lost_ack_and_the_next_health_report_its_reason(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client)
    say(connection, now, client, name, "rejected")  # `last_command` has no reason

    say(connection, now + seconds(30), client, name, "rejected", reason="precondition_failed")
    say(connection, now + seconds(60), client, name, "rejected", reason="busy")

    assert state(connection, name) == ("rejected", "precondition_failed")
    assert command(connection, name)["finished_at"] == now


def test_a_terminal_state_never_changes(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client)
    say(connection, now, client, name, "failed", reason="no_player")
    before = command(connection, name)

    assert say(connection, now + seconds(1), client, name, "succeeded", "running").moved == set()

    assert command(connection, name) == before


def test_a_late_result_does_not_wake_an_expired_command_and_is_kept_once(connection: Connection, now: datetime) -> None:
    client = add_client(connection, now, boot=None, start=None)
    name = issue(connection, now, client)
    publish(connection, now, name, PublishAnswer.SUCCESS)
    operations.expire(connection, now + seconds(60))

    first = say(connection, now + seconds(70), client, name, "succeeded")
    second = say(connection, now + seconds(80), client, name, "failed")

    row = command(connection, name)
    assert [set(report.late) for report in (first, second)] == [{name}, set()]
    assert (row["state"], row["late_state"], row["late_at"]) == ("expired", "succeeded", now + seconds(70))


def test_unknown_and_foreign_ids_are_reported_and_move_nothing(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client)
    stranger = add_client(connection, now)
    forged = Ack(stranger, name, CommandState.SUCCEEDED)
    unknown = Ack(client, "no-such-id\x00", CommandState.RECEIVED)

    report = acks.record_acks(connection, now, [forged, unknown], TIMINGS)

    assert report.moved == set()
    assert report.foreign == (forged,)
    assert [ack.command_id for ack in report.unknown] == ["no-such-id\ufffd"]
    assert state(connection, name) == ("queued", None)


def test_a_batch_for_many_clients_moves_each_of_them(connection: Connection, now: datetime) -> None:
    fleet = [add_client(connection, now, boot=None, start=None) for _ in range(50)]
    names = {client: issue(connection, now, client) for client in fleet}
    words = [CommandState.RECEIVED, CommandState.SUCCEEDED]

    report = acks.record_acks(
        connection, now, [Ack(client, names[client], word) for word in words for client in fleet], TIMINGS
    )

    assert report.moved == set(names.values())
    assert {state(connection, name) for name in names.values()} == {("succeeded", None)}


# --- evidence ---


def test_a_new_boot_completes_a_reboot_that_was_sent(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client, REBOOT)
    publish(connection, now, name, PublishAnswer.SUCCESS)

    assert see(connection, now, client, BOOT).succeeded == set()
    assert see(connection, now, client, "boot-2").succeeded == {name}

    assert (state(connection, name), command(connection, name)["confirmed_by"]) == (("succeeded", None), "evidence")


def test_the_ack_after_the_evidence_and_the_evidence_after_the_ack_make_both(
    connection: Connection, now: datetime
) -> None:
    one, two = add_client(connection, now), add_client(connection, now)
    first, second = issue(connection, now, one, REBOOT), issue(connection, now, two, REBOOT)

    say(connection, now, one, first, "running")
    see(connection, now, one, "boot-2")
    say(connection, now, one, first, "succeeded")
    publish(connection, now, second, PublishAnswer.SUCCESS)
    see(connection, now, two, "boot-2")
    say(connection, now, two, second, "succeeded")  # health repeats it

    assert [command(connection, name)["confirmed_by"] for name in (first, second)] == ["both", "both"]


def test_a_new_start_of_the_player_completes_a_restart_only_once_it_was_received(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client)
    publish(connection, now, name, PublishAnswer.SUCCESS)

    assert see(connection, now, client, BOOT, "start-2").succeeded == set()
    say(connection, now, client, name, "received")
    assert see(connection, now, client, BOOT, "start-3").succeeded == {name}


# --- lies ---


@pytest.mark.parametrize("action", [RESTART, REBOOT, SHUTDOWN])
def test_the_word_of_a_display_that_names_boots_and_starts_is_no_success(
    connection: Connection, now: datetime, client: str, action: CommandAction
) -> None:
    name = issue(connection, now, client, action)
    say(connection, now, client, name, "received", "running", "succeeded")

    assert see(connection, now, client, BOOT, START).succeeded == set()
    assert state(connection, name) == ("running", None)

    operations.expire(connection, now + seconds(3600))
    assert say(connection, now + seconds(3601), client, name, "succeeded").late == set()
    assert (state(connection, name)[0], command(connection, name)["late_state"]) == ("timed_out", None)


@pytest.mark.parametrize(("action", "begun_in"), [(RESTART, (BOOT, "start-2")), (REBOOT, ("boot-2", START))])
def test_the_start_in_which_a_command_was_received_is_not_its_effect(
    connection: Connection, now: datetime, client: str, action: CommandAction, begun_in: tuple[str, str]
) -> None:
    name = issue(connection, now, client, action)
    boot, start = begun_in
    received = Ack(client, name, CommandState.RECEIVED, boot_id=boot, app_instance=start)
    acks.record_acks(connection, now, [received], TIMINGS)

    assert see(connection, now, client, boot, start).succeeded == set()
    assert see(connection, now, client, "boot-3", "start-3").succeeded == {name}


@pytest.mark.parametrize(("start", "late"), [("start-2", None), ("start-3", "succeeded")])
def test_a_late_success_needs_another_start_than_the_one_in_which_it_began(
    connection: Connection, now: datetime, start: str, late: str | None
) -> None:
    client = add_client(connection, now)
    name = issue(connection, now, client)
    received = Ack(client, name, CommandState.RECEIVED, boot_id=BOOT, app_instance="start-2")
    acks.record_acks(connection, now, [received], TIMINGS)
    operations.expire(connection, now + seconds(3600))
    mine = client_heartbeats.c.client_uuid == client
    connection.execute(sa.update(client_heartbeats).where(mine).values(app_instance=start))

    say(connection, now + seconds(3601), client, name, "succeeded")

    assert (state(connection, name)[0], command(connection, name)["late_state"]) == ("timed_out", late)


def test_a_begun_shutdown_went_down_when_the_machine_has_booted_since(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, SHUTDOWN)
    say(connection, now, client, name, "received")
    assert see(connection, now, client, "boot-2").succeeded == set()

    say(connection, now, client, name, "running")
    assert see(connection, now, client, "boot-2").succeeded == {name}


# --- evidence without an answer ---


def test_a_reboot_that_nobody_has_ends_at_a_boot_and_gives_its_lockout_back(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, REBOOT)
    publish(connection, now, name, PublishAnswer.NO_SUBSCRIBER)

    assert see(connection, now, client, "boot-2").overtaken == {name}

    assert state(connection, name) == ("cancelled", "already_rebooted")
    assert lockout(connection, client) is None


def test_a_reboot_whose_publish_was_never_answered_is_completed_by_a_boot(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, REBOOT)
    publish(connection, now, name, None)

    assert see(connection, now, client, "boot-2").succeeded == {name}


@pytest.mark.parametrize(("boot", "start"), [(None, None), (BOOT, START)])
def test_a_heartbeat_that_says_nothing_new_proves_nothing(
    connection: Connection, now: datetime, client: str, boot: str | None, start: str | None
) -> None:
    name = issue(connection, now, client, REBOOT)
    say(connection, now, client, name, "running")

    assert see(connection, now, client, boot, start).succeeded == set()
