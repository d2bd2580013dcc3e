# mypy: disable-error-code="empty-body"
"""A query that stands on its function: its parameters and its answer are those of the function."""

from collections.abc import Callable, Collection
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.many import ManyRows


class Numbered(msgspec.Struct, frozen=True):
    number: int
    name: str


MANY = ManyRows("given", Numbered)
ROWS = "SELECT * FROM (VALUES (1, 'one'), (2, 'two')) AS v(number, name) WHERE number <= :most"


@query.rows(f"{ROWS} ORDER BY number")
def listed(connection: Connection, most: int = 2) -> list[Numbered]:
    """A list."""


@query.rows("SELECT unnest(CAST(:numbers AS int[]))")
def collected(connection: Connection, numbers: Collection[int] | None) -> set[int]:
    """A set, of any collection."""


@query.rows(f"SELECT given.name, given.number FROM {MANY} WHERE given.number > :least", MANY)
def paired(connection: Connection, rows: Collection[Numbered], least: int) -> dict[str, int]:
    """Pairs, of many rows."""


@query.one_or_none(f"{ROWS} ORDER BY number DESC")
def last(connection: Connection, *, most: int) -> Numbered | None:
    """The first row."""


@query.one("SELECT :word")
def echoed(connection: Connection, word: str) -> str:
    """The only row."""


@query.run("UPDATE touched SET id = id WHERE id <= :most")
def counted(connection: Connection, most: int) -> int:
    """How many."""


@query.run("UPDATE touched SET id = id WHERE id <= :most")
def touched_one(connection: Connection, most: int) -> bool:
    """Whether it was one."""


def test_the_answer_has_the_type_that_the_annotation_names(connection: Connection) -> None:
    one, two = Numbered(1, "one"), Numbered(2, "two")

    assert (listed(connection), listed(connection, 1), listed(connection, most=1)) == ([one, two], [one], [one])
    assert [collected(connection, given) for given in ({3}, (3, 4), iter_of(3), None)] == [{3}, {3, 4}, {3}, set()]
    assert paired(connection, [one, two], 1) == {"two": 2}
    assert (last(connection, most=2), last(connection, most=0)) == (two, None)
    assert echoed(connection, "100 % é") == "100 % é"


def iter_of(*numbers: int) -> Collection[int]:
    return dict.fromkeys(numbers).keys()


def test_a_change_answers_how_many_rows_it_touched_or_whether_it_was_one(connection: Connection) -> None:
    connection.execute(sa.text("CREATE TEMPORARY TABLE touched ON COMMIT DROP AS SELECT generate_series(1, 2) AS id"))

    assert [counted(connection, most) for most in (0, 1, 2)] == [0, 1, 2]
    assert [touched_one(connection, most) for most in (0, 1, 2)] == [False, True, False]


def lacks_a_parameter(connection: Connection) -> int: ...


def has_one_too_many(connection: Connection, word: str, more: int) -> int: ...


@pytest.mark.parametrize("function", [lacks_a_parameter, has_one_too_many])
def test_parameters_that_differ_from_the_statement_are_refused_at_import(
    function: Callable[..., int],
) -> None:
    with pytest.raises(TypeError, match=function.__name__):
        query.one("SELECT :word")(function)


@pytest.mark.parametrize("given", [(), ("a", "b")])
def test_a_call_with_other_arguments_is_an_error_as_of_any_function(connection: Connection, given: Any) -> None:
    with pytest.raises(TypeError, match="echoed"):
        echoed(connection, *given)
