"""The fast client has the same results as paho's own code, and the paho that it relies on is unchanged."""

import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion

from bridge.fast_paho import FastClient, PlainClient, is_as_known, make_client
from bridge.inbox import Arrivals, Oversized
from tests.bridge.conftest import eventually

CONNACK: Final = b"\x20\x03\x00\x00\x00"
Heard = tuple[str, bytes, int, bool]


class Ends:
    """A client, and its broker's end in the test."""

    def __init__(self, kind: Callable[..., PlainClient]) -> None:
        self.arrivals = Arrivals(most=100)
        self.answered: list[tuple[int, int]] = []
        self.client = kind(self.arrivals, **options())
        self.client.on_publish = lambda _client, _data, mid, code, _more: self.answered.append((mid, code.value))
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.client.connect("127.0.0.1", server.getsockname()[1])
            self.broker, _ = server.accept()
        self.broker.settimeout(60)
        self.sent()  # its CONNECT
        self.say(CONNACK)

    @property
    def heard(self) -> list[Heard]:
        return [(one.topic, one.payload, one.mid, one.is_retained) for one in self.arrivals]

    def say(self, data: bytes, pieces: int = 1) -> MQTTErrorCode:
        """Send data as the broker, in `pieces`, and let the client read each. Returns its last result."""
        code = MQTTErrorCode.MQTT_ERR_SUCCESS
        step = max(1, -(-len(data) // pieces))
        for at in range(0, len(data), step):
            piece = data[at : at + step]
            self.broker.sendall(piece)
            eventually(self._has_come)
            code = self.client.take()
        return code

    def _has_come(self) -> bool:
        raw = self.client.socket()
        assert isinstance(raw, socket.socket)
        try:
            return bool(raw.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return False

    def sent(self, least: int = 1) -> bytes:
        """The data that the client has sent since the last call, once they have `least` bytes."""
        sent = b""
        while len(sent) < least:
            sent += self.broker.recv(1 << 20)
        return sent

    def close(self) -> None:
        self.broker.close()
        raw = self.client.socket()
        if raw is not None:
            raw.close()


def options() -> dict[str, Any]:
    return {
        "callback_api_version": CallbackAPIVersion.VERSION2,
        "client_id": "bridge",
        "protocol": MQTTProtocolVersion.MQTTv5,
        "reconnect_on_failure": False,
        "manual_ack": True,
    }


@pytest.fixture(params=[FastClient, PlainClient])
def ends(request: pytest.FixtureRequest) -> Iterator[Ends]:
    made = Ends(request.param)
    yield made
    made.close()


def length(number: int) -> bytes:
    written = b""
    while number > 127:
        written += bytes((number & 127 | 128,))
        number >>= 7
    return written + bytes((number,))


def publish(topic: bytes, payload: bytes, number: int = 0, *, flags: int = 0, properties: bytes = b"") -> bytes:
    head = struct.pack("!H", len(topic)) + topic + (struct.pack("!H", number) if number else b"")
    body = head + length(len(properties)) + properties + payload
    return bytes((0x30 | flags | (2 if number else 0),)) + length(len(body)) + body


def test_paho_is_still_what_the_fast_client_rests_on() -> None:
    assert is_as_known()
    assert type(make_client(Arrivals(1), **options())) is FastClient


@pytest.mark.parametrize("name", ["_sock_recv", "_packet_queue", "_packet_read", "_mid_generate"])
def test_a_paho_that_is_another_is_read_in_its_own_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Client, name, lambda _self, _more, _still_more: None)

    assert not is_as_known()
    assert type(make_client(Arrivals(1), **options())) is PlainClient


def size(payload: bytes) -> int:
    """The size of the whole payload; of a payload that is too large only the beginning is kept."""
    return payload.whole_bytes if isinstance(payload, Oversized) else len(payload)


def test_messages_come_whole_and_in_order_however_they_are_cut(ends: Ends) -> None:
    said = [publish(b"a/b", b"x" * size, number) for number, size in enumerate([0, 1, 100, 127, 128, 20_000], 1)]

    ends.say(b"".join(said), pieces=40)
    eventually(lambda: len(ends.heard) == 6 or ends.client.take() != 0)

    assert [(number, size(payload)) for _, payload, number, _ in ends.heard] == [
        (1, 0), (2, 1), (3, 100), (4, 127), (5, 128), (6, 20_000),
    ]  # fmt: skip


def test_a_large_packet_is_put_together_once_and_not_with_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Joined with each piece, 200 MB took minutes: the bridge was deaf, lost its connection and started again."""
    ends, looked = Ends(FastClient), []
    look = FastClient._take_packets

    def counted(client: FastClient, data: bytes) -> tuple[int, MQTTErrorCode]:
        looked.append(len(data))
        return look(client, data)

    monkeypatch.setattr(FastClient, "_take_packets", counted)
    packet = publish(b"a", b"x" * 5_000_000, 1)
    ends.say(packet + publish(b"a", b"next", 2), pieces=100)
    eventually(lambda: len(ends.heard) == 2 or ends.client.take() != 0)
    ends.close()

    assert [(size(payload), number) for _, payload, number, _ in ends.heard] == [(5_000_000, 1), (4, 2)]
    assert sum(looked) < 2 * len(packet)


def test_what_paho_handles_comes_between_messages(ends: Ends) -> None:
    number = ends.client.publish("c", b"", qos=1).mid
    puback = b"\x40\x03" + struct.pack("!HB", number, 0x10)

    ends.say(publish(b"a", b"1", 1) + puback + b"\xd0\x00" + publish(b"a", b"2", flags=1, properties=b"\x01\x01"))
    eventually(lambda: len(ends.heard) == 2 or ends.client.take() != 0)

    assert ends.heard == [("a", b"1", 1, False), ("a", b"2", 0, True)]
    assert ends.answered == [(number, 0x10)]


def test_acknowledgements_leave_in_order(ends: Ends) -> None:
    ends.client.acknowledge([3, 1, 65_535])

    assert ends.sent(12) == b"\x40\x02\x00\x03" + b"\x40\x02\x00\x01" + b"\x40\x02\xff\xff"


def test_what_is_told_carries_its_expiry_and_waits_for_answers(ends: Ends) -> None:
    ends.client.may_send(4)

    told = ends.client.tell([(f"t/{number}", b"{}") for number in range(10)], 300)
    sent = ends.sent(20)

    number = struct.unpack_from("!H", sent, 7)[0]
    body = b"\x00\x03t/0" + struct.pack("!H", number) + b"\x05\x02" + struct.pack("!I", 300) + b"{}"
    assert sent.startswith(b"\x32" + length(len(body)) + body)
    assert told == 3  # one place is kept free
    assert ends.client.tell([("t", b"{}")], 300) == 0
    if isinstance(ends.client, FastClient):
        ends.say(b"\x40\x02" + struct.pack("!H", number))
        assert ends.client.tell([("t", b"{}"), ("t", b"{}")], 300) == 1
    assert ends.answered == []


@pytest.mark.parametrize(
    "broken",
    [
        b"\x32\xff\xff\xff\xff\x01",  # an endless length
        b"\x32\x04\x00\x09ab",  # a topic longer than its packet
        b"\x32\x05\x00\x01a\x00\x01",  # without properties
        b"\xf0\x00",  # a packet that MQTT 5 does not send to clients
    ],
)
def test_what_is_no_mqtt_ends_the_connection(ends: Ends, broken: bytes) -> None:
    try:
        code = ends.say(broken)
    except (struct.error, IndexError, ValueError):
        return  # like paho; `BrokerConnection.step` then ends the connection
    assert code != MQTTErrorCode.MQTT_ERR_SUCCESS


def test_the_end_of_the_connection_is_told(ends: Ends) -> None:
    gone: list[Any] = []
    ends.client.on_disconnect = lambda *told: gone.append(told)

    ends.broker.close()
    eventually(lambda: ends.client.take() != MQTTErrorCode.MQTT_ERR_SUCCESS)

    assert len(gone) == 1


LONG_PROPERTIES: Final = b"\x03\x00\x7e" + b"x" * 126  # their length has two bytes
PACKETS: Final = st.lists(
    st.one_of(
        st.builds(
            publish,
            st.text(min_size=1, max_size=6).map(str.encode),
            st.binary(max_size=300),
            st.integers(0, 65_535),
            flags=st.sampled_from([0, 0, 1, 8]),
            properties=st.sampled_from([b"", b"", b"\x01\x01", b"\x02\x00\x00\x00\x09", LONG_PROPERTIES]),
        ),
        st.just(b"\xd0\x00"),
    ),
    max_size=8,
)


@settings(max_examples=25)
@given(PACKETS, st.integers(1, 6))
def test_both_ways_hear_the_same(packets: list[bytes], pieces: int) -> None:
    heard = []
    for kind in (FastClient, PlainClient):
        ends = Ends(kind)
        ends.say(b"".join(packets), pieces)
        wanted = sum(packet[0] & 0xF0 == 0x30 for packet in packets)
        eventually(lambda ends=ends, wanted=wanted: len(ends.heard) == wanted or ends.client.take() != 0)  # type: ignore[misc]
        heard.append(ends.heard)
        ends.close()

    assert heard[0] == heard[1]
