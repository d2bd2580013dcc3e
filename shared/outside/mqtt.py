"""A publisher without a thread.

It is for functions, which may be frozen between two requests. It connects at the first use, runs paho's loop itself
within the caller's time budget, and trusts only the PUBACK's reason code: `is_published()` is True even after a
refusal, `is_connected()` even on a dead connection.
"""

import logging
import secrets
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Self
from urllib.parse import urlsplit

from msgspec import Struct
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from shared.config import Config
from shared.errors import BrokerUnavailable, PublishUnanswered
from shared.outside import tls
from shared.outside.topics import Topics
from shared.structured_log import event

DEFAULT_PORTS: Final = {"mqtt": 1883, "mqtts": 8883}
KEEPALIVE_SECONDS: Final = 60
LARGEST_PACKET_BYTES: Final = 262_144  # a broker drops larger packets; four times the limit of our own broker
IDLE_LIMIT_SECONDS: Final = 20.0  # an older connection may be half-dead (NAT, frozen instance): open a new one
TAKEN_OVER: Final = 0x8E  # MQTT 5: another connection has the session


WINDOW: Final = 20  # messages without an answer at once: paho's own limit; a broker may set a lower one
ANSWER_SECONDS: Final = 1.0  # the end of the budget, only for answers


class Message(Struct, frozen=True):
    """A message to publish. `expires_at` is a time of `time.monotonic()`; after it the message is not sent."""

    topic: str
    payload: bytes
    expires_at: float


class Publisher:
    """Publishes with QoS 1, never retained. Threads may share one; it serves them one after another."""

    def __init__(self, url: str, username: str, password: str, topic_root: str) -> None:
        """`url` is `mqtt://` or `mqtts://host[:port]`, the services' listener. Does not connect yet."""
        self.topics = Topics(topic_root)
        self._url = url
        self._username = username
        self._password = password
        self._lock = threading.Lock()
        self._link: _Link | None = None

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """The publisher of this component. Raises ConfigurationError when MQTT_* is missing."""
        return cls(config["MQTT_URL"], config["MQTT_USERNAME"], config["MQTT_PASSWORD"], config["MQTT_TOPIC_ROOT"])

    def publish(self, topic: str, payload: bytes, expiry_seconds: int | None, deadline: float) -> int:
        """Publish. Returns the reason code of the PUBACK: 0x00, 0x10 no matching subscribers, 0x87 not authorized, ...

        `deadline`: a time of `time.monotonic()`, for connecting and waiting together.

        Raises:
            PublishUnanswered: the message was sent but not answered; it may still arrive.
            BrokerUnavailable: the message was not sent.
        """
        if not self._lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise BrokerUnavailable("broker_busy")
        try:
            return self._usable_link(deadline).publish(topic, payload, expiry_seconds, deadline)
        except BrokerUnavailable:
            self._abort()
            raise
        finally:
            self._lock.release()

    def command(self, client_uuid: str, payload: bytes, expires_at: float) -> Message:
        """A message for this display; see `publish_many`."""
        return Message(self.topics.commands(client_uuid), payload, expires_at)

    def publish_many(self, messages: Sequence[Message], deadline: float) -> list[int | BrokerUnavailable]:
        """Publish all. Returns for each the reason code of its PUBACK, or the error that `publish` would raise.

        Up to WINDOW messages wait for answers at once, which saves round trips.
        """
        if not self._lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            return [BrokerUnavailable("broker_busy")] * len(messages)
        try:
            answers = self._usable_link(deadline).publish_many(messages, deadline)
        except BrokerUnavailable as error:
            self._abort()
            return [error] * len(messages)
        else:
            if any(isinstance(answer, PublishUnanswered) for answer in answers):
                self._abort()
            return answers
        finally:
            self._lock.release()

    def close(self) -> None:
        """Disconnect. The publisher can be used again."""
        with self._lock:
            link, self._link = self._link, None
            if link is not None:
                link.leave()

    def _usable_link(self, deadline: float) -> "_Link":
        if self._link is not None and not self._link.is_usable():
            self._abort()
        if self._link is None:
            self._link = _Link(self._url, self._username, self._password)
            self._link.open(deadline)
        return self._link

    def _abort(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.abort()


class _Link:
    """One connection to the broker. It is dropped at its first fault, so that paho does not resend later."""

    def __init__(self, url: str, username: str, password: str) -> None:
        self._parts = urlsplit(url)
        self._connack: int | None = None
        self._maximum_qos = 2
        self._answers: dict[int, int] = {}
        self._window = WINDOW
        self._used_at = time.monotonic()
        self._client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=f"{username}-{secrets.token_hex(8)}",
            protocol=MQTTProtocolVersion.MQTTv5,
            reconnect_on_failure=False,
        )
        self._client.username_pw_set(username, password)
        if self._parts.scheme == "mqtts":
            self._client.tls_set_context(tls.trusting())
        self._client.on_connect = self._connected
        self._client.on_disconnect = self._disconnected
        self._client.on_publish = self._answered

    def open(self, deadline: float) -> None:
        """Connect and wait for the CONNACK. Raises BrokerUnavailable."""
        port = self._parts.port or DEFAULT_PORTS[self._parts.scheme]
        self._client.connect_timeout = _left(deadline)
        try:
            self._client.connect(self._parts.hostname or "", port, KEEPALIVE_SECONDS, properties=connect_properties())
        except (OSError, ValueError) as error:
            raise BrokerUnavailable("broker_unreachable", facts={"error": type(error).__name__}) from error
        if not self._wait(lambda: self._connack is not None, deadline):
            raise BrokerUnavailable("broker_silent")
        if self._connack:
            raise BrokerUnavailable("broker_refused_connection", facts={"reason": f"0x{self._connack:02x}"})
        if not self._maximum_qos:
            raise BrokerUnavailable("broker_without_qos")

    def publish(self, topic: str, payload: bytes, expiry_seconds: int | None, deadline: float) -> int:
        """Publish on this connection; see `Publisher.publish`."""
        if deadline <= time.monotonic():
            raise BrokerUnavailable("no_time_to_publish")
        info = self._client.publish(topic, payload, qos=1, retain=False, properties=_publish_properties(expiry_seconds))
        if info.rc != MQTTErrorCode.MQTT_ERR_SUCCESS or not self._wait(lambda: info.mid in self._answers, deadline):
            raise PublishUnanswered
        self._used_at = time.monotonic()
        return self._answers.pop(info.mid)

    def publish_many(self, messages: Sequence[Message], deadline: float) -> list[int | BrokerUnavailable]:
        """Publish on this connection; see `Publisher.publish_many`."""
        found: list[int | BrokerUnavailable] = [BrokerUnavailable("no_time_to_publish")] * len(messages)
        spared = min(ANSWER_SECONDS, (deadline - time.monotonic()) / 3)
        waiting = deque(enumerate(messages))
        awaited: dict[int, tuple[int, float]] = {}  # message id -> index of the message, time of sending
        sound = True
        while sound and (awaited or (waiting and time.monotonic() < deadline - spared)):
            self._send_more(waiting, awaited, deadline - spared)
            if awaited:
                sound = deadline > time.monotonic()
                sound = sound and self._client.loop(_left(deadline)) == MQTTErrorCode.MQTT_ERR_SUCCESS
            slowest = self._take_answers(awaited, found)
            spared = max(spared, 2 * slowest)
        for place, _ in awaited.values():
            found[place] = PublishUnanswered()
        return found

    def _send_more(
        self, waiting: deque[tuple[int, Message]], awaited: dict[int, tuple[int, float]], last_start: float
    ) -> None:
        """Send messages until WINDOW of them wait for answers."""
        while waiting and len(awaited) < self._window and time.monotonic() < last_start:
            place, message = waiting.popleft()
            if (number := self._start(message)) is not None:
                awaited[number] = place, time.monotonic()

    def _take_answers(self, awaited: dict[int, tuple[int, float]], found: list[int | BrokerUnavailable]) -> float:
        """Store the received answers. Returns the time of the slowest one, in seconds."""
        slowest = 0.0
        for number in [number for number in awaited if number in self._answers]:
            place, left_at = awaited.pop(number)
            found[place] = self._answers.pop(number)
            self._used_at = time.monotonic()
            slowest = max(slowest, self._used_at - left_at)
        return slowest

    def _start(self, message: Message) -> int | None:
        """Send without waiting. Returns the message id; None when the message has expired."""
        expiry_seconds = int(message.expires_at - time.monotonic())
        if expiry_seconds < 1:
            return None
        properties = _publish_properties(expiry_seconds)
        return self._client.publish(message.topic, message.payload, qos=1, retain=False, properties=properties).mid

    def is_usable(self) -> bool:
        """Whether it was used recently and the broker has not closed it."""
        if time.monotonic() - self._used_at > IDLE_LIMIT_SECONDS:
            return False
        return self._client.loop(0) == MQTTErrorCode.MQTT_ERR_SUCCESS

    def leave(self) -> None:
        """Send DISCONNECT and close."""
        self._client.disconnect()
        self._client.loop(0)
        self.abort()

    def abort(self) -> None:
        """Close at once and drop unsent data, so that no abandoned message arrives later."""
        raw = self._client.socket()
        if isinstance(raw, socket.socket):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raw.close()

    def _wait(self, answered: Callable[[], bool], deadline: float) -> bool:
        """Run paho's loop until `answered`. False after the deadline or a lost connection."""
        while not answered():
            if deadline <= time.monotonic() or self._client.loop(_left(deadline)) != MQTTErrorCode.MQTT_ERR_SUCCESS:
                return answered()
        return True

    def _connected(self, _client: Client, _data: Any, _flags: Any, code: ReasonCode, properties: Any) -> None:
        self._connack = code.value
        self._window = min(WINDOW, getattr(properties, "ReceiveMaximum", WINDOW))
        self._maximum_qos = getattr(properties, "MaximumQoS", 2)

    def _disconnected(self, client: Client, _data: Any, _flags: Any, code: ReasonCode, _properties: Any) -> None:
        if code.value == TAKEN_OVER:
            line = "another process came with the same login: this broker lets each login hold one connection"
            event("broker_login_shared", line, logging.WARNING, username=client.username)

    def _answered(self, _client: Client, _data: Any, mid: int, code: ReasonCode, _properties: Any) -> None:
        self._answers[mid] = code.value


def connect_properties() -> Properties:
    """The properties that each of our clients sends in its CONNECT."""
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]  # paho leaves it without types
    properties.MaximumPacketSize = LARGEST_PACKET_BYTES
    return properties


def connack(url: str, seconds: float, username: str = "", password: str | None = None) -> int | None:
    """Connect, take leave at once, and return the reason code of the CONNACK; None when none comes within `seconds`.

    With a user name the client id is that name, and its session ends; without one there is no login.
    """
    answers: list[int] = []

    def answered(_client: Client, _data: Any, _flags: Any, code: ReasonCode, _properties: Any) -> None:
        answers.append(code.value)

    parts = urlsplit(url)
    client = Client(
        CallbackAPIVersion.VERSION2, username, protocol=MQTTProtocolVersion.MQTTv5, reconnect_on_failure=False
    )
    if username:
        client.username_pw_set(username, password)
    if parts.scheme == "mqtts":
        client.tls_set_context(tls.trusting())
    client.connect_timeout = seconds
    client.on_connect = answered
    until = time.monotonic() + seconds
    try:
        port = parts.port or DEFAULT_PORTS[parts.scheme]
        client.connect(parts.hostname or "", port, clean_start=True, properties=connect_properties())
    except (OSError, ValueError):
        return None
    while not answers and time.monotonic() < until:
        if client.loop(0.1) != MQTTErrorCode.MQTT_ERR_SUCCESS:
            break
    client.disconnect()
    return answers[0] if answers else None


def _left(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())


def _publish_properties(expiry_seconds: int | None) -> Properties:
    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]  # paho has no types here
    if expiry_seconds is not None:
        properties.MessageExpiryInterval = expiry_seconds
    return properties
