"""How Postgres finds commands: among the open ones, or by their keys, and never by reading the history."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from pg8000.dbapi import convert_paramstyle
from pg8000.native import literal
from sqlalchemy import Connection, Engine

from shared.commands import store
from shared.commands.acks import store as acks
from shared.commands.ends import store as ends
from shared.commands.outbox import store as outbox
from shared.commands.rules import RECEIVED, RUNNING, Ack, Attempt
from shared.db import database_now
from shared.kept_statements import PLANNED_ONCE
from shared.vocabulary import CommandState
from tests.stores.commands_world import RESTART, TIMINGS, request

FLEET = """
    WITH fleet AS (INSERT INTO clients (uuid, registered_by)
        SELECT '00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'), 'enrolment'
        FROM generate_series(1, 20000) AS n RETURNING uuid)
    INSERT INTO client_commands
        (id, client_uuid, action, state, source, requested_by, created_at, expires_at)
    SELECT uuid, uuid, 'restart_app', CASE WHEN uuid LIKE '%00' THEN 'sent' ELSE 'succeeded' END,
        'operator', 'x', now(), now() + interval '1 minute' FROM fleet
"""
ONE = "00000000-0000-4000-8000-000000000100"
Asked = list[tuple[str, Any]]


@pytest.fixture(scope="module")
def fleet(engine: Engine) -> Engine:
    """20,000 clients with a command each, of which 78 are open."""
    with engine.begin() as connection:
        connection.execute(sa.text(FLEET))
        connection.execute(sa.text("ANALYZE clients, client_commands"))
    return engine


@pytest.fixture
def among_many(fleet: Engine) -> Iterator[Connection]:
    """A connection to them whose changes are rolled back."""
    with fleet.connect() as opened, opened.begin() as begun:
        yield opened
        begun.rollback()


def sent_by(connection: Connection, do: Callable[[], None]) -> Asked:
    """The statements, with their values, that this sends."""
    sent: Asked = []

    def write_down(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        sent.append((statement, parameters))

    sa.event.listen(connection, "before_cursor_execute", write_down)
    do()
    sa.event.remove(connection, "before_cursor_execute", write_down)
    return sent


def test_sweeps_read_the_index_of_open_commands_and_not_the_history(among_many: Connection) -> None:
    now = database_now(among_many)

    def sweep() -> None:
        ends.clients_overdue(among_many, now)
        acks.clients_with_evidence(among_many, now)
        store.count_open(among_many, "recovery")
        ends.expire(among_many, now)
        outbox.claim(among_many, now, 5, None, None)

    sent = sent_by(among_many, sweep)

    assert len(sent) == 5
    for text, values in sent:
        plan = "\n".join(among_many.exec_driver_sql(f"EXPLAIN {text}", values).scalars())
        assert PLANNED_ONCE not in text
        assert "uq_client_commands_open" in plan, plan
        assert "Seq Scan on client_commands" not in plan, plan


def test_the_one_plan_of_what_is_asked_by_keys_reads_neither_clients_nor_commands_from_end_to_end(
    among_many: Connection,
) -> None:
    now = database_now(among_many)
    said = [Ack(ONE, ONE, CommandState.SUCCEEDED, "why")]
    attempt = Attempt(ONE, now, 1, 0, may_have_left=True)

    def ask() -> None:
        store.get(among_many, ONE)
        store.by_key(among_many, "x", "key")
        store.targets(among_many, [ONE])
        store.lock_clients(among_many, [ONE])
        store.raise_lockouts(among_many, [ONE], now)
        store.insert(among_many, now, {"new": request(ONE, RESTART)}, TIMINGS)
        outbox.claim(among_many, now, 5, [ONE], None)
        outbox.claim(among_many, now, 5, None, [ONE])
        outbox.note(among_many, now, {attempt: timedelta(seconds=1)})
        outbox.mark_sent(among_many, now, [ONE])
        outbox.lock_clients_of(among_many, [ONE])
        outbox.open_among(among_many, [ONE])
        outbox.deny(among_many, now, [])
        outbox.cancel_unheard_recovery(among_many, now, [ONE])
        ends.cancel(among_many, now, ONE, "why")
        acks.known(among_many, [ONE])
        acks.traced(among_many, [ONE])
        acks.receive(among_many, now, RECEIVED, said, TIMINGS.result)
        acks.receive(among_many, now, RUNNING, said, TIMINGS.result)
        acks.finish(among_many, now, said)
        acks.keep_late(among_many, now, said)
        acks.confirm_by_ack(among_many, said)
        acks.keep_reasons(among_many, said)

    sent = sent_by(among_many, ask)

    assert len(sent) == 23
    for text, values in sent:
        plan = plan_for_all_values(among_many, text, values)
        assert PLANNED_ONCE in text
        assert "Seq Scan on clients" not in plan, plan
        assert "Seq Scan on client_commands" not in plan, plan


def plan_for_all_values(connection: Connection, text: str, values: Any) -> str:
    """The plan that Postgres makes of it without looking at the values."""
    given = ", ".join(literal(value) for value in values)
    connection.exec_driver_sql("SET LOCAL plan_cache_mode = force_generic_plan")
    connection.exec_driver_sql(f"PREPARE asked AS {convert_paramstyle('format', text, ())[0]}")
    plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN EXECUTE asked({given})").scalars())
    connection.exec_driver_sql("DEALLOCATE asked")
    return plan
