"""MQTT 5 clients for tests of the broker, which record what they receive."""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import wait_until

NO_SUBSCRIBERS = 0x10
NOT_AUTHORIZED = 0x87
ONE, OTHER = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))  # two displays


class Refused(Exception):
    """The broker answered a CONNECT with this reason code."""


class Seen:
    """What one test client has received."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, bytes]] = []
        self.codes: dict[int, int] = {}
        self.answered = threading.Condition()  # notified of each new code: polling every 20 ms took half a minute
        self.disconnected = threading.Event()

    def answer(self, mid: int, code: int) -> None:
        """Record the broker's answer to a publish."""
        with self.answered:
            self.codes[mid] = code
            self.answered.notify_all()


@contextmanager
def connected(
    port: int, username: str, password: str, client_id: str = "", expiry_seconds: int = 0
) -> Iterator[tuple[mqtt.Client, Seen]]:
    """Connect an MQTT 5 client with a network thread of its own. Raises Refused."""
    client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id, protocol=mqtt.MQTTv5)
    client.username_pw_set(username, password)
    seen = Seen()
    client.on_message = lambda _c, _u, message: seen.messages.append((message.topic, bytes(message.payload)))
    client.on_publish = lambda _c, _u, mid, code, _p: seen.answer(mid, code.value)
    client.on_disconnect = lambda *_arguments: seen.disconnected.set()
    codes: list[ReasonCode] = []
    client.on_connect = lambda _c, _u, _f, code, _p: codes.append(code)
    session = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]  # paho has no types here
    session.SessionExpiryInterval = expiry_seconds
    client.connect(LOOPBACK, port, clean_start=expiry_seconds == 0, properties=session)
    client.loop_start()
    try:
        wait_until(lambda: bool(codes), 60)
        if codes[0].is_failure:
            raise Refused(codes[0])
        yield client, seen
    finally:
        client.disconnect()
        client.loop_stop()


def publish(
    client: mqtt.Client, seen: Seen, topic: str, payload: bytes = b"{}", *, qos: int = 1, retain: bool = False
) -> int:
    """Publish, and return the reason code of the PUBACK or PUBREC; 0 with QoS 0, which has none."""
    sent = client.publish(topic, payload, qos=qos, retain=retain)
    with seen.answered:
        assert seen.answered.wait_for(lambda: sent.mid in seen.codes, 60), f"no PUBACK for {topic}"
        return seen.codes[sent.mid]


def subscribe(client: mqtt.Client, topic: str) -> int:
    """Subscribe with QoS 1 and return the reason code of the SUBACK."""
    answered = threading.Event()
    codes: list[int] = []

    def take(_client: object, _data: object, _mid: int, answers: list[ReasonCode], _properties: object) -> None:
        codes.extend(answer.value for answer in answers)
        answered.set()

    client.on_subscribe = take
    client.subscribe(topic, qos=1)
    assert answered.wait(60)
    return codes[0]
