"""Traps measured in this stack. Each test also runs the bad setting, to show that it detects the fault."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from bridge.connection import BrokerConnection
from deploy.parts import broker as mosquitto
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import wait_until
from shared.outside.topics import Topics
from tests.lab.campaigns.fleet import PASSWORD
from tests.lab.campaigns.lone_broker import NAME, bridge_session, broker, shipped, without
from tests.lab.campaigns.wire import Puback, Received, Wire

TOPICS = Topics("signage")
MANY = 3000


def publish(place: mosquitto.Broker, count: int, first: int = 0) -> list[int]:
    """Publish as a display. Returns the broker's reason codes."""
    wire = Wire.connect(place.displays_port, NAME, PASSWORD)
    codes: list[int] = []
    for number in range(first, first + count):
        wire.publish(f"signage/{NAME}/logs/info".encode(), str(number).encode())

    def answered() -> bool:
        wire.flush()
        codes.extend(event.code for event in wire.take() if isinstance(event, Puback))
        return len(codes) == count

    wait_until(answered, 60)
    wire.close()
    return codes


def heard(wire: Wire) -> list[int]:
    """All waiting messages: the answer to a subscription comes after them."""
    numbers: list[int] = []
    while more := [int(event.payload) for event in wire.take() if isinstance(event, Received)]:
        numbers += more
        wire.subscribe("signage/+/logs/+")
    wire.close()
    return numbers


@pytest.mark.parametrize(
    ("change", "is_whole"), [(shipped, True), (without("max_queued_messages", "max_queued_bytes"), False)]
)
def test_trap_1_what_waits_for_an_absent_bridge_is_kept_beyond_a_thousand(
    tmp_path: Path, change: Callable[[str], str], is_whole: bool
) -> None:
    with broker(tmp_path, change) as (place, _):
        bridge_session(place).close()
        codes = publish(place, MANY)

        with_all = heard(bridge_session(place)) == list(range(MANY))

        assert set(codes) == {0}  # "Success" in any case
        assert with_all is is_whole


@pytest.mark.parametrize("is_whole", [True, False])
def test_trap_2_what_the_broker_took_a_moment_ago_survives_its_kill(tmp_path: Path, is_whole: bool) -> None:
    with broker(tmp_path, alone=not is_whole) as (place, component):
        bridge_session(place).close()
        assert set(publish(place, 500)) == {0}
        saved, answered_at = place.data / "mosquitto.db", time.time()
        if is_whole:
            wait_until(lambda: saved.exists() and saved.stat().st_mtime > answered_at, 60)
        else:
            time.sleep(2.5)  # with the bad setting nothing happens, so there is nothing to wait for
        component.kill()
        assert saved.exists() is is_whole

        component.start()
        component.wait_until_ready()

        assert (heard(bridge_session(place)) == list(range(500))) is is_whole


DEFAULT_WINDOW = without("max_inflight_messages")


@pytest.mark.parametrize("change", [shipped, DEFAULT_WINDOW])
def test_trap_5_a_whole_batch_reaches_the_bridge_before_anything_is_acknowledged(
    tmp_path: Path, change: Callable[[str], str]
) -> None:
    """The bridge announces its own window, whatever the broker's is."""
    with broker(tmp_path, change) as (place, _), connection(place) as bridge:
        publish(place, 500)

        def all_came() -> bool:
            bridge.step(0.02)
            return len(bridge.arrivals) == 500

        wait_until(all_came, 60)


@pytest.mark.parametrize(("change", "window"), [(shipped, 500), (DEFAULT_WINDOW, 20)])
def test_trap_5_a_client_that_tells_no_window_depends_on_the_brokers(
    tmp_path: Path, change: Callable[[str], str], window: int
) -> None:
    with broker(tmp_path, change) as (place, _):
        bridge = bridge_session(place)
        publish(place, 500)

        came = _messages(bridge, window)
        bridge.outgoing.clear()  # nothing is acknowledged
        publish(place, 1)  # an answer: the broker could have sent more before it
        bridge.subscribe("signage/+/logs/+")
        more = [event for event in bridge.take() if isinstance(event, Received)]
        bridge.close()

        assert len(came) + len(more) == (501 if window == 500 else 20)


def test_trap_5_an_old_sessions_acknowledgement_would_acknowledge_another_message(tmp_path: Path) -> None:
    """The bridge must drop its messages when a connection ends, because packet ids begin again with the session."""
    with broker(tmp_path, shipped) as (place, _):
        first = bridge_session(place)
        publish(place, 5)
        old = [event.mid for event in _messages(first, 5)]
        first.close()
        Wire.connect(place.services_port, "bridge", PASSWORD, clean_start=True).close()
        second = bridge_session(place)
        publish(place, 5, first=100)
        new = _messages(second, 5)
        second.outgoing.clear()  # no new message is acknowledged ...
        second.acknowledge(old[0])  # ... but an old one
        second.flush()
        second.subscribe("signage/+/logs/+")  # its answer: the broker has read the acknowledgement
        second.close()

        assert [event.mid for event in new] == old
        assert heard(bridge_session(place)) == [101, 102, 103, 104]


def _messages(wire: Wire, count: int) -> list[Received]:
    """`count` messages, whose acknowledgements wait in `outgoing`."""
    found: list[Received] = []

    def all_came() -> bool:
        found.extend(event for event in wire.take() if isinstance(event, Received))
        return len(found) == count

    wait_until(all_came, 60)
    return found


@contextmanager
def connection(place: mosquitto.Broker) -> Iterator[BrokerConnection]:
    """The bridge's own connection class, subscribed."""
    made = BrokerConnection(place.services_url, "bridge", PASSWORD, TOPICS.subscriptions())
    made.open()

    def ready() -> bool:
        made.step(0.01)
        return made.is_ready

    try:
        wait_until(ready, 60)
        yield made
    finally:
        made.abort("the test is over")


def paho_by_default() -> Client:
    """Paho as in its tutorial."""
    client = Client(CallbackAPIVersion.VERSION2, client_id="bridge", protocol=MQTTProtocolVersion.MQTTv5)
    client.username_pw_set("bridge", PASSWORD)
    return client


def test_trap_4_a_start_of_the_bridge_keeps_what_waits_where_paho_would_wipe_it(tmp_path: Path) -> None:
    with broker(tmp_path, shipped) as (place, _):
        for wipe in (False, True):
            bridge_session(place).close()
            publish(place, 10)
            if wipe:
                client = paho_by_default()
                client.connect(LOOPBACK, place.services_port)  # paho's default for clean_start
                client.loop_start()
                wait_until(client.is_connected, 60)
                client.disconnect()
                client.loop_stop()

            with connection(place) as bridge:
                deadline = time.monotonic() + (1 if wipe else 60)
                while len(bridge.arrivals) < 10 and time.monotonic() < deadline:
                    bridge.step(0.05)
                assert len(bridge.arrivals) == (0 if wipe else 10)
                bridge.acknowledge(len(bridge.arrivals))
                bridge.leave(TOPICS.canary, 5)


def test_trap_4_an_exception_in_a_callback_ends_pahos_thread_but_it_says_connected(tmp_path: Path) -> None:
    """tests/bridge/test_connection.py tests the bridge's client."""
    ended = threading.Event()

    def fails(*_arguments: Any) -> None:
        raise ValueError("what a display sent")

    hook, threading.excepthook = threading.excepthook, lambda _arguments: ended.set()
    try:
        with broker(tmp_path, shipped) as (place, component):
            client = paho_by_default()
            client.on_message = fails
            client.connect(LOOPBACK, place.services_port)
            client.loop_start()
            wait_until(client.is_connected, 60)
            client.subscribe("signage/+/logs/+", qos=1)
            wait_until(lambda: ended.is_set() or not publish(place, 1), 60)

            assert ended.is_set()
            assert client.is_connected()
            component.signal(signal.SIGCONT)
            client.loop_stop()
            _close(client)
    finally:
        threading.excepthook = hook


def _close(client: Client) -> None:
    raw = client.socket()
    if raw is not None:
        raw.close()


def test_trap_4_a_refused_publish_looks_published_to_paho(tmp_path: Path) -> None:
    """Our clients read the reason code: tests/bridge/test_connection.py and tests/stores/test_outbox.py."""
    with broker(tmp_path, shipped) as (place, _):
        client = paho_by_default()
        codes: list[int] = []
        client.on_publish = lambda _client, _data, _mid, code, _properties: codes.append(code.value)
        client.connect(LOOPBACK, place.services_port)
        client.loop_start()
        wait_until(client.is_connected, 60)
        told = client.publish(TOPICS.log_level(NAME), b"{}", qos=1)
        told.wait_for_publish(60)
        wait_until(lambda: bool(codes), 60)
        client.disconnect()
        client.loop_stop()

        assert told.is_published()
        assert codes == [0x87]
