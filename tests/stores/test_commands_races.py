"""Commands under real concurrency: threads with their own connections to a real Postgres."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.commands import operations
from shared.commands.acks.operations import record_acks
from shared.commands.outbox import operations as outbox
from shared.commands.rules import Ack, Attempt, Claimed
from shared.errors import CommandInFlight, CommandLockedOut, ServiceError
from shared.postgres.door import database_now
from shared.tables import client_commands, clients
from shared.vocabulary import CommandAction, CommandState, PublishAnswer
from tests.stores.commands_world import TIMINGS, committed, issued, lockout, new_client, request, seconds

T = TypeVar("T")


def at_once(jobs: Sequence[Callable[[], T]]) -> list[T]:
    """Run all jobs in threads that start together. Returns their results in order."""
    gate = threading.Barrier(len(jobs))

    def run(job: Callable[[], T]) -> T:
        gate.wait(timeout=60)
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result(timeout=60) for future in [pool.submit(run, job) for job in jobs]]


def outcome_of(engine: Engine, **wanted: Any) -> str:
    """Issue a command. Returns its id, or the code of the refusal."""
    try:
        return issued(engine, request(**wanted))
    except ServiceError as refusal:
        return refusal.code


@pytest.mark.parametrize("attempt", range(5))
@pytest.mark.parametrize("action", [CommandAction.RESTART_APP, CommandAction.SHUTDOWN_HOST])
def test_of_eight_senders_at_once_exactly_one_is_accepted(engine: Engine, action: CommandAction, attempt: int) -> None:
    client = new_client(engine)

    outcomes = at_once([partial(outcome_of, engine, client_uuid=client, action=action)] * 8)

    refusals = [outcome for outcome in outcomes if not outcome.count("-")]
    assert refusals == ["command_in_flight"] * 7
    with engine.connect() as connection:
        count = sa.select(sa.func.count()).where(client_commands.c.client_uuid == client)
        assert connection.execute(count).scalar_one() == 1


def test_a_restart_and_a_reboot_at_once_cannot_both_raise_the_lockout(engine: Engine) -> None:
    for _ in range(10):
        client = new_client(engine)
        actions = [CommandAction.RESTART_APP, CommandAction.REBOOT_HOST] * 2

        outcomes = at_once([partial(outcome_of, engine, client_uuid=client, action=action) for action in actions])

        accepted = [outcome for outcome in outcomes if "-" in outcome]
        assert len(accepted) == 1
        with engine.connect() as connection:
            holder = sa.select(clients.c.lockout_command_id).where(clients.c.uuid == client)
            assert connection.execute(holder).scalar_one() == accepted[0]


def claim_all(engine: Engine, ids: Sequence[str]) -> list[Claimed]:
    """Claim batch after batch as one publisher, until nothing is due."""
    mine: list[Claimed] = []
    while True:
        with engine.begin() as connection:
            batch = outbox.claim_due(connection, database_now(connection), only_ids=ids, limit=7)
        if not batch:
            return mine
        mine += batch


def test_six_overlapping_publishers_claim_200_commands_once_each(engine: Engine) -> None:
    ids = [issued(engine, request(new_client(engine))) for _ in range(200)]

    claims = at_once([partial(claim_all, engine, ids)] * 6)

    claimed = [one.id for mine in claims for one in mine]
    assert len(claimed) == 200
    assert set(claimed) == set(ids)


def record(engine: Engine, ack: Ack) -> None:
    with engine.begin() as connection:
        record_acks(connection, database_now(connection), [ack], TIMINGS)


def record_sent(engine: Engine, claimed: Claimed) -> None:
    attempt = Attempt(claimed.id, claimed.lease_until, claimed.attempts, PublishAnswer.SUCCESS, may_have_left=True)
    with engine.begin() as connection:
        outbox.record_publish_answers(connection, database_now(connection), [attempt], TIMINGS)


@pytest.mark.parametrize("attempt", range(10))
def test_answers_in_any_concurrent_order_end_in_succeeded(engine: Engine, attempt: int) -> None:
    client = new_client(engine, boot=None, start=None)
    name = issued(engine, request(client))
    [claimed] = claim_all(engine, [name])
    said = [CommandState.RECEIVED, CommandState.RUNNING, CommandState.SUCCEEDED, CommandState.SUCCEEDED]
    acks: list[Callable[[], None]] = [partial(record, engine, Ack(client, name, state)) for state in said]
    sent: Callable[[], None] = partial(record_sent, engine, claimed)

    at_once([*acks, sent])

    row = committed(engine, name)
    assert row["state"] == CommandState.SUCCEEDED
    assert row["confirmed_by"] == "ack"
    assert row["sent_at"] is not None


@pytest.mark.parametrize("attempt", range(10))
def test_an_ack_against_two_sweeps_at_the_deadline_is_never_overwritten(engine: Engine, attempt: int) -> None:
    client = new_client(engine, boot=None, start=None)
    name = issued(engine, request(client))
    record(engine, Ack(client, name, CommandState.RECEIVED))
    after = committed(engine, name)["result_deadline"] + seconds(1)

    def sweep() -> None:
        with engine.begin() as connection:
            operations.expire(connection, after)

    ack: Callable[[], None] = partial(record, engine, Ack(client, name, CommandState.SUCCEEDED))

    at_once([sweep, ack, sweep])

    row = committed(engine, name)
    won = (row["state"], row["late_state"], row["outcome_reason"])
    assert won in {("succeeded", None, None), ("timed_out", "succeeded", "no_result")}


@pytest.mark.parametrize("attempt", range(5))
def test_a_wave_of_commands_acks_and_sweeps_waits_in_no_ring(engine: Engine, attempt: int) -> None:
    fleet = [new_client(engine) for _ in range(12)]
    by_client = {client: issued(engine, request(client)) for client in fleet}

    def acks(order: Sequence[str], state: CommandState) -> None:
        batch = [Ack(client, by_client[client], state) for client in order]
        with engine.begin() as connection:
            record_acks(connection, database_now(connection), batch, TIMINGS)

    def again(client: str) -> None:
        with contextlib.suppress(CommandInFlight):
            issued(engine, request(client, override_lockout=True))

    def sweep() -> None:
        with engine.begin() as connection:
            operations.expire(connection, database_now(connection))

    jobs: list[Callable[[], None]] = [
        partial(acks, fleet, CommandState.RECEIVED),
        partial(acks, fleet[::-1], CommandState.RUNNING),
        partial(acks, fleet[3:] + fleet[:3], CommandState.FAILED),
        sweep,
        *[partial(again, client) for client in fleet[:4]],
    ]
    at_once(jobs)

    assert {committed(engine, name)["state"] for name in by_client.values()} == {"failed"}


def test_the_lockout_of_the_loser_of_two_requests_is_not_raised(engine: Engine) -> None:
    client = new_client(engine)
    first = issued(engine, request(client, CommandAction.SHUTDOWN_HOST))

    with pytest.raises(CommandInFlight):
        issued(engine, request(client))

    assert committed(engine, first)["state"] == "queued"
    with engine.connect() as connection:
        assert lockout(connection, client) is None


def test_a_locked_client_is_refused_by_name(engine: Engine) -> None:
    client = new_client(engine, boot=None, start=None)
    name = issued(engine, request(client))

    record(engine, Ack(client, name, CommandState.SUCCEEDED))
    with pytest.raises(CommandLockedOut) as refusal:
        issued(engine, request(client, CommandAction.REBOOT_HOST))

    with engine.connect() as connection:
        assert refusal.value.extras["lockout_until"] == lockout(connection, client)
