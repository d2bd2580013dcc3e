"""Rows that Postgres sends column by column have the same values in the same order as ordinary rows."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.postgres.columns import ColumnQuery
from shared.postgres.door import reading
from tests.api.hostile_texts import HALF, TEXTS

AT = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)
VALUES = """(VALUES (1, NULL, NULL, NULL, false), (9007199254740993, CAST(:word AS text),
    timestamptz '2026-03-01 12:00:00.25+00', '{"a": [1, null, {"b": ""}]}'::jsonb, true), (2, '', NULL, 'null', NULL)
    ) AS said(number, word, at, more, yes)"""
COLUMNS: list[Any] = [sa.column(name) for name in ("number", "word", "at", "more", "yes")]
QUERY = (
    sa.select(*COLUMNS)
    .select_from(sa.text(VALUES))
    .where(sa.column("number") > sa.bindparam("above", type_=sa.BigInteger))
    .order_by(sa.column("number").desc())
)
KNOWN = sa.bindparam("known", type_=sa.Text) == "yes"


class Line(msgspec.Struct):
    """A row whose fields have another order than the statement's columns."""

    more: Any
    at: datetime | None
    word: str | None
    number: int
    yes: bool | None


class Told(msgspec.Struct):
    """A Struct with some of the fields."""

    at: datetime | None
    number: int


class ToldMore(Told):
    """A shape that adds fields to another shape."""

    word: str | None


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    with reading(engine) as opened:
        yield opened


@pytest.mark.parametrize("word", [text.replace("\x00", "") for text in TEXTS.values() if text != HALF])
def test_values_come_as_they_are_and_rows_in_their_order(connection: Connection, word: str) -> None:
    asked = {"word": word, "above": 0}

    found = ColumnQuery(lambda: QUERY, Line).all(connection, **asked)

    assert found == [
        Line(more={"a": [1, None, {"b": ""}]}, at=AT, word=word, number=2**53 + 1, yes=True),
        Line(more=None, at=None, word="", number=2, yes=None),
        Line(more=None, at=None, word=None, number=1, yes=False),
    ]
    assert ColumnQuery(lambda: QUERY, ToldMore).all(connection, **asked) == [
        ToldMore(row.at, row.number, row.word) for row in found
    ]


def test_without_a_row_there_is_an_empty_list(connection: Connection) -> None:
    for shape in (Line, Told):
        assert ColumnQuery(lambda: QUERY, shape).all(connection, word="", above=2**60) == []


def test_no_rows_of_something_known_is_not_the_same_as_something_unknown(connection: Connection) -> None:
    query = ColumnQuery(lambda: QUERY, Told, KNOWN)

    assert query.all_if_known(connection, word="x", above=2**60, known="yes") == []
    assert query.all_if_known(connection, word="x", above=2**60, known="no") is None
    assert query.all_if_known(connection, word="x", above=2, known="yes") == [Told(AT, 2**53 + 1)]


class Wrong(msgspec.Struct):
    number: str


def test_a_value_that_is_not_of_its_type_is_refused(connection: Connection) -> None:
    with pytest.raises(msgspec.ValidationError, match="Expected `str`, got `int`"):
        ColumnQuery(lambda: QUERY, Wrong).all(connection, word="", above=0)
