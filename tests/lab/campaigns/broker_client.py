"""A client that remembers all that a broker tells it: paho with a thread, and no code of the product."""

import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

SECONDS: Final = 15.0
LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True)
class Heard:
    """A message."""

    topic: str
    payload: bytes
    retain: bool
    dup: bool
    mid: int
    expiry: int | None


@dataclass
class Seen:
    """Everything that the broker sent to one client."""

    code: int | None = None  # of the CONNACK
    session_present: bool = False
    granted: dict[str, Any] = field(default_factory=dict)
    messages: list[Heard] = field(default_factory=list)
    answers: dict[int, int] = field(default_factory=dict)  # PUBACKs
    grants: dict[int, list[int]] = field(default_factory=dict)  # SUBACKs
    ended: int | None = None  # the reason of the end; 0x80 without a DISCONNECT of the broker


def until(question: Callable[[], object], seconds: float = SECONDS) -> bool:
    """Wait until the answer is true. False when it does not become so."""
    began = time.monotonic()
    while not question():
        waited = time.monotonic() - began
        if waited > seconds:
            return False
        time.sleep(min(0.005 + waited / 10, 0.1))  # hundreds of callers wait at once
    return True


class Caller:
    """One connection to a broker; `acknowledges` False: nothing is acknowledged but by `acknowledge`."""

    def __init__(
        self,
        port: int,
        user: str | None,
        password: str | None,
        client_id: str | None = None,
        *,
        clean: bool = False,
        expiry: int = 600,
        acknowledges: bool = True,
        connect: dict[str, int] | None = None,
        will: tuple[str, int] | None = None,
    ) -> None:
        """Connect, and wait for the answer. `will`: its topic and its delay in seconds."""
        self.seen = Seen()
        self._client = Client(
            CallbackAPIVersion.VERSION2,
            client_id if client_id is not None else user or "stranger",
            protocol=MQTTProtocolVersion.MQTTv5,
            reconnect_on_failure=False,
            manual_ack=not acknowledges,
        )
        if user is not None:
            self._client.username_pw_set(user, password)
        self._client.max_inflight_messages_set(20_000)
        self._client.on_connect = self._connected
        self._client.on_disconnect = self._ended
        self._client.on_message = self._came
        self._client.on_publish = self._answered
        self._client.on_subscribe = self._granted
        properties = made(PacketTypes.CONNECT, SessionExpiryInterval=expiry, **(connect or {}))
        if will is not None:
            delayed = made(PacketTypes.WILLMESSAGE, WillDelayInterval=will[1])
            self._client.will_set(will[0], b'{"state": "offline"}', qos=1, retain=True, properties=delayed)
        self._client.connect(LOOPBACK, port, clean_start=clean, properties=properties)
        self._client.loop_start()
        until(lambda: self.seen.code is not None or self.seen.ended is not None)

    @property
    def is_in(self) -> bool:
        return self.seen.code == 0 and self.seen.ended is None

    @property
    def payloads(self) -> list[bytes]:
        """The messages so far."""
        return [one.payload for one in list(self.seen.messages)]

    def subscribe(self, *topics: str, qos: int = 1, handling: int = 0, as_published: bool = False) -> list[int]:
        """Subscribe. Returns the broker's answers; an empty list when there are none."""
        options = SubscribeOptions(qos, retainHandling=handling, retainAsPublished=as_published)
        _, mid = self._client.subscribe([(topic, options) for topic in topics])
        until(lambda: mid in self.seen.grants or self.seen.ended is not None)
        return self.seen.grants.get(mid or 0, [])

    def send(self, topic: str, payload: bytes, *, qos: int = 1, retain: bool = False, expiry: int | None = None) -> int:
        """Publish without waiting. Returns the packet identifier."""
        given = {} if expiry is None else {"MessageExpiryInterval": expiry}
        return self._client.publish(topic, payload, qos, retain, made(PacketTypes.PUBLISH, **given)).mid

    def send_all(self, topic: str, payloads: Iterable[bytes], seconds: float = SECONDS) -> bool:
        """Publish these within the broker's Receive Maximum. Whether all are answered."""
        window = self.seen.granted.get("ReceiveMaximum", 20_000)
        mids: list[int] = []
        for payload in payloads:
            if not until(lambda: len(mids) - len(self.seen.answers) < window, seconds):
                return False
            mids.append(self.send(topic, payload))
        return self.answered(mids, seconds)

    def publish(self, topic: str, payload: bytes, **options: Any) -> int | None:
        """Publish, and wait. Returns the broker's answer; None when there is none."""
        mid = self.send(topic, payload, **options)
        until(lambda: mid in self.seen.answers or self.seen.ended is not None)
        return self.seen.answers.get(mid)

    def answered(self, mids: Sequence[int], seconds: float = SECONDS) -> bool:
        """Whether all of these were answered."""
        wanted = set(mids)
        return until(lambda: wanted <= set(self.seen.answers), seconds)

    def acknowledge(self, messages: Sequence[Heard]) -> None:
        """Acknowledge these."""
        for one in messages:
            self._client.ack(one.mid, 1)

    def leave(self, expiry: int | None = None) -> None:
        """DISCONNECT in order; `expiry` changes the session's."""
        given = {} if expiry is None else {"SessionExpiryInterval": expiry}
        self._client.disconnect(properties=made(PacketTypes.DISCONNECT, **given) if given else None)
        until(lambda: self.seen.ended is not None, 5)
        self._client.loop_stop()

    def drop(self) -> None:
        """Let the connection break without a DISCONNECT."""
        raw = self._client.socket()
        if isinstance(raw, socket.socket):
            raw.shutdown(socket.SHUT_RDWR)
        until(lambda: self.seen.ended is not None, 5)
        self._client.loop_stop()

    def _connected(self, _client: Client, _data: Any, flags: Any, code: ReasonCode, properties: Any) -> None:
        self.seen.session_present = bool(flags.session_present)
        self.seen.granted = properties.json() if properties is not None else {}
        self.seen.code = code.value

    def _ended(self, _client: Client, _data: Any, flags: Any, code: ReasonCode, _properties: Any) -> None:
        self.seen.ended = code.value if flags.is_disconnect_packet_from_server else 0x80

    def _came(self, _client: Client, _data: Any, message: MQTTMessage) -> None:
        expiry = getattr(message.properties, "MessageExpiryInterval", None)
        self.seen.messages.append(
            Heard(message.topic, bytes(message.payload), message.retain, message.dup, message.mid, expiry)
        )

    def _answered(self, _client: Client, _data: Any, mid: int, code: ReasonCode, _properties: Any) -> None:
        self.seen.answers[mid] = code.value

    def _granted(self, _client: Client, _data: Any, mid: int, codes: list[ReasonCode], _properties: Any) -> None:
        self.seen.grants[mid] = [code.value for code in codes]


def made(kind: int, **values: int) -> Properties:
    """Properties of a packet of this kind."""
    properties = Properties(kind)  # type: ignore[no-untyped-call]  # paho leaves it without types
    for name, value in values.items():
        setattr(properties, name, value)
    return properties


def at_once(count: int, work: Callable[[int], None]) -> None:
    """Run `work` for each number in a thread of its own, a hundred at a time."""
    numbers, lock = iter(range(count)), threading.Lock()

    def worker() -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            work(number)

    threads = [threading.Thread(target=worker) for _ in range(min(100, count))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
