"""A display that only listens, for tests of what the service publishes."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from deploy.parts.broker import RunningBroker


@contextmanager
def listening_display(broker: RunningBroker, uuid: str) -> Iterator["queue.Queue[MQTTMessage]"]:
    """A display that subscribed to its commands; the queue gets its messages."""
    broker.add_displays({uuid: "display-secret"})
    got: queue.Queue[MQTTMessage] = queue.Queue()
    subscribed: queue.Queue[Any] = queue.Queue()
    display = Client(CallbackAPIVersion.VERSION2, client_id=uuid, protocol=MQTTProtocolVersion.MQTTv5)
    display.username_pw_set(uuid, "display-secret")
    display.on_message = lambda _client, _data, message: got.put(message)
    display.on_subscribe = lambda *arguments: subscribed.put(arguments)
    display.connect("127.0.0.1", broker.broker.displays_port)
    display.loop_start()
    display.subscribe(f"signage/{uuid}/commands", qos=1)
    subscribed.get(timeout=60)
    try:
        yield got
    finally:
        display.disconnect()
        display.loop_stop()
