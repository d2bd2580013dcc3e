"""After any kill, no acknowledged message is missing and no numbered line is stored twice."""

import signal
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from deploy.local import postgres
from deploy.parts import broker as mosquitto
from deploy.parts import guardian
from deploy.parts.probes import free_port
from shared.postgres.door import engine_for
from tests import migrated, volatile
from tests.bridge.conftest import (
    PASSWORD,
    SESSIONS,
    Database,
    Display,
    StartBridge,
    bridges,
    connected,
    eventually,
    stamp,
)
from tests.bridge.proxy import proxied

LINES = 150  # three times as many are within a client's budget


def send_lines(display: Display, first: int = 1, count: int = LINES) -> None:
    """Publish numbered log lines, and wait until the broker has all."""
    numbers = [
        display.publish_soon("logs/info", {"message": f"line {n}", **stamp(n)}) for n in range(first, first + count)
    ]
    eventually(lambda: all(number in display.answers for number in numbers))


def lines(database: Database, name: str) -> list[str]:
    found = database.rows("SELECT message FROM client_logs WHERE client_uuid = :u ORDER BY id", u=name)
    return [row["message"] for row in found]


def all_lines(first: int = 1, count: int = LINES) -> list[str]:
    return [f"line {n}" for n in range(first, first + count)]


def test_a_bridge_killed_between_commit_and_acknowledgement_stores_nothing_twice(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, display: Display, database: Database
) -> None:
    with proxied(broker.broker.services_port) as proxy:
        bridge = start_bridge(MQTT_URL=f"mqtt://127.0.0.1:{proxy.port}")
        proxy.hold_upward.set()  # acknowledgements do not arrive
        send_lines(display)
        display.publish("service_failed", {"unit": "player", **stamp(1)})
        eventually(lambda: lines(database, display.uuid) == all_lines())
        eventually(lambda: database.client(display.uuid)["service_failed_at"] is not None)
        raised_at = database.client(display.uuid)["service_failed_at"]
        bridge.kill()
        proxy.cut()

    again = start_bridge()

    eventually(lambda: database.value("SELECT counters FROM bridge_status")["duplicate_logs"] == LINES)
    assert lines(database, display.uuid) == all_lines()
    assert database.client(display.uuid)["service_failed_at"] == raised_at
    assert database.value("SELECT info FROM client_log_hours WHERE client_uuid = :u", u=display.uuid) == LINES
    assert again.ask("/readyz")[1]["waiting"] == 0


def test_a_bridge_killed_again_and_again_loses_nothing(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    bridge = start_bridge()
    for part in range(4):
        send_lines(display, 1 + part * LINES)
        eventually(lambda part=part: len(lines(database, display.uuid)) > part * LINES)  # type: ignore[misc]  # mypy cannot infer defaults
        bridge.kill()
        bridge = start_bridge(wait=False)

    eventually(lambda: len(lines(database, display.uuid)) >= 4 * LINES)
    assert sorted(lines(database, display.uuid)) == sorted(all_lines(count=4 * LINES))
    mark = database.one("SELECT seq FROM log_marks WHERE client_uuid = :u", u=display.uuid)
    assert mark["seq"] == 4 * LINES


def test_a_stale_acknowledgement_never_reaches_a_new_connection(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, display: Display, database: Database
) -> None:
    with proxied(broker.broker.services_port) as proxy:
        bridge = start_bridge(MQTT_URL=f"mqtt://127.0.0.1:{proxy.port}")
        proxy.hold_upward.set()
        send_lines(display)
        eventually(lambda: len(lines(database, display.uuid)) == LINES)
        proxy.cut()
        proxy.hold_upward.clear()

        eventually(lambda: "broker_disconnected" in bridge.events())
        eventually(bridge.ready)
        send_lines(display, 1 + LINES)

        eventually(lambda: len(lines(database, display.uuid)) >= 2 * LINES)
        assert lines(database, display.uuid) == all_lines(count=2 * LINES)
        assert bridge.process.poll() is None


def test_it_leaves_in_order_at_sigterm(start_bridge: StartBridge, display: Display, database: Database) -> None:
    """Lines without numbers would show repeated deliveries."""
    bridge = start_bridge()
    for number in range(LINES):
        display.publish_soon("logs/info", {"message": f"line {number + 1}"})
    eventually(lambda: len(display.answers) >= LINES)

    bridge.send(signal.SIGTERM)

    assert bridge.process.wait(60) == 0
    assert bridge.events()[-1] == "component_stopped"
    assert database.value("SELECT connected_since FROM bridge_status") is None
    start_bridge()
    eventually(lambda: len(lines(database, display.uuid)) >= LINES)
    display.publish("heartbeat", {"process_status": "running"})  # after all that still waits
    eventually(lambda: database.client(display.uuid)["status"] == "running")
    assert lines(database, display.uuid) == all_lines()


# --- Postgres ---


@pytest.fixture(scope="module")
def cluster() -> Iterator[postgres.Cluster]:
    """A migrated Postgres that these tests may stop; it is not running."""
    with tempfile.TemporaryDirectory(prefix="signage-pg-", dir=volatile.folder()) as folder:
        yield migrated.copied(Path(folder))


def address(cluster: postgres.Cluster) -> str:
    return migrated.url_of(cluster)


def everything_of(postmaster: int) -> set[int]:
    return {postmaster} | guardian.descendants(postmaster)


def test_postgres_restarted_costs_nothing_and_the_bridge_stays(
    cluster: postgres.Cluster, broker: mosquitto.RunningBroker, display: Display, tmp_path: Path
) -> None:
    with bridges(address(cluster), broker, tmp_path, preloaded=True) as start:
        with postgres.serve(cluster, tmp_path / "log"):
            bridge = start()
            send_lines(display)
        send_lines(display, 1 + LINES)  # they cannot be stored
        eventually(lambda: "database_away" in bridge.events())
        eventually(lambda: bridge.ask("/readyz")[1]["waiting"] > 0)

        with postgres.serve(cluster, tmp_path / "log"):
            database = Database(engine_for(address(cluster), "tests"))
            eventually(lambda: len(lines(database, display.uuid)) >= 2 * LINES)

            assert lines(database, display.uuid) == all_lines(count=2 * LINES)
            assert bridge.process.poll() is None
            assert bridge.events().count("broker_connected") == SESSIONS  # the connection to the broker lasted
            assert bridge.events().count("lead_regained") >= 1
            assert database.value("SELECT epoch FROM bridge_status") == bridge.ask("/readyz")[1]["epoch"]
            database.engine.dispose()


def test_while_postgres_hangs_nothing_is_acknowledged(
    cluster: postgres.Cluster, broker: mosquitto.RunningBroker, display: Display, tmp_path: Path
) -> None:
    with (
        postgres.serve(cluster, tmp_path / "log") as server,
        bridges(address(cluster), broker, tmp_path, preloaded=True) as start,
    ):
        bridge = start(constants={"shared.postgres.door.SOCKET_TIMEOUT_SECONDS": 3})
        stopped = everything_of(server.pid)
        for pid in stopped:
            guardian.send(pid, signal.SIGSTOP)
        try:
            send_lines(display)
            eventually(lambda: "database_away" in bridge.events())
            bridge.kill()  # the broker still has the unacknowledged messages
        finally:
            for pid in stopped:
                guardian.send(pid, signal.SIGCONT)

        start()

        database = Database(engine_for(address(cluster), "tests"))
        eventually(lambda: len(lines(database, display.uuid)) >= LINES)
        assert lines(database, display.uuid) == all_lines()
        database.engine.dispose()


# --- the broker ---


def test_a_restarted_broker_is_found_again_and_what_it_held_is_stored(
    database_url: str, database: Database, tmp_path: Path
) -> None:
    place = mosquitto.Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    passwords = {user: f"password-of-{user}" for user in mosquitto.SERVICES}
    name = str(uuid.uuid4())
    with ExitStack() as second, ExitStack() as first:
        broker = first.enter_context(mosquitto.serve(place, passwords, tmp_path / "log"))
        broker.add_displays({name: PASSWORD})
        with bridges(database_url, broker, tmp_path, preloaded=True) as start:
            start().kill()  # its session stays
            with closing(connected(broker, name)) as display:
                send_lines(display)
            bridge = start()
            first.close()
            eventually(lambda: bridge.ask("/healthz") == (503, bridge.ask("/readyz")[1]))
            assert bridge.ask("/healthz")[1]["faults"][0] == "not connected to the broker"
            second.enter_context(mosquitto.serve(place, passwords, tmp_path / "log"))

            eventually(bridge.ready)
            with closing(connected(broker, name)) as display:
                send_lines(display, 1 + LINES)
            eventually(lambda: len(lines(database, name)) >= 2 * LINES)

            assert lines(database, name) == all_lines(count=2 * LINES)
            assert bridge.process.poll() is None
