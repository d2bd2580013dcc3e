"""Issuing, withdrawing and reading commands, on real Postgres."""

from collections.abc import Sequence
from datetime import datetime

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.commands import operations, store
from shared.errors import (
    ClientNotFound,
    CommandInFlight,
    CommandLockedOut,
    CommandNotCancellable,
    CommandNotFound,
    NotCapable,
    Refused,
)
from shared.tables import client_commands, client_heartbeats, clients
from shared.vocabulary import CommandAction
from tests.stores.commands_world import (
    BOOT,
    LOCKOUT,
    NOWHERE,
    REBOOT,
    RESTART,
    SHUTDOWN,
    START,
    add_client,
    claim,
    command,
    done,
    issue,
    lockout,
    publish,
    seconds,
)

# --- issuing ---


def test_a_new_command_is_queued_with_its_deadline_its_preconditions_and_its_lockout(
    connection: Connection, now: datetime, client: str
) -> None:
    row = command(connection, issue(connection, now, client))

    assert (row["state"], row["rank"], row["source"]) == ("queued", 10, "operator")
    assert (row["reason"], row["requested_by"]) == ("black screen", "anna")
    assert (row["created_at"], row["expires_at"]) == (now, now + seconds(60))
    assert (row["if_boot_id"], row["if_app_instance"]) == (BOOT, START)
    assert row["publish_attempted_at"] is None
    assert lockout(connection, client) == now + LOCKOUT


@pytest.mark.parametrize(("action", "ttl"), [(REBOOT, 120), (SHUTDOWN, 120)])
def test_reboot_and_shutdown_are_bound_to_the_boot_only(
    connection: Connection, now: datetime, client: str, action: CommandAction, ttl: int
) -> None:
    row = command(connection, issue(connection, now, client, action))

    assert (row["if_boot_id"], row["if_app_instance"]) == (BOOT, None)
    assert row["expires_at"] == now + seconds(ttl)
    assert (lockout(connection, client) is None) == (action is SHUTDOWN)


def test_a_client_that_was_never_heard_gets_no_precondition(connection: Connection, now: datetime, client: str) -> None:
    connection.execute(sa.delete(client_heartbeats).where(client_heartbeats.c.client_uuid == client))

    row = command(connection, issue(connection, now, client))

    assert (row["if_boot_id"], row["if_app_instance"]) == (None, None)


def test_there_is_no_command_for_a_client_that_is_none_or_deleted(
    connection: Connection, now: datetime, client: str
) -> None:
    connection.execute(sa.update(clients).where(clients.c.uuid == client).values(deleted_at=now))

    for nobody in (client, NOWHERE):
        with pytest.raises(ClientNotFound):
            issue(connection, now, nobody)


def test_what_a_display_cannot_do_is_not_asked_of_it(connection: Connection, now: datetime) -> None:
    limited = add_client(connection, now, capabilities=["restart_app"])

    with pytest.raises(NotCapable):
        issue(connection, now, limited, REBOOT)
    issue(connection, now, limited, RESTART)


def test_in_flight_is_said_before_locked(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client)

    with pytest.raises(CommandInFlight):
        issue(connection, now, client)
    done(connection, now, client, name)
    with pytest.raises(CommandLockedOut) as refusal:
        issue(connection, now, client)

    assert refusal.value.extras["lockout_until"] == now + LOCKOUT


def test_when_the_lockout_is_over_the_next_restart_is_accepted(
    connection: Connection, now: datetime, client: str
) -> None:
    done(connection, now, client, issue(connection, now, client))

    again = issue(connection, now + LOCKOUT, client)

    assert command(connection, again)["state"] == "queued"


def test_an_override_passes_the_lockout_and_raises_it_anew(connection: Connection, now: datetime, client: str) -> None:
    done(connection, now, client, issue(connection, now, client))

    issue(connection, now + seconds(5), client, override_lockout=True)

    assert lockout(connection, client) == now + seconds(5) + LOCKOUT


def test_a_time_to_live_out_of_bounds_leaves_nothing_behind(connection: Connection, now: datetime, client: str) -> None:
    with pytest.raises(Refused):
        issue(connection, now, client, ttl=seconds(9))

    assert lockout(connection, client) is None
    assert store.page_of_client(connection, client, 1, None) == []


def test_text_that_postgres_cannot_store_is_scrubbed(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client, reason="a\x00b\ud800")

    assert command(connection, name)["reason"] == "a\ufffdb\ufffd"


# --- withdrawing ---


@pytest.mark.parametrize("publishes", [[], [(None, False)], [(0x10, True)]], ids=str)
def test_what_provably_nobody_has_can_be_cancelled_and_gives_its_lockout_back(
    connection: Connection, now: datetime, client: str, publishes: Sequence[tuple[int | None, bool]]
) -> None:
    name = issue(connection, now, client)
    for code, left in publishes:
        publish(connection, now, name, code, left=left)

    row = operations.cancel(connection, now, name, "bert")

    assert (row.state, row.outcome_reason) == ("cancelled", "cancelled by bert")
    assert lockout(connection, client) is None
    assert operations.cancel(connection, now + seconds(1), name, "carl").finished_at == now


@pytest.mark.parametrize("publishes", [[(0x00, True)], [(None, True)], [(None, True), (0x10, True)]], ids=str)
def test_what_a_display_may_have_cannot_be_cancelled(
    connection: Connection, now: datetime, client: str, publishes: Sequence[tuple[int | None, bool]]
) -> None:
    name = issue(connection, now, client)
    for number, (code, left) in enumerate(publishes):
        publish(connection, now + seconds(10 * number), name, code, left=left)

    with pytest.raises(CommandNotCancellable):
        operations.cancel(connection, now + seconds(20), name, "bert")

    assert command(connection, name)["finished_at"] is None


def test_a_command_in_a_publishers_hands_cannot_be_cancelled(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client)
    claim(connection, now)

    with pytest.raises(CommandNotCancellable):
        operations.cancel(connection, now, name, "bert")


def test_what_does_not_exist_cannot_be_cancelled(connection: Connection, now: datetime) -> None:
    with pytest.raises(CommandNotFound):
        operations.cancel(connection, now, NOWHERE, "bert")


# --- reading ---


def test_a_clients_commands_are_paged_newest_first(connection: Connection, now: datetime, client: str) -> None:
    names = []
    for number in range(5):
        names.append(issue(connection, now + seconds(number), client, SHUTDOWN))
        done(connection, now + seconds(number), client, names[-1])

    first = store.page_of_client(connection, client, 3, None)
    rest = store.page_of_client(connection, client, 3, (first[-1].created_at, first[-1].id))

    assert [row.id for row in (*first, *rest)] == names[::-1]


def test_history_is_dropped_by_its_end(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client)
    done(connection, now, client, name)
    still_open = issue(connection, now + LOCKOUT, client)

    assert store.drop_history(connection, now) == 0
    assert store.drop_history(connection, now + seconds(1)) == 1

    left = connection.execute(sa.select(client_commands.c.id)).scalars().all()
    assert left == [still_open]
