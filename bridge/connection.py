"""One connection to the broker, driven by the bridge's own thread, and what the broker grants on it.

What arrives is kept until it is acknowledged. A connection is thrown away at its first fault and a new one is made, so
that nothing of an old session (an acknowledgement, an unanswered publish) can reach a new one. Exceptions cannot escape
from the callbacks: paho would lose its footing while it still said that it is connected.
"""

import contextlib
import functools
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, Self
from urllib.parse import urlsplit

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from bridge.fast_paho import PlainClient, make_client
from bridge.inbox import Arrivals
from shared.commands.outbox.operations import CLAIM_AT_ONCE
from shared.outside.mqtt import connect_properties
from shared.structured_log import event, failure

DEFAULT_PORTS: Final = {"mqtt": 1883, "mqtts": 8883}
KEEPALIVE_SECONDS: Final = 60
CONNECT_SECONDS: Final = 5.0
RECEIVE_MAXIMUM: Final = 16_000  # unacknowledged messages: the window is the back-pressure
MISC_EVERY_SECONDS: Final = 1.0
REFUSED: Final = 0x80  # reason codes from here on are errors
RECEIVE_MAXIMUM_UNSAID: Final = 65_535  # MQTT 5: what a broker takes that names no number
SESSION_EXPIRY_SECONDS: Final = 86_400  # what the bridge asks for
OF_A_COMMAND: Final = 2_048  # bytes of the largest packet that we send: a command of 1 KiB, its topic and its head
OF_A_LOG_LINE: Final = 20_480  # bytes of the largest packet of a display

P = ParamSpec("P")


def _never_raises(callback: Callable[P, None]) -> Callable[P, None]:
    @functools.wraps(callback)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            callback(*args, **kwargs)
        except Exception:  # noqa: BLE001 - see the module's text
            failure("callback_failed", "a callback of the MQTT client failed", callback=callback.__name__)

    return guarded


class BrokerConnection:
    """MQTT 5 with a session that outlives the connection; `is_ready` once every topic is subscribed.

    The broker says so behind all that it held: with a backlog that is long after messages came.
    """

    def __init__(self, url: str, username: str, password: str, topics: Iterable[str]) -> None:
        """`url` is the services' listener; the client id is `username`, so that the session is found again."""
        self.is_open = False  # the broker has let us in: what it held for us comes, and publishes are taken
        self.is_ready = False
        self.found_session = False  # whether the broker kept one: what was not acknowledged comes again
        self.fault: str | None = None  # why the connection is over
        self.arrivals = Arrivals(RECEIVE_MAXIMUM)
        self.answers: dict[int, int] = {}  # publish -> the broker's reason code, for those that are watched
        self.lacks: list[Lack] = []  # what the broker does not grant
        self._watched: set[int] = set()
        self._misc_at = 0.0
        self._topics = tuple(topics)
        self._parts = urlsplit(url)
        self._client = self._make_client(username, password)

    def _make_client(self, username: str, password: str) -> PlainClient:
        client = make_client(
            self.arrivals,
            callback_api_version=CallbackAPIVersion.VERSION2,
            client_id=username,
            protocol=MQTTProtocolVersion.MQTTv5,
            reconnect_on_failure=False,
            manual_ack=True,
        )
        client.username_pw_set(username, password)
        if self._parts.scheme == "mqtts":
            client.tls_set_context(ssl.create_default_context())
        client.connect_timeout = CONNECT_SECONDS
        client.on_connect = _never_raises(self._connected)
        client.on_subscribe = _never_raises(self._subscribed)
        client.on_publish = _never_raises(self._answered)
        client.on_disconnect = _never_raises(self._disconnected)
        return client

    def open(self) -> None:
        """Begin to connect; `step` does the rest. A failure shows as `fault`."""
        properties = connect_properties()
        properties.SessionExpiryInterval = SESSION_EXPIRY_SECONDS
        properties.ReceiveMaximum = RECEIVE_MAXIMUM
        port = self._parts.port or DEFAULT_PORTS[self._parts.scheme]
        try:
            self._client.connect(
                self._parts.hostname or "", port, KEEPALIVE_SECONDS, clean_start=False, properties=properties
            )
            self._set_option(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (OSError, ValueError) as error:
            self._over(f"cannot be reached: {type(error).__name__}")

    @property
    def dropped(self) -> int:
        """Messages without acknowledgement that came while too much waited."""
        return self.arrivals.dropped

    @property
    def socket(self) -> "socket.socket | None":
        """What to wait on; None when the connection is closed."""
        raw = self._client.socket()
        return raw if isinstance(raw, socket.socket) else None

    @property
    def wants_to_write(self) -> bool:
        """Whether something waits to be sent."""
        return self._client.want_write()

    @property
    def has_more(self) -> bool:
        """Whether something has been read off the socket already and waits to be taken."""
        raw = self._client.socket()
        return isinstance(raw, ssl.SSLSocket) and raw.pending() > 0

    def unsubscribe(self, topics: Iterable[str]) -> None:
        """Ask for no more messages of these topics; what waits of them still comes."""
        self._client.unsubscribe(list(topics))

    def step(self, seconds: float) -> None:
        """Wait up to `seconds` for something to happen, and take what came."""
        with self._faults_end_it():
            self._step(seconds)

    @contextlib.contextmanager
    def _faults_end_it(self) -> Iterator[None]:
        """A fault in paho ends this connection, not the bridge."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is
            failure("mqtt_client_failed", "the MQTT client failed")
            self._over(f"the client failed: {type(error).__name__}")

    def _step(self, seconds: float) -> None:
        raw = self._client.socket()
        if raw is None:
            self._over("the connection is closed")
            return
        waiting = isinstance(raw, ssl.SSLSocket) and raw.pending() > 0
        writing = [raw] if self._client.want_write() else []
        readable, writable, _ = select.select([raw], writing, [], 0 if waiting else seconds)
        if readable or waiting:
            self._check(self._client.take())
        if writable:
            self._check(self._client.loop_write())
        if time.monotonic() >= self._misc_at:
            self._misc_at = time.monotonic() + MISC_EVERY_SECONDS
            self._check(self._client.loop_misc())

    def acknowledge(self, count: int) -> None:
        """Acknowledge the first `count` arrivals, in their order, and forget them; whatever happens they are gone."""
        numbers = [number for _ in range(count) if (number := self.arrivals.popleft().mid)]
        if self.fault is not None:
            return
        with self._faults_end_it():
            self._set_option(socket.IPPROTO_TCP, socket.TCP_CORK, 1)  # few large packets, whoever makes them
            self._check(self._client.acknowledge(numbers))
            self._set_option(socket.IPPROTO_TCP, socket.TCP_CORK, 0)

    def tell(self, messages: Iterable[tuple[str, bytes]], expiry_seconds: int) -> int:
        """Publish with QoS 1 as many as the broker takes now, without waiting for answers. Returns how many."""
        return self._client.tell(messages, expiry_seconds) if self.is_open and self.fault is None else 0

    def room(self, kept_free: int = 0) -> int:
        """How many publishes the broker takes now, with `kept_free` kept free: at one more it may throw us out."""
        return self._client.room(kept_free) if self.is_open and self.fault is None else 0

    def publish(self, topic: str, payload: bytes, expiry_seconds: int, *, watch: bool = False) -> int | None:
        """Publish with QoS 1, never retained, without waiting; a watched one's answer comes into `answers`.

        Answers the number of the publish, or None when it provably did not leave.
        """
        if not self.room():
            return None
        properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]  # paho leaves it without types
        properties.MessageExpiryInterval = expiry_seconds
        info = self._client.send(topic, payload, properties)
        if info.rc != MQTTErrorCode.MQTT_ERR_SUCCESS:
            self._over("a publish failed")
        if watch:
            self._watched.add(info.mid)
        return info.mid

    def leave(self, farewell: str, seconds: float) -> None:
        """Send what waits and DISCONNECT; the session stays.

        A message to the topic `farewell` goes last: its answer proves that the broker has read every
        acknowledgement before it. Without that, whoever takes the session over at once gets them again.
        """
        deadline = time.monotonic() + seconds
        number = self.publish(farewell, b"{}", 1, watch=True)
        while self.is_open and number not in self.answers and time.monotonic() < deadline:
            self.step(0.05)
            number = number or self.publish(farewell, b"{}", 1, watch=True)
        self._client.disconnect()
        while self.fault is None and self._client.want_write() and time.monotonic() < deadline:
            self.step(0.05)
        self.abort("left")

    def abort(self, why: str) -> None:
        """Close at once. What is not acknowledged the broker will deliver again."""
        raw = self._client.socket()
        if raw is not None:
            with contextlib.suppress(OSError):
                raw.close()
        self._over(why)

    def _check(self, code: MQTTErrorCode) -> None:
        if code != MQTTErrorCode.MQTT_ERR_SUCCESS:
            self._over(f"paho: {code.name}")

    def _over(self, why: str) -> None:
        self.fault = self.fault or why
        self.is_open = self.is_ready = False

    def _set_option(self, level: int, option: int, value: int) -> None:
        raw = self._client.socket()
        if isinstance(raw, socket.socket):
            with contextlib.suppress(OSError):
                raw.setsockopt(level, option, value)

    def _connected(self, client: Client, _data: Any, flags: Any, code: ReasonCode, properties: Any) -> None:
        if code.value != 0:
            self._over(f"refused: {code}")
            return
        granted = Granted.of(properties)
        self.lacks = granted.lacks()
        self._client.may_send(granted.may_send)
        self.is_open, self.found_session = True, bool(flags.session_present)
        event("broker_connected", "connected to the broker", session_present=flags.session_present)
        options = SubscribeOptions(qos=1, retainHandling=SubscribeOptions.RETAIN_SEND_IF_NEW_SUB)
        client.subscribe([(topic, options) for topic in self._topics])

    def _subscribed(self, _client: Client, _data: Any, _mid: int, codes: list[ReasonCode], _properties: Any) -> None:
        self.lacks += lacks_of_subscriptions(self._topics, [code.value for code in codes])
        refused = [topic for topic, code in zip(self._topics, codes, strict=True) if code.value >= REFUSED]
        if refused:
            self._over(f"may not subscribe {refused[0]}")
        else:
            self.is_ready = True

    def _answered(self, _client: Client, _data: Any, mid: int, code: ReasonCode, _properties: Any) -> None:
        self._client.answered(mid)
        if mid in self._watched:
            self._watched.discard(mid)
            self.answers[mid] = code.value

    def _disconnected(self, _client: Client, _data: Any, _flags: Any, code: ReasonCode, _properties: Any) -> None:
        self._over(f"disconnected: {code}")


@dataclass(frozen=True)
class Lack:
    """Something that the broker does not grant."""

    words: str
    stops: bool = False
    """The bridge cannot do its work: it is not ready."""


@dataclass(frozen=True)
class Granted:
    """What the broker's CONNACK grants; MQTT 5's defaults where it names nothing."""

    receive_maximum: int = RECEIVE_MAXIMUM_UNSAID
    maximum_qos: int = 2
    retain: bool = True
    wildcards: bool = True
    session_seconds: int = SESSION_EXPIRY_SECONDS
    maximum_packet_bytes: int | None = None
    client_id: str | None = None  # another one than asked for

    @classmethod
    def of(cls, properties: Properties | None) -> Self:
        """Read the properties of a CONNACK."""
        return cls(
            receive_maximum=getattr(properties, "ReceiveMaximum", RECEIVE_MAXIMUM_UNSAID),
            maximum_qos=getattr(properties, "MaximumQoS", 2),
            retain=bool(getattr(properties, "RetainAvailable", 1)),
            wildcards=bool(getattr(properties, "WildcardSubscriptionAvailable", 1)),
            session_seconds=getattr(properties, "SessionExpiryInterval", SESSION_EXPIRY_SECONDS),
            maximum_packet_bytes=getattr(properties, "MaximumPacketSize", None),
            client_id=getattr(properties, "AssignedClientIdentifier", None),
        )

    @property
    def may_send(self) -> int:
        """How many publishes with QoS 1 may wait for an answer at a time."""
        return self.receive_maximum if self.maximum_qos else 0

    def lacks(self) -> list[Lack]:
        """What the bridge misses of it."""
        found = []
        if not self.maximum_qos:
            found.append(Lack("it takes QoS 0 only (Maximum QoS): no command can be sent", stops=True))
        if not self.wildcards:
            found.append(Lack("it has no wildcards (Wildcard Subscription Available): nobody is heard", stops=True))
        if not self.retain:
            found.append(Lack("it keeps no retained messages (Retain Available): presence may be unknown for long"))
        if self.receive_maximum < CLAIM_AT_ONCE:
            most = f"it takes {self.receive_maximum} messages at a time (Receive Maximum)"
            found.append(Lack(f"{most}: commands to many displays go out slowly"))
        if self.session_seconds < SESSION_EXPIRY_SECONDS:
            kept = f"it keeps our sessions for {self.session_seconds} s (Session Expiry Interval)"
            found.append(Lack(f"{kept}: what is sent while no bridge is connected for longer is lost"))
        if self.client_id is not None:
            found.append(Lack("it names us anew (Assigned Client Identifier): no session is found again"))
        return found + self._lacks_of_size()

    def _lacks_of_size(self) -> list[Lack]:
        most = self.maximum_packet_bytes
        if most is None or most >= OF_A_LOG_LINE:
            return []
        words = f"it takes packets of {most} bytes at most (Maximum Packet Size)"
        if most < OF_A_COMMAND:
            return [Lack(f"{words}: some commands cannot be sent", stops=True)]
        return [Lack(f"{words}: long log lines do not pass")]


def lacks_of_subscriptions(topics: Sequence[str], codes: Iterable[int]) -> list[Lack]:
    """What the bridge misses where a SUBACK answers these topics with these reason codes. It asks for QoS 1."""
    poor = [topic for topic, code in zip(topics, codes, strict=True) if code == 0]
    return [Lack(f"it grants QoS 0 for {', '.join(poor)}: messages are lost", stops=True)] if poor else []
