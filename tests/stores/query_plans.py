"""What Postgres is asked by a store function, how it plans to answer, and how much it then reads."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, event


def sent_by(connection: Connection, ask: Callable[[Connection], Any]) -> tuple[str, Any]:
    """The one statement that `ask` sends, and its parameters."""
    sent: list[tuple[str, Any]] = []

    def remember(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        sent.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", remember)
    try:
        ask(connection)
    finally:
        event.remove(connection, "before_cursor_execute", remember)
    [statement] = sent
    return statement


def plan_of(connection: Connection, ask: Callable[[Connection], Any]) -> list[dict[str, Any]]:
    """Every node of the plan of the one statement that `ask` sends, planned for its parameters."""
    statement, parameters = sent_by(connection, ask)
    connection.exec_driver_sql("SET LOCAL max_parallel_workers_per_gather = 0")  # their row counts are rounded means
    answer = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).scalar_one()
    document = json.loads(answer) if isinstance(answer, str) else answer
    return list(nodes(document[0]["Plan"]))


@contextmanager
def planned_once(
    connection: Connection, ask: Callable[[Connection], Any]
) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Each call answers every node of the plan that the one statement of `ask` keeps for all values, when it is run."""
    statement, parameters = sent_by(connection, ask)
    assert "planned once" in statement
    for number in range(len(parameters)):
        statement = statement.replace("%s", f"${number + 1}", 1)
    connection.exec_driver_sql(f"PREPARE kept AS {statement}")
    connection.exec_driver_sql("SET LOCAL plan_cache_mode = force_generic_plan")
    run = f"EXECUTE kept ({', '.join(f'{str(value)!r}' for value in parameters)})"
    connection.exec_driver_sql(run)

    def plan() -> list[dict[str, Any]]:
        [[document]] = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {run}")
        return list(nodes(document[0]["Plan"]))

    yield plan
    connection.exec_driver_sql("DEALLOCATE kept")


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
    sent: list[str] = []

    def remember(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(" ".join(statement.split()))

    event.listen(connection, "before_cursor_execute", remember)
    try:
        do(connection)
    finally:
        event.remove(connection, "before_cursor_execute", remember)
    return sent
