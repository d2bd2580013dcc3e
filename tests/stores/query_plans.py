"""What Postgres is asked by a store function, how it plans to answer, and how much it then reads."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pg8000.dbapi import convert_paramstyle
from pg8000.native import literal
from sqlalchemy import Connection, event

from shared.postgres.kept_statements import PLANNED_ONCE

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


def plan_of(connection: Connection, ask: Callable[[Connection], Any]) -> list[dict[str, Any]]:
    """Every node of the plan of the one statement that `ask` sends, planned for its parameters."""
    statement, parameters = sent_by(connection, ask)
    connection.exec_driver_sql("SET LOCAL max_parallel_workers_per_gather = 0")  # their row counts are rounded means
    answer = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).scalar_one()
    document = json.loads(answer) if isinstance(answer, str) else answer
    return list(nodes(document[0]["Plan"]))


@contextmanager
def kept_for_all_values(connection: Connection, asked: Asked) -> Iterator[str]:
    """The SQL that runs a statement with its values, by the one plan of it that was made without a look at them."""
    statement, parameters = asked
    assert PLANNED_ONCE in statement
    connection.exec_driver_sql(f"PREPARE kept AS {convert_paramstyle('format', statement, ())[0]}")
    connection.exec_driver_sql("SET LOCAL plan_cache_mode = force_generic_plan")
    yield f"EXECUTE kept ({', '.join(literal(value) for value in parameters)})"
    connection.exec_driver_sql("DEALLOCATE kept")


@contextmanager
def planned_once(
    connection: Connection, ask: Callable[[Connection], Any]
) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Each call answers every node of the plan that the one statement of `ask` keeps for all values, when it is run."""
    with kept_for_all_values(connection, sent_by(connection, ask)) as run:
        connection.exec_driver_sql(run)

        def plan() -> list[dict[str, Any]]:
            [[document]] = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {run}")
            return list(nodes(document[0]["Plan"]))

        yield plan


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
