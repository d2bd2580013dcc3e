"""Dropped log lines are counted in the client's own log, by one line a minute, exactly."""

from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, event

from shared.client_logs import drops_operations
from shared.client_logs import store as client_logs
from shared.postgres.door import database_now

NAMES = ("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222")


def register(connection: Connection) -> None:
    for name in NAMES:
        connection.execute(sa.text("INSERT INTO clients (uuid, registered_by) VALUES (:u, 'enrolment')"), {"u": name})


def told(connection: Connection, name: str) -> list[tuple[str, int]]:
    """The lines of a client's log as in the API, the newest first."""
    rows = client_logs.page_of_client(connection, name, (), None, None, None, 100, None)
    assert rows is not None
    assert all(row.level == "warning" and row.logger == "bridge" for row in rows)
    return [(row.message, (row.context or {})["dropped"]) for row in rows]


def test_one_line_a_minute_is_counted_up_for_each_client(connection: Connection) -> None:
    register(connection)
    now = database_now(connection)

    rows = drops_operations.record(connection, now, {NAMES[0]: 5, NAMES[1]: 1}, {})
    rows = drops_operations.record(connection, now + timedelta(seconds=30), {NAMES[0]: 7}, rows)
    assert told(connection, NAMES[0]) == [("12 log messages dropped: over the budget of this client", 12)]
    rows = drops_operations.record(connection, now + timedelta(seconds=60), {NAMES[0]: 2}, rows)

    assert [count for _, count in told(connection, NAMES[0])] == [2, 12]
    assert [count for _, count in told(connection, NAMES[1])] == [1]
    assert rows.keys() == {NAMES[0]}  # a client that is quiet again is forgotten


def test_the_roll_up_counts_the_line_and_not_what_it_tells(connection: Connection) -> None:
    register(connection)
    now = database_now(connection)

    rows = drops_operations.record(connection, now, {NAMES[0]: 500}, {})
    drops_operations.record(connection, now, {NAMES[0]: 500}, rows)

    hours = sa.text("SELECT warning, debug + info + error + critical FROM client_log_hours WHERE client_uuid = :u")
    assert [tuple(row) for row in connection.execute(hours, {"u": NAMES[0]})] == [(1, 0)]


def test_nothing_is_told_of_who_is_no_client_any_more_or_never_was(connection: Connection) -> None:
    register(connection)
    connection.execute(sa.text("UPDATE clients SET deleted_at = now() WHERE uuid = :u"), {"u": NAMES[0]})
    stranger = "33333333-3333-4333-8333-333333333333"

    rows = drops_operations.record(connection, database_now(connection), {NAMES[0]: 5, stranger: 5, NAMES[1]: 5}, {})

    assert rows.keys() == {NAMES[1]}
    lines = sa.text("SELECT count(*) FROM client_logs WHERE client_uuid = ANY(:uuids)")
    assert connection.execute(lines, {"uuids": [NAMES[0], stranger]}).scalar_one() == 0


def test_counting_up_reads_no_line_but_its_own(connection: Connection) -> None:
    """A flood updates its line a hundred times a second, beside millions of other lines."""
    register(connection)
    now = database_now(connection)
    rows = drops_operations.record(connection, now, {NAMES[0]: 1}, {})
    ran: list[tuple[str, Any]] = []
    event.listen(connection, "before_cursor_execute", lambda _c, _k, text, given, *_: ran.append((text, given)))
    drops_operations.record(connection, now, {NAMES[0]: 1}, rows)
    ((statement, parameters),) = [one for one in ran if "UPDATE client_logs" in one[0]]

    connection.execute(sa.text("SET LOCAL enable_seqscan = off"))  # the tables of a test are too small to show it
    plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).scalars())

    assert "Index Scan" in plan
    assert "Seq Scan" not in plan
