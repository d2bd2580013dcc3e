"""The MQTT 5 packets that the contract needs: split a stream, read packets, make packets.

An unreadable packet raises `Malformed`.
"""

from dataclasses import dataclass
from typing import Any, Final

from paho.mqtt import MQTTException
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

PUBACK_SUCCESS: Final = 0x00


class Malformed(Exception):
    """The bytes are not an MQTT 5 packet."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One packet: type, flags, body, and all bytes as received."""

    type: int
    flags: int
    body: bytes
    raw: bytes


@dataclass(frozen=True, slots=True)
class Will:
    """The message that the broker publishes after a lost connection."""

    topic: str
    payload: bytes
    qos: int
    retain: bool
    delay_seconds: int


@dataclass(frozen=True, slots=True)
class Connect:
    """The fields of a CONNECT."""

    version: int
    client_id: str
    username: str
    clean_start: bool
    keepalive_seconds: int
    session_expiry_seconds: int
    will: Will | None


@dataclass(frozen=True, slots=True)
class Publish:
    """A message, in either direction. `expiry_seconds` None: it never expires."""

    topic: str
    payload: bytes
    qos: int
    retain: bool
    packet_id: int | None
    expiry_seconds: int | None
    alias: int | None


@dataclass(frozen=True, slots=True)
class Filter:
    """One topic filter of a SUBSCRIBE with its options."""

    topic: str
    qos: int
    retain_as_published: bool


class Reader:
    """Reads the fields of a body in order. Raises Malformed when one is missing."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def take(self, count: int) -> bytes:
        if self._at + count > len(self._body):
            raise Malformed("the packet ends too early")
        self._at += count
        return self._body[self._at - count : self._at]

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "big")

    def binary(self) -> bytes:
        return self.take(self.number(2))

    def text(self) -> str:
        try:
            return self.binary().decode()
        except UnicodeDecodeError as error:
            raise Malformed("a text is not UTF-8") from error

    def properties(self, packet_type: int) -> dict[str, Any]:
        """The packet's properties, by paho's names."""
        found = Properties(packet_type)  # type: ignore[no-untyped-call]  # paho leaves it unannotated
        try:
            _, length = found.unpack(self._body[self._at :])  # type: ignore[no-untyped-call]
        except (MQTTException, IndexError, ValueError) as error:
            raise Malformed("the properties cannot be read") from error
        self._at += length
        return dict(found.json())  # type: ignore[no-untyped-call]

    def rest(self) -> bytes:
        return self.take(len(self._body) - self._at)

    def has_more(self) -> bool:
        return self._at < len(self._body)


def split(buffer: bytearray) -> list[Frame]:
    """Take all complete packets from the start of `buffer`. Raises Malformed."""
    frames = []
    while found := _first(buffer):
        head, length = found
        raw = bytes(buffer[: head + length])
        del buffer[: head + length]
        frames.append(Frame(raw[0] >> 4, raw[0] & 0x0F, raw[head:], raw))
    return frames


def _first(buffer: bytearray) -> tuple[int, int] | None:
    """Lengths of header and body of the first packet, in bytes; None when it is incomplete."""
    length = 0
    for place, byte in enumerate(buffer[1:5]):
        length |= (byte & 0x7F) << (7 * place)
        if not byte & 0x80:
            head = place + 2
            return (head, length) if len(buffer) >= head + length else None
    if len(buffer) > 4:
        raise Malformed("the length cannot be read")
    return None


def connect(frame: Frame) -> Connect:
    """Read a CONNECT. Raises Malformed, also for another version than MQTT 5."""
    reader = Reader(frame.body)
    name, version = reader.text(), reader.number(1)
    if (name, version) != ("MQTT", 5):
        raise Malformed(f"it speaks {name} {version}, not MQTT 5")
    flags, keepalive = reader.number(1), reader.number(2)
    told = reader.properties(PacketTypes.CONNECT)
    client_id = reader.text()
    will = _will(reader, flags) if flags & 0x04 else None
    username = reader.text() if flags & 0x80 else ""
    return Connect(
        version, client_id, username, bool(flags & 0x02), keepalive, told.get("SessionExpiryInterval", 0), will
    )


def _will(reader: Reader, flags: int) -> Will:
    told = reader.properties(PacketTypes.WILLMESSAGE)
    topic, payload = reader.text(), reader.binary()
    return Will(topic, payload, flags >> 3 & 3, bool(flags & 0x20), told.get("WillDelayInterval", 0))


def publish(frame: Frame) -> Publish:
    """Read a PUBLISH. Raises Malformed."""
    reader = Reader(frame.body)
    topic, qos = reader.text(), frame.flags >> 1 & 3
    packet_id = reader.number(2) if qos else None
    told = reader.properties(PacketTypes.PUBLISH)
    return Publish(
        topic,
        reader.rest(),
        qos,
        bool(frame.flags & 1),
        packet_id,
        told.get("MessageExpiryInterval"),
        told.get("TopicAlias"),
    )


def filters(frame: Frame) -> list[Filter]:
    """The topic filters of a SUBSCRIBE. Raises Malformed."""
    reader = Reader(frame.body)
    reader.number(2)
    reader.properties(PacketTypes.SUBSCRIBE)
    found = []
    while reader.has_more():
        topic, options = reader.text(), reader.number(1)
        found.append(Filter(topic, options & 3, bool(options & 0x08)))
    return found


def answer(frame: Frame) -> tuple[int, int]:
    """Packet id and reason code of a PUBACK. Raises Malformed."""
    reader = Reader(frame.body)
    return reader.number(2), reader.number(1) if reader.has_more() else PUBACK_SUCCESS


def farewell(frame: Frame) -> int | None:
    """The session expiry of a DISCONNECT, in seconds; None without one. Raises Malformed."""
    reader = Reader(frame.body)
    if not reader.has_more():
        return None
    reader.number(1)
    told = reader.properties(PacketTypes.DISCONNECT) if reader.has_more() else {}
    expiry = told.get("SessionExpiryInterval")
    return None if expiry is None else int(expiry)


SESSION_TAKEN_OVER: Final = 0x8E


def is_taken_over(frame: Frame) -> bool:
    """Whether the broker's DISCONNECT says that another connection took the session over. Raises Malformed."""
    reader = Reader(frame.body)
    return reader.has_more() and reader.number(1) == SESSION_TAKEN_OVER


def made_publish(topic: str, payload: bytes, packet_id: int, *, retain: bool, expiry_seconds: int | None) -> bytes:
    """A PUBLISH of QoS 1 as the broker would deliver it."""
    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    if expiry_seconds is not None:
        properties.MessageExpiryInterval = expiry_seconds
    name = topic.encode()
    packed: bytes = properties.pack()  # type: ignore[no-untyped-call]
    body = len(name).to_bytes(2, "big") + name + packet_id.to_bytes(2, "big") + packed + payload
    return _framed(PacketTypes.PUBLISH << 4 | 0x02 | retain, body)


def made_puback(packet_id: int) -> bytes:
    """A PUBACK that says success."""
    return _framed(PacketTypes.PUBACK << 4, packet_id.to_bytes(2, "big"))


def _framed(head: int, body: bytes) -> bytes:
    length, rest = bytearray(), len(body)
    while True:
        rest, digit = rest >> 7, rest & 0x7F
        length.append(digit | (0x80 if rest else 0))
        if not rest:
            return bytes([head]) + bytes(length) + body
