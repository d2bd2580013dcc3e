"""Prepared statements: one round trip each, and a consistent state after any fault."""

import io
import socket
from collections.abc import Callable, Iterator

import pg8000
import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError

from shared.postgres import driver
from shared.postgres.door import engine_for, reading, sqlstate, transaction
from tests.stores.driver_world import add, counting, echo, kept_by_the_server, raw, session, word_of


@pytest.fixture
def other(database_url: str) -> Iterator[Engine]:
    """Another connection, which migrates."""
    engine = engine_for(database_url, "other", pool_size=1)
    yield engine
    engine.dispose()


# --- round trips ---


def test_a_statement_that_came_before_takes_one_round_trip(
    with_things: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction(with_things) as connection:
        echo(connection, 0)
    trips = counting(monkeypatch)

    taken = []
    with transaction(with_things) as connection:
        for number in range(3):
            assert echo(connection, number) == number
            taken.append(len(trips))

    assert taken == [3, 4, 5]  # BEGIN and the preparation take one each, once
    assert len(trips) == 6  # and so does the commit


def test_each_statement_of_a_read_is_one_round_trip_from_its_third_time_on(
    with_things: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with reading(with_things) as connection:
        echo(connection, 0)
        echo(connection, 0)
    trips = counting(monkeypatch)

    with reading(with_things) as connection:
        assert [echo(connection, number) for number in (1, 2, 3)] == [1, 2, 3]
        assert connection.execute(sa.text("SELECT 7")).scalar_one() == 7

    assert len(trips) == 4


def test_an_empty_transaction_asks_nothing(with_things: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    trips = counting(monkeypatch)

    with transaction(with_things):
        pass

    assert trips == []


def test_a_connection_that_was_idle_for_long_is_asked_before_it_is_used(
    with_things: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction(with_things) as connection:
        raw(connection).used_at -= driver.TRUSTED_FOR_SECONDS + 1
        made = raw(connection)
    made.used_at -= driver.TRUSTED_FOR_SECONDS + 1
    trips = counting(monkeypatch)

    with transaction(with_things) as connection:
        assert raw(connection) is made

    assert len(trips) == 1


# --- which statements are kept ---


def test_a_statement_is_prepared_when_it_comes_again_and_only_then(with_things: Engine) -> None:
    with transaction(with_things) as connection:
        echo(connection, 0)
        assert kept_by_the_server(connection) == []
        for number in range(10):
            assert echo(connection, number) == number

        assert len(kept_by_the_server(connection)) == 1


def test_the_oldest_statements_make_room_on_the_server_too(with_things: Engine) -> None:
    with transaction(with_things) as connection:
        for number in range(driver.MOST_KEPT + 20):
            for _ in range(2):
                connection.execute(sa.text(f"SELECT CAST(:value AS int) + {number}"), {"value": 1})

        assert len(kept_by_the_server(connection)) == driver.MOST_KEPT
        assert connection.execute(sa.text("SELECT CAST(:value AS int) + 0"), {"value": 1}).scalar_one() == 1


@pytest.mark.parametrize("comment", ["/* " + "x" * driver.LONGEST_KEPT + " */", driver.FOR_ITS_VALUES])
def test_a_long_text_and_one_that_says_so_are_never_kept(with_things: Engine, comment: str) -> None:
    statement = "SELECT CAST(:value AS int) " + comment
    with transaction(with_things) as connection:
        for _ in range(3):
            assert connection.execute(sa.text(statement), {"value": 1}).scalar_one() == 1

        assert kept_by_the_server(connection) == []


def test_a_kept_statement_with_a_large_value_is_planned_for_it(with_things: Engine) -> None:
    few, many = "{1,2}", "{" + ",".join("1" * 9 for _ in range(1000)) + "}"
    statement = sa.text("SELECT count(*) FROM unnest(CAST(:values AS bigint[]))")
    planned = "SELECT sum(generic_plans + custom_plans) FROM pg_prepared_statements"
    assert len(few) < driver.LARGE < len(many)
    with transaction(with_things) as connection:
        for _ in range(10):
            connection.execute(statement, {"values": few})
        before = connection.exec_driver_sql(planned).scalar_one()

        assert connection.execute(statement, {"values": many}).scalar_one() == 1000
        assert connection.exec_driver_sql(planned).scalar_one() == before
        assert connection.execute(statement, {"values": few}).scalar_one() == 2


def test_behind_a_pooler_nothing_is_kept_and_a_statement_is_still_one_round_trip(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read with two round trips would be two transactions, and each could get another session."""
    engine = engine_for(database_url, "tests", pool_size=1, prepared=False)
    with transaction(engine) as connection:
        echo(connection, 1)
    trips = counting(monkeypatch)

    with reading(engine) as connection:
        assert [echo(connection, number) for number in (1, 2, 3)] == [1, 2, 3]
    assert len(trips) == 3
    with transaction(engine) as connection:
        assert kept_by_the_server(connection) == []
    engine.dispose()


# --- faults ---


def test_a_statement_that_fails_at_its_first_run_is_not_half_kept(with_things: Engine) -> None:
    for _ in range(2):
        with transaction(with_things) as connection:
            add(connection, 1)
            connection.rollback()
        with pytest.raises(IntegrityError) as caught, transaction(with_things) as connection:
            connection.execute(sa.text("INSERT INTO things VALUES (CAST(:id AS int)), (1)"), {"id": 1})
        assert sqlstate(caught.value) == "23505"

    with transaction(with_things) as connection:
        add(connection, 2)
        assert len(kept_by_the_server(connection)) == 1  # the repeated INSERT of `add`


def test_a_statement_that_cannot_be_parsed_leaves_nothing_behind(with_things: Engine) -> None:
    for _ in range(3):
        with pytest.raises(ProgrammingError) as caught, transaction(with_things) as connection:
            connection.execute(sa.text("SELECT nothing FROM things WHERE id = :id"), {"id": 1})
        assert sqlstate(caught.value) == "42703"

    with transaction(with_things) as connection:
        assert echo(connection, 5) == 5
        assert kept_by_the_server(connection) == []


def test_a_savepoint_survives_a_statement_that_fails(with_things: Engine) -> None:
    with transaction(with_things) as connection:
        add(connection, 1)
        with pytest.raises(IntegrityError), connection.begin_nested():
            add(connection, 1)
        add(connection, 2)

    with transaction(with_things) as connection:
        assert [word_of(connection, number) for number in (1, 2, 3)] == ["one", "one", None]


def test_nothing_runs_outside_a_transaction_that_could_not_begin(
    with_things: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(driver, "BEGIN", "SELECT 1 / 0")
        for statement, values in (
            ("INSERT INTO things VALUES (CAST(:id AS int), 'lost')", {"id": 9}),
            ("INSERT INTO things VALUES (9, 'lost')", {}),
        ):
            with pytest.raises(DBAPIError) as caught, transaction(with_things) as connection:
                connection.execute(sa.text(statement), values)
            assert sqlstate(caught.value) == "22012"

    with transaction(with_things) as connection:
        assert word_of(connection, 9) is None


def test_a_text_that_cannot_be_sent_is_refused_before_anything_is_sent(database_url: str) -> None:
    connection = session(database_url)
    cursor = connection.cursor()
    for number in range(3):
        with pytest.raises(UnicodeEncodeError):
            cursor.execute("SELECT CAST(%s AS text)", ("\ud800",))
        assert not connection.in_transaction
        cursor.execute("SELECT CAST(%s AS int)", (number,))
        assert cursor.fetchall() == ([number],)
        connection.rollback()
    connection.close()
    with pytest.raises(pg8000.InterfaceError, match="connection is closed"):
        connection.cursor().execute("SELECT CAST(%s AS int)", (1,))


def retype(engine: Engine, kind: str) -> None:
    with transaction(engine) as connection:
        connection.execute(
            sa.text(f"ALTER TABLE things ALTER COLUMN word TYPE {kind} USING length(word)::text::{kind}")
        )


def forget(engine: Engine) -> Callable[[Engine], None]:
    """A function that runs DISCARD on the connection, as a pooler does between two users."""

    def discard(_other: Engine) -> None:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("DISCARD ALL"))

    return discard


@pytest.mark.parametrize("how", ["migrated", "discarded"])
def test_the_first_statement_is_prepared_again_when_the_server_lost_it(
    with_things: Engine, other: Engine, how: str
) -> None:
    with transaction(with_things) as connection:
        add(connection, 1, "four")
        assert [word_of(connection, 1) for _ in range(2)] == ["four", "four"]
        assert len(kept_by_the_server(connection)) == 1

    if how == "migrated":
        retype(other, "int")
    else:
        forget(with_things)(other)

    with transaction(with_things) as connection:
        assert word_of(connection, 1) == (4 if how == "migrated" else "four")


def write_and_read(engine: Engine) -> None:
    with transaction(engine) as connection:
        connection.execute(sa.text("INSERT INTO things (id) VALUES (2)"))
        word_of(connection, 1)


@pytest.mark.parametrize("how", ["migrated", "discarded"])
def test_later_in_a_transaction_it_is_an_error_that_the_next_try_does_not_meet(
    with_things: Engine, other: Engine, how: str
) -> None:
    with transaction(with_things) as connection:
        add(connection, 1, "four")
        assert [(word_of(connection, 1), echo(connection, 1)) for _ in range(2)] == [("four", 1)] * 2
    if how == "migrated":
        retype(other, "int")
    else:
        forget(with_things)(other)

    with pytest.raises(DBAPIError) as caught:
        write_and_read(with_things)
    assert sqlstate(caught.value) in {"0A000", "26000"}

    with transaction(with_things) as connection:
        connection.execute(sa.text("SELECT 1"))
        assert word_of(connection, 1) == (4 if how == "migrated" else "four")
        assert word_of(connection, 2) is None


@pytest.mark.parametrize("used", [True, False], ids=["a moment ago", "long ago"])
def test_a_connection_that_the_server_ended_is_replaced_before_it_is_used(
    with_things: Engine, other: Engine, used: bool
) -> None:
    with transaction(with_things) as connection:
        ended = raw(connection)
        pid = connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
    if not used:
        ended.used_at -= driver.TRUSTED_FOR_SECONDS + 1
    with transaction(other) as connection:
        assert connection.execute(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid}).scalar_one()

    with transaction(with_things) as connection:
        assert echo(connection, 3) == 3
        assert raw(connection) is not ended


def test_a_connection_that_died_leaves_no_open_file(database_url: str) -> None:
    dead = session(database_url)
    [file] = [each for each in vars(dead).values() if isinstance(each, io.BufferedIOBase)]
    dead._usock.shutdown(socket.SHUT_RDWR)

    for use in (lambda: dead.execute_simple("SELECT 1"), dead.close):
        with pytest.raises((OSError, pg8000.dbapi.InterfaceError)):
            use()

    assert file.closed  # with what could not be sent: Python 3.13 prints it when the file is collected instead
