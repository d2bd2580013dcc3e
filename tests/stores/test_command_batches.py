"""Batches of commands on real Postgres: an outcome for each client, and waves that pause by themselves."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from deploy.parts.probes import wait_until
from extensions.batches import operations, rules, store
from extensions.batches.operations import advance
from extensions.batches.rules import BatchRequest, BatchStep
from shared.commands import operations as commands
from shared.commands import store as commands_store
from shared.errors import CommandBatchNotFound, CommandBatchOver, NoClients, TooManyClients
from shared.postgres.door import database_now
from shared.tables import client_commands, clients
from shared.vocabulary import CommandAction, MemberOutcome, PublishAnswer
from shared.words.sentences import given, to_row
from tests.stores.command_faults import Crash, Database, Died
from tests.stores.commands_world import (
    LOCKOUT,
    NOWHERE,
    REBOOT,
    RESTART,
    SHUTDOWN,
    TIMINGS,
    add_client,
    done,
    issue,
    lockout,
    new_client,
    publish,
    say,
    seconds,
)
from tests.stores.test_commands_races import at_once

pytestmark = pytest.mark.usefixtures("makers")


def asked(action: CommandAction = RESTART, **more: Any) -> BatchRequest:
    return BatchRequest(action, **{"requested_by": "user:anna", "reason": "new playlist", **more})


def made(connection: Connection, now: datetime, uuids: Sequence[str], **more: Any) -> str:
    return operations.create(connection, now, asked(**more), uuids).id


def turns(connection: Connection, now: datetime, batch: str) -> list[str]:
    """Run the batch's turns until it waits, pauses or ends."""
    taken: list[str] = []
    while not taken or taken[-1] in {BatchStep.SEND, BatchStep.NEXT_WAVE}:
        taken.append(advance(connection, now, batch, TIMINGS)[0])
    return [turn for turn in taken if turn != BatchStep.SEND]


def outcomes(connection: Connection, batch: str) -> dict[str, str]:
    return {row.uuid: row.outcome for row in store.members(connection, batch, 10_000)}


def ended(connection: Connection, now: datetime, client: str, name: str, word: str) -> None:
    """End the command with this state; a success is proven."""
    if word == "succeeded":
        done(connection, now, client, name)
    else:
        say(connection, now, client, name, word)


def end(connection: Connection, now: datetime, batch: str, word: str) -> int:
    """End every open command of the batch with this state. Returns how many."""
    rows = [row for row in store.members(connection, batch, 10_000) if row.command_finished_at is None]
    sent = [(row.uuid, row.command_id) for row in rows if row.command_id is not None]
    for client, name in sent:
        ended(connection, now, client, name, word)
    return len(sent)


@pytest.fixture
def fleet(connection: Connection, now: datetime) -> list[str]:
    return [add_client(connection, now) for _ in range(20)]


# --- outcomes ---


def test_each_client_has_an_outcome_of_its_own_in_the_order_asked_for(connection: Connection, now: datetime) -> None:
    fine, busy, locked, limited, deleted = (add_client(connection, now) for _ in range(5))
    issue(connection, now, busy)
    done(connection, now, locked, issue(connection, now, locked))
    connection.execute(sa.update(clients).where(clients.c.uuid == limited).values(capabilities=["reboot_host"]))
    connection.execute(sa.update(clients).where(clients.c.uuid == deleted).values(deleted_at=now))

    batch = made(connection, now, [limited, fine, NOWHERE, busy, fine, deleted, locked])
    assert turns(connection, now, batch) == [BatchStep.WAIT]

    rows = store.members(connection, batch, 100)
    assert [(row.uuid, row.outcome) for row in rows] == [
        (limited, "not_capable"),
        (fine, "accepted"),
        (NOWHERE, "unknown_client"),
        (busy, "command_in_flight"),
        (deleted, "unknown_client"),
        (locked, "locked_out"),
    ]
    assert {row.uuid: row.lockout_until for row in rows if row.lockout_until} == {locked: now + LOCKOUT}
    assert lockout(connection, fine) == now + LOCKOUT
    command = connection.execute(sa.select(client_commands).where(client_commands.c.client_uuid == fine)).mappings()
    [row] = command
    assert (row["source"], row["reason"], row["requested_by"]) == ("bulk", to_row(given("new playlist")), "user:anna")
    assert (row["if_boot_id"], row["expires_at"]) == ("boot-1", now + seconds(60))


def test_two_thousand_clients_take_a_few_statements_for_each_five_hundred(
    connection: Connection, now: datetime
) -> None:
    connection.execute(
        sa.text(
            "INSERT INTO clients (uuid, registered_by) SELECT '00000000-0000-4000-9000-' || lpad(n::text, 12, '0'),"
            " 'enrolment' FROM generate_series(1, 2000) AS n"
        )
    )
    uuids = [f"00000000-0000-4000-9000-{number:012}" for number in range(1, 2_001)]
    ran: list[str] = []

    def write_down(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        ran.append(statement)

    sa.event.listen(connection, "before_cursor_execute", write_down)
    batch = made(connection, now, uuids)
    assert len(ran) <= 4
    assert turns(connection, now, batch) == [BatchStep.WAIT]
    sa.event.remove(connection, "before_cursor_execute", write_down)

    assert len(ran) <= 4 * 9 + 2  # four parts with nine statements each, and a last query that finds nothing
    assert Counter(outcomes(connection, batch).values()) == {"accepted": 2_000}


@pytest.mark.parametrize(
    ("uuids", "error"), [([], NoClients), ([NOWHERE[:-5] + f"{n:05}" for n in range(10_001)], TooManyClients)]
)
def test_nobody_and_too_many_are_refused(
    connection: Connection, now: datetime, uuids: list[str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        operations.create(connection, now, asked(), uuids)


def test_a_preview_says_what_each_would_get_and_stores_nothing(
    connection: Connection, now: datetime, fleet: list[str]
) -> None:
    done(connection, now, fleet[0], issue(connection, now, fleet[0]))

    previewed = operations.preview(connection, now, asked(waves=(1, "50%")), [*fleet, NOWHERE])

    members = [one for one, _ in previewed]
    assert [until for _, until in previewed] == [now + LOCKOUT, *[None] * 20]
    assert [one.outcome for one in members] == ["locked_out", *["accepted"] * 19, "unknown_client"]
    assert [one.wave for one in members] == [3, 1, *[2] * 10, *[3] * 8, None]
    assert store.page(connection, 10, None) == []


# --- waves ---


def test_the_next_wave_comes_when_the_last_one_is_over(connection: Connection, now: datetime, fleet: list[str]) -> None:
    batch = made(connection, now, fleet, waves=(1, "10%", "rest"))

    assert turns(connection, now, batch) == [BatchStep.WAIT]
    assert turns(connection, now, batch) == [BatchStep.WAIT]
    sizes = []
    for _ in range(3):
        sizes.append(end(connection, now, batch, "succeeded"))
        turns(connection, now, batch)

    assert sizes == [1, 2, 17]
    row = operations.find(connection, batch)
    assert (row.state, row.wave, row.finished_at) == ("finished", 3, now)
    assert rules.result(store.counts(connection, batch)) == "succeeded"


def test_a_first_wave_that_fails_stops_the_rest_and_says_so_in_words(
    connection: Connection, now: datetime, fleet: list[str]
) -> None:
    batch = made(connection, now, fleet, waves=(1, "10%", "rest"))
    turns(connection, now, batch)
    end(connection, now, batch, "failed")

    assert turns(connection, now, batch) == [BatchStep.PAUSE]

    row = operations.find(connection, batch)
    assert row.state == "paused"
    assert row.state_reason == rules.too_many_unproven(unproven=1, sent=1, excused=0, limit=10, share=True, waiting=19)
    assert turns(connection, now, batch) == [BatchStep.WAIT]  # a paused batch has no worker
    assert Counter(outcomes(connection, batch).values()) == {"accepted": 1, "waiting": 19}


@pytest.mark.parametrize("ending", ["expired", "timed_out", "rejected", "failed"])
def test_every_way_to_end_unproven_counts(connection: Connection, now: datetime, fleet: list[str], ending: str) -> None:
    batch = made(connection, now, fleet, waves=(1, "rest"))
    turns(connection, now, batch)
    if ending in {"rejected", "failed"}:
        end(connection, now, batch, ending)
    elif ending == "timed_out":
        end(connection, now, batch, "received")
    commands.expire(connection, now + seconds(3600))

    assert turns(connection, now + seconds(3600), batch) == [BatchStep.PAUSE]


def test_what_an_operator_resumes_is_excused_and_new_failures_are_not(
    connection: Connection, now: datetime, fleet: list[str]
) -> None:
    batch = made(connection, now, fleet, waves=(1, 2, "rest"), max_unproven=0)
    turns(connection, now, batch)
    end(connection, now, batch, "failed")
    turns(connection, now, batch)

    row, changed = operations.resume(connection, batch)
    assert (row.state, row.state_reason, row.excused, changed) == ("running", None, 1, True)
    assert turns(connection, now, batch) == [BatchStep.NEXT_WAVE, BatchStep.WAIT]
    end(connection, now, batch, "failed")
    assert turns(connection, now, batch) == [BatchStep.PAUSE]

    assert operations.find(connection, batch).state_reason == rules.too_many_unproven(
        unproven=3, sent=3, excused=1, limit=0, share=False, waiting=17
    )


def test_a_limit_that_is_reached_and_not_exceeded_goes_on(
    connection: Connection, now: datetime, fleet: list[str]
) -> None:
    batch = made(connection, now, fleet, waves=(4, "rest"), max_unproven="25%")
    turns(connection, now, batch)
    rows = [row for row in store.members(connection, batch, 100) if row.command_id]
    for number, row in enumerate(rows):
        ended(connection, now, row.uuid, str(row.command_id), "succeeded" if number else "failed")

    assert turns(connection, now, batch) == [BatchStep.NEXT_WAVE, BatchStep.WAIT]


def test_a_wave_that_nobody_could_be_sent_proves_nothing_and_waits_for_a_person(
    connection: Connection, now: datetime, fleet: list[str]
) -> None:
    batch = made(connection, now, fleet, waves=(1, "rest"))
    issue(connection, now, fleet[0])  # another worker was faster

    assert turns(connection, now, batch) == [BatchStep.PAUSE]
    assert operations.find(connection, batch).state_reason == rules.wave_proves_nothing(wave=1)
    operations.resume(connection, batch)
    assert turns(connection, now, batch) == [BatchStep.NEXT_WAVE, BatchStep.WAIT]


def test_a_client_gone_locked_or_busy_when_its_wave_comes_has_its_own_outcome(
    connection: Connection, now: datetime, fleet: list[str]
) -> None:
    canary, gone, locked, busy, limited, fine = fleet[:6]
    batch = made(connection, now, fleet[:6], waves=(1, "rest"))
    turns(connection, now, batch)
    connection.execute(sa.update(clients).where(clients.c.uuid == gone).values(deleted_at=now))
    connection.execute(sa.update(clients).where(clients.c.uuid == limited).values(capabilities=[]))
    done(connection, now, locked, issue(connection, now, locked))
    issue(connection, now, busy, SHUTDOWN)
    end(connection, now, batch, "succeeded")

    turns(connection, now, batch)

    assert outcomes(connection, batch) == {
        canary: "accepted",
        gone: "unknown_client",
        locked: "locked_out",
        busy: "command_in_flight",
        limited: "not_capable",
        fine: "accepted",
    }


def test_a_batch_of_which_a_part_succeeded_is_partial(connection: Connection, now: datetime, fleet: list[str]) -> None:
    batch = made(connection, now, [*fleet, NOWHERE])
    turns(connection, now, batch)
    assert rules.result(store.counts(connection, batch)) is None
    end(connection, now, batch, "succeeded")

    assert turns(connection, now, batch) == [BatchStep.FINISH]

    assert rules.result(store.counts(connection, batch)) == "partial"  # one of them is no client


# --- paused and aborted by a person ---


def test_a_paused_batch_sends_nothing_and_goes_on_where_it_was(
    connection: Connection, now: datetime, fleet: list[str]
) -> None:
    batch = made(connection, now, fleet, waves=(1, "rest"))
    turns(connection, now, batch)

    row, changed = operations.pause(connection, batch, "user:bert")
    assert (row.state, row.state_reason, changed) == ("paused", rules.batch_paused(by="user:bert"), True)
    assert operations.pause(connection, batch, "user:carl")[1] is False
    end(connection, now, batch, "succeeded")
    assert turns(connection, now, batch) == [BatchStep.WAIT]
    operations.resume(connection, batch)

    assert turns(connection, now, batch) == [BatchStep.NEXT_WAVE, BatchStep.WAIT]
    assert operations.resume(connection, batch)[1] is False


def test_aborting_withdraws_what_provably_nobody_has_and_leaves_the_rest_to_its_end(
    connection: Connection, now: datetime, fleet: list[str]
) -> None:
    batch = made(connection, now, fleet[:4], action=REBOOT, waves=(3, "rest"))
    turns(connection, now, batch)
    sent, unheard, fresh, later = fleet[:4]
    names = {row.uuid: str(row.command_id) for row in store.members(connection, batch, 10)}
    publish(connection, now, names[sent], PublishAnswer.SUCCESS)
    publish(connection, now, names[unheard], PublishAnswer.NO_SUBSCRIBER)

    row, numbers = operations.abort(connection, now, batch, "user:bert")

    assert numbers == {"not_sent": 1, "cancelled": 2}
    assert (row.state, row.state_reason, row.finished_at) == (
        "aborted",
        rules.batch_aborted(by="user:bert", not_sent=1, withdrawn=2),
        now,
    )
    states = {row.uuid: row.command_state for row in store.members(connection, batch, 10)}
    assert states == {sent: "sent", unheard: "cancelled", fresh: "cancelled", later: None}
    assert outcomes(connection, batch)[later] == "aborted"
    assert [lockout(connection, one) is None for one in (sent, unheard, fresh)] == [False, True, True]
    assert operations.abort(connection, now, batch, "user:carl")[1] == {}
    for late in (partial(operations.pause, by="x"), operations.resume):
        with pytest.raises(CommandBatchOver):
            late(connection, batch)
    end(connection, now, batch, "failed")
    assert rules.result(store.counts(connection, batch)) == "failed"


def test_what_is_no_batch_cannot_be_paused_resumed_or_aborted(connection: Connection, now: datetime) -> None:
    with pytest.raises(CommandBatchNotFound):
        operations.pause(connection, NOWHERE, "anna")
    with pytest.raises(CommandBatchNotFound):
        operations.resume(connection, NOWHERE)
    with pytest.raises(CommandBatchNotFound):
        operations.abort(connection, now, NOWHERE, "anna")


def test_old_batches_are_forgotten_with_their_members_and_their_commands_after_them(
    connection: Connection, now: datetime, fleet: list[str]
) -> None:
    old, paused = made(connection, now, fleet[:2]), made(connection, now, fleet[2:4], waves=(1, "rest"))
    for batch in (old, paused):
        turns(connection, now, batch)
        end(connection, now, batch, "succeeded")
    turns(connection, now, old)
    operations.pause(connection, paused, "anna")

    assert store.drop_history(connection, now + seconds(1)) == 1
    assert commands_of(connection, fleet) == 3
    commands_store.drop_history(connection, now + seconds(1))

    assert commands_of(connection, fleet) == 0
    assert [row.command_id for row in store.members(connection, paused, 10)] == [None, None]


def commands_of(connection: Connection, uuids: Sequence[str]) -> int:
    query = sa.select(sa.func.count()).where(client_commands.c.client_uuid.in_(uuids))
    return int(connection.execute(query).scalar_one())


# --- concurrent and interrupted ---


@pytest.fixture
def real_fleet(engine: Engine) -> list[str]:
    """Committed clients."""
    return [new_client(engine) for _ in range(30)]


def committed_batch(engine: Engine, uuids: Sequence[str], **more: Any) -> str:
    with engine.begin() as connection:
        return made(connection, database_now(connection), uuids, **more)


def test_six_that_work_off_one_batch_at_once_send_each_client_one_command(
    engine: Engine, real_fleet: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "AT_ONCE", 4)
    batch = committed_batch(engine, real_fleet)

    reports = at_once([partial(operations.work_off, engine, TIMINGS, 10.0, [batch])] * 6)

    with engine.connect() as connection:
        assert commands_of(connection, real_fleet) == 30
        assert Counter(outcomes(connection, batch).values()) == {"accepted": 30}
    assert sum(report.sent for report in reports) == 30


def test_two_batches_for_the_same_clients_at_once_give_each_client_one_command(
    engine: Engine, real_fleet: list[str]
) -> None:
    batches = [committed_batch(engine, order) for order in (real_fleet, real_fleet[::-1])]

    at_once([partial(operations.work_off, engine, TIMINGS, 10.0, [batch]) for batch in batches])

    with engine.connect() as connection:
        said = Counter(outcome for batch in batches for outcome in outcomes(connection, batch).values())
        assert commands_of(connection, real_fleet) == 30
    assert said == {"accepted": 30, "command_in_flight": 30}


OTHERS_IN_A_TRANSACTION = sa.text(
    """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
        AND xact_start IS NOT NULL
    """
)


def nobody_is_in_a_transaction(engine: Engine) -> bool:
    """Whether Postgres has noticed that every killed connection is gone; until then it keeps their locks.

    Each call uses a new transaction, because pg_stat_activity does not change within one.
    """
    with engine.connect() as connection:
        return not connection.execute(OTHERS_IN_A_TRANSACTION).scalar_one()


@pytest.mark.parametrize("crash", [*(Crash(number) for number in range(9)), Crash(committed=True)], ids=str)
def test_one_that_dies_half_way_has_sent_its_whole_part_or_nothing(
    engine: Engine, crash: Crash, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "AT_ONCE", 2)
    uuids = [new_client(engine) for _ in range(6)]
    batch = committed_batch(engine, uuids)
    database = Database(engine)

    def turn(connection: Connection) -> tuple[BatchStep, int]:
        return advance(connection, database_now(connection), batch, TIMINGS)

    with pytest.raises(Died):
        database.run(turn, crash)
    database.close()
    with engine.connect() as connection:
        assert commands_of(connection, uuids) == (2 if crash.committed else 0)
        assert Counter(outcomes(connection, batch).values())[MemberOutcome.ACCEPTED] == (2 if crash.committed else 0)
    wait_until(partial(nobody_is_in_a_transaction, engine), 60)

    operations.work_off(engine, TIMINGS, 10.0, [batch])

    with engine.connect() as connection:
        assert commands_of(connection, uuids) == 6
        assert Counter(outcomes(connection, batch).values()) == {"accepted": 6}


def test_abort_against_those_who_work_it_off_leaves_nobody_waiting(
    engine: Engine, real_fleet: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "AT_ONCE", 3)
    batch = committed_batch(engine, real_fleet)

    def abort() -> None:
        with engine.begin() as connection:
            operations.abort(connection, database_now(connection), batch, "anna")

    jobs: list[Callable[[], object]] = [partial(operations.work_off, engine, TIMINGS, 10.0, [batch]), abort, abort]
    at_once(jobs)

    with engine.connect() as connection:
        rows = store.members(connection, batch, 100)
        said = Counter((row.outcome, row.command_state) for row in rows)
    assert set(said) <= {("accepted", "cancelled"), ("aborted", None)}
    assert said.total() == 30


def test_a_batch_that_the_database_refuses_holds_up_no_other_and_is_tried_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleets = [[new_client(engine) for _ in range(3)] for _ in range(2)]
    refused, fine = (committed_batch(engine, fleet) for fleet in fleets)
    decide = store.decide

    def broken(connection: Connection, now: datetime, batch_id: str, outcomes: Any) -> None:
        if batch_id == refused:
            raise sa.exc.OperationalError("", {}, Exception("gone"))
        decide(connection, now, batch_id, outcomes)

    with monkeypatch.context() as patched:
        patched.setattr(store, "decide", broken)
        operations.work_off(engine, TIMINGS, 10.0)
    with engine.connect() as connection:
        assert [commands_of(connection, fleet) for fleet in fleets] == [0, 3]
    operations.work_off(engine, TIMINGS, 10.0)

    with engine.connect() as connection:
        for batch in (refused, fine):
            assert set(outcomes(connection, batch).values()) == {"accepted"}
