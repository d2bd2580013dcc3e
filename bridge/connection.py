"""One connection to the broker, driven by the bridge's own thread.

A message is kept until it is acknowledged. At its first fault a connection is discarded and a new one is made, so that
no acknowledgement or unanswered publish of the old one can reach the new one. No exception escapes from a callback: it
would break paho while paho still claims to be connected.
"""

import contextlib
import functools
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, ParamSpec
from urllib.parse import urlsplit

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from bridge.fast_paho import PlainClient, make_client
from bridge.granted import SESSION_EXPIRY_SECONDS, Granted, Lack, lacks_of_subscriptions
from bridge.inbox import Arrivals
from shared.outside import tls
from shared.outside.mqtt import DEFAULT_PORTS, connect_properties
from shared.structured_log import event, failure
from shared.vocabulary import REFUSED_FROM

KEEPALIVE_SECONDS: Final = 60
CONNECT_SECONDS: Final = 5.0
RECEIVE_MAXIMUM: Final = 16_000  # unacknowledged messages: the window is the back-pressure
MISC_EVERY_SECONDS: Final = 1.0

P = ParamSpec("P")


def _never_raises(callback: Callable[P, None]) -> Callable[P, None]:
    @functools.wraps(callback)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            callback(*args, **kwargs)
        except Exception:  # noqa: BLE001 - see the module's docstring
            failure("callback_failed", "a callback of the MQTT client failed", callback=callback.__name__)

    return guarded


class BrokerConnection:
    """An MQTT 5 connection whose session outlives it; `is_ready` once every topic is subscribed.

    The broker sends the SUBACK after the messages that it queued. With a long backlog `is_ready` comes long after the
    first messages.
    """

    def __init__(self, url: str, username: str, password: str, topics: Iterable[str]) -> None:
        """`url` is the services' listener. The client id is `username`, so that the broker finds the session again."""
        self.is_open = False  # the broker accepted the connection: queued messages come, and it takes publishes
        self.is_ready = False
        self.found_session = False  # the broker kept the session: it delivers unacknowledged messages again
        self.fault: str | None = None  # why the connection is over
        self.arrivals = Arrivals(RECEIVE_MAXIMUM)
        self.answers: dict[int, int] = {}  # packet identifier -> the broker's reason code, for watched publishes
        self.lacks: list[Lack] = []
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
            client.tls_set_context(tls.trusting())
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
        """How many messages of QoS 0 were dropped because too many messages waited."""
        return self.arrivals.dropped

    @property
    def socket(self) -> "socket.socket | None":
        """The socket to wait on; None when the connection is closed."""
        raw = self._client.socket()
        return raw if isinstance(raw, socket.socket) else None

    @property
    def wants_to_write(self) -> bool:
        """Whether bytes wait to be sent."""
        return self._client.want_write()

    @property
    def has_more(self) -> bool:
        """Whether TLS holds decrypted bytes that `select` does not see."""
        raw = self._client.socket()
        return isinstance(raw, ssl.SSLSocket) and raw.pending() > 0

    def unsubscribe(self, topics: Iterable[str]) -> None:
        """Unsubscribe these topics. Messages that the broker has already queued still come."""
        self._client.unsubscribe(list(topics))

    def step(self, seconds: float) -> None:
        """Wait up to `seconds` until the socket is ready, then read and write."""
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
        """Acknowledge the first `count` arrivals in their order. They are forgotten even if sending fails."""
        numbers = [number for _ in range(count) if (number := self.arrivals.popleft().mid)]
        if self.fault is not None:
            return
        with self._faults_end_it():
            self._set_option(socket.IPPROTO_TCP, socket.TCP_CORK, 1)  # few large TCP packets
            self._check(self._client.acknowledge(numbers))
            self._set_option(socket.IPPROTO_TCP, socket.TCP_CORK, 0)

    def tell(self, messages: Iterable[tuple[str, bytes]], expiry_seconds: int) -> int:
        """Publish with QoS 1 as many messages as the broker takes now. Returns how many; answers are not awaited."""
        return self._client.tell(messages, expiry_seconds) if self.is_open and self.fault is None else 0

    def room(self, kept_free: int = 0) -> int:
        """How many publishes the broker takes now, less `kept_free`. At one more it may end the connection."""
        return self._client.room(kept_free) if self.is_open and self.fault is None else 0

    def publish(self, topic: str, payload: bytes, expiry_seconds: int, *, watch: bool = False) -> int | None:
        """Publish with QoS 1, not retained, without waiting. With `watch` the answer appears in `answers`.

        Returns the packet identifier, or None when the message was certainly not sent.
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
        """Send the waiting bytes, then DISCONNECT, within `seconds`. The session stays at the broker.

        The last message goes to the topic `farewell`. Its answer proves that the broker has read every acknowledgement
        before it. Otherwise the next bridge on this session would get acknowledged messages again.
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
        """Close at once. The broker will deliver unacknowledged messages again."""
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
        refused = [topic for topic, code in zip(self._topics, codes, strict=True) if code.value >= REFUSED_FROM]
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
