"""One bridge leads, the others stand by; a deposed leader neither writes nor acknowledges."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.parts import broker as mosquitto
from deploy.parts.probes import accepts, free_port
from deploy.parts.short_lived import running
from tests.bridge.conftest import SESSIONS, BridgeProcess, Database, Display, StartBridge, eventually, settings, stamp
from tests.bridge.preloaded import Forked
from tests.bridge.proxy import proxied


def lines(database: Database, name: str) -> list[str]:
    found = database.rows("SELECT message FROM client_logs WHERE client_uuid = :u ORDER BY id", u=name)
    return [row["message"] for row in found]


def is_standing_by(bridge: BridgeProcess) -> bool:
    return bridge.ask("/healthz")[0] == 200 and bridge.ask("/readyz") == (503, bridge.ask("/healthz")[1])


def test_a_standby_takes_over_from_a_dead_leader_and_nothing_is_lost_or_stored_twice(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    leader = start_bridge()
    standby = start_bridge(wait=False)
    eventually(lambda: is_standing_by(standby))
    epoch = leader.ask("/readyz")[1]["epoch"]
    said = [f"line {number}" for number in range(1, 301)]

    for number, message in enumerate(said, 1):
        display.publish_soon("logs/info", {"message": message, **stamp(number)})
        if number == len(said) // 2:
            eventually(lambda: len(lines(database, display.uuid)) > 0)
            leader.kill()

    eventually(standby.ready)
    eventually(lambda: len(lines(database, display.uuid)) >= len(said))
    assert lines(database, display.uuid) == said
    assert standby.ask("/readyz")[1]["epoch"] > epoch


def test_a_deposed_leader_that_wakes_up_stands_by(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    """A paused machine does not notice that another bridge got its lock."""
    first = start_bridge()
    second = start_bridge(wait=False)
    eventually(lambda: is_standing_by(second))
    first.send(signal.SIGSTOP)
    display.publish("logs/info", {"message": "one", **stamp(1)})  # the first bridge may already have received it
    database.rows("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")
    eventually(second.ready)

    first.send(signal.SIGCONT)
    display.publish("logs/info", {"message": "two", **stamp(2)})

    eventually(lambda: is_standing_by(first))
    eventually(lambda: lines(database, display.uuid) == ["one", "two"])
    assert second.ask("/readyz")[0] == 200
    assert second.events().count("broker_connected") == SESSIONS  # no other bridge disconnected it again
    assert database.value("SELECT epoch FROM bridge_status") == second.ask("/readyz")[1]["epoch"]


def test_a_deposed_leader_that_reaches_the_broker_again_throws_nobody_out(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, database: Database
) -> None:
    """While it tried to connect it did not query the database, so it does not know that it was deposed."""
    port = free_port()
    first = start_bridge(wait=False, MQTT_URL=f"mqtt://127.0.0.1:{port}")
    eventually(lambda: first.events().count("broker_disconnected") > 1)
    first.send(signal.SIGSTOP)
    database.rows("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")
    second = start_bridge()

    with proxied(broker.broker.services_port, port):
        first.send(signal.SIGCONT)
        eventually(lambda: is_standing_by(first))

        assert second.ask("/readyz")[0] == 200
        assert second.events().count("broker_connected") == SESSIONS
        assert first.events().count("broker_connected") == 0


def test_a_leader_whose_session_is_ended_goes_on_where_it_was(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    bridge = start_bridge()
    epoch = bridge.ask("/readyz")[1]["epoch"]
    database.rows("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")

    display.publish("logs/info", {"message": "one", **stamp(1)})

    eventually(lambda: lines(database, display.uuid) == ["one"])
    assert bridge.ask("/readyz")[1]["epoch"] == epoch
    assert bridge.events().count("broker_connected") == SESSIONS


IN_A_BOX = {"DEPLOYMENT_MODE": "box", "DATABASE_URL": "postgresql://signage:0f8fad5bd9cb469fa165@127.0.0.1:9/none"}


@pytest.fixture
def open_broker(broker: mosquitto.RunningBroker, tmp_path: Path) -> Iterator[int]:
    """The port of a broker with anonymous access."""
    port = free_port()
    configuration = tmp_path / "mosquitto.conf"
    configuration.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    with running([str(mosquitto.find_program()), "-c", str(configuration)], accepts(port), tmp_path / "log"):
        yield port


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"MQTT_PASSWORD": ""}, "MQTT_PASSWORD"),
        ({**IN_A_BOX, "DEPLOYMENT_MODE": "cloud"}, "MQTT_URL"),
    ],
)
def test_it_does_not_start_on_a_setting_that_is_not_right(
    environment: dict[str, str], named: str, database_url: str, broker: mosquitto.RunningBroker, tmp_path: Path
) -> None:
    assert named in why_it_does_not_start({**settings(database_url, broker), **environment}, tmp_path / "log")


def test_it_does_not_start_on_a_broker_that_lets_anybody_in(
    database_url: str, broker: mosquitto.RunningBroker, open_broker: int, tmp_path: Path
) -> None:
    environment = {**settings(database_url, broker), "MQTT_URL": f"mqtt://127.0.0.1:{open_broker}"}

    assert "accepts a connection without a login" in why_it_does_not_start(environment, tmp_path / "refused")


def why_it_does_not_start(environment: dict[str, str], log: Path) -> str:
    """The output of a bridge with this environment, which ends with exit code 2."""
    bridge = Forked({**os.environ, "BRIDGE_HEALTH_PORT": str(free_port()), **environment}, log)
    try:
        assert bridge.wait(60) == 2
    finally:
        bridge.kill()
    return log.read_text(encoding="utf-8")
