"""A statement and the type of its rows: a result has that type, or an error is raised."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.postgres.query import NO_ROW, Query
from shared.vocabulary import CommandState

AT = datetime(2026, 11, 24, 3, tzinfo=UTC)
VALUES = "SELECT * FROM (VALUES (1, 'queued', CAST(:at AS timestamptz)), (2, 'sent', NULL)) AS v(id, state, at)"


class Row(msgspec.Struct, frozen=True):
    id: int
    state: CommandState
    at: datetime | None


class Narrow(msgspec.Struct, frozen=True):
    id: int


def test_rows_are_of_the_type_and_their_columns_go_by_name(connection: Connection) -> None:
    swapped = Query("SELECT at, state, id FROM (" + VALUES + ") AS w", Row)
    rows = [Row(1, CommandState.QUEUED, AT), Row(2, CommandState.SENT, None)]

    assert Query(VALUES, Row).all(connection, at=AT) == rows
    assert swapped.all(connection, at=AT) == rows
    assert Query(VALUES, Narrow).all(connection, at=AT) == [Narrow(1), Narrow(2)]
    assert Query("SELECT unnest(CAST(:ids AS int[]))", int).all(connection, ids=[3, 4]) == [3, 4]


def test_a_statement_of_sqlalchemys_is_asked_the_same_way(connection: Connection) -> None:
    query = Query(lambda: sa.select(sa.bindparam("word", type_=sa.Text)), str)

    assert query.one(connection, word="100 % é") == "100 % é"


def test_one_row_is_the_only_one_and_none_is_none(connection: Connection) -> None:
    numbers = Query("SELECT generate_series(1, CAST(:most AS int))", int)

    assert numbers.one(connection, most=1) == 1
    assert numbers.one_or_none(connection, most=0) is None
    for most in (0, 2):
        with pytest.raises(ValueError, match="unpack"):
            numbers.one(connection, most=most)


def test_a_change_answers_how_many_rows_it_touched(connection: Connection) -> None:
    connection.execute(sa.text("CREATE TEMPORARY TABLE touched (id int) ON COMMIT DROP"))
    add = Query("INSERT INTO touched SELECT generate_series(1, CAST(:most AS int))", NO_ROW)

    assert [add.run(connection, most=most) for most in (3, 0)] == [3, 0]


REFUSED: list[tuple[str, type[Any]]] = [
    ("SELECT 'x' AS id, 'queued' AS state, NULL AS at", Row),
    ("SELECT 1 AS id, 'no state' AS state, NULL AS at", Row),
    ("SELECT 1 AS id, 'queued' AS state", Row),
    ("SELECT 'x'", int),
    ("SELECT CAST(NULL AS int)", int),
]


@pytest.mark.parametrize(("statement", "row"), REFUSED)
def test_a_row_that_is_not_of_the_type_is_an_error(connection: Connection, statement: str, row: type[Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        Query(statement, row).all(connection)
