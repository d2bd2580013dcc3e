"""Turn lines of the system journal into numbered log messages, with the same numbers each time they are read.

journald is the spool: the agent stores only segments. A segment says that the lines after `cursor`, up to `end`, of at
least `level`, are numbered from `seq` + 1 under its boot. Reading them again gives the same numbers, so no line is
stored twice or left out. Each start of the agent and each change of the log level begin a new segment.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, Final

from deploy.displays.client import contract

LEVEL_OF: Final = (
    "critical",
    "critical",
    "critical",
    "error",
    "warning",
    "info",
    "info",
    "debug",
)  # by syslog priority
TOLD: Final = "machine_"
"""Of the agent's own events only those with this prefix are sent. Others could cause further lines without end."""
REMOVED: Final = "Lines were removed from the system journal before they were sent; how many is not known."


@dataclass(frozen=True, slots=True)
class Segment:
    """See the module. `seq` and `cursor` advance as lines are committed; `end` is empty for the present segment."""

    install_id: str
    boot_seq: int
    seq: int
    cursor: str
    level: str = contract.DEFAULT_LEVEL
    end: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of the journal."""

    cursor: str
    level: str
    message: str
    logger: str
    unit: str
    at: datetime


def line_from(text: bytes, own_unit: str) -> Line | None:
    """Parse an entry of `journalctl --output=json`; None when it is not to be sent."""
    try:
        entry = json.loads(text)
    except ValueError:
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("__CURSOR"), str):
        return None
    message, priority = _message(entry.get("MESSAGE")), str(entry.get("PRIORITY", "6"))
    unit = str(entry.get("UNIT") or entry.get("_SYSTEMD_UNIT") or "")
    level = LEVEL_OF[int(priority)] if priority in set("01234567") else contract.DEFAULT_LEVEL
    if entry.get("_SYSTEMD_UNIT") == own_unit:
        level, message = _own(message)
    if not message:
        return None
    logger = str(entry.get("SYSLOG_IDENTIFIER") or unit or "journal")
    return Line(entry["__CURSOR"], level, message, logger, unit, _moment(entry))


def body(line: Line, segment: Segment, seq: int) -> dict[str, Any]:
    """The body of a numbered log message. It has only fields that are the same at every reading."""
    stamp = {"install_id": segment.install_id, "boot_seq": segment.boot_seq, "seq": seq}
    when = {"ts": line.at.isoformat(timespec="milliseconds")}
    context = {"unit": line.unit} if line.unit and line.unit != line.logger else {}
    return stamp | when | contract.fit_log(line.message, line.logger, context)


def removed(segment: Segment, now: datetime) -> dict[str, Any]:
    """The body of the message, with the next number, that reports lines removed before they were sent."""
    stamp = {"install_id": segment.install_id, "boot_seq": segment.boot_seq, "seq": segment.seq + 1}
    return stamp | {"ts": now.isoformat(timespec="milliseconds")} | contract.fit_log(REMOVED, "signage-display", {})


def is_logged(level: str, least: str) -> bool:
    return contract.LEVELS.index(level) >= contract.LEVELS.index(least)


def is_after(cursor: str, end: str) -> bool:
    """Whether the entry at `cursor` is after the one at `end`: by number, or by time if the journals differ."""
    here, there = _parts(cursor), _parts(end)
    if here.get("s") == there.get("s") and "i" in here and "i" in there:
        return here["i"] > there["i"] if len(here["i"]) == len(there["i"]) else len(here["i"]) > len(there["i"])
    return int(here.get("t", "0"), 16) > int(there.get("t", "0"), 16)


def segments_from(content: bytes) -> list[Segment]:
    """The segments in the file; empty when it is damaged."""
    try:
        return [Segment(**one) for one in json.loads(content) if set(one) == _NAMES]
    except (ValueError, TypeError):
        return []


def as_content(segments: list[Segment]) -> bytes:
    return json.dumps([asdict(one) for one in segments]).encode()


_NAMES: Final = {field.name for field in fields(Segment)}


def _parts(cursor: str) -> dict[str, str]:
    return dict(part.partition("=")[::2] for part in cursor.split(";"))


def _message(value: object) -> str:
    """The message's text. journald writes bytes that are not UTF-8 as a list of numbers."""
    if isinstance(value, list):
        numbers = [one for one in value if isinstance(one, int) and 0 <= one < 256]
        return bytes(numbers).decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def _own(message: str) -> tuple[str, str]:
    """Level and text of the agent's own event about the machine; no text for its other lines."""
    try:
        told = json.loads(message)
    except ValueError:
        return contract.DEFAULT_LEVEL, ""
    if not isinstance(told, dict) or not str(told.get("event", "")).startswith(TOLD):
        return contract.DEFAULT_LEVEL, ""
    level = str(told.get("severity", "")).lower()
    return (level if level in contract.LEVELS else contract.DEFAULT_LEVEL), str(told.get("message", ""))


def _moment(entry: Mapping[str, object]) -> datetime:
    """When the line was written, by the machine's clock at that time."""
    try:
        return datetime.fromtimestamp(int(str(entry["__REALTIME_TIMESTAMP"])) / 1e6, UTC)
    except (KeyError, ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)
