"""The statements of a store function, their plans, and how many rows they read."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pg8000.native import literal
from sqlalchemy import Connection, event

from shared.postgres.driver import FOR_ITS_VALUES, numbered

Asked = tuple[str, Any]
"""A statement and its parameters."""


def all_sent_by(connection: Connection, ask: Callable[[Connection], Any]) -> list[Asked]:
    """Every statement that `ask` sends."""
    sent: list[Asked] = []

    def remember(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        sent.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", remember)
    try:
        ask(connection)
    finally:
        event.remove(connection, "before_cursor_execute", remember)
    return sent


def sent_by(connection: Connection, ask: Callable[[Connection], Any]) -> Asked:
    """The one statement that `ask` sends."""
    [only] = all_sent_by(connection, ask)
    return only


RUNS_BEFORE_ONE_PLAN = 5  # after this many runs Postgres may switch to a generic plan, if that looks no more expensive


def plan_of(connection: Connection, ask: Callable[[Connection], Any], *, kept: bool = False) -> list[dict[str, Any]]:
    """Every node of the plan by which the one statement of `ask` runs.

    `kept` False: the plan for its parameters. True: the plan of a prepared statement that has run often.
    """
    asked = sent_by(connection, ask)
    connection.exec_driver_sql("SET LOCAL max_parallel_workers_per_gather = 0")  # their row counts are rounded averages
    if kept and FOR_ITS_VALUES not in asked[0]:
        with kept_statement(connection, asked) as run:
            return _explained(connection, run)
    return _explained(connection, *asked)


def _explained(connection: Connection, statement: str, parameters: Any = ()) -> list[dict[str, Any]]:
    answer = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).scalar_one()
    document = json.loads(answer) if isinstance(answer, str) else answer
    return list(nodes(document[0]["Plan"]))


@contextmanager
def kept_statement(connection: Connection, asked: Asked) -> Iterator[str]:
    """SQL that runs the prepared statement, after so many runs that Postgres may use a generic plan."""
    statement, parameters = asked
    connection.exec_driver_sql(f"PREPARE kept AS {numbered(statement)}")
    run = f"EXECUTE kept ({', '.join(literal(value) for value in parameters)})"
    for _ in range(RUNS_BEFORE_ONE_PLAN):
        connection.exec_driver_sql(f"EXPLAIN {run}")
    yield run
    connection.exec_driver_sql("DEALLOCATE kept")


@contextmanager
def planned_before(
    connection: Connection, ask: Callable[[Connection], Any]
) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """A function that returns every node of the plan of `ask`'s one statement, after many runs."""
    with kept_statement(connection, sent_by(connection, ask)) as run:
        yield lambda: _explained(connection, run)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", []):
        yield from nodes(inner)


def read_in_sequence(plan: list[dict[str, Any]]) -> list[str]:
    """The tables that grow with reports of displays and that a plan scans sequentially; empty ones do not count."""
    scans = [node for node in plan if node["Node Type"] == "Seq Scan"]
    return [node["Relation Name"] for node in scans if rows_read([node]) and node["Relation Name"] != "clients"]


def rows_read(plan: list[dict[str, Any]]) -> float:
    """How many rows the scans read, including those that a filter dropped."""
    scans = [node for node in plan if "Scan" in node["Node Type"]]
    return float(sum((n["Actual Rows"] + n.get("Rows Removed by Filter", 0)) * n["Actual Loops"] for n in scans))


def statements_of(connection: Connection, do: Callable[[Connection], Any]) -> list[str]:
    """Every statement that `do` sends, each in one line."""
    return [" ".join(statement.split()) for statement, _ in all_sent_by(connection, do)]
