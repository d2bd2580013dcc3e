"""Other work is done while the server works, and never in place of its answer."""

import itertools
import time
from functools import partial

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.postgres import prepared
from shared.postgres.ahead import Later, in_turn
from shared.postgres.door import transaction
from tests.stores.prepared_world import add, echo, raw, word_of


def test_other_work_is_done_while_the_server_works_and_not_after_it_has_answered(
    with_things: Engine, engine: Engine
) -> None:
    done: list[int] = []
    lock = sa.text("SELECT pg_advisory_xact_lock(:number)")
    with engine.connect() as other:
        other.execute(lock, {"number": 38})

        def work() -> bool:
            """The server works for as long as `other` has the lock, which this lets go in the end."""
            done.append(1)
            if len(done) == 20:
                other.rollback()
            return True

        with transaction(with_things) as connection, prepared.meanwhile(connection, work):
            connection.execute(lock, {"number": 38})
            count = len(done)
            time.sleep(0.02)
            assert len(done) == count >= 20
    with transaction(with_things) as connection:
        echo(connection, 1)
        assert raw(connection).meanwhile is None


def test_work_that_has_come_to_its_end_is_not_asked_again_for_that_statement(with_things: Engine) -> None:
    asked: list[int] = []

    def work() -> bool:
        asked.append(1)
        return False

    with transaction(with_things) as connection, prepared.meanwhile(connection, work):
        for times in (1, 2):
            connection.execute(sa.text("SELECT pg_sleep(CAST(:seconds AS float8))"), {"seconds": 0.05})
            assert asked == [1] * times
        add(connection, 1)
    with transaction(with_things) as connection:
        assert word_of(connection, 1) == "one"


def test_work_that_fails_costs_the_connection_and_never_gives_one_statement_the_answer_of_another(
    with_things: Engine,
) -> None:
    def work() -> bool:
        raise RuntimeError("a fault of ours")

    def half_way() -> None:
        with transaction(with_things) as connection:
            add(connection, 1)
            with prepared.meanwhile(connection, work):
                connection.execute(sa.text("SELECT pg_sleep(CAST(:seconds AS float8))"), {"seconds": 0.2})

    with pytest.raises(RuntimeError):
        half_way()
    for number in range(3):
        with transaction(with_things) as connection:
            assert echo(connection, number) == number
            assert word_of(connection, 1) is None


def test_work_within_other_work_comes_first_and_is_done_once(with_things: Engine) -> None:
    done: list[str] = []
    ours = [Later(partial(done.append, "first")), Later(partial(done.append, "second"))]

    def other() -> bool:
        done.append("other")
        return len(done) < 5

    with (
        transaction(with_things) as connection,
        prepared.meanwhile(connection, other),
        prepared.meanwhile(connection, in_turn(*ours)),
    ):
        connection.execute(sa.text("SELECT pg_sleep(CAST(:seconds AS float8))"), {"seconds": 0.1})

    assert done == ["first", "second", "other", "other", "other"]


def test_what_fails_ahead_of_its_time_is_told_to_who_asks_for_it_and_costs_no_connection(with_things: Engine) -> None:
    def make() -> int:
        raise ValueError("no number")

    later = Later(make)
    with transaction(with_things) as connection, prepared.meanwhile(connection, in_turn(later)):
        connection.execute(sa.text("SELECT pg_sleep(CAST(:seconds AS float8))"), {"seconds": 0.1})
        assert not later.make_now()
        with pytest.raises(ValueError, match="no number"):
            later()
        assert echo(connection, 1) == 1


def test_what_nobody_had_time_for_is_made_when_it_is_asked_for() -> None:
    numbers = itertools.count(1)
    later = Later(partial(next, numbers))

    assert (later(), later(), next(numbers)) == (1, 1, 2)
