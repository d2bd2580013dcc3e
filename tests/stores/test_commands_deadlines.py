"""Commands past their deadlines, and which lockouts are released, on real Postgres."""

from collections.abc import Sequence
from datetime import datetime

import pytest
from sqlalchemy import Connection

from shared.commands import operations
from shared.errors import (
    CommandNotCancellable,
)
from shared.vocabulary import PublishAnswer
from tests.stores.commands_world import (
    LOCKOUT,
    claim,
    done,
    issue,
    lockout,
    publish,
    say,
    seconds,
    state,
)


def test_nothing_expires_a_moment_before_its_time(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client)

    assert operations.expire(connection, now + seconds(59.999)).expired == 0
    assert operations.expire(connection, now + seconds(60)).expired == 1

    assert state(connection, name) == ("expired", "never_published")


EXPIRIES = [  # result of the publish, reason, whether the lockout is released
    ([], "never_published", True),
    ([(None, False)], "never_published", True),  # the broker could not be reached
    ([(0x10, True)], "no_subscriber", True),
    ([(0x10, True), (None, False)], "no_subscriber", True),
    ([(0x00, True)], "no_ack", False),
    ([(None, True)], "no_ack", False),  # unanswered: it may have arrived
    ([(None, True), (0x10, True)], "no_ack", False),
    ([(0x00, True), (0x10, True)], "no_ack", False),
]


@pytest.mark.parametrize(("publishes", "reason", "released"), EXPIRIES, ids=str)
def test_an_expired_command_says_how_far_it_came_and_only_proof_releases_its_lockout(
    connection: Connection,
    now: datetime,
    client: str,
    publishes: Sequence[tuple[int | None, bool]],
    reason: str,
    released: bool,
) -> None:
    name = issue(connection, now, client, ttl=seconds(300))
    for number, (code, left) in enumerate(publishes):
        publish(connection, now + seconds(40 * number), name, code, left=left)

    report = operations.expire(connection, now + seconds(300))

    assert (report.expired, report.timed_out) == (1, 0)
    assert state(connection, name) == ("expired", reason)
    assert (lockout(connection, client) is None) == released


def test_a_publisher_that_died_with_its_lease_is_no_proof_that_nobody_has_it(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client)
    claim(connection, now)

    operations.expire(connection, now + seconds(60))

    assert state(connection, name) == ("expired", "no_ack")
    assert lockout(connection, client) == now + LOCKOUT


def test_a_publisher_that_died_after_nobody_had_listened_leaves_the_doubt_too(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client)
    publish(connection, now, name, PublishAnswer.NO_SUBSCRIBER)
    claim(connection, now + seconds(31))

    with pytest.raises(CommandNotCancellable):
        operations.cancel(connection, now + seconds(59), name, "bert")
    operations.expire(connection, now + seconds(60))

    assert state(connection, name) == ("expired", "no_ack")
    assert lockout(connection, client) == now + LOCKOUT


def test_what_was_received_times_out_at_its_result_deadline(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client)
    say(connection, now + seconds(50), client, name, "received")

    assert operations.expire(connection, now + seconds(169)).timed_out == 0
    assert operations.expire(connection, now + seconds(170)).timed_out == 1

    assert state(connection, name) == ("timed_out", "no_result")
    assert lockout(connection, client) == now + seconds(50) + LOCKOUT


def test_a_released_lockout_falls_back_to_the_one_it_was_put_over(
    connection: Connection, now: datetime, client: str
) -> None:
    done(connection, now, client, issue(connection, now, client))
    issue(connection, now + seconds(5), client, override_lockout=True)

    operations.expire(connection, now + seconds(65))

    assert lockout(connection, client) == now + LOCKOUT
