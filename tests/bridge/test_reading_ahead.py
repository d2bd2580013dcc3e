"""The bridge reads while Postgres works on a batch; after any fault then, each line is stored once and in order."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from deploy.parts import broker as mosquitto
from shared.postgres.door import engine_for, transaction
from tests.bridge.conftest import BridgeProcess, Database, Display, StartBridge, budget, eventually
from tests.bridge.proxy import proxied
from tests.bridge.test_faults import all_lines, lines, send_lines

OF_THE_BRIDGE = "FROM pg_locks WHERE NOT granted AND relation = CAST('client_logs' AS regclass)"
WAITS = f"SELECT EXISTS (SELECT {OF_THE_BRIDGE})"
END_WHO_WAITS = f"SELECT pg_terminate_backend(pid) {OF_THE_BRIDGE}"


@contextmanager
def logs_locked(database_url: str) -> Iterator[None]:
    """Lock the logs until the block ends."""
    engine = engine_for(database_url, "tests", pool_size=1)
    try:
        with transaction(engine) as connection:
            connection.execute(sa.text("LOCK TABLE client_logs IN EXCLUSIVE MODE"))
            yield
    finally:
        engine.dispose()


MANY = 1_500  # less than a batch and the window, so all of it is read ahead
WINDOW = 4_000
SMALLER = {"bridge.connection.RECEIVE_MAXIMUM": WINDOW}
"""A smaller window, which fills faster."""
ROOM = budget(per_second=1000, burst=10_000)


def read_ahead(display: Display, database: Database, bridge: BridgeProcess) -> None:
    """One line is in a batch that Postgres does not store, and the bridge has read the lines after it."""
    send_lines(display, 1, 1)
    eventually(lambda: database.value(WAITS))
    send_lines(display, 2, MANY - 1)
    database.rows(END_WHO_WAITS)  # at the second time it has data to read while it waits
    eventually(lambda: "database_away" in bridge.events() and database.value(WAITS))


def test_a_connection_that_breaks_with_messages_read_ahead_brings_each_of_them_once(
    start_bridge: StartBridge,
    broker: mosquitto.RunningBroker,
    display: Display,
    database: Database,
    database_url: str,
) -> None:
    with proxied(broker.broker.services_port) as proxy:
        bridge = start_bridge(MQTT_URL=f"mqtt://127.0.0.1:{proxy.port}", constants=ROOM)
        with logs_locked(database_url):
            read_ahead(display, database, bridge)
            proxy.cut()
            database.rows(END_WHO_WAITS)
            eventually(lambda: "broker_disconnected" in bridge.events())

        eventually(lambda: len(lines(database, display.uuid)) >= MANY)
        assert lines(database, display.uuid) == all_lines(count=MANY)


def test_a_batch_whose_connection_ends_is_written_later_and_at_most_a_window_is_held(
    start_bridge: StartBridge, display: Display, database: Database, database_url: str
) -> None:
    count = MANY + WINDOW
    bridge = start_bridge(constants={**SMALLER, **ROOM})
    with logs_locked(database_url):
        read_ahead(display, database, bridge)
        send_lines(display, MANY + 1, WINDOW)
        database.rows(END_WHO_WAITS)
        eventually(lambda: bridge.ask("/readyz")[1]["waiting"] >= WINDOW)
        assert bridge.ask("/readyz")[1]["waiting"] < WINDOW + 100  # the other session's canaries

    eventually(lambda: len(lines(database, display.uuid)) >= count)
    assert lines(database, display.uuid) == all_lines(count=count)
    put_aside = "SELECT topic, reason FROM dead_letters WHERE topic LIKE :mine"  # another test's presence is retained
    assert database.rows(put_aside, mine=f"%/{display.uuid}/%") == []


HURRIED = {
    "shared.postgres.door.STATEMENT_TIMEOUT_MS": 300,
    "bridge.batches.FEWEST_MESSAGES": 100,
    "bridge.leader.LONGEST_BACK_OFF_SECONDS": 0.1,
}
SLOW = """
    CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_sleep((SELECT count(*) FROM lines) * 0.002); RETURN NULL; END';
    CREATE TRIGGER slowly AFTER INSERT ON client_logs REFERENCING NEW TABLE AS lines
        FOR EACH STATEMENT EXECUTE FUNCTION slowly()
"""


def test_a_batch_that_is_too_large_for_a_slow_database_is_written_in_smaller_ones(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    """A line takes two milliseconds and a statement may take 300, so at most 150 lines can be stored at once."""
    start_bridge().kill()  # later lines wait, and come all at once
    send_lines(display, 1, 600)
    database.do(SLOW)
    try:
        bridge = start_bridge(constants={**HURRIED, **ROOM})
        eventually(lambda: len(lines(database, display.uuid)) >= 600)
    finally:
        database.do("DROP TRIGGER slowly ON client_logs; DROP FUNCTION slowly()")
    assert lines(database, display.uuid) == all_lines(count=600)
    assert "database_away" in bridge.events()
