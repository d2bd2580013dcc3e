"""The product's connection returns the same answers as pg8000's own, whatever their length."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pg8000
import pytest
import sqlalchemy as sa
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine

from shared.postgres.door import transaction
from tests.stores.driver_world import kept_by_the_server, session

VALUES: list[tuple[str, Any]] = [
    ("int", 7),
    ("bigint", -(2**40)),
    ("text", "a 'quoted' \\ word % %s $1 é 💡"),
    ("text", ""),
    ("text", None),
    ("bool", True),
    ("float8", 1.5),
    ("numeric", Decimal("1.2300")),
    ("bytea", b"\x00\xff"),
    ("timestamptz", datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)),
    ("date", date(2026, 1, 2)),
    ("interval", timedelta(days=1, seconds=3)),
    ("uuid", UUID(int=5)),
    ("text[]", ["a", 'b"c', None, "{}"]),
    ("text[]", ["", "NULL", "\\", '\\"', "a,b", "{,}", " c ", "\n", "é 💡", "'"]),
    ("text[]", []),
    ("int[]", [1, 2, None]),
    ("jsonb", {"a": [1, None, "ü"]}),
]


def bare(database_url: str) -> pg8000.Connection:
    """pg8000's own connection."""
    url = sa.make_url(database_url)
    return pg8000.Connection(url.username, url.host, url.database, url.port, url.password)


@pytest.mark.parametrize(("kind", "value"), VALUES)
def test_every_kind_of_value_comes_back_as_from_pg8000_itself(database_url: str, kind: str, value: Any) -> None:
    found = []
    for make in (bare, session):
        connection = make(database_url)
        cursor = connection.cursor()
        for _ in range(3):
            cursor.execute(f"SELECT CAST(%s AS {kind}) AS it, '50%%' LIKE '5%%', 7 %% 4, '%s'", (value,))
            found.append((cursor.fetchall(), cursor.description, cursor.rowcount))
        connection.close()

    assert all(one == found[0] for one in found)


@settings(max_examples=200)
@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
@example(["null", None])
def test_a_list_of_texts_arrives_as_it_is(connection: Connection, texts: list[str | None]) -> None:
    assert connection.execute(sa.text("SELECT CAST(:texts AS text[])"), {"texts": texts}).scalar_one() == texts


@settings(max_examples=100)
@given(st.lists(st.none() | st.floats(allow_nan=False) | st.integers(-(2**53), 2**53)))
@example([1e300, -0.0, float("inf"), None, 5e-324, 1e16])
def test_a_list_of_numbers_arrives_as_it_is(connection: Connection, numbers: list[float | None]) -> None:
    statement = sa.text("SELECT CAST(:numbers AS float8[])")
    assert connection.execute(statement, {"numbers": numbers}).scalar_one() == numbers


def test_counts_and_returned_rows_are_those_of_pg8000_itself(database_url: str) -> None:
    found = []
    for make in (bare, session):
        connection = make(database_url)
        cursor = connection.cursor()
        seen: list[Any] = []
        cursor.execute("CREATE TEMPORARY TABLE counted (id int, word text)")
        for statement, values in (
            ("INSERT INTO counted SELECT n, %s FROM generate_series(1, 5) AS n", ("x",)),
            ("UPDATE counted SET word = %s WHERE id > 2", ("y",)),
            ("DELETE FROM counted WHERE id = %s RETURNING id, word", (3,)),
            ("UPDATE counted SET word = %s WHERE id > 99", ("y",)),
            ("SELECT * FROM counted WHERE id < %s ORDER BY id", (3,)),
            ("SELECT * FROM counted WHERE id < %s ORDER BY id", (0,)),
            ("SET LOCAL work_mem = '8MB'", ()),
        ):
            for _ in range(2):
                cursor.execute(statement, values)
                rows = cursor.fetchall() if cursor.description else None
                seen.append((cursor.rowcount, cursor.description, rows))
        cursor.setinputsizes(25, 23)
        cursor.execute("SELECT %s, %s", ("a", 1))
        seen.append((cursor.description, cursor.fetchall()))
        cursor.executemany("INSERT INTO counted VALUES (%s, %s)", [(7, "a"), (8, "b")])
        seen.append(cursor.rowcount)
        connection.close()
        found.append(seen)

    assert found[0] == found[1]


def test_rows_can_be_read_through_a_cursor_of_the_server(with_things: Engine) -> None:
    with transaction(with_things) as connection:
        many = sa.select(sa.func.generate_series(1, 35))
        rows = connection.execution_options(stream_results=True, max_row_buffer=10).execute(many)

        assert [row[0] for row in rows] == list(range(1, 36))
        assert kept_by_the_server(connection) == []
