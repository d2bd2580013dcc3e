"""The same stories on the real broker and on the simulated one."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from deploy.parts import broker as mosquitto
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port, wait_until
from tests.lab.simulation.agenda import Agenda
from tests.lab.simulation.broker import Message, SimulatedBroker, Will

DISPLAY: Final = "00000000-0000-4000-8000-000000000001"
COMMANDS: Final = f"signage/{DISPLAY}/commands"
PRESENCE: Final = f"signage/{DISPLAY}/presence"
HEARTBEAT: Final = f"signage/{DISPLAY}/heartbeat"
BRIDGE: Final = "bridge"
SETTLE: Final = 0.3  # of simulated time


class Side(Protocol):
    """A broker and its clients; `name` is DISPLAY or BRIDGE. Times are seconds."""

    def connect(self, name: str, expiry: int, will_delay: int | None = None, *, acks: bool = True) -> bool: ...
    def subscribe(self, name: str, topic_filter: str) -> None: ...
    def publish(self, topic: str, payload: str, expiry: int | None = None, *, retain: bool = False) -> int: ...
    def lose(self, name: str) -> None: ...
    def leave(self, name: str, expiry: int) -> None: ...
    def heard(self, name: str) -> list[tuple[str, bool]]: ...
    def wait(self, seconds: float) -> None: ...
    def kill(self) -> None: ...
    def stop(self) -> None: ...
    def start(self) -> None: ...


class SimulatedSide:
    """The simulated broker."""

    def __init__(self) -> None:
        self._agenda = Agenda()
        self._broker = SimulatedBroker(self._agenda, lambda: 0.01)
        self._links: dict[str, _Link] = {}

    def connect(self, name: str, expiry: int, will_delay: int | None = None, *, acks: bool = True) -> bool:
        will = None if will_delay is None else Will(PRESENCE, b"will", will_delay)
        link = self._links[name] = _Link(self._broker, name, acks=acks)
        found = self._broker.connect(name, link, expiry, will)
        self.wait(SETTLE)
        return found

    def subscribe(self, name: str, topic_filter: str) -> None:
        self._broker.subscribe(name, [topic_filter])
        self.wait(SETTLE)

    def publish(self, topic: str, payload: str, expiry: int | None = None, *, retain: bool = False) -> int:
        code = self._broker.publish(topic, payload.encode(), expiry, retain=retain)
        self.wait(SETTLE)
        return code

    def lose(self, name: str) -> None:
        self._broker.drop(name, self._links[name])

    def leave(self, name: str, expiry: int) -> None:
        self._broker.disconnect(name, expiry)

    def heard(self, name: str) -> list[tuple[str, bool]]:
        return self._links[name].heard

    def wait(self, seconds: float) -> None:
        self._agenda.pass_by(seconds)

    def kill(self) -> None:
        self._broker.kill()

    def stop(self) -> None:
        self._broker.stop()

    def start(self) -> None:
        self._broker.start()


class _Link:
    is_cut = False

    def __init__(self, broker: SimulatedBroker, name: str, *, acks: bool) -> None:
        self.heard: list[tuple[str, bool]] = []
        self._broker, self._name, self._acks = broker, name, acks

    def deliver(self, message: Message) -> None:
        self.heard.append((message.payload.decode(), message.is_retained))
        if self._acks:
            self._broker.acknowledge(self._name, message)

    def lost(self, _why: str) -> None:
        """Do nothing: only the broker is tested."""


class RealSide:
    """The installed mosquitto with the shipped configuration."""

    def __init__(self, place: Path, slower: int = 1) -> None:
        """`slower`: how many times as long all seconds of a story are."""
        self._slower = slower
        self._broker = mosquitto.Broker(place / "run", place / "data", free_port(), free_port())
        self._passwords = {name: f"password of {name}" for name in mosquitto.SERVICES}
        self._log = place / "log"
        self._running = ExitStack()
        self._clients: dict[str, mqtt.Client] = {}
        self._heard: dict[str, list[tuple[str, bool]]] = {}
        self.start()

    def start(self) -> None:
        self._served = self._running.enter_context(mosquitto.serve(self._broker, self._passwords, self._log))
        self._served.set_displays({DISPLAY: "display"})

    def kill(self) -> None:
        os.kill(self._served.pid, signal.SIGKILL)
        self._end()

    def stop(self) -> None:
        os.kill(self._served.pid, signal.SIGTERM)
        self._end()

    def _end(self) -> None:
        wait_until(lambda: not any(client.is_connected() for client in self._clients.values()), 60)
        self._running.close()

    def close(self) -> None:
        for client in self._clients.values():
            client.disconnect()
            client.loop_stop()
        self._running.close()

    def connect(self, name: str, expiry: int, will_delay: int | None = None, *, acks: bool = True) -> bool:
        client = self._client(name, acks=acks)
        if will_delay is not None:
            delay = _properties(PacketTypes.WILLMESSAGE, WillDelayInterval=self._slower * will_delay)
            client.will_set(PRESENCE, b"will", 1, retain=True, properties=delay)
        found: list[bool] = []
        client.on_connect = lambda _c, _u, flags, _code, _p: found.append(flags.session_present)
        port = self._broker.displays_port if name == DISPLAY else self._broker.services_port
        expiry_property = _properties(PacketTypes.CONNECT, SessionExpiryInterval=self._slower * expiry)
        client.connect(LOOPBACK, port, 30, clean_start=False, properties=expiry_property)
        client.loop_start()
        wait_until(lambda: bool(found), 60)
        self._settle()
        return found[0]

    def _client(self, name: str, *, acks: bool) -> mqtt.Client:
        client = mqtt.Client(
            CallbackAPIVersion.VERSION2, name, protocol=mqtt.MQTTv5, reconnect_on_failure=False, manual_ack=not acks
        )
        client.username_pw_set(name, "display" if name == DISPLAY else self._passwords[name])
        heard: list[tuple[str, bool]] = []
        self._heard[name] = heard
        client.on_message = lambda _c, _u, message: heard.append((bytes(message.payload).decode(), message.retain))
        old = self._clients.get(name)
        if old is not None and not old.is_connected():
            old.loop_stop()
        self._clients[name] = client
        return client

    def subscribe(self, name: str, topic_filter: str) -> None:
        options = SubscribeOptions(qos=1, retainHandling=SubscribeOptions.RETAIN_SEND_IF_NEW_SUB)
        _subscribe(self._clients[name], topic_filter, options)
        self._settle()

    def publish(self, topic: str, payload: str, expiry: int | None = None, *, retain: bool = False) -> int:
        name, port = ("scheduler", self._broker.services_port)
        if not topic.endswith("/commands"):
            name, port = (DISPLAY, self._broker.displays_port)
        with _publisher(name, "display" if name == DISPLAY else self._passwords[name], port) as client:
            codes: list[int] = []
            client.on_publish = lambda _c, _u, _mid, code, _p: codes.append(code.value)
            properties = _properties(PacketTypes.PUBLISH)
            if expiry is not None:
                properties.MessageExpiryInterval = self._slower * expiry
            client.publish(topic, payload, 1, retain, properties)
            wait_until(lambda: bool(codes), 60)
        self._settle()
        return codes[0]

    def _settle(self) -> None:
        """Wait until every client has its messages and the broker has the ACKs: it sends messages before an answer."""
        for client in self._clients.values():
            if client.is_connected():
                for _ in range(2):
                    _subscribe(client, "settled", SubscribeOptions(qos=0))

    def lose(self, name: str) -> None:
        raw = self._clients[name].socket()
        assert isinstance(raw, socket.socket)
        raw.shutdown(socket.SHUT_RDWR)
        wait_until(lambda: not self._clients[name].is_connected(), 60)

    def leave(self, name: str, expiry: int) -> None:
        expiry_property = _properties(PacketTypes.DISCONNECT, SessionExpiryInterval=self._slower * expiry)
        self._clients[name].disconnect(properties=expiry_property)
        wait_until(lambda: not self._clients[name].is_connected(), 60)

    def heard(self, name: str) -> list[tuple[str, bool]]:
        return self._heard[name]

    def wait(self, seconds: float) -> None:
        time.sleep(self._slower * seconds)


def _subscribe(client: mqtt.Client, topic_filter: str, options: SubscribeOptions) -> None:
    """Subscribe, and wait for the broker's answer, which may be a refusal."""
    done: list[int] = []
    client.on_subscribe = lambda _c, _u, mid, _codes, _p: done.append(mid)
    client.subscribe(topic_filter, options=options)
    wait_until(lambda: bool(done), 60)


@contextmanager
def _publisher(name: str, password: str, port: int) -> Iterator[mqtt.Client]:
    client = mqtt.Client(CallbackAPIVersion.VERSION2, f"{name}-once", protocol=mqtt.MQTTv5)
    client.username_pw_set(name, password)
    client.connect(LOOPBACK, port)
    client.loop_start()
    try:
        wait_until(client.is_connected, 60)
        yield client
    finally:
        client.disconnect()
        client.loop_stop()


def _properties(kind: int, **values: Any) -> Properties:
    properties = Properties(kind)  # type: ignore[no-untyped-call]  # paho leaves it without types
    for name, value in values.items():
        setattr(properties, name, value)
    return properties
