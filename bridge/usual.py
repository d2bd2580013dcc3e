"""The usual heartbeat, health report and log line, read into types at once: a third of the time of field by field.

A document that is all that the contract says is read here, with the same meaning as in `messages`. Whatever is
unusual (an unknown field, a field that is bad, an escaped character that may have to be scrubbed, a failure that
stands, nested context) is read field by field by `messages`.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from bridge import messages
from bridge.messages import (
    ACKED,
    CAPABILITIES_MAX,
    ID_CHARS,
    INTERVAL_SECONDS,
    LEVEL_CHARS,
    NAME_CHARS,
    REASON_CHARS,
    RECENT_ACKS,
    RECONNECTS_MAX,
    Said,
)
from bridge.payloads import LONG, STAMP_ID_CHARS, seconds_of
from shared.client_logs.rules import MESSAGE_MAX_CHARS, LogLine, level_of
from shared.clients.reports.rules import Health, Heartbeat
from shared.commands.rules import Ack
from shared.vocabulary import CommandState, ProcessStatus, ScreenHealthStatus

Id = Annotated[str, Meta(min_length=1, max_length=ID_CHARS)]
Name = Annotated[str, Meta(min_length=1, max_length=NAME_CHARS)]
Percent = Annotated[float, Meta(ge=0, le=100)]
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Moment = str | Whole | float | None
Plain = str | Whole | float | bool | None


class Stamped(Struct, forbid_unknown_fields=True, gc=False):
    """What every message carries."""

    install_id: Annotated[str, Meta(min_length=1, max_length=STAMP_ID_CHARS)] | None = None
    boot_seq: Annotated[int, Meta(ge=0, le=LONG)] | None = None
    seq: Annotated[int, Meta(ge=1, le=LONG)] | None = None
    ts: Moment = None
    v: Literal[1] | None = None

    def stamp(self) -> tuple[str, int, int] | tuple[None, None, None]:
        """All of it, or nothing."""
        if self.install_id is None or self.boot_seq is None or self.seq is None:
            return None, None, None
        return self.install_id, self.boot_seq, self.seq


class AckDocument(Struct, forbid_unknown_fields=True, gc=False):
    """What a display repeats of a command."""

    id: Id
    state: CommandState
    reason: Annotated[str, Meta(min_length=1, max_length=REASON_CHARS)] | None = None


class HeartbeatDocument(Stamped, gc=False):
    """A sign of life."""

    process_status: ProcessStatus | None = None
    interval_seconds: Annotated[int, Meta(ge=INTERVAL_SECONDS[0], le=INTERVAL_SECONDS[1])] | None = None
    boot_id: Id | None = None
    app_instance: Id | None = None
    last_command: AckDocument | None = None


class BrokerConnectionDocument(Struct, forbid_unknown_fields=True, gc=False):
    """How the display's connection to the broker is."""

    reconnect_count: Annotated[int, Meta(ge=0, le=RECONNECTS_MAX)] | None = None
    last_disconnect_at: Moment | UnsetType = UNSET


class HealthDocument(Stamped, gc=False):
    """A report on the machine on which no service has failed."""

    screen_health: ScreenHealthStatus | None = None
    log_level: Annotated[str, Meta(min_length=1, max_length=LEVEL_CHARS)] | None = None
    app_version: Name | None = None
    os: Name | None = None
    ip: Name | None = None
    hostname: Name | None = None
    cpu_percent: Percent | None = None
    memory_percent: Percent | None = None
    disk_percent: Percent | None = None
    temperature_celsius: Annotated[float, Meta(ge=-100, le=300)] | None = None
    capabilities: (
        Annotated[list[Annotated[str, Meta(max_length=ID_CHARS)]], Meta(max_length=CAPABILITIES_MAX)] | None
    ) = None
    service_failed: None = None
    recent_acks: list[AckDocument] | None = None
    broker_connection: BrokerConnectionDocument | None = None


class LogDocument(Stamped, kw_only=True, gc=False):
    """A log line whose context, if any, is flat."""

    message: str
    logger: Name | None = None
    context: dict[str, Plain] | None = None
    truncated: bool | None = None


_heartbeat: Final = msgspec.json.Decoder(HeartbeatDocument).decode
_health: Final = msgspec.json.Decoder(HealthDocument).decode
_log: Final = msgspec.json.Decoder(LogDocument).decode
UNUSUAL: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a decoder says of everything that is not as its document."""


def heartbeat(uuid: str, heard: float, payload: bytes) -> Said:
    """A sign of life, with the state of the last command."""
    return usual_heartbeat(uuid, heard, payload) or messages.heartbeat(uuid, heard, payload)


def health(uuid: str, heard: float, payload: bytes) -> Said:
    """A report on the machine, with what must not get lost."""
    return usual_health(uuid, heard, payload) or messages.health(uuid, heard, payload)


def log(uuid: str, heard: float, payload: bytes, level: str) -> Said:
    """A log line; `level` is the topic's last segment."""
    return usual_log(uuid, heard, payload, level) or messages.log(uuid, heard, payload, level)


def usual_heartbeat(uuid: str, heard: float, payload: bytes) -> Said | None:
    """As `heartbeat`; None where it must be read field by field."""
    if b"\\" in payload:
        return None
    try:
        told = _heartbeat(payload)
    except UNUSUAL:
        return None
    install_id, boot_seq, seq = told.stamp()
    body = Heartbeat(
        uuid,
        heard,
        told.process_status,
        told.interval_seconds,
        told.boot_id,
        told.app_instance,
        install_id,
        boot_seq,
        seq,
    )
    if told.last_command is None:
        return Said(uuid, body)
    acks = _acks(uuid, [told.last_command])
    return None if acks is None else Said(uuid, body, 0, acks)


def usual_health(uuid: str, heard: float, payload: bytes) -> Said | None:
    """As `health`; None where it must be read field by field.

    Its body is the payload as it came.
    """
    if b"\\" in payload:
        return None
    try:
        told = _health(payload)
    except UNUSUAL:
        return None
    acks = _acks(uuid, told.recent_acks[-RECENT_ACKS:]) if told.recent_acks else ()
    install_id, boot_seq, seq = told.stamp()
    body = Health(
        uuid,
        heard,
        msgspec.Raw(payload),
        told.screen_health,
        None if told.log_level is None else _level_in_force(told.log_level),
        told.app_version,
        told.os,
        told.ip,
        told.hostname,
        told.cpu_percent,
        told.memory_percent,
        told.disk_percent,
        told.temperature_celsius,
        told.capabilities,
        install_id=install_id,
        boot_seq=boot_seq,
        seq=seq,
    )
    if acks is None or not _is_read(told.broker_connection, body) or _is_for_no_numeric(body, payload):
        return None
    return Said(uuid, body, 0, acks)


def _is_for_no_numeric(body: Health, payload: bytes) -> bool:
    """May a number be one that is 0 here and nothing for Postgres, as 1e-20000?"""
    if b"e-" not in payload and b"E-" not in payload:
        return False
    numbers = (body.cpu_percent, body.memory_percent, body.disk_percent, body.temperature_celsius)
    return 0 in numbers or body.last_disconnect_at == 0


def usual_log(uuid: str, heard: float, payload: bytes, level: str) -> Said | None:
    """As `log`; None where it must be read field by field."""
    if b"\\" in payload:
        return None
    try:
        told = _log(payload)
    except UNUSUAL:
        return None
    at = None if told.ts is None else seconds_of(told.ts)
    if at is None and told.ts is not None:
        return None
    install_id, boot_seq, seq = told.stamp()
    known, raw_level = level_of(level)
    message = told.message
    is_cut = len(message) > MESSAGE_MAX_CHARS
    if is_cut:
        message = message[:MESSAGE_MAX_CHARS]
    body = LogLine(
        uuid,
        heard,
        known,
        raw_level,
        message,
        is_cut or told.truncated is True,
        told.logger,
        told.context,
        at,
        install_id,
        boot_seq,
        seq,
    )
    return Said(uuid, body)


def _level_in_force(word: str) -> str:
    level, raw = level_of(word)
    return raw or level.value


def _acks(uuid: str, told: list[AckDocument]) -> tuple[Ack, ...] | None:
    """None when one of them says what no display may say."""
    acks = tuple([Ack(uuid, one.id, one.state, one.reason) for one in told])
    return acks if all(one.state.value in ACKED for one in told) else None


def _is_read(told: BrokerConnectionDocument | None, body: Health) -> bool:
    """Put into the report what is told of the connection; False when that is not possible."""
    if told is None:
        return True
    body.reconnect_count = told.reconnect_count
    if told.last_disconnect_at is UNSET:
        return True
    body.tells_disconnect = True
    if told.last_disconnect_at is not None:
        body.last_disconnect_at = seconds_of(told.last_disconnect_at)
    return told.last_disconnect_at is None or body.last_disconnect_at is not None
