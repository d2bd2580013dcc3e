"""Clients as people see them, on real Postgres."""

import threading
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.clients import failures_store, operations, store
from shared.clients.store import ClientFilter
from shared.errors import ClientNotFound, FailureChanged
from shared.postgres.door import database_now, transaction
from shared.tables import clients
from shared.vocabulary import ClientStatus, RegisteredBy

ONE = "00000000-0000-4000-8000-000000000001"
TWO = "00000000-0000-4000-8000-000000000002"
THREE = "00000000-0000-4000-8000-000000000003"


@pytest.fixture
def now(connection: Connection) -> datetime:
    return database_now(connection)


def add(connection: Connection, uuid: str, **facts: object) -> None:
    """A client with these columns."""
    store.register(connection, database_now(connection), uuid, RegisteredBy.ENROLMENT)
    if facts:
        connection.execute(sa.update(clients).where(clients.c.uuid == uuid).values(**facts))


def uuids(connection: Connection, wanted: ClientFilter) -> list[str]:
    return [row.uuid for row in store.page(connection, wanted, 100, None)]


def test_a_client_registers_once(connection: Connection, now: datetime) -> None:
    assert store.register(connection, now, ONE, RegisteredBy.ENROLMENT)
    assert not store.register(connection, now, ONE, RegisteredBy.FIRST_MESSAGE)

    assert operations.find(connection, ONE).registered_by == "enrolment"


def test_a_uuid_that_is_none_is_refused_by_the_database_too(connection: Connection, now: datetime) -> None:
    with pytest.raises(sa.exc.DBAPIError, match="ck_clients_uuid"):
        store.register(connection, now, "Not-A-Uuid", RegisteredBy.ENROLMENT)


FILTERS = [
    (ClientFilter(), [ONE, TWO, THREE]),
    (ClientFilter(status=ClientStatus.STALE), [TWO]),
    (ClientFilter(stale=True), [TWO]),
    (ClientFilter(stale=False), [ONE, THREE]),
    (ClientFilter(site="Berlin"), [ONE, TWO]),
    (ClientFilter(tag="menu"), [TWO]),
    (ClientFilter(version="1.2"), [THREE]),
    (ClientFilter(service_failed=True), [THREE]),
    (ClientFilter(screen_failed=True), [TWO]),
    (ClientFilter(screen_failed=False), [ONE, THREE]),
    (ClientFilter(text="lob"), [ONE]),
    (ClientFilter(text="100%"), []),  # % is an ordinary character here, not a wildcard
    (ClientFilter(text="a_c"), [THREE]),
    (ClientFilter(site="Berlin", tag="menu", text="kit"), [TWO]),
]


@pytest.mark.parametrize(("wanted", "found"), FILTERS)
def test_filters_narrow_the_list(connection: Connection, now: datetime, wanted: ClientFilter, found: list[str]) -> None:
    add(connection, ONE, name="a Lobby", site="Berlin")
    add(connection, TWO, name="b Kitchen", site="Berlin", tags=["menu", "food"], status="stale")
    dark = {"screen_health": "black", "screen_health_since": now, "screen_failed_at": now}
    connection.execute(sa.update(clients).where(clients.c.uuid == TWO).values(**dark))
    add(
        connection,
        THREE,
        name="c 'a_c'",
        app_version="1.2",
        service_failed_at=now,
        service_failed_unit="player.service",
    )

    assert uuids(connection, wanted) == found


def test_pages_follow_each_other_without_gap_or_repeat_also_with_equal_names(connection: Connection) -> None:
    for uuid in (THREE, ONE, TWO):
        add(connection, uuid, name="same")

    first = store.page(connection, ClientFilter(), 2, None)
    second = store.page(connection, ClientFilter(), 2, (first[-1].name, first[-1].uuid))

    assert [row.uuid for row in [*first, *second]] == [ONE, TWO, THREE]


def test_a_deleted_client_is_gone_and_stays_a_tombstone(connection: Connection, now: datetime) -> None:
    add(connection, ONE)

    operations.delete(connection, now, ONE)

    assert uuids(connection, ClientFilter()) == []
    assert not store.register(connection, now, ONE, RegisteredBy.ENROLMENT)
    for forbidden in (
        lambda: operations.find(connection, ONE),
        lambda: operations.delete(connection, now, ONE),
        lambda: operations.write_facts(connection, ONE, {"name": "back"}),
        lambda: operations.clear_service_failed(connection, now, ONE, "user:a", None),
    ):
        with pytest.raises(ClientNotFound):
            forbidden()


def test_acknowledging_takes_the_failure_away_and_remembers_it(connection: Connection, now: datetime) -> None:
    add(connection, ONE, service_failed_at=now, service_failed_unit="player.service")

    row, cleared = operations.clear_service_failed(connection, now, ONE, "user:anna", now)

    assert cleared
    assert (row.service_failed_at, row.service_failed_unit) == (None, None)
    (remembered,) = failures_store.recently_cleared(connection, now - timedelta(hours=24), 10)
    assert (remembered.unit, remembered.acknowledged_by) == ("player.service", "user:anna")


def test_acknowledging_a_clean_client_changes_nothing(connection: Connection, now: datetime) -> None:
    add(connection, ONE)

    row, cleared = operations.clear_service_failed(connection, now, ONE, "user:anna", now)

    assert not cleared
    assert row.service_failed_cleared_by is None


def test_a_newer_failure_is_not_acknowledged_unseen(connection: Connection, now: datetime) -> None:
    add(connection, ONE, service_failed_at=now, service_failed_unit="player.service")

    with pytest.raises(FailureChanged) as caught:
        operations.clear_service_failed(connection, now, ONE, "user:anna", now - timedelta(seconds=5))

    assert caught.value.extras == {"service_failed_at": now}
    assert operations.find(connection, ONE).service_failed_unit == "player.service"


def test_of_eight_acknowledgements_at_once_one_clears(engine: Engine) -> None:
    with transaction(engine) as connection:
        now = database_now(connection)
        add(connection, ONE, service_failed_at=now, service_failed_unit="player.service")
    cleared: list[bool] = []

    def acknowledge(number: int) -> None:
        with transaction(engine) as mine:
            cleared.append(operations.clear_service_failed(mine, now, ONE, f"user:{number}", now)[1])

    threads = [threading.Thread(target=acknowledge, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)

    assert sorted(cleared) == [False] * 7 + [True]
