"""The life of a command on real Postgres: every move, its stamps, its lockout, and what proves it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.commands import operations, store
from shared.commands.operations import AckReport, EvidenceReport, PublishReport
from shared.commands.rules import Ack, Attempt, Claimed, Sighting
from shared.db import database_now
from shared.errors import (
    ClientNotFound,
    CommandInFlight,
    CommandLockedOut,
    CommandNotCancellable,
    CommandNotFound,
    IdempotencyKeyReused,
    NotCapable,
    Refused,
)
from shared.tables import client_commands, client_heartbeats, clients
from shared.vocabulary import CommandAction, CommandSource, CommandState, PublishAnswer
from tests.stores.commands_world import BOOT, START, TIMINGS, add_client, command, lockout, request, seconds

LOCKOUT = TIMINGS.lockout
RESTART, REBOOT, SHUTDOWN = CommandAction.RESTART_APP, CommandAction.REBOOT_HOST, CommandAction.SHUTDOWN_HOST
NOWHERE = "00000000-0000-4000-8000-00000000dead"


@pytest.fixture
def now(connection: Connection) -> datetime:
    return database_now(connection)


@pytest.fixture
def client(connection: Connection, now: datetime) -> str:
    return add_client(connection, now)


def issue(connection: Connection, now: datetime, client: str, action: CommandAction = RESTART, **more: Any) -> str:
    return str(operations.issue(connection, now, request(client, action, **more), TIMINGS)["id"])


def claim(connection: Connection, now: datetime, **only: Any) -> list[Claimed]:
    return operations.claim_due(connection, now, **only)


def answer(
    connection: Connection, now: datetime, claimed: Claimed, code: int | None, *, left: bool = True
) -> PublishReport:
    attempt = Attempt(claimed.id, claimed.lease_until, claimed.attempts, code, may_have_left=left)
    return operations.record_publish_answers(connection, now, [attempt], TIMINGS)


def publish(connection: Connection, now: datetime, name: str, code: int | None, *, left: bool = True) -> None:
    """Claim one command and record how its publish went."""
    [claimed] = claim(connection, now, only_ids=[name])
    answer(connection, now, claimed, code, left=left)


def say(
    connection: Connection, now: datetime, client: str, name: str, *states: str, reason: str | None = None
) -> AckReport:
    acks = [Ack(client, name, CommandState(state), reason) for state in states]
    return operations.record_acks(connection, now, acks, TIMINGS)


def see(
    connection: Connection, now: datetime, client: str, boot: str | None, start: str | None = START
) -> EvidenceReport:
    return operations.record_boot_evidence(connection, now, [Sighting(client, boot, start)])


def state(connection: Connection, name: str) -> tuple[str, str | None]:
    row = command(connection, name)
    return row["state"], row["outcome_reason"]


# --- asking for one ---


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
    say(connection, now, client, name, "succeeded")
    with pytest.raises(CommandLockedOut) as refusal:
        issue(connection, now, client)

    assert refusal.value.extras["lockout_until"] == now + LOCKOUT


def test_when_the_lockout_is_over_the_next_restart_is_accepted(
    connection: Connection, now: datetime, client: str
) -> None:
    say(connection, now, client, issue(connection, now, client), "succeeded")

    issue(connection, now + LOCKOUT, client)


def test_an_override_passes_the_lockout_and_raises_it_anew(connection: Connection, now: datetime, client: str) -> None:
    say(connection, now, client, issue(connection, now, client), "succeeded")

    issue(connection, now + seconds(5), client, override_lockout=True)

    assert lockout(connection, client) == now + seconds(5) + LOCKOUT


def test_the_same_key_answers_the_same_command_and_another_request_is_refused(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, idempotency_key="k")
    say(connection, now, client, name, "succeeded")

    assert issue(connection, now, client, idempotency_key="k") == name
    with pytest.raises(IdempotencyKeyReused):
        issue(connection, now, client, REBOOT, idempotency_key="k")
    with pytest.raises(CommandLockedOut):  # the key is this caller's own
        issue(connection, now, client, idempotency_key="k", requested_by="bert")


def test_a_time_to_live_out_of_bounds_leaves_nothing_behind(connection: Connection, now: datetime, client: str) -> None:
    with pytest.raises(Refused):
        issue(connection, now, client, ttl=seconds(9))

    assert lockout(connection, client) is None
    assert store.open_by_client(connection, [client]) == {}


def test_text_that_postgres_cannot_store_is_scrubbed(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client, reason="a\x00b\ud800")

    assert command(connection, name)["reason"] == "a\ufffdb\ufffd"


# --- publishing ---


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
    assert row["unanswered_at"] == now  # the first publish may have got through


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


def test_an_accepted_publish_is_sent_raises_the_lockout_and_is_repeated_after_30_seconds(
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


def test_an_operators_command_that_nobody_heard_waits_and_goes_out_when_the_display_comes_online(
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


def test_an_answer_after_the_lease_still_counts_as_sent_but_takes_no_lease_from_others(
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


# --- ACKs ---


def test_the_whole_way_leaves_a_stamp_at_each_step(connection: Connection, now: datetime, client: str) -> None:
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
    connection: Connection, now: datetime, client: str, words: Sequence[str], together: bool
) -> None:
    name = issue(connection, now, client)

    for batch in [words] if together else [[word] for word in words]:
        say(connection, now, client, name, *batch)

    assert state(connection, name) == ("succeeded", None)


@pytest.mark.parametrize("result", ["failed", "rejected"])
def test_a_result_keeps_the_displays_reason_and_the_lockout(
    connection: Connection, now: datetime, client: str, result: str
) -> None:
    name = issue(connection, now, client)

    say(connection, now, client, name, result, reason="precondition_failed")

    assert state(connection, name) == (result, "precondition_failed")
    assert command(connection, name)["confirmed_by"] is None
    assert lockout(connection, client) == now + LOCKOUT


def test_a_terminal_state_never_changes(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client)
    say(connection, now, client, name, "failed", reason="no_player")
    before = command(connection, name)

    assert say(connection, now + seconds(1), client, name, "succeeded", "running").moved == set()

    assert command(connection, name) == before


def test_a_late_result_does_not_wake_an_expired_command_and_is_kept_once(
    connection: Connection, now: datetime, client: str
) -> None:
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

    report = operations.record_acks(connection, now, [forged, unknown], TIMINGS)

    assert report.moved == set()
    assert report.foreign == (forged,)
    assert [ack.command_id for ack in report.unknown] == ["no-such-id\ufffd"]
    assert state(connection, name) == ("queued", None)


def test_a_batch_for_many_clients_moves_each_of_them(connection: Connection, now: datetime) -> None:
    fleet = [add_client(connection, now) for _ in range(50)]
    names = {client: issue(connection, now, client) for client in fleet}
    words = [CommandState.RECEIVED, CommandState.SUCCEEDED]

    report = operations.record_acks(
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
    say(connection, now, two, second, "succeeded")
    see(connection, now, two, "boot-2")

    assert [command(connection, name)["confirmed_by"] for name in (first, second)] == ["both", "both"]


def test_a_new_start_of_the_player_completes_a_restart_only_once_it_was_received(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client)
    publish(connection, now, name, PublishAnswer.SUCCESS)

    assert see(connection, now, client, BOOT, "start-2").succeeded == set()
    say(connection, now, client, name, "received")
    assert see(connection, now, client, BOOT, "start-3").succeeded == {name}


def test_a_reboot_that_nobody_has_is_pointless_after_a_boot_and_gives_its_lockout_back(
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


# --- deadlines ---


def test_nothing_expires_a_moment_before_its_time(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client)

    assert operations.expire(connection, now + seconds(59.999)).expired == 0
    assert operations.expire(connection, now + seconds(60)).expired == 1

    assert state(connection, name) == ("expired", "never_published")


EXPIRIES = [  # how its publish went, reason, is the lockout given back?
    ([], "never_published", True),
    ([(None, False)], "never_published", True),  # the broker could not be reached
    ([(0x10, True)], "no_subscriber", True),
    ([(0x10, True), (None, False)], "no_subscriber", True),
    ([(0x00, True)], "no_ack", False),
    ([(None, True)], "no_ack", False),  # unanswered: it may have been heard
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


def test_a_publisher_that_died_with_its_lease_is_no_proof_that_nobody_has_the_command(
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
    say(connection, now, client, issue(connection, now, client), "succeeded")
    issue(connection, now + seconds(5), client, override_lockout=True)

    operations.expire(connection, now + seconds(65))

    assert lockout(connection, client) == now + LOCKOUT


# --- withdrawing ---


@pytest.mark.parametrize("publishes", [[], [(None, False)], [(0x10, True)]], ids=str)
def test_what_provably_nobody_has_can_be_cancelled_and_gives_its_lockout_back(
    connection: Connection, now: datetime, client: str, publishes: Sequence[tuple[int | None, bool]]
) -> None:
    name = issue(connection, now, client)
    for code, left in publishes:
        publish(connection, now, name, code, left=left)

    row = operations.cancel(connection, now, name, "bert")

    assert (row["state"], row["outcome_reason"]) == ("cancelled", "cancelled by bert")
    assert lockout(connection, client) is None
    assert operations.cancel(connection, now + seconds(1), name, "carl")["finished_at"] == now


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
        say(connection, now + seconds(number), client, names[-1], "succeeded")

    first = store.page_of_client(connection, client, 3, None)
    rest = store.page_of_client(connection, client, 3, (first[-1]["created_at"], first[-1]["id"]))

    assert [row["id"] for row in (*first, *rest)] == names[::-1]


def test_open_commands_are_found_by_client(connection: Connection, now: datetime) -> None:
    busy, idle, done = (add_client(connection, now) for _ in range(3))
    name = issue(connection, now, busy)
    say(connection, now, done, issue(connection, now, done), "succeeded")

    found = store.open_by_client(connection, [busy, idle, done])

    assert {client: row["id"] for client, row in found.items()} == {busy: name}


def test_history_is_dropped_by_its_end(connection: Connection, now: datetime, client: str) -> None:
    name = issue(connection, now, client)
    say(connection, now, client, name, "succeeded")
    still_open = issue(connection, now + LOCKOUT, client)

    assert store.drop_history(connection, now) == 0
    assert store.drop_history(connection, now + seconds(1)) == 1

    left = connection.execute(sa.select(client_commands.c.id)).scalars().all()
    assert left == [still_open]


def test_sweeps_read_the_index_of_open_commands_and_not_the_history(connection: Connection, now: datetime) -> None:
    connection.execute(
        sa.text(
            """
            WITH fleet AS (INSERT INTO clients (uuid, registered_by)
                SELECT '00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'), 'enrolment'
                FROM generate_series(1, 20000) AS n RETURNING uuid)
            INSERT INTO client_commands
                (id, client_uuid, action, state, source, requested_by, created_at, expires_at)
            SELECT uuid, uuid, 'restart_app', CASE WHEN uuid LIKE '%00' THEN 'sent' ELSE 'succeeded' END,
                'operator', 'x', now(), now() + interval '1 minute' FROM fleet
            """
        )
    )
    connection.execute(sa.text("ANALYZE client_commands"))
    ran: list[tuple[str, Any]] = []

    def write_down(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        ran.append((statement, parameters))

    sa.event.listen(connection, "before_cursor_execute", write_down)

    store.clients_overdue(connection, now)
    store.count_open(connection, "recovery")
    store.expire(connection, now)
    claim(connection, now, limit=5)

    sa.event.remove(connection, "before_cursor_execute", write_down)

    assert len(ran) == 4
    for text, values in ran:
        plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {text}", values).scalars())
        assert "uq_client_commands_open" in plan, plan
        assert "Seq Scan on client_commands" not in plan, plan
