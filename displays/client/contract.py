"""The display's side of the MQTT contract, version 1: topics, limits and shapes. No I/O.

The limits are those of docs/protocol.md. Messages of the service are parsed here into frozen objects, or refused with a
reason (`BadMessage`), so that no bad message gets further into a display.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

VERSION: Final = 1

RESTART_APP: Final = "restart_app"
REBOOT_HOST: Final = "reboot_host"
SHUTDOWN_HOST: Final = "shutdown_host"
SCREENSHOT: Final = "screenshot"
SCREEN_ON: Final = "screen_on"
SCREEN_OFF: Final = "screen_off"
ACTIONS: Final = (RESTART_APP, REBOOT_HOST, SHUTDOWN_HOST)
"""The capabilities of a display that declares none."""
SCREEN_ACTIONS: Final = (SCREEN_ON, SCREEN_OFF)
ALL_ACTIONS: Final = (*ACTIONS, SCREENSHOT, *SCREEN_ACTIONS)
PICTURE_MAX_BYTES: Final = 60_000
PICTURES_KEPT: Final = 10
BAD_SCREENS: Final = ("black", "white", "frozen", "hung", "error_page", "no_page", "wrong_page", "disconnected")
PAGE_MAX_CHARS: Final = 512  # of a page's address, and of its title

LEVELS: Final = ("debug", "info", "warning", "error", "critical")  # in rising order
DEFAULT_LEVEL: Final = "info"

COMMANDS: Final = "commands"
LOGS_COMMITTED: Final = "logs_committed"
LOG_LEVEL: Final = "log_level"
HOURS: Final = "hours"
LOOK: Final = "look"
ORDERS: Final = (COMMANDS, HOURS, LOG_LEVEL, LOOK)
"""Topics whose messages a health report names when the display does not take them."""
DOWNWARD_MAX_BYTES: Final = {COMMANDS: 1024, LOGS_COMMITTED: 256, LOG_LEVEL: 256, HOURS: 4096, LOOK: 256}

MESSAGE_MAX_CHARS: Final = 8192
TRACE_MAX_CHARS: Final = 128
STAMP_ROOM_BYTES: Final = 512  # the most that the stamp adds to a body: a UUID, three numbers, names and quotes


@dataclass(frozen=True, slots=True)
class Kind:
    """One upward topic and its MQTT properties; QoS is always 1.

    `kept` kinds are sent again after a reconnect until the broker has taken them. Heartbeat and health are not kept,
    because the next one replaces an old one. Logs have their own spool.
    """

    name: str  # last part of the topic; for logs the level follows
    max_bytes: int
    expiry_seconds: int | None = None  # None: never expires in the broker
    retain: bool = False
    stamped: bool = True
    kept: bool = False


HEARTBEAT: Final = Kind("heartbeat", 1024, expiry_seconds=30)
HEALTH: Final = Kind("health", 8 * 1024, expiry_seconds=300)
LOGS: Final = Kind("logs", 16 * 1024)
SERVICE_FAILED: Final = Kind("service_failed", 2 * 1024, kept=True)
ACKS: Final = Kind("acks", 4 * 1024, expiry_seconds=86_400, kept=True)
PRESENCE: Final = Kind("presence", 512, retain=True, stamped=False)


class BadMessage(ValueError):
    """A message of the service breaks the contract; the text says which rule."""

    def __init__(self, text: str, reason: str = "not_understood") -> None:
        """`reason` is the word for it in health reports."""
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Command:
    """An order to this display. A precondition that is None always holds."""

    id: str
    action: str
    if_boot_id: str | None
    if_app_instance: str | None
    version: int
    traceparent: str | None = None  # returned in every ACK, so that one trace id leads from the click to the answer


@dataclass(frozen=True, slots=True)
class LogsCommitted:
    """Every log of that boot up to `seq` is in the database without a gap."""

    install_id: str
    boot_seq: int
    seq: int


@dataclass(frozen=True, slots=True)
class LogLevelOrder:
    """A log level for the next `until_seconds`; 0 goes back to the default at once."""

    level: str
    until_seconds: int


@dataclass(frozen=True, slots=True)
class HoursOrder:
    """The opening hours to keep, and their name; both None: keep none any more."""

    version: str | None
    hours: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class LookOrder:
    """How the screen may look, and the name of this setting; None: there is none."""

    version: str | None
    black_is_allowed: bool


def encode(body: dict[str, Any]) -> bytes:
    """`body` as compact UTF-8 JSON. Raises ValueError for NaN and infinities; a lone surrogate becomes `?`."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def fit_log(message: str, logger: str, context: dict[str, Any]) -> dict[str, Any]:
    """The body of a log message, cut to the limits of its topic.

    First the message is cut to 8,192 characters. If the body is still too large for 16 KiB, the context is dropped, and
    then more of the message. `truncated` says that something was cut.
    """
    room = LOGS.max_bytes - STAMP_ROOM_BYTES
    body: dict[str, Any] = {
        "message": message[:MESSAGE_MAX_CHARS],
        "logger": logger[:128],
        "context": context,
    }
    if len(message) > MESSAGE_MAX_CHARS:
        body["truncated"] = True
    if len(encode(body)) > room:
        body.update(context={}, truncated=True)
    while len(encode(body)) > room:
        body["message"] = body["message"][: len(body["message"]) * 3 // 4]
    return body


def parse_command(payload: bytes) -> Command:
    """The command in `payload`. Raises BadMessage, also without an id: then not even a rejection can be sent."""
    body = _document(payload, COMMANDS)
    return Command(
        id=_text(body, "id", 128),
        action=_text(body, "action", 64),
        if_boot_id=_optional_text(body, "if_boot_id"),
        if_app_instance=_optional_text(body, "if_app_instance"),
        version=_whole(body, "v", default=VERSION),
        traceparent=_trace(body),
    )


def parse_logs_committed(payload: bytes) -> LogsCommitted:
    """The mark in `payload`. Raises BadMessage."""
    body = _document(payload, LOGS_COMMITTED)
    return LogsCommitted(_text(body, "install_id", 128), _whole(body, "boot_seq"), _whole(body, "seq"))


def parse_log_level(payload: bytes) -> LogLevelOrder:
    """The temporary log level in `payload`. Raises BadMessage, also for a level that does not exist."""
    body = _document(payload, LOG_LEVEL)
    level = _text(body, "level", 16)
    if level not in LEVELS:
        raise BadMessage(f"level: expected one of {', '.join(LEVELS)}", "unknown_level")
    return LogLevelOrder(level, _whole(body, "until"))


def parse_look(payload: bytes) -> LookOrder:
    """How the screen may look, in `payload`. Raises BadMessage."""
    body = _of_version_1(payload, LOOK)
    black = body.get("black", "never")
    if black not in ("allowed", "never"):
        raise BadMessage("black: expected allowed or never")
    return LookOrder(None if body.get("version") is None else _text(body, "version", 64), black == "allowed")


def parse_hours(payload: bytes) -> HoursOrder:
    """The opening hours in `payload`; `hours.hours_of` reads them. Raises BadMessage."""
    body = _of_version_1(payload, HOURS)
    if not {"version", "hours"} <= body.keys():
        raise BadMessage("expected a version and hours")
    document = body["hours"]
    if body["version"] is None and document is None:
        return HoursOrder(None, None)
    if not isinstance(document, dict):
        raise BadMessage("hours: expected an object, or null with a version of null")
    return HoursOrder(_text(body, "version", 64), document)


def _of_version_1(payload: bytes, topic: str) -> dict[str, Any]:
    body = _document(payload, topic)
    if _whole(body, "v", default=VERSION) != VERSION:
        raise BadMessage("v: expected 1", "unsupported_version")
    return body


def _document(payload: bytes, topic: str) -> dict[str, Any]:
    if len(payload) > DOWNWARD_MAX_BYTES[topic]:
        raise BadMessage(f"longer than {DOWNWARD_MAX_BYTES[topic]} bytes")
    try:
        body = json.loads(payload.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadMessage("not a JSON document in UTF-8") from error
    if not isinstance(body, dict):
        raise BadMessage("not a JSON object")
    return body


def _text(body: dict[str, Any], name: str, max_chars: int) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= max_chars:
        raise BadMessage(f"{name}: expected 1 to {max_chars} characters")
    return value


def _optional_text(body: dict[str, Any], name: str) -> str | None:
    return None if body.get(name) is None else _text(body, name, 128)


def _trace(body: dict[str, Any]) -> str | None:
    """The trace of a command. A malformed one counts as none, so that the command is not refused for it."""
    value = body.get("traceparent")
    return value if isinstance(value, str) and len(value) <= TRACE_MAX_CHARS else None


def _whole(body: dict[str, Any], name: str, default: int | None = None) -> int:
    value = body.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise BadMessage(f"{name}: expected a whole number from 0")
    return value
