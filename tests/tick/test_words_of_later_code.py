"""Code of today, put back after later code: a command whose action it does not know is never sent, and ends in time."""

from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy import Engine

from shared.commands.acks.operations import record_acks
from shared.commands.rules import Ack
from shared.postgres.door import database_now
from shared.tables import client_commands, command_batches
from shared.vocabulary import COMMAND_RANKS, TERMINAL_RANK, CommandState
from tests.stores.commands_world import TIMINGS, command
from tests.stores.later_code import ACTION, leave
from tests.tick.conftest import TickFunction
from tests.tick.world import set_last_tick


def test_the_tick_does_every_step_and_sends_nothing_that_it_does_not_know(
    recovering: TickFunction, engine: Engine
) -> None:
    with engine.begin() as connection:
        later = leave(connection, database_now(connection))
    set_last_tick(engine, None)

    assert recovering.tick()["failed"] == []

    with engine.begin() as connection:
        now = database_now(connection)
        waits = later.commands[CommandState.QUEUED]
        assert (command(connection, waits)["state"], command(connection, waits)["publish_attempts"]) == ("queued", 0)
        batch = sa.select(command_batches.c.state).where(command_batches.c.id == later.batch)
        assert connection.execute(batch).scalar_one() == "running"
        heard = Ack(later.clients[CommandState.SENT], later.commands[CommandState.SENT], CommandState.RECEIVED)
        assert record_acks(connection, now, [heard], TIMINGS).moved == {heard.command_id}
        assert command(connection, heard.command_id)["result_deadline"] == now + max(TIMINGS.result.values())
        ours = client_commands.c.action == ACTION
        long_ago = now - timedelta(hours=1)
        overdue = {"created_at": long_ago, "expires_at": now, "result_deadline": now}
        connection.execute(sa.update(client_commands).where(ours).values(**overdue))
    set_last_tick(engine, None)

    assert recovering.tick()["failed"] == []

    with engine.connect() as connection:
        ended = {state: command(connection, name)["state"] for state, name in later.commands.items()}
    is_open = {state for state in CommandState if COMMAND_RANKS[state] < TERMINAL_RANK}
    assert {ended[state] for state in is_open} == {"expired", "timed_out"}
    assert all(ended[state] == state for state in set(CommandState) - is_open)
