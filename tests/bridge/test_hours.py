"""Opening hours reach a display that keeps other ones, and reach it again when it comes back."""

from typing import Any

from sqlalchemy import Engine

from deploy.parts import broker as mosquitto
from shared.clients.hours_operations import set_hours
from shared.clients.hours_rules import OpeningHours, OpenTime, document, version_of
from shared.postgres.door import database_now, transaction
from shared.vocabulary import Weekday
from tests.bridge.conftest import Database, Display, StartBridge, displays, eventually, stamp
from tests.stores.commands_world import new_client

HOURS = OpeningHours("Europe/Berlin", (OpenTime(tuple(Weekday), "08:00", "20:00"),))
VERSION = version_of(HOURS)
MESSAGE = {"v": 1, "version": VERSION, "hours": document(HOURS)}
ABLE = ["screen_on", "screen_off"]


def told(display: Display) -> list[dict[str, Any]]:
    """The hours that it was sent."""
    return [body for topic, body in display.told if topic == "hours"]


def wanting(engine: Engine) -> str:
    """A display that is meant to keep HOURS."""
    name = new_client(engine, capabilities=ABLE, presence="online")
    with transaction(engine) as connection:
        set_hours(connection, database_now(connection), [name], HOURS)
    return name


def test_hours_are_sent_again_when_a_display_comes_back_without_them(
    engine: Engine, database: Database, broker: mosquitto.RunningBroker, start_bridge: StartBridge
) -> None:
    name = wanting(engine)
    with displays(broker, [name]) as [display]:
        start_bridge()
        eventually(lambda: told(display) == [MESSAGE])

        display.publish("presence", {"state": "online", "session": "another"})
        eventually(lambda: told(display) == [MESSAGE, MESSAGE])

        display.publish("health", {"capabilities": ABLE, "hours_version": VERSION, **stamp(1)})
        eventually(lambda: database.client(name)["hours_version"] == VERSION)
        with transaction(engine) as connection:
            set_hours(connection, database_now(connection), [name], None)
        eventually(lambda: told(display)[2:] == [{"v": 1, "version": None, "hours": None}])
