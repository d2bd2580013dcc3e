"""A person can end a command that a display may have; a command that waits for long is shown as such."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import Connection

from shared.commands import operations
from shared.errors import CommandNotCancellable, CommandNotFound
from shared.postgres.door import database_now
from shared.vocabulary import PublishAnswer
from tests.stores.commands_world import (
    BOOT,
    NOWHERE,
    REBOOT,
    TIMINGS,
    add_client,
    answer,
    claim,
    command,
    issue,
    lockout,
    publish,
    say,
    seconds,
    see,
    state,
)
from tests.stores.recovery_world import beat, crash, hear, recover, sent, told

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


@pytest.fixture
def now(connection: Connection) -> datetime:
    at = database_now(connection)
    hear(connection, at)
    return at


def in_doubt(connection: Connection, now: datetime, client: str) -> str:
    """A command with a time to live of a day, whose only publish was not answered."""
    name = issue(connection, now, client, REBOOT, ttl=DAY)
    publish(connection, now, name, None)
    with pytest.raises(CommandNotCancellable):
        operations.cancel(connection, now, name, "user:anna")
    return name


def test_a_command_in_doubt_is_ended_keeps_its_lockout_and_is_not_published_any_more(
    connection: Connection, now: datetime
) -> None:
    client = add_client(connection, now)
    name = in_doubt(connection, now, client)

    row = operations.end(connection, now + MINUTE, name, "user:anna", "wrong display")

    assert (row.state, row.outcome_reason) == ("expired", "ended by user:anna: wrong display")
    assert row.finished_at == now + MINUTE
    assert lockout(connection, client) == now + TIMINGS.lockout
    assert claim(connection, now + 2 * MINUTE) == []
    again = operations.end(connection, now + 2 * MINUTE, name, "user:bert", "me too")
    assert (again.finished_at, again.outcome_reason) == (row.finished_at, row.outcome_reason)


@pytest.mark.parametrize("words", [("received",), ("received", "running")])
def test_what_a_display_has_is_ended_and_its_late_answer_is_kept(
    connection: Connection, now: datetime, words: tuple[str, ...]
) -> None:
    client = add_client(connection, now, boot=None)
    name = issue(connection, now, client, REBOOT)
    say(connection, now, client, name, *words)

    operations.end(connection, now + seconds(1), name, "user:anna", "it hangs")
    say(connection, now + seconds(2), client, name, "succeeded")

    row = command(connection, name)
    assert (row["state"], row["late_state"]) == ("timed_out", "succeeded")
    assert lockout(connection, client) == now + TIMINGS.lockout


def test_what_provably_nobody_has_is_cancelled_with_its_lockout(connection: Connection, now: datetime) -> None:
    client = add_client(connection, now)
    name = issue(connection, now, client, REBOOT)

    operations.end(connection, now, name, "user:anna", "x")

    assert state(connection, name) == ("cancelled", "cancelled by user:anna")
    assert lockout(connection, client) is None
    assert operations.end(connection, now, name, "user:anna", "x").state == "cancelled"


def test_a_publish_that_was_under_way_changes_nothing_of_what_was_ended(connection: Connection, now: datetime) -> None:
    client = add_client(connection, now)
    name = issue(connection, now, client, REBOOT)
    [claimed] = claim(connection, now, only_ids=[name])

    operations.end(connection, now + seconds(1), name, "user:anna", "x")
    answer(connection, now + seconds(2), claimed, PublishAnswer.SUCCESS)
    see(connection, now + seconds(3), client, "boot-9")

    assert state(connection, name)[0] == "expired"


@pytest.mark.parametrize("word", ["succeeded", "failed", "rejected"])
def test_what_is_over_cannot_be_ended(connection: Connection, now: datetime, word: str) -> None:
    client = add_client(connection, now, boot=None, start=None)
    name = issue(connection, now, client)
    say(connection, now, client, name, word)

    with pytest.raises(CommandNotCancellable):
        operations.end(connection, now, name, "user:anna", "x")
    assert state(connection, name)[0] == word


def test_what_does_not_exist_cannot_be_ended(connection: Connection, now: datetime) -> None:
    with pytest.raises(CommandNotFound):
        operations.end(connection, now, NOWHERE, "user:anna", "x")


# --- recovery ---


def test_a_persons_open_command_is_waited_for_in_words_and_an_admin_ends_it(
    connection: Connection, now: datetime
) -> None:
    client = crash(connection, now)
    name = in_doubt(connection, now, client)
    first = told(connection, now + seconds(30), client)
    at = now + 13 * MINUTE
    hear(connection, at)
    beat(connection, client, at)

    state_then = told(connection, at, client)
    assert recover(connection, at).command_ids == ()
    operations.end(connection, at, name, "user:anna", "the display does not answer")

    assert (first["state"], state_then["state"], state_then["until"]) == ("in_flight", "locked", now + DAY)
    assert state_then["why"] == (
        "A reboot that anna asked for 13 minutes ago has no outcome yet; recovery waits until it has one,"
        " or its time is over, or an admin ends it."
    )
    assert sent(connection, recover(connection, at)) == [(client, "restart_app")]
    assert command(connection, name)["if_boot_id"] == BOOT


def test_recoverys_own_command_is_on_its_way_for_as_long_as_it_lives(connection: Connection, now: datetime) -> None:
    client = crash(connection, now)
    [name] = recover(connection, now).command_ids
    say(connection, now + seconds(59), client, name, "received")

    at = now + seconds(59) + TIMINGS.result[command(connection, name)["action"]]
    hear(connection, at)
    beat(connection, client, at)

    assert told(connection, at, client)["state"] == "in_flight"
