"""Turn lines of the system journal into numbered log messages, with the same numbers each time they are read.

journald is the spool: the agent stores only segments. A segment says which entries it has: those of some units in one
boot of the machine, from `cursor` on, up to `end`. Those of at least `level` are numbered from `seq` + 1 under a start
of the agent. Reading them again gives the same numbers, so no line is stored twice or left out. For that, each thing
that changes what is read begins a new segment: a start of the agent, a boot, another log level, another list of units.
A segment is on the disk before its first line is numbered. Where the disk refuses it, the last segment goes on.

A segment never crosses a boot of the machine. After a power cut the journal may have forgotten entries that were sent,
and after an image was put back another boot follows the same entries: the numbers of that boot would be taken.
journald also gives the numbers in its cursors again after a power cut; only within a boot is their order certain.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, Final

from displays.client import contract

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
CURSOR: Final = re.compile(r"[a-z]=[0-9a-f]+(;[a-z]=[0-9a-f]+)*")
TOLD: Final = "machine_"
"""Of the agent's own events only those with this prefix are sent. Others could cause further lines without end."""
COREDUMP: Final = "fc2e22bc6ee647b6b90729ab34a250b1"
"""systemd's id of the message that a process dumped core."""
MISSING: Final = "Lines may be missing before this one: the agent has lost its place in the system journal."
READ_LINES: Final = 100  # numbered lines that wait; with fewer, more are read from journald
GOES_ON: Final = -1
"""As `seq`: the numbers go on from the segment before, of the same start; without one they begin at 1."""
UNTOLD: Final = "untold"
TOLD_OF: Final = "told"


@dataclass(frozen=True, slots=True)
class Segment:
    """See the module. `seq` and `cursor` advance as lines are committed."""

    install_id: str
    boot_seq: int
    seq: int
    cursor: str  # of the entry before its first one; the journal must still have it, or numbers are unknown
    level: str = contract.DEFAULT_LEVEL
    end: str = ""  # of its last entry; empty: it ends with the boot
    kernel_boot: str = ""  # the boot of the machine, as cursors write it; empty in files of earlier agents: any
    units: tuple[str, ...] = ()  # empty in files of earlier agents: those of the present configuration
    from_first: bool = False  # whether its first entry is the one at the cursor: that of a whole boot
    gap: str = ""  # UNTOLD: its first number is for the word MISSING. TOLD_OF: that word is committed

    @property
    def start(self) -> tuple[str, int]:
        """The start of the agent that numbers it."""
        return self.install_id, self.boot_seq


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of the journal."""

    cursor: str
    level: str
    message: str
    logger: str
    unit: str
    at: datetime


def line_from(text: bytes, own_unit: str, units: Sequence[str]) -> Line | None:
    """Parse an entry of `journalctl --output=json`. Returns None for an entry of another unit, or without a text."""
    try:
        entry = json.loads(text)
    except ValueError:
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("__CURSOR"), str):
        return None
    if not is_of(entry, units):
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


def is_of(entry: Mapping[str, object], units: Sequence[str]) -> bool:
    """Whether `journalctl --unit` shows the entry for one of these units: that of systemd 252, and that of 257."""
    if entry.get("_SYSTEMD_UNIT") in units or entry.get("_SYSTEMD_SLICE") in units:
        return True
    is_systemd = entry.get("_PID") == "1" or entry.get("_SYSTEMD_CGROUP") == "/init.scope"
    if is_systemd and entry.get("UNIT") in units:
        return True
    if entry.get("_UID") != "0":
        return False
    is_dump = entry.get("MESSAGE_ID") == COREDUMP and entry.get("COREDUMP_UNIT") in units
    return is_dump or entry.get("OBJECT_SYSTEMD_UNIT") in units


def body(line: Line, segment: Segment, seq: int) -> dict[str, Any]:
    """The body of a numbered log message. It has only fields that are the same at every reading."""
    stamp = {"install_id": segment.install_id, "boot_seq": segment.boot_seq, "seq": seq}
    when = {"ts": line.at.isoformat(timespec="milliseconds")}
    context = {"unit": line.unit} if line.unit and line.unit != line.logger else {}
    return stamp | when | contract.fit_log(line.message, line.logger, context)


def missing(segment: Segment, seq: int) -> dict[str, Any]:
    """The body of the message that lines may be missing; the same at every reading, as that of a line."""
    stamp = {"install_id": segment.install_id, "boot_seq": segment.boot_seq, "seq": seq}
    at = _number(_parts(segment.cursor), "t")
    when = {"ts": _moment({"__REALTIME_TIMESTAMP": at}).isoformat(timespec="milliseconds")} if at else {}
    return stamp | when | contract.fit_log(MISSING, "signage-display", {})


def is_logged(level: str, least: str) -> bool:
    return contract.LEVELS.index(level) >= contract.LEVELS.index(least)


def is_after(cursor: str, end: str) -> bool:
    """Whether the entry at `cursor` is after the one at `end`, which is of the same boot of the machine."""
    here, there = _parts(cursor), _parts(end)
    if here.get("s") == there.get("s"):
        return _number(here, "i") > _number(there, "i")
    clock = "m" if here.get("b") == there.get("b") else "t"
    return _number(here, clock) > _number(there, clock)


def kernel_boot_of(cursor: str) -> str:
    """The boot of the machine in which this entry was written."""
    return _parts(cursor).get("b", "")


def boots_between(boots: Sequence[str], segments: Sequence[Segment]) -> list[str]:
    """The boots without a segment between the first and the last boot that has one, in the order of `boots`."""
    known = {one.kernel_boot for one in segments}
    places = [place for place, boot in enumerate(boots) if boot in known]
    return [boot for boot in boots[places[0] : places[-1]] if boot not in known] if places else []


def segments_from(content: bytes) -> list[Segment]:
    """The segments in the file. Raises ValueError when it is damaged."""
    try:
        return [_segment(one) for one in json.loads(content)]
    except (TypeError, AttributeError) as error:
        raise ValueError("no segments") from error


def as_content(segments: Iterable[Segment]) -> bytes:
    return json.dumps([asdict(one) for one in segments]).encode()


_NAMES: Final = {field.name for field in fields(Segment)}
_OF_EARLIER_AGENTS: Final = {"install_id", "boot_seq", "seq", "cursor", "level", "end"}
_TEXTS: Final = ("install_id", "cursor", "level", "end", "kernel_boot", "gap")


def _segment(one: dict[str, Any]) -> Segment:
    """Raises ValueError, TypeError or AttributeError."""
    if not _OF_EARLIER_AGENTS <= one.keys() <= _NAMES:
        raise ValueError("no segment")
    made = Segment(**{**one, "units": tuple(one.get("units", ()))})
    texts = [getattr(made, name) for name in _TEXTS] + list(made.units)
    numbers = [made.boot_seq, made.seq]
    cursors = [cursor for cursor in (made.cursor, made.end) if cursor]
    is_one = all(isinstance(text, str) for text in texts) and all(type(number) is int for number in numbers)
    is_one = is_one and type(made.from_first) is bool
    if not is_one or made.level not in contract.LEVELS or not all(map(_is_cursor, cursors)):
        raise ValueError("no segment")
    return made


def _is_cursor(text: str) -> bool:
    """Whether journalctl takes it."""
    return CURSOR.fullmatch(text) is not None


def _number(parts: Mapping[str, str], name: str) -> int:
    """A part of a cursor, which is hexadecimal."""
    return int(parts.get(name) or "0", 16)


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
