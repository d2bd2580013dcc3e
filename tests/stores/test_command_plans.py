"""Postgres finds commands by the index of open ones or by their keys, and never reads the whole history."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.access import idempotency_store
from shared.clients import hours_store
from shared.commands import endings_store, proofs_store, store
from shared.commands.acks import store as acks
from shared.commands.outbox import store as outbox
from shared.commands.rules import RECEIVED, RUNNING, Ack, Attempt
from shared.postgres.door import database_now
from shared.vocabulary import CommandState
from tests.stores.commands_world import RESTART, TIMINGS, request
from tests.stores.query_plans import all_sent_by, kept_statement

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


@pytest.fixture(scope="module")
def fleet(engine: Engine) -> Engine:
    """20,000 clients with a command each; 78 commands are open."""
    with engine.begin() as connection:
        connection.execute(sa.text(FLEET))
        connection.execute(sa.text("ANALYZE clients, client_commands"))
    return engine


@pytest.fixture
def among_many(fleet: Engine) -> Iterator[Connection]:
    """A connection to that database whose changes are rolled back."""
    with fleet.connect() as opened, opened.begin() as begun:
        yield opened
        begun.rollback()


def test_sweeps_read_the_index_of_open_commands_and_not_the_history(among_many: Connection) -> None:
    now = database_now(among_many)

    def sweep(connection: Connection) -> None:
        endings_store.clients_overdue(connection, now)
        proofs_store.clients_with_proof(connection, now)
        store.count_open(connection, "recovery")
        endings_store.expire(connection, now)
        outbox.claim(connection, now, 5, None, None)
        proofs_store.succeed_by_screen(connection, now, None)
        proofs_store.succeed_by_screen(connection, now, [ONE])
        proofs_store.disprove_screens(connection, now)

    sent = all_sent_by(among_many, sweep)

    assert len(sent) == 8
    for asked in sent:
        with kept_statement(among_many, asked) as run:
            plan = "\n".join(among_many.exec_driver_sql(f"EXPLAIN {run}").scalars())
        assert "uq_client_commands_open" in plan, plan
        assert "Seq Scan on client_commands" not in plan, plan


def test_what_is_asked_by_keys_reads_neither_clients_nor_commands_from_end_to_end(
    among_many: Connection,
) -> None:
    now = database_now(among_many)
    said = [Ack(ONE, ONE, CommandState.SUCCEEDED, "why")]
    attempt = Attempt(ONE, now, 1, 0, may_have_left=True)

    def ask(connection: Connection) -> None:
        store.get(connection, ONE)
        idempotency_store.first(connection, "client_commands", "x", "key")
        idempotency_store.keep(connection, "client_commands", ONE, "key", "hash")
        store.targets(connection, [ONE])
        store.lock_clients(connection, [ONE])
        store.raise_lockouts(connection, [ONE], now)
        store.insert(connection, now, {"new": request(ONE, RESTART)}, TIMINGS)
        outbox.claim(connection, now, 5, [ONE], None)
        outbox.claim(connection, now, 5, None, [ONE])
        outbox.note(connection, now, {attempt: timedelta(seconds=1)})
        outbox.mark_sent(connection, now, [ONE])
        outbox.lock_clients_of(connection, [ONE])
        outbox.open_among(connection, [ONE])
        outbox.deny(connection, now, [])
        outbox.cancel_unheard_recovery(connection, now, [ONE])
        endings_store.cancel(connection, now, ONE, "why")
        acks.acked(connection, [ONE])
        store.traced(connection, [ONE])
        acks.receive(connection, now, RECEIVED, said, TIMINGS.result)
        acks.receive(connection, now, RUNNING, said, TIMINGS.result)
        acks.finish(connection, now, said)
        acks.keep_late(connection, now, said)
        acks.confirm_by_ack(connection, said)
        acks.keep_reasons(connection, said)

    sent = all_sent_by(among_many, ask)

    assert len(sent) == 25
    for asked in sent:
        with kept_statement(among_many, asked) as run:
            plan = "\n".join(among_many.exec_driver_sql(f"EXPLAIN {run}").scalars())
        assert "Seq Scan on clients" not in plan, plan
        assert "Seq Scan on client_commands" not in plan, plan


def test_displays_without_their_hours_are_found_by_an_index_of_their_own(among_many: Connection) -> None:
    def ask(connection: Connection) -> None:
        hours_store.untold(connection, [hours_store.Kept(ONE, None)], 200)

    [asked] = all_sent_by(among_many, ask)

    with kept_statement(among_many, asked) as run:
        plan = "\n".join(among_many.exec_driver_sql(f"EXPLAIN {run}").scalars())
    assert "ix_clients_hours_untold" in plan, plan
    assert "Seq Scan on clients" not in plan, plan
