"""Other evidence than the display's ACK ends its command, on real Postgres."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy import Connection

from shared.commands import operations
from shared.commands.proofs_operations import SettledReport, settle_by_proof
from shared.recovery.evidence.store import facts
from shared.tables import client_heartbeats, clients
from shared.vocabulary import PublishAnswer
from tests.stores.commands_world import (
    BOOT,
    LOCKOUT,
    REBOOT,
    RESTART,
    SHUTDOWN,
    add_client,
    claim,
    command,
    issue,
    lockout,
    publish,
    say,
    seconds,
    state,
)


def beat(connection: Connection, client: str, at: datetime, **said: Any) -> None:
    """Store a heartbeat without passing it on to commands."""
    change = sa.update(client_heartbeats).where(client_heartbeats.c.client_uuid == client)
    connection.execute(change.values(last_heartbeat_at=at, **said))


def know(connection: Connection, client: str, **facts: Any) -> None:
    connection.execute(sa.update(clients).where(clients.c.uuid == client).values(**facts))


def leave(connection: Connection, client: str, at: datetime) -> None:
    know(connection, client, presence="offline", presence_at=at)


# --- a reboot that did not happen ---


def test_the_same_boot_three_minutes_after_running_means_no_reboot_happened(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, REBOOT)
    say(connection, now + seconds(10), client, name, "running")

    beat(connection, client, now + seconds(190))
    assert operations.expire(connection, now + seconds(189.9)).disproved == 0
    assert operations.expire(connection, now + seconds(190)).disproved == 1

    assert state(connection, name) == ("failed", "reboot_did_not_happen")
    assert command(connection, name)["confirmed_by"] is None
    assert lockout(connection, client) == now + seconds(10) + LOCKOUT  # the display received it


NO_PROOF = [
    ("running", {"last_heartbeat_at": 189}, "the last heartbeat may be from before the machine went down"),
    ("running", {"last_heartbeat_at": 250, "boot_id": None}, "the display does not say which boot it is"),
    ("received", {"last_heartbeat_at": 250}, "it has not said that it began"),
]


@pytest.mark.parametrize(("word", "said", "note"), NO_PROOF, ids=lambda value: str(value)[:20])
def test_without_a_fresh_word_of_the_old_boot_a_reboot_is_not_called_failed(
    connection: Connection, now: datetime, client: str, word: str, said: dict[str, Any], note: str
) -> None:
    name = issue(connection, now, client, REBOOT)
    say(connection, now + seconds(10), client, name, word)
    beat(connection, client, now + seconds(said["last_heartbeat_at"]), boot_id=said.get("boot_id", BOOT))

    assert operations.expire(connection, now + seconds(300)).disproved == 0

    assert state(connection, name)[0] == word


def test_only_a_reboot_is_disproved_by_the_same_boot(connection: Connection, now: datetime) -> None:
    for action in (RESTART, SHUTDOWN):
        other = add_client(connection, now)
        say(connection, now, other, issue(connection, now, other, action), "running")
        beat(connection, other, now + seconds(200))

    assert operations.expire(connection, now + seconds(200)).disproved == 0


# --- a shutdown ---


@pytest.mark.parametrize("word", ["received", "running"])
@pytest.mark.parametrize("silence", ["offline", "stale"])
def test_a_received_shutdown_succeeds_when_the_display_leaves_or_falls_silent(
    connection: Connection, now: datetime, client: str, word: str, silence: str
) -> None:
    name = issue(connection, now, client, SHUTDOWN)
    say(connection, now + seconds(1), client, name, word)

    if silence == "offline":
        leave(connection, client, now + seconds(2))
    else:
        know(connection, client, status="stale", status_since=now - seconds(20))  # its last heartbeat
    assert operations.expire(connection, now + seconds(182)).proven == 1

    assert state(connection, name) == ("succeeded", None)
    assert command(connection, name)["confirmed_by"] == "evidence"


def test_the_end_of_a_shutdown_at_its_very_deadline_is_no_timeout(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, SHUTDOWN)
    say(connection, now, client, name, "running")
    leave(connection, client, now + seconds(5))

    report = operations.expire(connection, now + seconds(3600))

    assert (report.proven, report.timed_out) == (1, 0)
    assert state(connection, name) == ("succeeded", None)


@pytest.mark.parametrize(
    "before",
    ["it was offline before", "it has come back", "it was heard after it left", "nobody received it", "a reboot"],
)
def test_silence_that_has_another_reason_proves_no_shutdown(
    connection: Connection, now: datetime, client: str, before: str
) -> None:
    name = issue(connection, now, client, REBOOT if before == "a reboot" else SHUTDOWN)
    publish(connection, now, name, PublishAnswer.SUCCESS)
    if before != "nobody received it":
        say(connection, now + seconds(10), client, name, "received")
    leave(connection, client, now + seconds(9 if before == "it was offline before" else 20))
    if before == "it has come back":
        know(connection, client, presence="online", presence_at=now + seconds(25))
    if before == "it was heard after it left":
        beat(connection, client, now + seconds(21))

    assert operations.expire(connection, now + seconds(60)).proven == 0

    assert command(connection, name)["finished_at"] is None


def test_a_shutdown_known_by_silence_is_known_by_both_when_the_display_says_so_later(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, SHUTDOWN)
    say(connection, now, client, name, "running")
    leave(connection, client, now + seconds(5))
    operations.expire(connection, now + seconds(60))

    say(connection, now + seconds(9000), client, name, "succeeded")

    assert command(connection, name)["confirmed_by"] == "both"


def held(connection: Connection, fleet: Sequence[str]) -> set[str]:
    """The clients that recovery leaves alone because they were shut down."""
    return {row.uuid for row in facts(connection, fleet) if row.shut_down}


def test_a_client_that_was_shut_down_on_purpose_is_held_until_its_next_heartbeat(
    connection: Connection, now: datetime
) -> None:
    down, up, failed, silent = (add_client(connection, now) for _ in range(4))
    for one, word in ((down, "running"), (up, "running"), (failed, "failed")):
        say(connection, now + seconds(1), one, issue(connection, now, one, SHUTDOWN), word)
        leave(connection, one, now + seconds(2))
    operations.expire(connection, now + seconds(60))
    fleet = [down, up, failed, silent]
    assert held(connection, fleet) == {down, up}

    beat(connection, up, now + seconds(61))

    assert held(connection, fleet) == {down}


# --- commands without evidence ---


def test_a_boot_stored_while_the_command_was_made_completes_it_at_the_next_sweep(
    connection: Connection, now: datetime
) -> None:
    sent, waits, doubtful, fresh, restarted = (add_client(connection, now) for _ in range(5))
    names = {one: issue(connection, now, one, REBOOT) for one in (sent, waits, doubtful, fresh)}
    names[restarted] = issue(connection, now, restarted, RESTART)
    publish(connection, now, names[sent], PublishAnswer.SUCCESS)
    publish(connection, now, names[waits], PublishAnswer.NO_SUBSCRIBER)
    publish(connection, now, names[doubtful], None)
    say(connection, now, restarted, names[restarted], "received")
    for one in (sent, waits, doubtful, restarted):
        beat(connection, one, now + seconds(1), boot_id="boot-2", app_instance="start-2")

    settled = settle_by_proof(connection, now + seconds(2))
    assert replace(settled, news=()) == SettledReport(proven=3, disproved=0, overtaken=1)

    assert {one: state(connection, name) for one, name in names.items()} == {
        sent: ("succeeded", None),
        doubtful: ("succeeded", None),
        restarted: ("succeeded", None),
        waits: ("cancelled", "already_rebooted"),
        fresh: ("queued", None),
    }


def test_what_a_publisher_holds_is_left_alone_until_its_answer_is_known(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, REBOOT)
    claim(connection, now)
    beat(connection, client, now + seconds(1), boot_id="boot-2")

    assert settle_by_proof(connection, now + seconds(2)) == SettledReport(0, 0, 0)

    claim(connection, now + seconds(20))  # the lease ended without a record, so the publish may have succeeded
    assert settle_by_proof(connection, now + seconds(21)).proven == 1
    assert state(connection, name) == ("succeeded", None)
