"""Two traps of paho's own thread, tested with it and with the bridge's connection, which does not use it."""

from collections.abc import Iterator
from typing import Any

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion

from deploy.parts import broker as mosquitto
from deploy.parts.layout import LOOPBACK
from tests.bridge.conftest import Display, eventually, forget_session
from tests.bridge.proxy import proxied
from tests.bridge.test_connection import TOPICS, opened, turn

SHORT_SECONDS = 0.3


@pytest.fixture(autouse=True)
def without_session(broker: mosquitto.RunningBroker) -> Iterator[None]:
    """Delete the bridge's sessions afterwards."""
    yield
    forget_session(broker)


def paho_by_default(broker: mosquitto.RunningBroker) -> Client:
    """Paho as in its tutorial, with the api's login on the services' listener."""
    client = Client(CallbackAPIVersion.VERSION2, client_id="a-publisher", protocol=MQTTProtocolVersion.MQTTv5)
    client.username_pw_set("api", broker.passwords["api"])
    client.reconnect_delay_set(1, 1)
    return client


def commands(display: Display) -> list[dict[str, Any]]:
    return [body for topic, body in display.told if topic == "commands"]


def test_trap_4_pahos_wait_for_publish_ends_without_a_word_when_nobody_answered(
    broker: mosquitto.RunningBroker, display: Display
) -> None:
    with proxied(broker.broker.services_port) as proxy:
        client = paho_by_default(broker)
        client.connect(LOOPBACK, proxy.port)
        client.loop_start()
        eventually(client.is_connected)
        proxy.hold_upward.set()

        told = client.publish(TOPICS.commands(display.uuid), b'{"id": "1"}', qos=1)
        told.wait_for_publish(SHORT_SECONDS)  # raises nothing

        assert not told.is_published()
        assert commands(display) == []
        client.disconnect()
        client.loop_stop()


def test_trap_4_ours_has_no_answer_where_nobody_answered(broker: mosquitto.RunningBroker, display: Display) -> None:
    with proxied(broker.broker.services_port) as proxy:
        with opened(broker, f"mqtt://{LOOPBACK}:{proxy.port}") as connection:
            proxy.hold_upward.set()
            number = connection.publish(TOPICS.commands(display.uuid), b'{"id": "1"}', 10, watch=True)
            connection.step(SHORT_SECONDS)
            assert number is not None
            assert connection.answers == {}

            proxy.hold_upward.clear()
            turn(connection, lambda: number in connection.answers)
        eventually(lambda: len(commands(display)) == 1)


def test_trap_4_what_paho_calls_failed_is_delivered_once_it_is_connected(
    broker: mosquitto.RunningBroker, display: Display
) -> None:
    """Otherwise a command that ended, and was perhaps replaced, would still arrive."""
    client = paho_by_default(broker)
    told = client.publish(TOPICS.commands(display.uuid), b'{"id": "failed"}', qos=1)
    assert told.rc == MQTTErrorCode.MQTT_ERR_NO_CONN

    client.connect(LOOPBACK, broker.broker.services_port)
    client.loop_start()

    eventually(lambda: commands(display) == [{"id": "failed"}])
    client.disconnect()
    client.loop_stop()


def test_trap_4_what_ours_calls_failed_never_arrives(broker: mosquitto.RunningBroker, display: Display) -> None:
    with proxied(broker.broker.services_port) as proxy, opened(broker, f"mqtt://{LOOPBACK}:{proxy.port}") as lost:
        proxy.hold_upward.set()
        assert lost.publish(TOPICS.commands(display.uuid), b'{"id": "held"}', 10) is not None
        proxy.cut()
        turn(lost, lambda: lost.fault is not None)
        assert lost.publish(TOPICS.commands(display.uuid), b'{"id": "failed"}', 10) is None

    with opened(broker) as again:
        number = again.publish(TOPICS.commands(display.uuid), b'{"id": "new"}', 10, watch=True)
        turn(again, lambda: number in again.answers)
    eventually(lambda: {"id": "new"} in commands(display))

    assert commands(display) == [{"id": "new"}]  # neither the failed publish nor one of an old connection
