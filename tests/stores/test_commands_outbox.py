"""How a claim and the broker's answers change a command, on real Postgres."""

from datetime import datetime

from sqlalchemy import Connection

from shared.vocabulary import CommandSource, PublishAnswer
from tests.stores.commands_world import (
    LOCKOUT,
    add_client,
    answer,
    claim,
    command,
    issue,
    lockout,
    publish,
    say,
    seconds,
    state,
)


def test_a_claim_is_exclusive_until_its_lease_ends_and_proves_the_attempt(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client)

    [first] = claim(connection, now)
    assert claim(connection, now + seconds(19)) == []
    [again] = claim(connection, now + seconds(20))

    assert (first.id, again.id, again.attempts) == (name, name, 2)
    assert (first.lease_until, first.expires_in) == (now + seconds(20), seconds(60))
    row = command(connection, name)
    assert row["publish_attempted_at"] == now + seconds(20)
    assert row["unanswered_at"] == now  # the first publish may have succeeded


def test_the_oldest_is_claimed_first(connection: Connection, now: datetime) -> None:
    names = [
        issue(connection, now + seconds(number), add_client(connection, now), ttl=seconds(100)) for number in (3, 1, 2)
    ]

    claimed = claim(connection, now + seconds(4), limit=2)

    assert [one.id for one in claimed] == [names[1], names[2]]


def test_a_command_with_less_than_a_second_left_is_not_claimed(
    connection: Connection, now: datetime, client: str
) -> None:
    issue(connection, now, client)

    assert claim(connection, now + seconds(59.001)) == []
    assert len(claim(connection, now + seconds(59))) == 1


def test_an_accepted_publish_raises_the_lockout_and_is_repeated_after_30_seconds(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client)
    later = now + seconds(5)

    publish(connection, later, name, PublishAnswer.SUCCESS)

    row = command(connection, name)
    assert (row["state"], row["sent_at"], row["publish_lease_until"]) == ("sent", later, None)
    assert lockout(connection, client) == later + LOCKOUT
    assert claim(connection, later + seconds(29)) == []
    [again] = claim(connection, later + seconds(30))
    assert again.id == name


def test_a_received_command_is_not_published_again(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client)
    publish(connection, now, name, PublishAnswer.SUCCESS)

    say(connection, now, client, name, "received")

    assert claim(connection, now + seconds(31)) == []


def test_an_operators_unheard_command_goes_out_when_the_display_comes_online(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client)

    publish(connection, now, name, PublishAnswer.NO_SUBSCRIBER)

    assert state(connection, name) == ("queued", "no_subscriber")
    assert lockout(connection, client) == now + LOCKOUT
    assert claim(connection, now + seconds(2)) == []
    [online] = claim(connection, now + seconds(2), client_uuids=[client])
    answer(connection, now + seconds(2), online, PublishAnswer.SUCCESS)
    assert state(connection, name) == ("sent", None)


def test_a_recovery_command_that_nobody_heard_is_over_and_its_lockout_undone(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, source=CommandSource.RECOVERY)

    publish(connection, now, name, PublishAnswer.NO_SUBSCRIBER)

    assert state(connection, name) == ("cancelled", "no_subscriber")
    assert lockout(connection, client) is None


def test_a_recovery_command_that_may_have_been_heard_before_keeps_its_lockout(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, source=CommandSource.RECOVERY)
    publish(connection, now, name, None)

    publish(connection, now + seconds(10), name, PublishAnswer.NO_SUBSCRIBER)

    assert state(connection, name) == ("cancelled", "no_subscriber")
    assert lockout(connection, client) == now + LOCKOUT


def test_a_repeat_that_nobody_heard_does_not_take_back_what_was_sent(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, source=CommandSource.RECOVERY)
    publish(connection, now, name, PublishAnswer.SUCCESS)

    publish(connection, now + seconds(30), name, PublishAnswer.NO_SUBSCRIBER)

    assert state(connection, name) == ("sent", None)
    assert lockout(connection, client) == now + LOCKOUT


def test_a_publish_that_the_acl_forbids_fails_the_command(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client)

    publish(connection, now, name, PublishAnswer.NOT_AUTHORIZED)

    assert state(connection, name) == ("failed", "publish_denied")
    assert command(connection, name)["finished_at"] == now


def test_a_publish_that_never_left_leaves_no_trace_of_an_attempt_and_is_tried_again(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client)

    publish(connection, now, name, None, left=False)

    row = command(connection, name)
    assert (row["state"], row["publish_attempted_at"], row["publish_lease_until"]) == ("queued", None, None)
    assert now + seconds(0.5) <= row["next_publish_at"] <= now + seconds(1.5)
    assert [one.id for one in claim(connection, now + seconds(1.5))] == [name]


def test_an_answer_after_the_lease_counts_as_sent_and_takes_no_lease_from_others(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client)
    [slow] = claim(connection, now)
    [second] = claim(connection, now + seconds(21))

    answer(connection, now + seconds(22), slow, PublishAnswer.SUCCESS)

    row = command(connection, name)
    assert (row["state"], row["publish_lease_until"]) == ("sent", second.lease_until)


def test_a_late_word_that_nobody_listens_does_not_end_what_another_publisher_holds(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, source=CommandSource.RECOVERY)
    [slow] = claim(connection, now)
    claim(connection, now + seconds(21))

    answer(connection, now + seconds(22), slow, PublishAnswer.NO_SUBSCRIBER)

    assert state(connection, name) == ("queued", None)
