"""A caller of one site of a large fleet: statements keep to indexes, and read no more than for the whole fleet."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.access import operations as access
from shared.access import sites_store
from shared.clients import store as clients_store
from shared.clients.store import ClientFilter
from shared.commands import store as commands_store
from shared.overview import large_store, store
from shared.overview.large_store import DisplayFilter
from shared.postgres.door import database_now, transaction
from shared.vocabulary import PrincipalKind, Role
from tests.stores.query_plans import plan_of, read_in_sequence, rows_read

FLEET = 10_000
SITE = 100
"""Displays of each site."""
FILL = (
    """
    INSERT INTO clients (uuid, name, site, registered_by, status)
    SELECT '00000000-0000-4000-8000-' || lpad(n::text, 12, '0'), 'Display ' || n, 'Site ' || mod(n, 100), 'enrolment',
        'running'
    FROM generate_series(1, CAST(:fleet AS int)) AS n
    """,
    "INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at) SELECT uuid, now() FROM clients",
    """
    INSERT INTO client_commands (id, client_uuid, action, state, source, requested_by, created_at, expires_at,
        finished_at)
    SELECT uuid, uuid, 'restart_app', 'succeeded', 'operator', 'x', now(), now() + interval '1 minute', now()
    FROM clients
    """,
)
ONE = "00000000-0000-4000-8000-000000000107"  # of Site 7
Ask = Callable[[Connection], Any]
ASKED: dict[str, Ask] = {
    "the list of displays": lambda c: clients_store.page(c, ClientFilter(), 26, None),
    "a search": lambda c: clients_store.page(c, ClientFilter(text="Display 107"), 26, None),
    "the counts": store.counts,
    "which displays": store.which_clients,
    "the whole overview": lambda c: store.whole_fleet(c, {}),
    "all heartbeats": store.heartbeats,
    "the commands of a display": lambda c: commands_store.page_of_client(c, ONE, 26, None),
    "the counts of places": lambda c: large_store.places(c, [], None),
    "a page of a place": lambda c: large_store.displays(c, DisplayFilter(ClientFilter(site="Site 7")), 26, None),
    "the displays of a batch": lambda c: clients_store.matching(c, ClientFilter(site="Site 7"), 10_001),
}


@pytest.fixture(scope="module")
def filled(engine: Engine) -> Engine:
    with transaction(engine) as connection:
        connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
        for statement in FILL:
            connection.execute(sa.text(statement), {"fleet": FLEET} if ":fleet" in statement else {})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as outside:
        outside.execute(sa.text("VACUUM ANALYZE"))
    return engine


@pytest.fixture
def opened(filled: Engine) -> Iterator[Connection]:
    """A transaction that is rolled back."""
    with filled.connect() as connection, connection.begin() as begun:
        yield connection
        begun.rollback()


def narrow(connection: Connection) -> None:
    """Go on as a token for Site 7 alone."""
    now = database_now(connection)
    token, _ = access.issue_token(connection, now, "t", Role.VIEWER, "tests", now + timedelta(days=1), ["Site 7"])
    assert sites_store.narrow(connection, PrincipalKind.TOKEN, token.id, Role.VIEWER, to_write=False) is not None


@pytest.mark.parametrize("what", ASKED)
def test_a_caller_of_one_site_reads_no_history_and_not_more_than_others(opened: Connection, what: str) -> None:
    everywhere = rows_read(plan_of(opened, ASKED[what]))
    narrow(opened)

    plan = plan_of(opened, ASKED[what])

    assert "client_commands" not in read_in_sequence(plan)
    assert rows_read(plan) <= max(everywhere, FLEET / 2), plan


@pytest.mark.parametrize(
    "what", ["the counts", "the counts of places", "a page of a place", "which displays", "the displays of a batch"]
)
def test_what_is_about_one_site_reads_that_site_by_its_index(opened: Connection, what: str) -> None:
    narrow(opened)

    plan = plan_of(opened, ASKED[what])

    assert "ix_clients_site" in {node.get("Index Name") for node in plan}
    assert rows_read(plan) <= 5 * SITE, plan
