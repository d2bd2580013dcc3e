"""How a Query runs: its errors, its transaction, its values, and which features of SQLAlchemy it excludes."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pg8000.dbapi
import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, ProgrammingError

from shared.postgres.door import engine_for, is_away, reading, sqlstate, transaction
from shared.postgres.query import NO_ROW, Query, among, one_of, written
from shared.tables import client_logs, clients

ECHO = Query("SELECT CAST(:word AS text), CAST(:number AS int)", tuple)
DIVIDE = Query("SELECT 7 / CAST(:divisor AS int)", int)
ADD = Query("INSERT INTO clients (uuid, registered_by) VALUES (:uuid, 'enrolment') RETURNING uuid", str)
RENAME = Query("UPDATE clients SET name = :name WHERE uuid = :uuid", NO_ROW)
BACKEND = Query("SELECT pg_backend_pid()", int)
UUID = "00000000-0000-4000-8000-0000000000aa"


@pytest.fixture
def alone(database_url: str) -> Iterator[Engine]:
    """An engine with one connection, so that the next user gets the same one."""
    engine = engine_for(database_url, "tests", pool_size=1)
    yield engine
    with transaction(engine) as connection:
        connection.execute(sa.delete(clients).where(clients.c.uuid == UUID))
    engine.dispose()


def known(connection: Connection) -> bool:
    return bool(connection.execute(sa.select(sa.exists().where(clients.c.uuid == UUID))).scalar_one())


def test_a_statement_that_answers_no_rows_is_run(alone: Engine) -> None:
    with transaction(alone) as connection:
        ADD.one(connection, uuid=UUID)
        assert RENAME.run(connection, name="one", uuid=UUID) == 1

        assert connection.execute(sa.select(clients.c.name).where(clients.c.uuid == UUID)).scalar_one() == "one"


def test_a_list_of_texts_is_one_parameter_and_values_of_the_code_are_spelt_out(alone: Engine) -> None:
    said = sa.values(sa.column("word", sa.Text), sa.column("kind", sa.Text), name="said")
    strange = "ä'\"\n%"
    given = said.data([(strange, "a"), ("x", "b"), ("y", "c"), ("z", "a")])
    chosen = sa.select(given).where(one_of(given.c.word, "words"), among(given.c.kind, ("a", "b")))

    with reading(alone) as connection:
        found = Query(lambda: chosen, tuple).all(connection, words=[strange, "x", "y", "{}"])

    assert found == [(strange, "a"), ("x", "b")]


def test_it_is_part_of_its_transaction(alone: Engine) -> None:
    with transaction(alone) as connection:
        assert ADD.one(connection, uuid=UUID) == UUID
        assert known(connection)
        connection.rollback()

    with transaction(alone) as connection:
        assert not known(connection)
        ADD.one(connection, uuid=UUID)
    with transaction(alone) as connection:
        assert known(connection)


def test_where_nobody_began_a_transaction_it_ends_with_the_connection(alone: Engine) -> None:
    with alone.connect() as connection:
        ADD.one(connection, uuid=UUID)
        assert connection.in_transaction()

    with transaction(alone) as connection:
        assert not known(connection)


def test_an_error_is_what_it_always_was_and_the_connection_goes_on(alone: Engine) -> None:
    with pytest.raises(ProgrammingError) as divided, transaction(alone) as connection:
        DIVIDE.one(connection, divisor=0)
    assert sqlstate(divided.value) == "22012"
    assert not is_away(divided.value)

    with transaction(alone) as connection:
        ADD.one(connection, uuid=UUID)
        with pytest.raises(IntegrityError), connection.begin_nested():
            ADD.one(connection, uuid=UUID)
        assert DIVIDE.one(connection, divisor=7) == 1
        assert known(connection)


def test_a_text_that_cannot_be_sent_costs_the_connection_and_nothing_else(alone: Engine) -> None:
    with reading(alone) as connection:
        before = BACKEND.one(connection)
        with pytest.raises(UnicodeEncodeError):
            ECHO.one(connection, word="\ud800", number=1)
        assert connection.invalidated

    with reading(alone) as connection:
        assert BACKEND.one(connection) != before
        assert ECHO.one(connection, word="next 100 % \u2028", number=1) == ("next 100 % \u2028", 1)


def test_a_server_that_ends_the_connection_is_away(alone: Engine, engine: Engine) -> None:
    with reading(alone) as connection:
        pid = BACKEND.one(connection)
        with transaction(engine) as other:
            other.execute(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})
        with pytest.raises(DBAPIError) as ended:
            DIVIDE.one(connection, divisor=1)
    assert is_away(ended.value)
    assert isinstance(ended.value, OperationalError | sa.exc.InterfaceError | ProgrammingError)
    assert isinstance(ended.value.orig, OSError | pg8000.dbapi.Error)


def test_what_is_given_once_is_no_parameter() -> None:
    statement = written(sa.select(clients.c.uuid).where(clients.c.site == "Kiel", clients.c.name == sa.bindparam("n")))

    assert statement.arguments({"n": "x"}) == ("Kiel", "x")


class Shouted(sa.TypeDecorator[str]):
    """A type whose values SQLAlchemy converts."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, text: str | None, _dialect: Any) -> str | None:
        return None if text is None else text.upper()


REFUSED: dict[str, tuple[sa.Select[Any], str]] = {
    "a list that is written out for each run": (
        sa.select(client_logs.c.id).where(client_logs.c.level.in_(sa.bindparam("levels", expanding=True))),
        "spell its values out",
    ),
    "a value that is changed": (sa.select(sa.bindparam("word", type_=Shouted())), "changes word"),
}


@pytest.mark.parametrize(("statement", "told"), REFUSED.values(), ids=REFUSED)
def test_what_sqlalchemy_would_do_at_each_run_is_refused_in_words(statement: sa.Select[Any], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        written(statement)


def test_times_are_as_sqlalchemy_reads_them(alone: Engine) -> None:
    moment = datetime(2026, 3, 1, 12, 0, 0, 1234, tzinfo=UTC)
    asked = Query(lambda: sa.select(sa.bindparam("moment", type_=sa.DateTime(timezone=True))), datetime)

    with reading(alone) as connection:
        assert asked.one(connection, moment=moment) == moment
