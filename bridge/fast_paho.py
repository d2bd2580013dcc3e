"""paho with a faster way in and out. paho takes 20 to 50 microseconds for a message, this file about three.

paho reads the socket a byte at a time, logs, locks and makes several objects for every message. Here the socket is
read 64 KiB at a time, and a PUBLISH (QoS 0 or 1) is taken apart where it lies; acknowledgements leave together.
What displays are told in passing leaves together too. Everything else (connecting, subscriptions, answers, pings,
faults) and every PUBLISH that looks unusual stays paho's: it reads those bytes through `_sock_recv`, one of the
three private names that this rests on; `_packet_queue` sends and `_mid_generate` numbers. `is_as_known` looks whether
they are still what they were; where they are not, `make_client` takes paho's own ways.
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
MESSAGE_EXPIRY_INTERVAL: Final = 0x02  # the property's identifier
RETAIN: Final = 0x01
LONGEST_LENGTH: Final = 4  # bytes of a packet's length
TOLD_MAX: Final = 2_000  # messages told and not yet answered
PUBLISHED_MAX: Final = 200  # likewise of those that are published in paho's way, which queues what is more
FAREWELL: Final = 1  # message that a session must be able to send when it is left
NO_TEXT: Final = b"\xff"  # for a topic that is none; never UTF-8
OK: Final = MQTTErrorCode.MQTT_ERR_SUCCESS


def is_as_known(client: type[Client] = Client) -> bool:
    """Are paho's private parts that `FastClient` rests on what they were in 2.1 and 2.2?"""
    try:
        receives = list(inspect.signature(client._sock_recv).parameters) == ["self", "bufsize"]  # noqa: SLF001
        queue = list(inspect.signature(client._packet_queue).parameters)[:5]  # noqa: SLF001
        numbers = list(inspect.signature(client._mid_generate).parameters) == ["self"]  # noqa: SLF001
        reads = client._packet_read.__code__.co_names  # noqa: SLF001
    except AttributeError:
        return False
    return receives and numbers and queue == ["self", "command", "packet", "mid", "qos"] and "_sock_recv" in reads


class PlainClient(Client):
    """paho's own ways, for a paho that is not as known."""

    def __init__(self, arrivals: Arrivals, **options: Any) -> None:
        """Every message is added to `arrivals`; `options` are paho's."""
        super().__init__(**options)
        self._arrivals = arrivals
        self._heard_of = 0
        self._receive_maximum = 0  # until the broker says it
        self._published: set[int] = set()  # numbers of what was published in paho's way and is not answered
        self._told: set[int] = set()  # likewise of what was told
        self.on_message = self._on_ordinary
        self.max_inflight_messages_set(PUBLISHED_MAX)

    def take(self) -> MQTTErrorCode:
        """Read packets until the socket is empty or enough came."""
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
        """The broker takes so many unanswered messages at a time, and ends the connection at one more."""
        self._receive_maximum = receive_maximum

    def room(self, kept_free: int = 0, most: int = PUBLISHED_MAX) -> int:
        """How many messages, of `most` at a time, may be sent now; with `kept_free` beside so many others.

        Where a broker takes no more than these, nothing is kept free.
        """
        free = kept_free if self._receive_maximum > kept_free else 0
        return max(0, min(most, self._receive_maximum - free) - len(self._published) - len(self._told))

    def send(self, topic: str, payload: bytes, properties: Properties) -> MQTTMessageInfo:
        """Publish with QoS 1; `answered` once the broker has answered."""
        info = self.publish(topic, payload, qos=1, retain=False, properties=properties)
        if info.rc == OK:
            self._published.add(info.mid)
        return info

    def answered(self, number: int) -> None:
        """The broker has answered this publish."""
        self._published.discard(number)

    def tell(self, messages: Iterable[tuple[str, bytes]], expiry_seconds: int) -> int:
        """Publish with QoS 1 as many as the broker takes now. Returns how many; nobody waits for answers."""
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
    """Reads much at once, takes the usual PUBLISH apart by itself and leaves the rest to paho."""

    def __init__(self, arrivals: Arrivals, **options: Any) -> None:
        """As `PlainClient`."""
        super().__init__(arrivals, **options)
        self._pieces: list[bytes] = []  # of what came from the beginning of a packet on
        self._missing = 0  # bytes of that packet that have not come, where its length has
        self._for_paho = memoryview(b"")  # what paho may read now: a whole packet
        self._fault: OSError | None = None
        self._is_over = False

    def take(self) -> MQTTErrorCode:
        """Read what the socket holds, up to READ_BYTES."""
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
        if self._missing > 0:  # put together once: piece by piece a packet of 100 MB would take minutes
            return OK
        data = came if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces, self._missing = [], 0
        at, code = self._take_packets(data)
        if code == OK and at < len(data):
            self._pieces = [data[at:]]
        return code

    def _take_packets(self, data: bytes) -> tuple[int, MQTTErrorCode]:
        """Take every whole packet; answer where the first one begins that is not whole."""
        at, end, now = 0, len(data), time.monotonic
        while at + 1 < end:
            first, length, body = data[at], data[at + 1], at + 2
            if length & 0x80:
                length, body = _long_length(data, at)
            after = body + length
            if after > end:
                self._missing = 0 if data[body - 1] & 0x80 else after - end  # 0: its length has not come whole
                break
            qos = first & QOS
            if first & KIND == PUBLISH and qos <= QOS_1 and body + 4 < after:
                topic_end = body + 2 + (data[body] << 8 | data[body + 1])
                number_end = topic_end + qos  # two bytes with QoS 1, none with 0
                if number_end < after and not data[number_end] & 0x80:
                    payload = number_end + 1 + data[number_end]  # behind its properties, of which none is used
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
        """What paho reads: the packet that is left to it, and the end or fault of the connection."""
        if self._fault is not None:
            raise self._fault
        if not self._for_paho and not self._is_over:
            raise BlockingIOError
        piece = bytes(self._for_paho[:bufsize])
        self._for_paho = self._for_paho[bufsize:]
        return piece

    def tell(self, messages: Iterable[tuple[str, bytes]], expiry_seconds: int) -> int:
        """As `PlainClient`, in one piece."""
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
        """Acknowledge these messages in this order, in one piece."""
        words = [word for number in numbers for word in (PUBACK << 8 | 2, number)]
        return self._packet_queue(PUBACK, struct.pack(f"!{len(words)}H", *words), 0, 1) if words else OK


def _long_length(data: bytes, at: int) -> tuple[int, int]:
    """A packet's length of more than one byte, and where its body begins.

    While its bytes have not all come it is beyond all data; where it is malformed paho gets what shows it that.
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
    """A packet's length as it is written."""
    written = bytearray()
    while length > 0x7F:
        written.append(length & 0x7F | 0x80)
        length >>= 7
    written.append(length)
    return bytes(written)


def make_client(arrivals: Arrivals, **options: Any) -> PlainClient:
    """The fast client, or paho's own ways where it is not the paho that is known."""
    if is_as_known():
        return FastClient(arrivals, **options)
    event("lean_client_unusable", "this paho is not as known: messages are read in its own way, at half the rate")
    return PlainClient(arrivals, **options)
