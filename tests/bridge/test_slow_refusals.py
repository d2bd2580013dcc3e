"""A broker that takes seconds to refuse a login: the bridge is at work meanwhile, and stops if it was no refusal."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from deploy.parts import broker as mosquitto
from deploy.parts.layout import LOOPBACK
from tests.bridge.conftest import SECONDS, StartBridge, eventually

LET_IN = b"\x20\x03\x00\x00\x00"  # a CONNACK
HAS_USER = 0x80  # in the flags of a CONNECT, its tenth byte


@dataclass
class SlowDoor:
    """A door to a broker; who comes without a login waits."""

    port: int
    waiting: list[socket.socket] = field(default_factory=list)


@contextmanager
def slow_door(broker_port: int) -> Iterator[SlowDoor]:
    listener = socket.create_server((LOOPBACK, 0))
    door = SlowDoor(listener.getsockname()[1])
    held: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):  # the listener is closed
            while True:
                caller, _ = listener.accept()
                held.append(caller)
                threading.Thread(target=welcome, args=(caller,), daemon=True).start()

    def welcome(caller: socket.socket) -> None:
        with suppress(OSError):
            first = caller.recv(4096)
            if len(first) < 10 or not first[9] & HAS_USER:
                door.waiting.append(caller)
                return
            broker = socket.create_connection((LOOPBACK, broker_port))
            held.append(broker)
            broker.sendall(first)
            threading.Thread(target=pump, args=(broker, caller), daemon=True).start()
            pump(caller, broker)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield door
    finally:
        for one in (listener, *held):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


def test_a_bridge_does_not_wait_for_a_refusal(start_bridge: StartBridge, broker: mosquitto.RunningBroker) -> None:
    with slow_door(broker.broker.services_port) as door:
        bridge = start_bridge(MQTT_URL=f"mqtt://{LOOPBACK}:{door.port}")

        assert bridge.ready()
        assert "configuration_error" not in bridge.events()


def test_a_bridge_that_works_already_stops_when_the_broker_lets_anybody_in(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker
) -> None:
    with slow_door(broker.broker.services_port) as door:
        bridge = start_bridge(wait=False, MQTT_URL=f"mqtt://{LOOPBACK}:{door.port}")
        eventually(lambda: "broker_connected" in bridge.events(), SECONDS)

        for waiting in door.waiting:
            waiting.sendall(LET_IN)

        assert bridge.process.wait(60) == 2
        assert "configuration_error" in bridge.events()
