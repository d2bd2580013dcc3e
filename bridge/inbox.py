"""Topic -> handler: what arrived becomes something said, or a dead letter with its reason. Never an exception."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bridge import messages, usual
from bridge.messages import MAX_BYTES, Said
from bridge.oversized import Oversized
from bridge.payloads import Refused
from bridge.stamps import legible_stamp
from shared.client_logs.rules import Boot
from shared.clients.rules import UUID_FORM
from shared.outside.mqtt import UPWARD, TopicKind
from shared.structured_log import failure
from shared.vocabulary import DeadLetterReason

_is_level: Final = re.compile(r"[a-z]{1,16}", re.ASCII).fullmatch
_is_uuid: Final = UUID_FORM.fullmatch
PRESENCE: Final = TopicKind.PRESENCE.value
LOGS: Final = TopicKind.LOGS.value
LOG_MAX_BYTES: Final = MAX_BYTES[TopicKind.LOGS]
MOST_UUIDS: Final = 200_000  # remembered: twice the largest fleet that one bridge is measured with
Handler = Callable[[str, float, bytes], Said]
PROVING: Final = {kind.value for kind in UPWARD if kind is not TopicKind.PRESENCE}
"""What only the display itself sends just now, whatever the payload: its will is the broker's, and presence is kept."""
HANDLERS: Final[dict[str, tuple[Handler, int]]] = {
    TopicKind.HEARTBEAT.value: (usual.heartbeat, MAX_BYTES[TopicKind.HEARTBEAT]),
    TopicKind.HEALTH.value: (usual.health, MAX_BYTES[TopicKind.HEALTH]),
    TopicKind.SERVICE_FAILED.value: (messages.service_failed, MAX_BYTES[TopicKind.SERVICE_FAILED]),
    TopicKind.PRESENCE.value: (messages.presence, MAX_BYTES[TopicKind.PRESENCE]),
    TopicKind.ACKS.value: (messages.ack, MAX_BYTES[TopicKind.ACKS]),
}

IGNORED: Final = Said(None, None)
"""Only presence is retained by contract: an old heartbeat or failure is no news when a subscription is new."""


@dataclass(slots=True)
class Arrival:
    """A message as the broker delivered it."""

    topic: str
    payload: bytes  # an `Oversized` where it is larger than any topic takes
    mid: int  # the broker's number for the acknowledgement; 0 needs none
    heard: float  # monotonic time, in seconds
    is_retained: bool = False  # the broker's copy of an old message, not one that was sent just now


@dataclass(slots=True)
class PutAside:
    """A message that is not stored, and why."""

    topic: str
    payload: bytes
    reason: DeadLetterReason
    detail: str | None
    log_number: tuple[Boot, int] | None = None
    """Of a numbered log line: to be passed over, or its display would send it again for ever."""
    talker: tuple[str, float] | None = None
    """Whose sign of life it is, and when it was heard: the broker lets nobody else write to the topic."""


@dataclass(slots=True)
class Taken:
    """A message understood, with how it came, should the database refuse it."""

    arrival: Arrival
    said: Said


class Inbox:
    """Reads arrivals under one topic root."""

    def __init__(self, root: str, canary_topic: str) -> None:
        """`root` is MQTT_TOPIC_ROOT."""
        self._root = root
        self._canary = canary_topic
        self._uuids: dict[str, str] = {}  # one text for all messages of a client: quicker to find, and small

    def read(self, arrival: Arrival) -> Taken | PutAside:
        """What this arrival says, or why it is put aside."""
        try:
            return Taken(arrival, self._said(arrival))
        except Refused as refused:
            return put_aside(arrival, refused.reason, refused.detail, self._log_number(arrival))
        except Exception as error:  # noqa: BLE001 - whatever a display sends must not stop the bridge
            failure("parser_failed", "a message could not be read", topic=arrival.topic[:200])
            detail = f"the parser failed: {type(error).__name__}"
            return put_aside(arrival, DeadLetterReason.BAD_FIELD, detail, self._log_number(arrival))

    def _said(self, arrival: Arrival) -> Said:
        topic, payload = arrival.topic, arrival.payload
        levels = topic.split("/")
        if arrival.is_retained and levels[-1] != PRESENCE:
            return IGNORED
        if len(levels) == 3 and levels[0] == self._root and (found := HANDLERS.get(levels[2])) is not None:
            handler, max_bytes = found
            uuid = self._uuids.get(levels[1]) or self._uuid(levels[1])
            if len(payload) > max_bytes:
                raise _too_large(payload, max_bytes)
            return handler(uuid, arrival.heard, payload)
        if len(levels) == 4 and levels[0] == self._root and levels[2] == LOGS and _is_level(levels[3]) is not None:
            uuid = self._uuids.get(levels[1]) or self._uuid(levels[1])
            if len(payload) > LOG_MAX_BYTES:
                raise _too_large(payload, LOG_MAX_BYTES)
            return usual.log(uuid, arrival.heard, payload, levels[3])
        if topic == self._canary:
            return messages.canary(arrival.heard, payload)
        raise Refused(DeadLetterReason.UNKNOWN_TOPIC)

    def _uuid(self, level: str) -> str:
        if _is_uuid(level) is None:
            raise Refused(DeadLetterReason.BAD_UUID)
        if len(self._uuids) >= MOST_UUIDS:
            self._uuids.clear()
        self._uuids[level] = level
        return level

    def _log_number(self, arrival: Arrival) -> tuple[Boot, int] | None:
        """Of a log message, whatever its level, that its display numbered."""
        levels = arrival.topic.split("/")
        if len(levels) != 4 or (levels[0], levels[2]) != (self._root, LOGS) or _is_uuid(levels[1]) is None:
            return None
        payload = arrival.payload
        stamp = payload.stamp if isinstance(payload, Oversized) else legible_stamp(payload)
        return None if stamp is None else ((levels[1], stamp[0], stamp[1]), stamp[2])


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


def _too_large(payload: bytes, max_bytes: int) -> Refused:
    whole_bytes = payload.whole_bytes if isinstance(payload, Oversized) else len(payload)
    return Refused(DeadLetterReason.TOO_LARGE, f"{whole_bytes} bytes; this topic takes {max_bytes}")
