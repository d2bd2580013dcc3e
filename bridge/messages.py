"""Turn each document of the contract into a report of the service."""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from bridge.contract import (
    RECENT_ACKS,
    UNIT_CHARS,
    AckDocument,
    BrokerConnectionDocument,
    CanaryDocument,
    CommandStateDocument,
    Glass,
    HealthDocument,
    HeartbeatDocument,
    LogDocument,
    PresenceDocument,
    RefusedDocument,
    ServiceFailedDocument,
    StampedDocument,
)
from bridge.reading import DocumentReader, Unreadable, check, json_object
from shared import trace
from shared.client_logs.rules import MESSAGE_MAX_CHARS, LogLine, level_of
from shared.clients.failures_rules import ServiceFailure, Stamp
from shared.clients.reports.rules import HealthReport, Heartbeat, PresenceReport
from shared.commands.rules import ACK_STATES, Ack
from shared.names import folded
from shared.postgres.door import scrub
from shared.vocabulary import DeadLetterReason, Presence

LAST_MOMENT: Final = 4_102_444_800.0  # the year 2100, in seconds since 1970
MILLISECONDS_FROM: Final = 100_000_000_000  # a larger number is milliseconds: as seconds it would be the year 5138
ACKED: Final = {state.value: state for state in ACK_STATES}
PRESENCES: Final = {"online": Presence.ONLINE, "offline": Presence.OFFLINE}
_not_of_a_word: Final = re.compile(r"[^a-z0-9_]").sub
_is_iso: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*", re.ASCII).fullmatch

HEARTBEAT: Final = DocumentReader(HeartbeatDocument)
HEALTH: Final = DocumentReader(HealthDocument)
LOG: Final = DocumentReader(LogDocument)
SERVICE_FAILED: Final = DocumentReader(ServiceFailedDocument)
PRESENCE: Final = DocumentReader(PresenceDocument)
ACK: Final = DocumentReader(AckDocument)
CANARY: Final = DocumentReader(CanaryDocument)


class Canary(Struct):
    """The bridge's own message, back from the broker. `heard` is in monotonic seconds."""

    heard: float
    instance: str | None
    number: int | None


class DecodedMessage(Struct):
    """The content of one message. `uuid` is the client's, from the topic; None for the canary."""

    uuid: str | None
    body: Heartbeat | HealthReport | LogLine | ServiceFailure | PresenceReport | Canary | None
    bad_fields: int = 0
    acks: tuple[Ack, ...] = ()
    repeated_failure: ServiceFailure | None = None  # a failure that a health report repeats because it still stands


def heartbeat(uuid: str, heard: float, payload: bytes) -> DecodedMessage:
    """A heartbeat, with the state of the last command. Raises Unreadable."""
    document, bad = HEARTBEAT.read(payload)
    install_id, boot_seq, seq = document.stamp()
    body = Heartbeat(
        uuid,
        heard,
        document.process_status,
        document.interval_seconds,
        document.boot_id,
        document.app_instance,
        install_id,
        boot_seq,
        seq,
    )
    return DecodedMessage(
        uuid, body, bad, () if document.last_command is None else (_ack(uuid, document.last_command),)
    )


def health(uuid: str, heard: float, payload: bytes) -> DecodedMessage:
    """A health report; it repeats the standing failure and the last ACKs, in case they were lost. Raises Unreadable."""
    document, bad, whole = HEALTH.as_it_should_be(payload), 0, None
    if document is None:
        whole = json_object(payload)
        document, bad = HEALTH.mended(whole)
    install_id, boot_seq, seq = document.stamp()
    body = HealthReport(
        uuid,
        heard,
        _storable(document, payload) if whole is None else whole,
        document.screen_health,
        None if document.log_level is None else _level_in_force(document.log_level),
        document.app_version,
        document.os,
        document.ip,
        document.hostname,
        document.cpu_percent,
        document.memory_percent,
        document.disk_percent,
        document.temperature_celsius,
        document.capabilities,
        screen_off_by=document.screen_off_by,
        hours_version=document.hours_version,
        install_id=install_id,
        under_voltage=document.under_voltage,
        disk_writable=document.disk_writable,
        refused=None if document.refused is None else _refused(document.refused),
        said_at=None if document.ts is None else seconds_of(document.ts),
        page=None if document.glass is None else _page(document.glass, document.address, document.title),
        boot_seq=boot_seq,
        seq=seq,
    )
    if document.certificate_ends_at is not None:
        body.certificate_ends_at = seconds_of(document.certificate_ends_at)
        bad += body.certificate_ends_at is None
    if document.broker_connection is not None:
        bad += _put_connection(body, document.broker_connection)
    acks = [_ack(uuid, one) for one in (document.recent_acks or ())[-RECENT_ACKS:] if one is not None]
    failed = document.service_failed
    unit = "" if failed is None else folded(failed.unit)
    if failed is None or not unit:
        return DecodedMessage(uuid, body, bad + (failed is not None), tuple(acks))
    failure = ServiceFailure(uuid, heard, unit, _stamp_of(failed), by_topic=False)
    return DecodedMessage(uuid, body, bad, tuple(acks), failure)


def _storable(document: HealthDocument, payload: bytes) -> Any:
    """The whole report as Postgres can store it: the payload itself, unless one of its numbers may be too small.

    1e-20000 is 0 in Python and an error in Postgres.
    """
    numbers: list[Any] = [document.cpu_percent, document.memory_percent, document.disk_percent]
    numbers += [document.temperature_celsius, document.certificate_ends_at]
    numbers += [one.ts for one in (document, document.service_failed, *(document.recent_acks or ())) if one is not None]
    numbers += [] if document.glass is None else [document.glass[3]]
    if document.broker_connection is not None:
        numbers.append(document.broker_connection.last_disconnect_at)
    return json_object(payload) if 0 in numbers else msgspec.Raw(payload)


def _level_in_force(word: str) -> str:
    level, raw = level_of(word)
    return raw or level.value


def _page(glass: Glass, address: str | None, title: str | None) -> str:
    """What is on the screen, as JSON. Address and title stay away where the report leaves them out."""
    page = {"kind": glass[0], "name": glass[1], "address": address, "title": title}
    return msgspec.json.encode({field: value for field, value in page.items() if value is not None}).decode()


def _refused(orders: Iterable[RefusedDocument | None]) -> str:
    """The refused orders as one text, each kind once. A reason that is no word becomes one."""
    reasons = {one.what: _not_of_a_word("_", one.reason) for one in orders if one is not None}
    return ",".join(f"{what}:{reason}" for what, reason in sorted(reasons.items()))


def _put_connection(body: HealthReport, document: BrokerConnectionDocument) -> int:
    """Put the state of the display's broker connection into the report. Returns how many fields were bad."""
    body.reconnect_count = document.reconnect_count
    if document.last_disconnect_at is UNSET:
        return 0
    if document.last_disconnect_at is not None:
        body.last_disconnect_at = seconds_of(document.last_disconnect_at)
    body.tells_disconnect = document.last_disconnect_at is None or body.last_disconnect_at is not None
    return int(not body.tells_disconnect)


def _stamp_of(document: StampedDocument) -> Stamp | None:
    install_id, boot_seq, seq = document.stamp()
    return None if install_id is None or boot_seq is None or seq is None else (install_id, boot_seq, seq)


def _ack(uuid: str, document: CommandStateDocument) -> Ack:
    return Ack(uuid, document.id, ACKED[document.state], document.reason)


def log(uuid: str, heard: float, payload: bytes, level: str) -> DecodedMessage:
    """A log line; `level` is the topic's last segment. Raises Unreadable."""
    document, bad = LOG.read(payload)
    if document.context:
        check(document.context, 2)
    install_id, boot_seq, seq = document.stamp()
    known, raw_level = level_of(level)
    message = document.message
    at = None if document.ts is None else seconds_of(document.ts)
    body = LogLine(
        uuid,
        heard,
        known,
        raw_level,
        message[:MESSAGE_MAX_CHARS],
        len(message) > MESSAGE_MAX_CHARS or document.truncated is True,
        document.logger,
        document.context,
        at,
        install_id,
        boot_seq,
        seq,
    )
    return DecodedMessage(uuid, body, bad + (at is None and document.ts is not None))


def service_failed(uuid: str, heard: float, payload: bytes) -> DecodedMessage:
    """A service of the display failed; a bare text is its unit. Raises Unreadable."""
    text, stamp, bad = _bare_text(payload), None, 0
    if text is None:
        document, bad = SERVICE_FAILED.read(payload)
        text, stamp = document.unit, _stamp_of(document)
    unit = folded(text)
    if not 0 < len(unit) <= UNIT_CHARS:
        raise Unreadable(DeadLetterReason.BAD_FIELD, f"unit is not 1 to {UNIT_CHARS} characters")
    return DecodedMessage(uuid, ServiceFailure(uuid, heard, unit, stamp, by_topic=True), bad)


def _bare_text(payload: bytes) -> str | None:
    """The text of a payload, quoted as JSON or bare; None when it looks like an object or a list. Raises Unreadable."""
    try:
        text = payload.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise Unreadable(DeadLetterReason.NOT_UTF8, f"byte {error.start}") from None
    if text.startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    if type(value) is not str:
        raise Unreadable(DeadLetterReason.NOT_AN_OBJECT)
    return scrub(value)


def presence(uuid: str, payload: bytes) -> DecodedMessage:
    """The display connected or left. Raises Unreadable."""
    document, bad = PRESENCE.read(payload)
    return DecodedMessage(uuid, PresenceReport(uuid, PRESENCES[document.state], document.session), bad)


def ack(uuid: str, payload: bytes) -> DecodedMessage:
    """An answer to a command. Raises Unreadable."""
    document, bad = ACK.read(payload)
    whole = Ack(
        uuid,
        document.id,
        ACKED[document.state],
        document.reason,
        trace.read(document.traceparent),
        document.boot_id,
        document.app_instance,
    )
    return DecodedMessage(uuid, None, bad, (whole,))


def canary(heard: float, payload: bytes) -> DecodedMessage:
    """The bridge's own canary. Raises Unreadable."""
    document, bad = CANARY.read(payload)
    return DecodedMessage(None, Canary(heard, document.instance, document.number), bad)


def seconds_of(moment: str | float) -> float | None:
    """A display's time in seconds since 1970; None when it is not a time between 1970 and 2100."""
    if isinstance(moment, str):
        seconds = _seconds_of_iso(moment)
    else:
        seconds = moment / 1000 if moment >= MILLISECONDS_FROM else float(moment)
    return seconds if seconds is not None and 0 <= seconds < LAST_MOMENT else None


def _seconds_of_iso(text: str) -> float | None:
    """A time in ISO 8601 as seconds since 1970, in UTC when it names no zone; None when it is not a time."""
    try:
        moment = datetime.fromisoformat(text) if _is_iso(text) else None
    except ValueError:
        return None
    if moment is None:
        return None
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError):  # the zone moves it before year 1 or after year 9999
        return None
