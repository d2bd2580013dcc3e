"""Statements that are made once: their rows, their errors, their transactions, their values."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pg8000.dbapi
import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, ProgrammingError

from shared.postgres.door import engine_for, is_away, reading, sqlstate, transaction
from shared.postgres.statements import Constant, among, constant, mappings, one_of, rows, value
from shared.tables import client_logs, clients

ECHO = constant(sa.text("SELECT CAST(:word AS text) AS word, CAST(:number AS int) AS number"))
DIVIDE = constant(sa.text("SELECT 7 / CAST(:divisor AS int) AS seven"))
ADD = constant(sa.text("INSERT INTO clients (uuid, registered_by) VALUES (:uuid, 'enrolment') RETURNING uuid"))
UUID = "00000000-0000-4000-8000-0000000000aa"


@pytest.fixture
def alone(database_url: str) -> Iterator[Engine]:
    """An engine with one connection: whoever comes next gets the same one."""
    engine = engine_for(database_url, "tests", pool_size=1)
    yield engine
    with transaction(engine) as connection:
        connection.execute(sa.delete(clients).where(clients.c.uuid == UUID))
    engine.dispose()


def known(connection: Connection) -> bool:
    return bool(connection.execute(sa.select(sa.exists().where(clients.c.uuid == UUID))).scalar_one())


def test_rows_come_by_place_by_name_and_one_by_one(alone: Engine) -> None:
    with reading(alone) as connection:
        asked = {"word": "100 % \u2028", "number": 7}

        assert rows(connection, ECHO, asked) == [("100 % \u2028", 7)]
        assert mappings(connection, ECHO, asked) == [{"word": "100 % \u2028", "number": 7}]
        assert value(connection, ECHO, asked) == "100 % \u2028"
        assert value(connection, constant(sa.text("SELECT 1 WHERE false"))) is None


def test_a_statement_that_answers_no_rows_has_none(alone: Engine) -> None:
    change = constant(sa.text("UPDATE clients SET name = :name WHERE uuid = :uuid"))
    with transaction(alone) as connection:
        value(connection, ADD, {"uuid": UUID})
        assert rows(connection, change, {"name": "one", "uuid": UUID}) == []

        assert connection.execute(sa.select(clients.c.name).where(clients.c.uuid == UUID)).scalar_one() == "one"


def test_a_list_of_texts_is_one_parameter_and_values_of_the_code_are_spelt_out(alone: Engine) -> None:
    said = sa.values(sa.column("word", sa.Text), sa.column("kind", sa.Text), name="said")
    strange = "ä'\"\n%"
    given = said.data([(strange, "a"), ("x", "b"), ("y", "c"), ("z", "a")])
    chosen = sa.select(given).where(one_of(given.c.word, "words"), among(given.c.kind, ("a", "b")))

    with reading(alone) as connection:
        found = rows(connection, constant(chosen), {"words": [strange, "x", "y", "{}"]})

    assert found == [(strange, "a"), ("x", "b")]


def test_it_is_part_of_its_transaction(alone: Engine) -> None:
    with transaction(alone) as connection:
        assert value(connection, ADD, {"uuid": UUID}) == UUID
        assert known(connection)
        connection.rollback()

    with transaction(alone) as connection:
        assert not known(connection)
        value(connection, ADD, {"uuid": UUID})
    with transaction(alone) as connection:
        assert known(connection)


def test_where_nobody_began_a_transaction_it_ends_with_the_connection(alone: Engine) -> None:
    with alone.connect() as connection:
        value(connection, ADD, {"uuid": UUID})
        assert connection.in_transaction()

    with transaction(alone) as connection:
        assert not known(connection)


def test_an_error_is_what_it_always_was_and_the_connection_goes_on(alone: Engine) -> None:
    with pytest.raises(ProgrammingError) as divided, transaction(alone) as connection:
        value(connection, DIVIDE, {"divisor": 0})
    assert sqlstate(divided.value) == "22012"
    assert not is_away(divided.value)

    with transaction(alone) as connection:
        value(connection, ADD, {"uuid": UUID})
        with pytest.raises(IntegrityError), connection.begin_nested():
            value(connection, ADD, {"uuid": UUID})
        assert value(connection, DIVIDE, {"divisor": 7}) == 1
        assert known(connection)


def test_a_text_that_cannot_be_sent_costs_the_connection_and_nothing_else(alone: Engine) -> None:
    with reading(alone) as connection:
        before = value(connection, constant(sa.text("SELECT pg_backend_pid()")))
        with pytest.raises(UnicodeEncodeError):
            value(connection, ECHO, {"word": "\ud800", "number": 1})
        assert connection.invalidated

    with reading(alone) as connection:
        assert value(connection, constant(sa.text("SELECT pg_backend_pid()"))) != before
        assert value(connection, ECHO, {"word": "next", "number": 1}) == "next"


def test_a_server_that_ends_the_connection_is_away(alone: Engine, engine: Engine) -> None:
    with reading(alone) as connection:
        pid = value(connection, constant(sa.text("SELECT pg_backend_pid()")))
        with transaction(engine) as other:
            other.execute(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})
        with pytest.raises(DBAPIError) as ended:
            value(connection, DIVIDE, {"divisor": 1})
    assert is_away(ended.value)
    assert isinstance(ended.value, OperationalError | sa.exc.InterfaceError | ProgrammingError)
    assert isinstance(ended.value.orig, OSError | pg8000.dbapi.Error)


def test_what_is_given_once_is_no_parameter() -> None:
    statement = constant(sa.select(clients.c.uuid).where(clients.c.site == "Kiel", clients.c.name == sa.bindparam("n")))

    assert statement.arguments({"n": "x"}) == ("Kiel", "x")


class Shouted(sa.TypeDecorator[str]):
    """A type whose values SQLAlchemy changes on their way."""

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
        constant(statement)


def test_times_are_as_sqlalchemy_reads_them(alone: Engine) -> None:
    moment = datetime(2026, 3, 1, 12, 0, 0, 1234, tzinfo=UTC)
    asked: Constant = constant(sa.select(sa.bindparam("moment", type_=sa.DateTime(timezone=True))))

    with reading(alone) as connection:
        assert value(connection, asked, {"moment": moment}) == moment
