"""What each kind of message says: a document's fields -> reports in the words of the service."""

from dataclasses import dataclass, replace
from typing import Final

from bridge.payloads import LONG, Fields, Refused, bare_text_or_document, document
from shared import trace
from shared.client_logs.rules import MESSAGE_MAX_CHARS, LogLine, level_of
from shared.clients.failures_rules import Failure, Stamp
from shared.clients.reports.rules import Health, Heartbeat, PresenceSaid
from shared.commands.rules import ACK_STATES, Ack
from shared.outside.mqtt import TopicKind
from shared.vocabulary import DeadLetterReason, Presence, ProcessStatus, ScreenHealthStatus

KIB: Final = 1024
MAX_BYTES: Final = {
    TopicKind.HEARTBEAT: KIB,
    TopicKind.HEALTH: 8 * KIB,
    TopicKind.LOGS: 16 * KIB,
    TopicKind.SERVICE_FAILED: 2 * KIB,
    TopicKind.PRESENCE: KIB // 2,
    TopicKind.ACKS: 4 * KIB,
    TopicKind.CANARY: KIB // 8,
}
INTERVAL_SECONDS: Final = (5, 3600)
RECONNECTS_MAX: Final = 2**31 - 1
UNIT_CHARS: Final = 256
ID_CHARS: Final = 128
NAME_CHARS: Final = 256
REASON_CHARS: Final = 500
TRACEPARENT_CHARS: Final = 128
CAPABILITIES_MAX: Final = 32
RECENT_ACKS: Final = 8
LEVEL_CHARS: Final = 16

PROCESS_STATUSES: Final = {word.value: word for word in ProcessStatus}
SCREENS: Final = {word.value: word for word in ScreenHealthStatus}
PRESENCES: Final = {"online": Presence.ONLINE, "offline": Presence.OFFLINE}
ACKED: Final = {state.value: state for state in ACK_STATES}


@dataclass(slots=True)
class Canary:
    """Our own message, back from the broker."""

    heard: float
    instance: str | None
    number: int | None


@dataclass(slots=True)
class Said:
    """One message understood. `uuid` is the topic's; None for our own canary."""

    uuid: str | None
    body: Heartbeat | Health | LogLine | Failure | PresenceSaid | Canary | None
    bad_fields: int = 0
    acks: tuple[Ack, ...] = ()
    repeated_failure: Failure | None = None  # that a health report says still stands


def heartbeat(uuid: str, heard: float, payload: bytes) -> Said:
    """A sign of life, with the state of the last command."""
    fields = document(payload)
    install_id, boot_seq, seq = fields.stamp()
    body = Heartbeat(
        uuid,
        heard,
        fields.word("process_status", PROCESS_STATUSES),
        fields.whole("interval_seconds", *INTERVAL_SECONDS),
        fields.text("boot_id", ID_CHARS),
        fields.text("app_instance", ID_CHARS),
        install_id,
        boot_seq,
        seq,
    )
    last_command = fields.inner("last_command")
    if last_command is None:
        return Said(uuid, body, fields.bad)
    ack = _ack(uuid, last_command)
    return Said(uuid, body, fields.bad + (ack is None), () if ack is None else (ack,))


def health(uuid: str, heard: float, payload: bytes) -> Said:
    """A report on the machine, with what must not get lost: the standing failure and the last ACKs."""
    fields = document(payload)
    install_id, boot_seq, seq = fields.stamp()
    body = Health(
        uuid,
        heard,
        dict(fields.values),
        screen_health=fields.word("screen_health", SCREENS),
        log_level=_level_in_force(fields),
        app_version=fields.text("app_version", NAME_CHARS),
        os=fields.text("os", NAME_CHARS),
        ip=fields.text("ip", NAME_CHARS),
        hostname=fields.text("hostname", NAME_CHARS),
        cpu_percent=fields.number("cpu_percent", 0, 100),
        memory_percent=fields.number("memory_percent", 0, 100),
        disk_percent=fields.number("disk_percent", 0, 100),
        temperature_celsius=fields.number("temperature_celsius", -100, 300),
        capabilities=_capabilities(fields),
        install_id=install_id,
        boot_seq=boot_seq,
        seq=seq,
    )
    _read_broker_connection(fields, body)
    acks = _recent_acks(uuid, fields)
    failure = _standing_failure(uuid, heard, fields)
    return Said(uuid, body, fields.bad, acks, failure)


def _level_in_force(fields: Fields) -> str | None:
    word = fields.text("log_level", LEVEL_CHARS)
    if word is None:
        return None
    level, raw = level_of(word)
    return raw or level.value


def _capabilities(fields: Fields) -> list[str] | None:
    items = fields.items("capabilities")
    if items is None:
        return None
    if len(items) <= CAPABILITIES_MAX and all(type(item) is str and len(item) <= ID_CHARS for item in items):
        return items
    fields.bad += 1
    return None


def _read_broker_connection(fields: Fields, body: Health) -> None:
    block = fields.inner("broker_connection")
    if block is None:
        return
    body.reconnect_count = block.whole("reconnect_count", 0, RECONNECTS_MAX)
    body.last_disconnect_at = block.moment("last_disconnect_at")
    is_null = "last_disconnect_at" in block.values and block.values["last_disconnect_at"] is None
    body.tells_disconnect = is_null or body.last_disconnect_at is not None
    fields.also(block)


def _recent_acks(uuid: str, fields: Fields) -> tuple[Ack, ...]:
    items = fields.items("recent_acks") or []
    acks = [_ack(uuid, Fields(item)) if type(item) is dict else None for item in items[-RECENT_ACKS:]]
    fields.bad += acks.count(None)
    return tuple(ack for ack in acks if ack is not None)


def _standing_failure(uuid: str, heard: float, fields: Fields) -> Failure | None:
    inner = fields.inner("service_failed")
    if inner is None:
        return None
    unit = inner.text("unit", UNIT_CHARS)
    stamp = _stamp(inner)
    fields.bad += inner.bad + (inner.values.get("unit") is None)
    return None if unit is None else Failure(uuid, heard, unit, stamp, by_topic=False)


def _stamp(fields: Fields) -> Stamp | None:
    install_id, boot_seq, seq = fields.stamp()
    return None if install_id is None or boot_seq is None or seq is None else (install_id, boot_seq, seq)


def _ack(uuid: str, fields: Fields) -> Ack | None:
    """What this object says of a command; None when it names none, or no state that a display may say."""
    identity = fields.text("id", ID_CHARS)
    state = fields.word("state", ACKED)
    if identity is None or state is None:
        return None
    return Ack(uuid, identity, state, fields.text("reason", REASON_CHARS))


def log(uuid: str, heard: float, payload: bytes, level: str) -> Said:
    """A log line; `level` is the topic's last segment."""
    fields = document(payload)
    message = fields.values.get("message")
    if type(message) is not str:
        raise Refused(DeadLetterReason.BAD_FIELD, "message is no text")
    install_id, boot_seq, seq = fields.stamp()
    known, raw_level = level_of(level)
    context = fields.inner("context")
    body = LogLine(
        uuid,
        heard,
        known,
        raw_level,
        message[:MESSAGE_MAX_CHARS],
        len(message) > MESSAGE_MAX_CHARS or fields.values.get("truncated") is True,
        fields.text("logger", NAME_CHARS),
        None if context is None else dict(context.values),
        fields.moment("ts"),
        install_id,
        boot_seq,
        seq,
    )
    return Said(uuid, body, fields.bad)


def service_failed(uuid: str, heard: float, payload: bytes) -> Said:
    """A service of the display failed; a bare text is its unit."""
    said = bare_text_or_document(payload)
    if isinstance(said, str):
        if not 0 < len(said) <= UNIT_CHARS:
            raise Refused(DeadLetterReason.BAD_FIELD, f"unit is not 1 to {UNIT_CHARS} characters")
        return Said(uuid, Failure(uuid, heard, said, None, by_topic=True))
    unit = said.text("unit", UNIT_CHARS)
    if unit is None:
        raise Refused(DeadLetterReason.BAD_FIELD, f"unit is no text of 1 to {UNIT_CHARS} characters")
    stamp = _stamp(said)
    return Said(uuid, Failure(uuid, heard, unit, stamp, by_topic=True), said.bad)


def presence(uuid: str, _heard: float, payload: bytes) -> Said:
    """The display connected or left."""
    fields = document(payload)
    state = fields.word("state", PRESENCES)
    if state is None:
        raise Refused(DeadLetterReason.BAD_FIELD, "state is neither online nor offline")
    session = fields.text("session", ID_CHARS)
    return Said(uuid, PresenceSaid(uuid, state, session), fields.bad)


def ack(uuid: str, _heard: float, payload: bytes) -> Said:
    """An answer to a command."""
    fields = document(payload)
    said = _ack(uuid, fields)
    traceparent = fields.text("traceparent", TRACEPARENT_CHARS)
    boot_id, app_instance = fields.text("boot_id", ID_CHARS), fields.text("app_instance", ID_CHARS)
    if said is None:
        raise Refused(DeadLetterReason.BAD_FIELD, "id or state is missing or none that an ACK may have")
    whole = replace(said, traceparent=trace.read(traceparent), boot_id=boot_id, app_instance=app_instance)
    return Said(uuid, None, fields.bad, (whole,))


def canary(heard: float, payload: bytes) -> Said:
    """Our own sign of life."""
    fields = document(payload)
    return Said(None, Canary(heard, fields.text("instance", ID_CHARS), fields.whole("number", 0, LONG)), fields.bad)
