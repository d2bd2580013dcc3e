"""Many rows in one statement: every value arrives unchanged and in order."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.postgres.many import ManyRows
from shared.postgres.query import Query
from shared.vocabulary import LogLevel
from tests.api.hostile_texts import HALF, TEXTS

AT = datetime(2026, 11, 24, 3, 1, 2, 345, tzinfo=UTC)


class Said(msgspec.Struct, frozen=True):
    word: str
    level: LogLevel | None = None
    number: int | None = None
    share: float | None = None
    yes: bool | None = None
    at: datetime | None = None
    more: dict[str, Any] | None = None
    words: list[str] | None = None


SAID = ManyRows("said", Said)
AS_TEXT = Query(f"SELECT * FROM {SAID}", Said)
AS_CORE = Query(lambda: sa.select(SAID.table).where(SAID.c.word.is_not(None)), Said)
ROWS = [
    Said(
        "first", LogLevel.ERROR, 2**53 + 1, 0.1, yes=True, at=AT, more={"a": [1, None, 'ä"\\,{}']}, words=["b", "NULL"]
    ),
    Said("null"),
    Said("third", LogLevel.INFO, -1, float("inf"), yes=False, more={}, words=[]),
]


@pytest.mark.parametrize("query", [AS_TEXT, AS_CORE], ids=["text", "SQLAlchemy"])
@pytest.mark.parametrize("rows", [ROWS, ROWS[1:2], []], ids=["many", "one of nothing", "none"])
def test_rows_come_as_they_are_and_in_their_order(connection: Connection, query: Query[Said], rows: list[Said]) -> None:
    assert query.all(connection, **SAID.of(rows)) == rows


@pytest.mark.parametrize("word", [text.replace("\x00", "") for text in TEXTS.values() if text != HALF])
def test_a_text_comes_as_it_is(connection: Connection, word: str) -> None:
    rows = [Said(word, more={"said": word}, words=[word, ""])]

    assert AS_TEXT.all(connection, **SAID.of(rows)) == rows


class Pair(NamedTuple):
    uuid: str
    seq: int


def test_named_tuples_are_rows_as_well(connection: Connection) -> None:
    many = ManyRows("pairs", Pair)
    last = Query(f"SELECT uuid, seq FROM {many} ORDER BY seq DESC LIMIT 1", Pair)

    found = last.one(connection, **many.of([Pair("a", 7), Pair("b", 9)]))

    assert found == Pair("b", 9)
    assert type(found) is Pair


def test_postgres_plans_for_the_number_of_the_rows(connection: Connection) -> None:
    plan = Query(f"EXPLAIN SELECT * FROM {SAID}", str)

    def expected(count: int) -> str:
        return plan.one(connection, **SAID.of([Said(str(n)) for n in range(count)]))

    assert [f"rows={count} " in expected(count) for count in (1, 700)] == [True, True]
