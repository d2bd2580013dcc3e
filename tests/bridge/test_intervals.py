"""A display that is well is asked for seldom heartbeats, and asked anew when something happens."""

from typing import Any

from sqlalchemy import Engine

from deploy.parts import broker as mosquitto
from shared.clients.intervals_rules import INTERVAL, LASTS_SECONDS, Calm
from shared.postgres.door import database_now, transaction
from tests.bridge.conftest import Database, Display, StartBridge, displays, eventually, stamp
from tests.stores.commands_world import RESTART, issue, new_client, seconds

CALM = 120


def told(display: Display) -> list[int]:
    """The intervals that it was asked for."""
    return [body["interval_seconds"] for topic, body in display.told if topic == "interval"]


def beat(number: int, interval: int, **more: Any) -> dict[str, Any]:
    body = {"process_status": "running", "boot_id": "boot-1", "app_instance": "start-1", "interval_seconds": interval}
    return {**body, **more, **stamp(number)}


def well(engine: Engine) -> str:
    """A display that takes wishes, well and connected for an hour."""
    with transaction(engine) as connection:
        hour_ago = database_now(connection) - seconds(3600)
    facts = {"capabilities": ["restart_app", INTERVAL], "presence": "online", "presence_session": "session"}
    running = {"status": "running", "process_status": "running", "status_since": hour_ago, "presence_at": hour_ago}
    return new_client(engine, **facts, **running)


def test_an_interval_is_asked_for_and_another_one_as_soon_as_something_happens(
    engine: Engine, database: Database, broker: mosquitto.RunningBroker, start_bridge: StartBridge
) -> None:
    name = well(engine)
    with displays(broker, [name]) as [display]:
        start_bridge(constants={"bridge.loop.CALM": Calm(CALM, 1)})
        eventually(lambda: told(display) == [CALM])
        assert [body for topic, body in display.told if topic == "interval"] == [
            {"v": 1, "interval_seconds": CALM, "until": LASTS_SECONDS}
        ]

        display.publish("heartbeat", beat(1, CALM))
        eventually(lambda: heartbeat_of(database, name)["interval_seconds"] == CALM)
        with transaction(engine) as connection:
            issue(connection, database_now(connection), name, RESTART)

        eventually(lambda: told(display) == [CALM, 30])


def test_a_will_lets_a_calm_display_be_judged_as_usual_and_its_next_heartbeat_counts(
    engine: Engine, database: Database, broker: mosquitto.RunningBroker, start_bridge: StartBridge
) -> None:
    """The bridge remembers a heartbeat that only repeats: the will must end that memory."""
    name = well(engine)
    with displays(broker, [name]) as [display]:
        start_bridge()
        for number in (1, 2, 3):
            display.publish("heartbeat", beat(number, 300))
            eventually(lambda number=number: heartbeat_of(database, name)["seq"] == number)  # type: ignore[misc]

        display.publish("presence", {"state": "offline", "session": "session"})
        eventually(lambda: heartbeat_of(database, name)["interval_seconds"] == 30)
        assert database.client(name)["presence"] == "offline"

        display.publish("heartbeat", beat(4, 300))
        eventually(lambda: heartbeat_of(database, name)["interval_seconds"] == 300)


def test_in_a_small_fleet_nobody_is_asked_to_be_calm(
    engine: Engine, database: Database, broker: mosquitto.RunningBroker, start_bridge: StartBridge
) -> None:
    name = well(engine)
    with displays(broker, [name]) as [display]:
        start_bridge()
        display.publish("heartbeat", beat(1, CALM))

        eventually(lambda: told(display) == [30])


def heartbeat_of(database: Database, name: str) -> dict[str, Any]:
    return database.one("SELECT * FROM client_heartbeats WHERE client_uuid = :uuid", uuid=name)
