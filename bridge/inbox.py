"""Turn each arrival into a message, by its topic, or into a dead letter with its reason. Raises nothing.

`MessagesByKind` sorts the messages of a batch for `storing`.
"""

import re
from collections import deque
from collections.abc import Iterable
from typing import Final

from msgspec import Struct, field

from bridge import messages
from bridge.contract import MAX_BYTES
from bridge.messages import Canary, DecodedMessage
from bridge.reading import Unreadable, legible_stamp
from shared.client_logs.rules import Boot, LogLine
from shared.clients.failures_rules import ServiceFailure, Stamp
from shared.clients.reports.rules import HealthReport, Heartbeat, PresenceReport
from shared.clients.rules import UUID_FORM
from shared.leadership.rules import Beginning
from shared.outside.topics import UPWARD, TopicKind
from shared.structured_log import failure
from shared.vocabulary import DeadLetterReason, Presence

_is_level: Final = re.compile(r"[a-z]{1,16}", re.ASCII).fullmatch
_is_uuid: Final = UUID_FORM.fullmatch
MOST_UUIDS: Final = 200_000  # the most that are remembered: twice the largest fleet measured with one bridge
REPORTS: Final = {kind.value for kind in UPWARD if kind is not TopicKind.LOGS}
PROVING: Final = {kind.value for kind in UPWARD if kind is not TopicKind.PRESENCE}
"""Topics that prove that the display is alive now. Presence does not: the broker sends the will and retained copies."""
LARGEST_BYTES: Final = max(MAX_BYTES.values())
"""The largest payload that any topic takes; the broker lets through four times as much."""

IGNORED: Final = DecodedMessage(None, None)
"""The result for a retained message other than presence: a new subscription may bring old heartbeats."""


class Oversized(Beginning):
    """The beginning of a payload that is too large: one byte more than any topic takes, so that it is refused."""

    stamp: Stamp | None  # where it can be read


def bounded(payload: bytes) -> bytes:
    """The payload, cut to `Oversized` when no topic takes it: 16,000 of them may wait in memory for the database."""
    if len(payload) <= LARGEST_BYTES:
        return payload
    beginning = Oversized.of(payload, LARGEST_BYTES + 1)
    beginning.stamp = legible_stamp(payload)
    return beginning


class Arrival(Struct):
    """A message as the broker delivered it."""

    topic: str
    payload: bytes  # an `Oversized` where it is larger than any topic takes
    mid: int  # the packet identifier, for the acknowledgement; 0 for QoS 0, which needs none
    heard: float  # monotonic time, in seconds
    is_retained: bool = False  # the broker's copy of an old message, not one that was sent just now


class Arrivals(deque[Arrival]):
    """The messages of one connection in order of arrival, until they are acknowledged."""

    def __init__(self, most: int) -> None:
        """When `most` messages wait, further messages of QoS 0 are dropped. QoS 1 is limited by the receive maximum."""
        super().__init__()
        self.dropped = 0
        self._most = most

    def add(self, name: bytes, payload: bytes, mid: int, heard: float, is_retained: bool) -> None:
        """Keep a message. Never raises: an exception would break paho while it still claims to be connected."""
        try:
            if not mid and len(self) >= self._most:
                self.dropped += 1
                return
            self.append(Arrival(_topic(name), bounded(payload), mid, heard, is_retained))
        except Exception:  # noqa: BLE001 - see above
            failure("callback_failed", "a callback of the MQTT client failed", callback="add")


def _topic(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        return ""  # no topic of ours: it becomes a dead letter


class PutAside(Struct):
    """A message that is not stored, and why."""

    topic: str
    payload: bytes
    reason: DeadLetterReason
    detail: str | None
    log_number: tuple[Boot, int] | None = None
    """The boot and number of a refused log line: the mark passes over it, or its display would send it for ever."""
    talker: tuple[str, float] | None = None
    """The client's uuid and when it was heard: a refused message is a sign of life too."""


class Taken(Struct):
    """A message that was read, with its arrival in case the database refuses it."""

    arrival: Arrival
    message: DecodedMessage


class Inbox:
    """Reads arrivals under one topic root."""

    def __init__(self, root: str, canary_topic: str) -> None:
        """`root` is MQTT_TOPIC_ROOT."""
        self._root = root
        self._canary = canary_topic
        self._uuids: dict[str, str] = {}  # one string object for all messages of a client, to save time and memory

    def read(self, arrival: Arrival) -> Taken | PutAside:
        """The message of this arrival, or why it is put aside."""
        try:
            return Taken(arrival, self._message(arrival))
        except Unreadable as refused:
            return put_aside(arrival, refused.reason, refused.detail, self._log_number(arrival))
        except Exception as error:  # noqa: BLE001 - whatever a display sends must not stop the bridge
            failure("parser_failed", "a message could not be read", topic=arrival.topic[:200])
            detail = f"parser failed: {type(error).__name__}"
            return put_aside(arrival, DeadLetterReason.REFUSED_BY_DATABASE, detail, self._log_number(arrival))

    def _message(self, arrival: Arrival) -> DecodedMessage:
        levels = arrival.topic.split("/")
        if arrival.is_retained and levels[-1] != TopicKind.PRESENCE:
            return IGNORED
        if levels[0] == self._root:
            if len(levels) == 3 and levels[2] in REPORTS:
                return self._report(levels[1], levels[2], arrival)
            if len(levels) == 4 and levels[2] == TopicKind.LOGS and _is_level(levels[3]) is not None:
                uuid = self._uuid(levels[1])
                return messages.log(uuid, arrival.heard, _fitting(arrival.payload, TopicKind.LOGS), levels[3])
        if arrival.topic == self._canary:
            return messages.canary(arrival.heard, arrival.payload)
        raise Unreadable(DeadLetterReason.UNKNOWN_TOPIC)

    def _report(self, level: str, kind: str, arrival: Arrival) -> DecodedMessage:
        """The message of a topic with one level below the client's. `kind` is one of REPORTS."""
        uuid, payload = self._uuid(level), _fitting(arrival.payload, kind)
        if kind == TopicKind.HEARTBEAT:
            return messages.heartbeat(uuid, arrival.heard, payload)
        if kind == TopicKind.HEALTH:
            return messages.health(uuid, arrival.heard, payload)
        if kind == TopicKind.ACKS:
            return messages.ack(uuid, payload)
        if kind == TopicKind.PRESENCE:
            return messages.presence(uuid, payload)
        return messages.service_failed(uuid, arrival.heard, payload)

    def _uuid(self, level: str) -> str:
        if (known := self._uuids.get(level)) is not None:
            return known
        if _is_uuid(level) is None:
            raise Unreadable(DeadLetterReason.BAD_UUID)
        if len(self._uuids) >= MOST_UUIDS:
            self._uuids.clear()
        self._uuids[level] = level
        return level

    def _log_number(self, arrival: Arrival) -> tuple[Boot, int] | None:
        """The boot and number of a log message, whatever its level; None where its display did not number it."""
        levels = arrival.topic.split("/")
        if len(levels) != 4 or (levels[0], levels[2]) != (self._root, TopicKind.LOGS) or _is_uuid(levels[1]) is None:
            return None
        payload = arrival.payload
        stamp = payload.stamp if isinstance(payload, Oversized) else legible_stamp(payload)
        return None if stamp is None else (Boot(levels[1], stamp[0], stamp[1]), stamp[2])


def put_aside(
    arrival: Arrival, reason: DeadLetterReason, detail: str | None, log_number: tuple[Boot, int] | None = None
) -> PutAside:
    """The arrival as a dead letter."""
    return PutAside(arrival.topic, arrival.payload, reason, detail, log_number, _talker(arrival))


def _talker(arrival: Arrival) -> tuple[str, float] | None:
    levels = arrival.topic.split("/")
    if arrival.is_retained or len(levels) < 3 or levels[2] not in PROVING or _is_uuid(levels[1]) is None:
        return None
    return levels[1], arrival.heard


def _fitting(payload: bytes, kind: str) -> bytes:
    """The payload, if its topic takes its size. Raises Unreadable."""
    if len(payload) > MAX_BYTES[kind]:
        whole_bytes = payload.whole_bytes if isinstance(payload, Oversized) else len(payload)
        raise Unreadable(DeadLetterReason.TOO_LARGE, f"{whole_bytes} bytes; this topic takes {MAX_BYTES[kind]}")
    return payload


REGISTERING = (Heartbeat, HealthReport, LogLine, ServiceFailure)
"""The reports that register an unknown uuid as a client; presence and ACKs do not."""


class MessagesByKind(Struct):
    """Messages of one batch by kind, each in order of arrival."""

    heartbeats: list[Heartbeat] = field(default_factory=list)
    health: list[HealthReport] = field(default_factory=list)
    logs: list[LogLine] = field(default_factory=list)
    failures: list[ServiceFailure] = field(default_factory=list)
    repeated_failures: list[ServiceFailure] = field(default_factory=list)
    presence: list[PresenceReport] = field(default_factory=list)
    acking: list[Taken] = field(default_factory=list)  # messages of any kind that carry ACKs
    brief: list[Taken] = field(default_factory=list)  # presence, and messages of the ACK topic
    canary: Canary | None = None  # the last one
    talked: dict[str, float] = field(default_factory=dict)  # uuid -> when its last message, not a heartbeat, was heard

    @classmethod
    def of(cls, taken: Iterable[Taken]) -> "MessagesByKind":
        """Sort these messages by kind."""
        batch = cls()
        for one in taken:
            batch.add(one)
        reports: list[HealthReport | LogLine | ServiceFailure] = [*batch.health, *batch.logs, *batch.failures]
        batch.talked = {one.uuid: one.heard for one in reports}
        batch.talked |= {
            one.message.uuid: one.arrival.heard for one in batch.brief if one.message.uuid and _is_sign(one)
        }
        return batch

    def add(self, one: Taken) -> None:
        """Add a message to the list of its kind."""
        match one.message.body:
            case Heartbeat() as body:
                self.heartbeats.append(body)
            case HealthReport() as body:
                self.health.append(body)
            case LogLine() as body:
                self.logs.append(body)
            case ServiceFailure() as body:
                self.failures.append(body)
            case PresenceReport() as body:
                self.presence.append(body)
                self.brief.append(one)
            case Canary() as body:
                self.canary = body
            case None:
                self.brief.append(one)
        if one.message.acks:
            self.acking.append(one)
        if one.message.repeated_failure is not None:
            self.repeated_failures.append(one.message.repeated_failure)


def _is_sign(one: Taken) -> bool:
    """Whether the display itself sent it just now: `offline` may be its will, a retained presence may be old."""
    body = one.message.body
    return not isinstance(body, PresenceReport) or (body.state is Presence.ONLINE and not one.arrival.is_retained)
