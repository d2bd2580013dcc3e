"""A refused command was not carried out: it counts as no rung, sets no lockout, and is not repeated for ever."""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.commands import operations as commands
from shared.commands.acks import operations as acks
from shared.commands.rules import Ack
from shared.postgres.door import database_now
from shared.recovery import operations as recovery_operations
from shared.recovery.operations import RecoveryReport
from shared.tables import client_heartbeats
from shared.vocabulary import CommandState, PublishAnswer
from tests.stores.commands_world import BOOT, REBOOT, RESTART, START, TIMINGS, command, issue, lockout, say, seconds
from tests.stores.recovery_world import (
    answer,
    beat,
    become,
    crash,
    finish,
    fleet,
    hear,
    recover,
    rung,
    sent,
    told,
)

MINUTE = timedelta(minutes=1)
OTHER = "boot-2"


@pytest.fixture
def now(connection: Connection) -> datetime:
    at = database_now(connection)
    hear(connection, at)
    return at


def refuse(connection: Connection, at: datetime, report: RecoveryReport, boot: str | None = None, **more: str) -> None:
    """Record that the displays refuse the commands of this round."""
    for name in report.command_ids:
        client = command(connection, name)["client_uuid"]
        said = Ack(client, name, CommandState.REJECTED, "precondition_failed", boot_id=boot, **more)
        acks.record_acks(connection, at, [said], TIMINGS)


def boot_of(connection: Connection, client: str) -> tuple[str, str]:
    h = client_heartbeats.c
    row = connection.execute(sa.select(h.boot_id, h.app_instance).where(h.client_uuid == client)).one()
    return row.boot_id, row.app_instance


def test_a_display_that_refuses_everything_is_asked_four_times_not_called_helpless(
    connection: Connection, now: datetime
) -> None:
    others = fleet(connection, now, 20)
    [client] = fleet(connection, now - 10 * MINUTE, 1)
    asked, states = [], []
    for minute in range(120):
        at = now + minute * MINUTE
        hear(connection, at)
        beat(connection, others, at)
        report = recover(connection, at)
        asked += [minute] * len(report.command_ids)
        refuse(connection, at + seconds(1), report)
        states.append(told(connection, at + seconds(2), client))

    assert asked == [0, 1, 11, 21]  # repeated once immediately, then after the lockout
    assert rung(connection, client) == (0, 0, 0)
    assert states[5]["why"] == (
        "2 reboots were refused by the display (precondition_failed); it is asked again when the lockout ends."
    )
    assert states[-1]["state"] == "suspended"
    assert states[-1]["why"] == (
        "4 reboots were refused by the display (precondition_failed):"
        " nothing is sent any more until a person acts and resumes recovery."
    )


def test_a_refusal_gives_rung_and_lockout_back_and_is_counted_apart(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    first = recover(connection, now)
    before = rung(connection, client)

    refuse(connection, now + seconds(1), first)

    assert (before, rung(connection, client)) == ((1, 1, 0), (0, 0, 0))
    assert lockout(connection, client) is None
    again = recover(connection, now + seconds(2))
    reason = command(connection, again.command_ids[0])["reason"]
    assert reason.endswith("a restart, attempt 1 of 4. 1 restart was refused by the display (precondition_failed).")


def test_a_command_that_failed_before_it_was_begun_is_no_attempt(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    report = recover(connection, now)
    say(connection, now + seconds(1), client, report.command_ids[0], "received")

    say(connection, now + seconds(2), client, report.command_ids[0], "failed", reason="interrupted")

    assert rung(connection, client) == (0, 0, 0)
    assert "1 restart was refused by the display (interrupted)" in told(connection, now + seconds(3), client)["why"]


@pytest.mark.parametrize("words", [("running", "failed"), ("received", "running", "failed"), ("succeeded",)])
def test_what_was_begun_is_an_attempt(connection: Connection, now: datetime, words: tuple[str, ...]) -> None:
    client = crash(connection, now)
    report = recover(connection, now)

    say(connection, now + seconds(1), client, report.command_ids[0], *words)

    assert rung(connection, client) == (1, 1, 0)
    assert lockout(connection, client) == now + seconds(1 if len(words) > 1 else 0) + TIMINGS.lockout


def test_a_refusal_that_comes_after_the_command_expired_gives_the_rung_back_once(
    connection: Connection, now: datetime
) -> None:
    client = crash(connection, now)
    report = recover(connection, now)
    answer(connection, now, report, PublishAnswer.SUCCESS)
    commands.expire(connection, now + seconds(61))
    before = rung(connection, client)

    for second in (70, 80):
        refuse(connection, now + seconds(second), report)

    row = command(connection, report.command_ids[0])
    assert (row["state"], row["late_state"]) == ("expired", "rejected")
    assert (before, rung(connection, client)) == ((1, 1, 0), (0, 0, 0))


def test_a_refusal_of_an_older_command_changes_nothing_of_the_ladder(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    first = recover(connection, now)
    answer(connection, now, first, PublishAnswer.SUCCESS)
    commands.expire(connection, now + seconds(61))
    later = now + 11 * MINUTE
    hear(connection, later)
    beat(connection, client, later)
    finish(connection, later, recover(connection, later))

    refuse(connection, later + seconds(5), first)

    assert rung(connection, client) == (2, 2, 0)


def test_an_operators_command_that_is_refused_leaves_no_lockout(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    name = issue(connection, now, client, REBOOT)

    say(connection, now + seconds(1), client, name, "rejected", reason="busy")

    assert lockout(connection, client) is None
    assert len(recover(connection, now + seconds(2)).command_ids) == 1


@pytest.mark.parametrize("how", ["resumed", "half an hour of health"])
def test_refusals_are_forgotten_when_a_person_acts_or_the_display_is_well(
    connection: Connection, now: datetime, how: str
) -> None:
    client = crash(connection, now)
    refuse(connection, now + seconds(1), recover(connection, now))

    at = now + MINUTE
    if how == "resumed":
        assert recovery_operations.resume(connection, now, client, "user:anna")
    else:
        become(connection, client, at, "running")
        for minute in range(32):
            at = now + (1 + minute) * MINUTE
            hear(connection, at)
            beat(connection, client, at)
            recover(connection, at)
    become(connection, client, at, "crashed")
    hear(connection, at + MINUTE)
    beat(connection, client, at + MINUTE)

    report = recover(connection, at + MINUTE)

    assert "refused" not in command(connection, report.command_ids[0])["reason"]


# --- the boot of an ACK ---


def test_a_refusal_from_another_boot_makes_the_next_command_for_that_boot(
    connection: Connection, now: datetime
) -> None:
    fleet(connection, now, 20)
    [client] = fleet(connection, now - 10 * MINUTE, 1)
    first = recover(connection, now)

    refuse(connection, now + seconds(1), first, OTHER, app_instance="start-7")
    second = recover(connection, now + seconds(30))

    assert boot_of(connection, client) == (OTHER, "start-7")
    assert sent(connection, second) == [(client, "reboot_host")]
    assert command(connection, second.command_ids[0])["if_boot_id"] == OTHER
    row = command(connection, first.command_ids[0])
    assert (row["if_boot_id"], row["acked_boot_id"], row["acked_app_instance"]) == (BOOT, OTHER, "start-7")
    assert command(connection, second.command_ids[0])["reason"].endswith(
        "1 reboot was refused by the display (precondition_failed:"
        " its boot was another one than in its last stored heartbeat)."
    )


def test_a_restart_refused_by_a_player_that_started_anew_shows_the_start(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)

    refuse(connection, now + seconds(1), recover(connection, now), BOOT, app_instance="start-2")

    assert boot_of(connection, client) == (BOOT, "start-2")


def test_a_heartbeat_that_was_stored_since_knows_better_than_a_refusal(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    report = recover(connection, now)
    theirs = client_heartbeats.c.client_uuid == client
    connection.execute(sa.update(client_heartbeats).where(theirs).values(boot_id="boot-3"))

    refuse(connection, now + seconds(1), report, OTHER)

    assert boot_of(connection, client) == ("boot-3", START)


def test_an_answer_to_an_old_command_never_proves_a_new_one(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    old = recover(connection, now)
    answer(connection, now, old, PublishAnswer.SUCCESS)
    commands.expire(connection, now + seconds(61))
    new = issue(connection, now + seconds(62), client, REBOOT, override_lockout=True)
    say(connection, now + seconds(63), client, new, "received")

    refuse(connection, now + seconds(64), old, OTHER)  # late
    commands.expire(connection, now + seconds(65))

    assert boot_of(connection, client) == (BOOT, START)
    assert command(connection, new)["state"] == "received"


@pytest.mark.parametrize("state", ["received", "succeeded", "failed"])
def test_only_a_refusal_corrects_the_boot(connection: Connection, now: datetime, state: str) -> None:
    client = crash(connection, now)
    name = issue(connection, now, client, RESTART)

    said = Ack(client, name, CommandState(state), boot_id=OTHER, app_instance="start-2")
    acks.record_acks(connection, now + seconds(1), [said], TIMINGS)

    assert boot_of(connection, client) == (BOOT, START)
    began_in = None if state == "succeeded" else OTHER  # a success says nothing of where the command began
    assert command(connection, name)["acked_boot_id"] == began_in


def test_a_refusal_of_another_displays_command_corrects_nothing(connection: Connection, now: datetime) -> None:
    victim, stranger = crash(connection, now), crash(connection, now)
    name = issue(connection, now, victim, RESTART)

    said = Ack(stranger, name, CommandState.REJECTED, "precondition_failed", boot_id=OTHER)
    acks.record_acks(connection, now + seconds(1), [said], TIMINGS)

    assert {boot_of(connection, one) for one in (victim, stranger)} == {(BOOT, START)}
    assert command(connection, name)["state"] == "queued"
