"""A client that is deleted, or whose login is revoked, no longer answers: its open command ends."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.clients import operations as clients_operations
from shared.commands import operations as commands
from shared.commands import store as commands_store
from shared.commands.outbox import operations as outbox
from shared.commands.rules import CLIENT_DELETED, Attempt
from shared.errors import ClientNotFound
from shared.postgres.door import database_now
from shared.recovery import store as recovery_store
from shared.tables import client_commands, clients
from shared.vocabulary import CommandSource, PublishAnswer
from tests.stores.commands_world import (
    REBOOT,
    TIMINGS,
    claim,
    command,
    committed,
    issue,
    lockout,
    new_client,
    publish,
    request,
    say,
    seconds,
    state,
)
from tests.stores.recovery_world import answer, fleet, hear, recover, sent

MINUTE = timedelta(minutes=1)


@pytest.fixture
def now(connection: Connection) -> datetime:
    at = database_now(connection)
    hear(connection, at)
    return at


def delete(connection: Connection, at: datetime, client: str) -> None:
    """Delete a client as the route does."""
    clients_operations.delete(connection, at, client)
    commands.abandon(connection, at, client, CLIENT_DELETED)


def nothing(connection: Connection, now: datetime, client: str, name: str) -> None:
    """Leave the command as it was issued."""


def unheard(connection: Connection, now: datetime, client: str, name: str) -> None:
    publish(connection, now, name, PublishAnswer.NO_SUBSCRIBER)


def in_doubt(connection: Connection, now: datetime, client: str, name: str) -> None:
    publish(connection, now, name, None)


def claimed(connection: Connection, now: datetime, client: str, name: str) -> None:
    claim(connection, now, only_ids=[name])


def sent_out(connection: Connection, now: datetime, client: str, name: str) -> None:
    publish(connection, now, name, PublishAnswer.SUCCESS)


def received(connection: Connection, now: datetime, client: str, name: str) -> None:
    say(connection, now, client, name, "received")


def running(connection: Connection, now: datetime, client: str, name: str) -> None:
    say(connection, now, client, name, "received", "running")


WAYS = [
    (nothing, "cancelled"),
    (unheard, "cancelled"),
    (in_doubt, "expired"),
    (claimed, "expired"),
    (sent_out, "expired"),
    (received, "timed_out"),
    (running, "timed_out"),
]


@pytest.mark.parametrize(("way", "end"), WAYS)
def test_the_open_command_of_a_deleted_client_ends_with_it_and_says_so(
    connection: Connection, now: datetime, way: type, end: str
) -> None:
    [client] = fleet(connection, now, 1)
    name = issue(connection, now, client, REBOOT)
    way(connection, now, client, name)

    delete(connection, now + seconds(1), client)

    row = command(connection, name)
    assert (row["state"], row["outcome_reason"], row["finished_at"]) == (end, "client_deleted", now + seconds(1))
    assert (lockout(connection, client) is None) == (end == "cancelled")
    assert commands.find(connection, name).state == end
    assert claim(connection, now + MINUTE) == []


def test_in_a_small_fleet_a_deleted_silent_display_lets_the_next_one_be_helped(
    connection: Connection, now: datetime
) -> None:
    there = fleet(connection, now, 6)
    fleet(connection, now - 10 * MINUTE, 2)
    first = recover(connection, now)
    answer(connection, now, first, PublishAnswer.SUCCESS)
    [(client, _)] = sent(connection, first)
    assert recover(connection, now + seconds(1)).command_ids == ()

    delete(connection, now + seconds(2), client)

    assert recovery_store.count_open_silent(connection) == 0
    assert commands_store.count_open(connection, CommandSource.RECOVERY) == 0
    assert len(recover(connection, now + seconds(3)).command_ids) == 1
    assert len(there) == 6


def test_what_the_broker_answers_afterwards_changes_nothing(connection: Connection, now: datetime) -> None:
    [client] = fleet(connection, now, 1)
    name = issue(connection, now, client)
    [one] = claim(connection, now, only_ids=[name])
    delete(connection, now + seconds(1), client)

    attempt = Attempt(one.id, one.lease_until, one.attempts, PublishAnswer.SUCCESS, may_have_left=True)
    outbox.record_publish_answers(connection, now + seconds(2), [attempt], TIMINGS)

    assert state(connection, name) == ("expired", "client_deleted")


def test_deleting_twice_and_without_a_command_is_as_before(connection: Connection, now: datetime) -> None:
    [client] = fleet(connection, now, 1)
    delete(connection, now, client)

    with pytest.raises(ClientNotFound):
        delete(connection, now, client)
    assert commands.abandon(connection, now, client, CLIENT_DELETED) == ()


def test_of_a_deletion_and_a_command_at_once_no_open_command_is_left(engine: Engine) -> None:
    names = [new_client(engine) for _ in range(12)]

    def ask(client: str) -> None:
        with engine.begin() as connection:
            try:
                commands.issue(connection, database_now(connection), request(client, REBOOT), TIMINGS)
            except ClientNotFound:
                return

    def remove(client: str) -> None:
        with engine.begin() as connection:
            delete(connection, database_now(connection), client)

    with ThreadPoolExecutor(8) as pool:
        work = [pool.submit(do, client) for client in names for do in (ask, remove)]
        for one in work:
            one.result(timeout=60)

    with engine.connect() as connection:
        theirs = client_commands.c.client_uuid.in_(names)
        found = connection.execute(sa.select(client_commands.c.id).where(theirs)).scalars().all()
        gone = connection.execute(sa.select(clients.c.deleted_at).where(clients.c.uuid.in_(names))).scalars().all()
    assert all(gone)
    assert {committed(engine, name)["state"] for name in found} <= {"cancelled"}
