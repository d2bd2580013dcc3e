"""The displays' door for browsers: rights as at the broker's own listener; frames that no browser sends are refused."""

import asyncio
import os
import socket
import struct
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from deploy.parts import broker as mosquitto
from deploy.parts import websocket_door
from deploy.parts.broker import RunningBroker
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port, wait_until
from deploy.parts.websocket_door import (
    BYTES_A_SECOND,
    BYTES_AT_ONCE,
    FRAME_BYTES,
    FRAME_COSTS_BYTES,
    Door,
    Pace,
    received,
    session_of,
)
from tests.local.mqtt_clients import NOT_AUTHORIZED, ONE, OTHER, Seen, connected, publish, subscribe

REQUEST = (
    b"GET /mqtt HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n"
)
PASSWORDS = {ONE: "one", OTHER: "other"}


@contextmanager
def door_before(broker_port: int, most_connections: int = 100, most_strangers: int = 100) -> Iterator[int]:
    """Run the door on an event loop of its own; return its port."""
    loop, port = asyncio.new_event_loop(), free_port()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    door = Door(broker_port, most_connections, most_strangers)
    server = asyncio.run_coroutine_threadsafe(door.serve(port), loop).result(60)
    yield port
    asyncio.run_coroutine_threadsafe(_ended(server), loop).result(60)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(60)
    loop.close()


async def _ended(server: asyncio.Server) -> None:
    """Wait until no connection is left."""
    server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0)  # the transports close in the next iteration of the loop


@pytest.fixture(scope="module")
def broker() -> Iterator[RunningBroker]:
    with mosquitto.throw_away() as served:
        served.set_displays(PASSWORDS)
        yield served


@pytest.fixture(scope="module")
def port(broker: RunningBroker) -> Iterator[int]:
    with door_before(broker.broker.displays_port) as opened:
        yield opened


@contextmanager
def browser(port: int, name: str, password: str) -> Iterator[tuple[mqtt.Client, Seen]]:
    """Connect a client that speaks MQTT 5 through a WebSocket."""
    client = mqtt.Client(CallbackAPIVersion.VERSION2, name, transport="websockets", protocol=mqtt.MQTTv5)
    client.username_pw_set(name, password)
    seen = Seen()
    client.on_message = lambda _c, _u, message: seen.messages.append((message.topic, bytes(message.payload)))
    client.on_publish = lambda _c, _u, mid, code, _p: seen.answer(mid, code.value)
    client.on_disconnect = lambda *_arguments: seen.disconnected.set()
    client.connect(LOOPBACK, port)
    client.loop_start()
    try:
        wait_until(client.is_connected, 60)
        yield client, seen
    finally:
        client.disconnect()
        client.loop_stop()


def opened(port: int, request: bytes = REQUEST) -> tuple[socket.socket, bytes]:
    """Connect, and return the socket and the head of its answer."""
    stranger = socket.create_connection((LOOPBACK, port), 60)
    stranger.sendall(request)
    return stranger, stranger.recv(4096)


def answers(port: int) -> bytes:
    """Return the answer to one more connection."""
    stranger, answer = opened(port)
    stranger.close()
    return answer


def frame(content: bytes, first: int = 0x82) -> bytes:
    """Return a masked frame, as browsers send it."""
    size = len(content)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size)
    mask = os.urandom(4)
    return bytes([first]) + length + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(content))


def close_code(stranger: socket.socket) -> int:
    """Return the code with which the door closed the connection."""
    head = stranger.recv(4, socket.MSG_WAITALL)
    assert head[0] == 0x88, head
    return int.from_bytes(head[2:], "big")


def test_a_browser_has_the_rights_of_any_display(port: int) -> None:
    with browser(port, ONE, "one") as (client, told):
        for own in ("commands", "logs_committed", "log_level"):
            assert subscribe(client, f"signage/{ONE}/{own}") == 1
        for foreign in (f"signage/{OTHER}/commands", f"signage/{ONE}/heartbeat", f"signage/{ONE}/#", "#", "$SYS/#"):
            assert subscribe(client, foreign) == NOT_AUTHORIZED, foreign
        assert publish(client, told, f"signage/{ONE}/heartbeat") != NOT_AUTHORIZED
        for foreign in (f"signage/{OTHER}/heartbeat", f"signage/{ONE}/commands", "signage/service/canary"):
            assert publish(client, told, foreign) == NOT_AUTHORIZED, foreign
        assert publish(client, told, f"signage/{ONE}/heartbeat", retain=True) == NOT_AUTHORIZED


def test_messages_of_every_size_come_whole_in_both_directions(broker: RunningBroker, port: int) -> None:
    sizes = (0, 1, 125, 126, 4096, 16_000)
    inside = ("bridge", broker.passwords["bridge"], "bridge")
    with browser(port, ONE, "one") as (client, told), connected(broker.broker.services_port, *inside) as (bridge, seen):
        subscribe(bridge, "signage/+/health")
        subscribe(client, f"signage/{ONE}/commands")
        for size in sizes:
            publish(client, told, f"signage/{ONE}/health", b"u" * size)
            publish(bridge, seen, f"signage/{ONE}/commands", b"d" * size)
        wait_until(lambda: len(seen.messages) == len(told.messages) == len(sizes), 60)

    assert [payload for _, payload in seen.messages] == [b"u" * size for size in sizes]
    assert [payload for _, payload in told.messages] == [b"d" * size for size in sizes]


def test_a_login_that_is_taken_back_ends_the_browsers_connection(broker: RunningBroker, port: int) -> None:
    with browser(port, OTHER, "other") as (_, told):
        broker.set_displays({ONE: "one"})

        assert told.disconnected.wait(60)
    broker.set_displays(PASSWORDS)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"\x82\x05" + b"\x10\xff\xff\xff\x7f", 1002),  # not masked
        (frame(b"{}", 0x81), 1003),  # text
        (frame(b"", 0xC2), 1002),  # a reserved bit
        (frame(b"", 0x09), 1002),  # half a ping
        (b"\x89\xfe\x00\x7e\x00\x00\x00\x00" + b"x" * 126, 1002),  # a ping that is too long
        (b"\x82\xff" + struct.pack(">Q", FRAME_BYTES + 1), 1009),
        (b"\x82\xff" + b"\xff" * 8, 1009),
    ],
)
def test_a_frame_that_no_browser_sends_ends_the_connection(port: int, sent: bytes, code: int) -> None:
    stranger, answer = opened(port)
    assert answer.startswith(b"HTTP/1.1 101 ")
    assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in answer  # the example of RFC 6455

    stranger.sendall(sent)

    with stranger:
        assert close_code(stranger) == code


@pytest.mark.parametrize(
    "request_",
    [
        REQUEST.replace(b"GET", b"POST"),
        REQUEST.replace(b"websocket\r\n", b"h2c\r\n"),
        REQUEST.replace(b"Version: 13", b"Version: 8"),
        REQUEST.replace(b": mqtt", b": chat"),
        REQUEST.replace(b"dGhlIHNhbXBsZSBub25jZQ==", b""),
        b"\r\n\r\n",
    ],
)
def test_a_request_for_anything_else_is_refused(port: int, request_: bytes) -> None:
    stranger, answer = opened(port, request_)

    with stranger:
        assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://x", b"101"),
        ("https://X", b"101"),
        ("https://x:8443", b"403"),
        ("https://evil.test", b"403"),
        ("https://x.evil.test", b"403"),
        ("null", b"403"),
    ],
)
def test_only_our_own_page_opens_it_in_a_browser(port: int, origin: str, status: bytes) -> None:
    stranger, answer = opened(port, REQUEST.replace(b"Host: x\r\n", f"Host: x\r\nOrigin: {origin}\r\n".encode()))

    with stranger:
        assert answer.split()[1] == status


def test_a_ping_is_answered(port: int) -> None:
    stranger, _ = opened(port)

    stranger.sendall(frame(b"are you there", 0x89))

    with stranger:
        assert stranger.recv(64) == b"\x8a\x0dare you there"


@pytest.mark.parametrize("first", [0x82, 0x89, 0x8A], ids=["empty messages", "pings", "pongs"])
def test_who_floods_the_door_with_frames_without_content_has_to_wait(first: int) -> None:
    session, pace, flood = session_of(REQUEST), Pace(), frame(b"", first) * 2 * (BYTES_AT_ONCE // FRAME_COSTS_BYTES)

    session.receive_data(flood)

    content, pause = received(session, pace)
    assert content == b""
    assert pause > BYTES_AT_ONCE / BYTES_A_SECOND / 2


def test_a_message_in_fragments_goes_on_as_they_come() -> None:
    session, half = session_of(REQUEST), b"x" * (FRAME_BYTES - 1)

    session.receive_data(frame(half, 0x02) + frame(half, 0x80))

    assert received(session, Pace()) == (half + half, 0.0)


def kept_bytes(request: bytes) -> float:
    """Return the memory that a session keeps after this request."""
    session_of(request)
    tracemalloc.start()
    try:
        sessions = [session_of(request) for _ in range(100)]
        return tracemalloc.get_traced_memory()[0] / len(sessions)
    finally:
        tracemalloc.stop()


def test_a_session_keeps_no_headers_of_its_request() -> None:
    many = b"".join(b"X-%d: %s\r\n" % (number, b"x" * 50) for number in range(100))

    assert kept_bytes(REQUEST.replace(b"Host: x\r\n", b"Host: x\r\n" + many)) < kept_bytes(REQUEST) + 1_000


def test_nothing_behind_a_broken_rule_reaches_the_broker() -> None:
    session = session_of(REQUEST)

    session.receive_data(frame(b"before") + frame(b"{}", 0x81) + frame(b"behind"))

    assert received(session, Pace())[0] == b"before"
    assert session.close_expected()


def test_a_stranger_cannot_make_the_broker_hold_a_huge_packet(port: int) -> None:
    """Mosquitto's own WebSocket listener accepts 60 MB here."""
    stranger, _ = opened(port)

    stranger.sendall(frame(b"\x10\xff\xff\xff\x7f"))
    with stranger, pytest.raises(ConnectionError):
        stranger.sendall(frame(b"x" * 60_000) * 1000)


def test_connections_above_the_limit_are_refused_and_room_comes_back(broker: RunningBroker) -> None:
    with door_before(broker.broker.displays_port, most_connections=1) as narrow:
        with browser(narrow, ONE, "one"):
            assert answers(narrow).startswith(b"HTTP/1.1 503 ")

        wait_until(lambda: answers(narrow).startswith(b"HTTP/1.1 101 "), 60)


def test_strangers_take_the_room_of_strangers_alone(broker: RunningBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds in ("CONNECT_SECONDS", "ANSWER_SECONDS"):
        monkeypatch.setattr(websocket_door, seconds, 600.0)  # nobody is ended by the time
    with (
        door_before(broker.broker.displays_port, most_connections=2, most_strangers=5) as narrow,
        browser(narrow, ONE, "one") as (_, first),
        ExitStack() as stack,
    ):
        crowd = [stack.enter_context(opened(narrow)[0]) for _ in range(20)]
        with browser(narrow, OTHER, "other") as (_, second):
            for oldest in crowd[:-5]:
                assert oldest.recv(1) == b""
            assert not first.disconnected.is_set()
            assert not second.disconnected.is_set()


@pytest.mark.parametrize("sent", [b"", REQUEST[:50], REQUEST, REQUEST + frame(b"", 0x89)])
def test_who_sends_no_connect_is_hung_up_on(port: int, sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket_door, "ANSWER_SECONDS", 600.0)
    began = time.monotonic()
    with socket.create_connection((LOOPBACK, port), 60) as stranger:
        stranger.sendall(sent)
        while stranger.recv(4096):
            pass

    assert time.monotonic() - began >= websocket_door.CONNECT_SECONDS


def test_without_a_broker_the_door_says_so() -> None:
    with door_before(free_port()) as lonely:
        stranger, answer = opened(lonely)

        with stranger:
            assert answer.startswith(b"HTTP/1.1 502 ")
