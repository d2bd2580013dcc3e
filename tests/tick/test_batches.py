"""The tick carries out the waves of batches, also with concurrent calls."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine

from extensions.batches import operations, store
from extensions.batches.rules import BatchRequest
from shared.commands.acks.operations import record_acks
from shared.commands.rules import Ack
from shared.postgres.door import database_now
from shared.vocabulary import CommandAction, CommandState
from tests.stores.commands_world import TIMINGS, new_client
from tests.tick.conftest import TickFunction
from tests.tick.world import commands_of

pytestmark = pytest.mark.usefixtures("makers")


@pytest.fixture
def fleet(engine: Engine) -> list[str]:
    return [new_client(engine, boot=None, start=None) for _ in range(6)]


def staged(engine: Engine, fleet: Sequence[str]) -> str:
    """A committed batch without any work, as a killed API leaves it."""
    request = BatchRequest(CommandAction.RESTART_APP, "user:anna", "new playlist", waves=(1, 2, "rest"))
    with engine.begin() as connection:
        return operations.create(connection, database_now(connection), request, fleet).id


def sent(engine: Engine, fleet: Sequence[str]) -> int:
    return sum(len(commands_of(engine, client)) for client in fleet)


def finish(engine: Engine, batch: str, word: CommandState) -> None:
    with engine.begin() as connection:
        rows = [row for row in store.members(connection, batch, 100) if row.command_id is not None]
        acks = [Ack(row.uuid, str(row.command_id), word) for row in rows]
        record_acks(connection, database_now(connection), acks, TIMINGS)


def state_of(engine: Engine, batch: str) -> str:
    with engine.connect() as connection:
        return operations.find(connection, batch).state


def test_each_wave_is_sent_by_a_tick_after_the_one_before_is_over(
    expiring: TickFunction, engine: Engine, fleet: list[str]
) -> None:
    batch = staged(engine, fleet)

    counted = []
    for _ in range(3):
        expiring.tick()
        counted.append(sent(engine, fleet))
        assert expiring.tick()["did"]["batches"]["sent"] == 0  # the wave is not over
        finish(engine, batch, CommandState.SUCCEEDED)
    assert counted == [1, 3, 6]
    report = expiring.tick()

    assert (report["failed"], report["did"]["batches"]["finished"]) == ([], 1)
    assert state_of(engine, batch) == "finished"
    assert expiring.tick()["did"]["batches"]["batches"] == 0


def test_overlapping_ticks_send_nobody_a_second_command(
    expiring: TickFunction, engine: Engine, fleet: list[str]
) -> None:
    batch = staged(engine, fleet)

    for word in (CommandState.SUCCEEDED, CommandState.SUCCEEDED, CommandState.SUCCEEDED):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: expiring.call().raise_for_status(), range(4)))
        finish(engine, batch, word)
    expiring.tick()

    assert [len(commands_of(engine, client)) for client in fleet] == [1] * 6
    assert state_of(engine, batch) == "finished"
