"""A paho client that reads and writes faster: about 3 microseconds for a message, where paho takes 20 to 50.

For every message paho reads the socket byte by byte, logs, locks and makes several objects. `FastClient` reads 64 KiB
at a time and parses a PUBLISH (QoS 0 or 1) in that buffer. It writes many acknowledgements at once, and many receipts.
paho handles all other packets, and every unusual PUBLISH: it reads their bytes through `_sock_recv`.
`FastClient` needs three private methods of paho: `_sock_recv`, `_packet_queue` (sends) and `_mid_generate` (numbers).
`is_as_known` checks that they are unchanged. If they are not, `make_client` makes a `PlainClient`, which needs none.
"""

import inspect
import itertools
import struct
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from paho.mqtt.client import Client, MQTTMessage, MQTTMessageInfo
from paho.mqtt.enums import MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from bridge.inbox import Arrivals
from shared.structured_log import event

READ_BYTES: Final = 65_536  # some 200 messages: less than a millisecond
PACKETS_AT_ONCE: Final = 1_000
PUBLISH, PUBACK, KIND, QOS = 0x30, 0x40, 0xF0, 0x06
QOS_1: Final = 0x02
TOLD: Final = bytes((PUBLISH | QOS_1,))
MESSAGE_EXPIRY_INTERVAL: Final = 0x02  # the property's identifier: MQTT 5, 2.2.2.2
RETAIN: Final = 0x01
LONGEST_LENGTH: Final = 4  # bytes of the Remaining Length field
TOLD_MAX: Final = 16_000
"""The most unanswered publishes of `tell`. After a herd a broker answers late: with 2,000, receipts of 19,800 displays
waited until they sent their logs again, and all was stored after 120 s instead of 26."""
PUBLISHED_MAX: Final = 200  # the most unanswered publishes of `send`; paho queues more, but does not send them
FAREWELL: Final = 1  # one publish is kept free: a session must be able to send its farewell
NO_TEXT: Final = b"\xff"  # stands for a topic that is not UTF-8
OK: Final = MQTTErrorCode.MQTT_ERR_SUCCESS


def is_as_known(client: type[Client] = Client) -> bool:
    """Whether the private methods of paho that `FastClient` needs are as in paho 2.1 and 2.2."""
    try:
        receives = list(inspect.signature(client._sock_recv).parameters) == ["self", "bufsize"]  # noqa: SLF001
        queue = list(inspect.signature(client._packet_queue).parameters)[:5]  # noqa: SLF001
        numbers = list(inspect.signature(client._mid_generate).parameters) == ["self"]  # noqa: SLF001
        reads = client._packet_read.__code__.co_names  # noqa: SLF001
    except AttributeError:
        return False
    return receives and numbers and queue == ["self", "command", "packet", "mid", "qos"] and "_sock_recv" in reads


class PlainClient(Client):
    """A client that uses only the public methods of paho."""

    def __init__(self, arrivals: Arrivals, **options: Any) -> None:
        """Every message is added to `arrivals`; `options` are paho's."""
        super().__init__(**options)
        self._arrivals = arrivals
        self._heard_of = 0
        self._receive_maximum = 0  # until the CONNACK
        self._published: set[int] = set()  # packet identifiers of unanswered publishes of `send`
        self._told: set[int] = set()  # packet identifiers of unanswered publishes of `tell`
        self.on_message = self._on_ordinary
        self.max_inflight_messages_set(PUBLISHED_MAX)

    def take(self) -> MQTTErrorCode:
        """Read packets until the socket is empty, PACKETS_AT_ONCE at most."""
        for _ in range(PACKETS_AT_ONCE):
            before = self._heard_of
            code = self.loop_read()
            if code != OK or self._heard_of == before:
                return code
        return OK

    def acknowledge(self, numbers: Sequence[int]) -> MQTTErrorCode:
        """Acknowledge these messages in this order."""
        for number in numbers:
            if (code := self.ack(number, 1)) != OK:
                return code
        return OK

    def may_send(self, receive_maximum: int) -> None:
        """Note the broker's Receive Maximum: with one more unanswered publish it ends the connection."""
        self._receive_maximum = receive_maximum

    def room(self, kept_free: int = 0, most: int = PUBLISHED_MAX) -> int:
        """How many more publishes may be sent now, when `most` may be unanswered and `kept_free` are kept for others.

        A broker that takes no more than `kept_free` at a time keeps none free.
        """
        free = kept_free if self._receive_maximum > kept_free else 0
        return max(0, min(most, self._receive_maximum - free) - len(self._published) - len(self._told))

    def send(self, topic: str, payload: bytes, properties: Properties) -> MQTTMessageInfo:
        """Publish with QoS 1. Call `answered` when the broker has answered."""
        info = self.publish(topic, payload, qos=1, retain=False, properties=properties)
        if info.rc == OK:
            self._published.add(info.mid)
        return info

    def answered(self, number: int) -> None:
        """The broker has answered this publish."""
        self._published.discard(number)

    def tell(self, messages: Iterable[tuple[str, bytes]], expiry_seconds: int) -> int:
        """Publish with QoS 1 as many messages as the broker takes now. Returns how many; answers are not awaited."""
        properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]  # paho leaves it without types
        properties.MessageExpiryInterval = expiry_seconds
        sent = 0
        for topic, payload in itertools.islice(messages, self.room(FAREWELL)):
            if self.send(topic, payload, properties).rc != OK:
                break
            sent += 1
        return sent

    def _on_ordinary(self, _client: Client, _data: Any, message: MQTTMessage) -> None:
        self._heard_of += 1
        try:
            topic = message.topic.encode()
        except UnicodeDecodeError:
            topic = NO_TEXT
        number = message.mid if message.qos else 0
        self._arrivals.add(topic, bytes(message.payload), number, message.timestamp, message.retain)


class FastClient(PlainClient):
    """Reads many packets at once, parses the usual PUBLISH by itself and leaves the rest to paho."""

    def __init__(self, arrivals: Arrivals, **options: Any) -> None:
        """Take the same arguments as `PlainClient`."""
        super().__init__(arrivals, **options)
        self._pieces: list[bytes] = []  # the bytes of an incomplete packet
        self._missing = 0  # how many bytes of that packet are missing, once its length is known
        self._for_paho = memoryview(b"")  # the whole packet that paho may read now
        self._fault: OSError | None = None
        self._is_over = False

    def take(self) -> MQTTErrorCode:
        """Read up to READ_BYTES from the socket and handle every whole packet."""
        try:
            came = super()._sock_recv(READ_BYTES)
        except BlockingIOError:
            return OK
        except OSError as error:
            self._fault = error
            return self.loop_read()
        if not came:
            self._is_over = True
            return self.loop_read()
        self._pieces.append(came)
        self._missing -= len(came)
        if self._missing > 0:  # join the pieces once: joining at each read would take minutes for a packet of 100 MB
            return OK
        data = came if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces, self._missing = [], 0
        at, code = self._take_packets(data)
        if code == OK and at < len(data):
            self._pieces = [data[at:]]
        return code

    def _take_packets(self, data: bytes) -> tuple[int, MQTTErrorCode]:
        """Handle every whole packet. Returns the index where the first incomplete packet begins."""
        at, end, now = 0, len(data), time.monotonic
        while at + 1 < end:
            first, length, body = data[at], data[at + 1], at + 2
            if length & 0x80:
                length, body = _long_length(data, at)
            after = body + length
            if after > end:
                self._missing = 0 if data[body - 1] & 0x80 else after - end  # 0: the length itself is incomplete
                break
            qos = first & QOS
            if first & KIND == PUBLISH and qos <= QOS_1 and body + 4 < after:
                topic_end = body + 2 + (data[body] << 8 | data[body + 1])
                number_end = topic_end + qos  # the flag of QoS 1 is 2, and the identifier has 2 bytes; QoS 0 has none
                if number_end < after and not data[number_end] & 0x80:
                    payload = number_end + 1 + data[number_end]  # after the properties, which are not used
                    if payload <= after:
                        number = data[topic_end] << 8 | data[topic_end + 1] if qos else 0
                        topic, is_retained = data[body + 2 : topic_end], first & RETAIN == RETAIN
                        self._arrivals.add(topic, data[payload:after], number, now(), is_retained)
                        at = after
                        continue
            if first == PUBACK and data[body] << 8 | data[body + 1] in self._told:
                self._told.discard(data[body] << 8 | data[body + 1])
                at = after
                continue
            if (code := self._leave_to_paho(data, at, after)) != OK:
                return after, code
            at = after
        return at, OK

    def _leave_to_paho(self, data: bytes, begin: int, end: int) -> MQTTErrorCode:
        """Let paho read and handle this packet."""
        self._for_paho = memoryview(data)[begin:end]
        return self.loop_read()

    def _sock_recv(self, bufsize: int) -> bytes:
        """Give paho the bytes of the packet that is left to it, or the end or fault of the connection."""
        if self._fault is not None:
            raise self._fault
        if not self._for_paho and not self._is_over:
            raise BlockingIOError
        piece = bytes(self._for_paho[:bufsize])
        self._for_paho = self._for_paho[bufsize:]
        return piece

    def tell(self, messages: Iterable[tuple[str, bytes]], expiry_seconds: int) -> int:
        """Publish like `PlainClient`, with one write."""
        properties = struct.pack("!BBI", 5, MESSAGE_EXPIRY_INTERVAL, expiry_seconds)
        packets: list[bytes] = []
        for topic, payload in itertools.islice(messages, self.room(FAREWELL, TOLD_MAX)):
            number = self._mid_generate()
            name = topic.encode()
            body = b"".join((struct.pack("!H", len(name)), name, struct.pack("!H", number), properties, payload))
            packets += (TOLD, _as_length(len(body)), body)
            self._told.add(number)
        if packets:
            self._packet_queue(PUBLISH, b"".join(packets), 0, 1)
        return len(packets) // 3

    def acknowledge(self, numbers: Sequence[int]) -> MQTTErrorCode:
        """Acknowledge these messages in this order, with one write."""
        words = [word for number in numbers for word in (PUBACK << 8 | 2, number)]
        return self._packet_queue(PUBACK, struct.pack(f"!{len(words)}H", *words), 0, 1) if words else OK


def _long_length(data: bytes, at: int) -> tuple[int, int]:
    """Parse a Remaining Length of more than one byte (MQTT 5, 1.5.5). Returns it and the index of the packet's body.

    An incomplete length gives a packet longer than the data. A malformed one gives a packet of five bytes, which paho
    then refuses.
    """
    length, shift = 0, 0
    for place in range(at + 1, at + 1 + LONGEST_LENGTH):
        if place >= len(data):
            return len(data), place
        length |= (data[place] & 0x7F) << shift
        shift += 7
        if not data[place] & 0x80:
            return length, place + 1
    return (1, at + 1 + LONGEST_LENGTH)


def _as_length(length: int) -> bytes:
    """Encode a Remaining Length (MQTT 5, 1.5.5)."""
    written = bytearray()
    while length > 0x7F:
        written.append(length & 0x7F | 0x80)
        length >>= 7
    written.append(length)
    return bytes(written)


def make_client(arrivals: Arrivals, **options: Any) -> PlainClient:
    """A `FastClient`, or a `PlainClient` when paho's private methods have changed."""
    if is_as_known():
        return FastClient(arrivals, **options)
    event("lean_client_unusable", "this version of paho is unknown: messages are read by paho itself, at half the rate")
    return PlainClient(arrivals, **options)
