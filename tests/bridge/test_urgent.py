"""ACKs, presence and service failures overtake the backlog in the broker."""

import signal
import time
import uuid

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from sqlalchemy import Engine

from deploy.parts import broker as mosquitto
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import wait_until
from shared.vocabulary import CommandAction
from tests.bridge.conftest import PASSWORD, SECONDS, Database, Display, StartBridge, displays, eventually, stamp
from tests.bridge.proxy import proxied
from tests.bridge.test_messages_reach_their_tables import dead_letters, heartbeat, issue, state
from tests.lab.campaigns.wire import Wire

BACKLOG = 5_000  # more than the first batches take
OVERTOOK = """
    SELECT (SELECT xmin::text::bigint FROM client_commands WHERE id = :id)
         < (SELECT xmin::text::bigint FROM client_logs WHERE message = 'the last')
"""
"""Whether the transaction of an ACK began before that of the last log line."""


def log_much(port: int, name: str, count: int) -> None:
    """Publish plain log lines as fast as the broker takes them, and wait until it has all."""
    wire = Wire.connect(port, name, PASSWORD)
    sent = 0
    deadline = time.monotonic() + SECONDS
    while sent < count or wire.unanswered or wire.outgoing:
        assert time.monotonic() < deadline
        for _ in range(min(count - sent, 1_000 - len(wire.unanswered))):
            wire.publish(f"signage/{name}/logs/info".encode(), b'{"message": "noise"}')
            sent += 1
        wire.flush()
        wire.take()
    wire.close()


def test_an_ack_a_failure_and_presence_overtake_a_backlog_of_logs(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, database: Database, engine: Engine
) -> None:
    bridge = start_bridge()
    with displays(broker, [str(uuid.uuid4()) for _ in range(2)]) as (noisy, quiet):
        quiet.publish("heartbeat", heartbeat())
        eventually(lambda: bool(database.client(quiet.uuid)))
        command = issue(engine, quiet.uuid, CommandAction.RESTART_APP)
        eventually(lambda: state(database, command) == "sent")
        noisy.close()
        bridge.send(signal.SIGSTOP)
        log_much(broker.broker.displays_port, noisy.uuid, BACKLOG)
        quiet.publish("acks", {"id": command, "state": "received"})
        quiet.publish("service_failed", {"unit": "player", **stamp(1)})
        quiet.publish("presence", {"state": "online", "session": "s"})
        quiet.publish("logs/info", {"message": "the last", **stamp(1)})

        bridge.send(signal.SIGCONT)

        eventually(lambda: state(database, command) == "received")
        eventually(lambda: database.client(quiet.uuid)["service_failed_unit"] == "player")
        eventually(lambda: database.client(quiet.uuid)["presence"] == "online")
        eventually(lambda: database.value("SELECT count(*) FROM client_logs WHERE message = 'the last'") == 1)
        assert database.value(OVERTOOK, id=command), "the ACK waited for the logs that were sent before it"


def test_presence_that_overtakes_the_heartbeat_which_registers_its_client_is_kept(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, database: Database
) -> None:
    bridge = start_bridge(constants={"bridge.batches.REST_SECONDS": 30.0})  # a slow broker may pause for a second
    with displays(broker, [str(uuid.uuid4()) for _ in range(2)]) as (noisy, new):
        noisy.close()
        bridge.send(signal.SIGSTOP)
        log_much(broker.broker.displays_port, noisy.uuid, BACKLOG)
        new.publish("presence", {"state": "online", "session": "s"})
        new.publish("heartbeat", heartbeat())

        bridge.send(signal.SIGCONT)

        eventually(lambda: database.client(new.uuid).get("presence") == "online")
        assert dead_letters(database, new.uuid) == []


def test_a_session_of_before_the_lanes_brings_nothing_twice(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, display: Display, database: Database
) -> None:
    _old_session(broker, "signage/+/presence")
    bridge = start_bridge()
    display.publish("heartbeat", heartbeat())
    eventually(lambda: bool(database.client(display.uuid)))
    before = _received(bridge.ask("/readyz")[1])

    display.publish("presence", b"[]")  # a dead letter for each repeat
    display.publish("heartbeat", heartbeat(2))

    eventually(lambda: database.value("SELECT seq FROM client_heartbeats WHERE client_uuid = :u", u=display.uuid) == 2)
    eventually(lambda: _received(bridge.ask("/readyz")[1]) >= before + 2)
    letters = "SELECT sum(count) FROM dead_letters WHERE topic = :t"
    assert database.value(letters, t=f"signage/{display.uuid}/presence") == 1


def _received(body: dict[str, dict[str, int]]) -> int:
    return body["counters"]["received"]


def _old_session(broker: mosquitto.RunningBroker, topic: str) -> None:
    """A session of an older bridge, which subscribed the urgent topics."""
    client = Client(CallbackAPIVersion.VERSION2, client_id="bridge", protocol=MQTTProtocolVersion.MQTTv5)
    client.username_pw_set("bridge", broker.passwords["bridge"])
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]  # paho leaves it without types
    properties.SessionExpiryInterval = 3600
    subscribed: list[int] = []
    client.on_subscribe = lambda _client, _data, mid, _codes, _properties: subscribed.append(mid)
    client.connect(LOOPBACK, broker.broker.services_port, clean_start=False, properties=properties)
    client.loop_start()
    wait_until(client.is_connected, SECONDS)
    client.subscribe(topic, qos=1)
    wait_until(lambda: bool(subscribed), SECONDS)
    client.disconnect()
    client.loop_stop()


def test_a_display_is_told_what_is_committed_while_the_rest_of_a_backlog_still_comes(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, database: Database
) -> None:
    """The SUBACK reaches the bridge only after the whole backlog of the broker."""
    start_bridge().kill()
    with displays(broker, [str(uuid.uuid4()) for _ in range(2)]) as (noisy, spooling):
        noisy.close()
        for number in range(1, 11):
            spooling.publish("logs/info", {"message": f"line {number}", **stamp(number)})
        log_much(broker.broker.displays_port, noisy.uuid, BACKLOG)
        with proxied(broker.broker.services_port) as proxy:
            proxy.most_downward = 65_536  # bytes: the ten lines, and a part of the backlog

            start_bridge(wait=False, MQTT_URL=f"mqtt://{LOOPBACK}:{proxy.port}")

            eventually(lambda: ("logs_committed", {**stamp(10)}) in spooling.told)
            assert database.value("SELECT counters FROM bridge_status")["received"] < BACKLOG
