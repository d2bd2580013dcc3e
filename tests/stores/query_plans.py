"""What Postgres is asked by a store function, how it plans to answer, and how much it then reads."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pg8000.native import literal
from sqlalchemy import Connection, event

from shared.postgres.driver import FOR_ITS_VALUES, numbered

Asked = tuple[str, Any]
"""A statement, and its parameters."""


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


RUNS_BEFORE_ONE_PLAN = 5  # then Postgres keeps one plan for all values, where it looks no dearer than those before


def plan_of(connection: Connection, ask: Callable[[Connection], Any], *, kept: bool = False) -> list[dict[str, Any]]:
    """Every node of the plan of the one statement that `ask` sends, as it is run.

    `kept` False: as it is planned for its parameters. True: as Postgres plans a kept statement that ran before.
    """
    asked = sent_by(connection, ask)
    connection.exec_driver_sql("SET LOCAL max_parallel_workers_per_gather = 0")  # their row counts are rounded means
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
    """The SQL that runs a statement with its values, after Postgres has planned it so often that it may keep a plan."""
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
    """Each call answers every node of the plan that the one statement of `ask`, planned often before, is run by."""
    with kept_statement(connection, sent_by(connection, ask)) as run:
        yield lambda: _explained(connection, run)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", []):
        yield from nodes(inner)


def read_in_sequence(plan: list[dict[str, Any]]) -> list[str]:
    """The tables that grow with what displays say that a plan reads from end to end; empty ones do not matter."""
    scans = [node for node in plan if node["Node Type"] == "Seq Scan"]
    return [node["Relation Name"] for node in scans if rows_read([node]) and node["Relation Name"] != "clients"]


def rows_read(plan: list[dict[str, Any]]) -> float:
    """How many rows the scans looked at, those that a filter dropped included."""
    scans = [node for node in plan if "Scan" in node["Node Type"]]
    return float(sum((n["Actual Rows"] + n.get("Rows Removed by Filter", 0)) * n["Actual Loops"] for n in scans))


def statements_of(connection: Connection, do: Callable[[Connection], Any]) -> list[str]:
    """Every statement that `do` sends, each in one line."""
    return [" ".join(statement.split()) for statement, _ in all_sent_by(connection, do)]
