"""The bridge reads on while Postgres works at a batch; whatever ends then, each line is stored once and in order."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from bridge.connection import RECEIVE_MAXIMUM
from deploy.local import broker as mosquitto
from shared.db import engine_for, transaction
from tests.bridge.conftest import BridgeProcess, Database, Display, StartBridge, eventually
from tests.bridge.proxy import proxied
from tests.bridge.test_faults import all_lines, lines, send_lines

OF_THE_BRIDGE = "FROM pg_locks WHERE NOT granted AND relation = CAST('client_logs' AS regclass)"
WAITS = f"SELECT EXISTS (SELECT {OF_THE_BRIDGE})"
END_WHO_WAITS = f"SELECT pg_terminate_backend(pid) {OF_THE_BRIDGE}"


@contextmanager
def logs_locked(database_url: str) -> Iterator[None]:
    """Nobody stores a log line until the block ends."""
    engine = engine_for(database_url, "tests", pool_size=1)
    try:
        with transaction(engine) as connection:
            connection.execute(sa.text("LOCK TABLE client_logs IN EXCLUSIVE MODE"))
            yield
    finally:
        engine.dispose()


MANY = 1_500  # less than a batch and the window: all of it is read ahead
ROOM = {"LOG_BUDGET_PER_SECOND": "1000", "LOG_BUDGET_BURST": "10000"}


def read_ahead(display: Display, database: Database, bridge: BridgeProcess) -> None:
    """One line is in hand, which Postgres does not take, and the bridge has read the others behind it."""
    send_lines(display, 1, 1)
    eventually(lambda: database.value(WAITS))
    send_lines(display, 2, MANY - 1)
    database.rows(END_WHO_WAITS)  # the second time it has something to read while it waits
    eventually(lambda: "database_away" in bridge.events() and database.value(WAITS))


def test_a_connection_that_breaks_with_messages_read_ahead_brings_each_of_them_once(
    start_bridge: StartBridge,
    broker: mosquitto.RunningBroker,
    display: Display,
    database: Database,
    database_url: str,
) -> None:
    with proxied(broker.broker.services_port) as proxy:
        bridge = start_bridge(MQTT_URL=f"mqtt://127.0.0.1:{proxy.port}", **ROOM)
        with logs_locked(database_url):
            read_ahead(display, database, bridge)
            proxy.cut()
            database.rows(END_WHO_WAITS)
            eventually(lambda: "broker_disconnected" in bridge.events())

        eventually(lambda: len(lines(database, display.uuid)) >= MANY)
        assert lines(database, display.uuid) == all_lines(count=MANY)


def test_a_batch_whose_database_connection_ends_is_written_later_and_what_is_held_is_a_window_at_most(
    start_bridge: StartBridge, display: Display, database: Database, database_url: str
) -> None:
    count = MANY + RECEIVE_MAXIMUM
    bridge = start_bridge(**ROOM)
    with logs_locked(database_url):
        read_ahead(display, database, bridge)
        send_lines(display, MANY + 1, RECEIVE_MAXIMUM)
        database.rows(END_WHO_WAITS)
        eventually(lambda: bridge.ask("/readyz")[1]["waiting"] >= RECEIVE_MAXIMUM)
        assert bridge.ask("/readyz")[1]["waiting"] < RECEIVE_MAXIMUM + 100  # the other session's canaries

    eventually(lambda: len(lines(database, display.uuid)) >= count)
    assert lines(database, display.uuid) == all_lines(count=count)
    put_aside = "SELECT topic, reason FROM dead_letters WHERE topic LIKE :mine"  # another test's presence is retained
    assert database.rows(put_aside, mine=f"%/{display.uuid}/%") == []
