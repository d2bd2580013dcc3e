"""A ledger of log lines: written by displays, reported as committed, and stored in the database."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

STUCK_SECONDS: Final = 1500.0
"""A spool sends again at least every ten minutes, so a display that is heard for so long has sent every line."""


@dataclass
class Line:
    """One log line. Times are seconds of the history."""

    uuid: str
    written_at: float
    written_on: datetime  # by the database's clock
    told_at: float | None = None  # when its display dropped it as committed


class LogLedger:
    """A ledger by the text of each line, independent of the product."""

    def __init__(self, clock: Callable[[], float], calendar: Callable[[], datetime]) -> None:
        """`clock`: seconds of the history; `calendar`: the database's clock."""
        self.lines: dict[str, Line] = {}
        self.repeats: set[str] = set()  # displays whose counters went back: their lines may be stored twice
        self.taken_out: set[str] = set()  # lines on a disk that was removed: they cannot be sent
        self.forgotten: list[tuple[float, float]] = []  # periods whose data a restored database lost
        self.kept_for = timedelta.max  # the service drops a week's lines this long after the week's end
        self._clock, self._calendar = clock, calendar

    def new(self, uuid: str) -> str:
        """The text of a new line."""
        text = f"line {len(self.lines)} of {uuid}"
        self.lines[text] = Line(uuid, self._clock(), self._calendar())
        return text

    def told(self, texts: Iterable[str]) -> None:
        """The display dropped these lines, because they were reported as committed."""
        for text in texts:
            line = self.lines[text]
            line.told_at = self._clock() if line.told_at is None else line.told_at

    def faults(self, stored: Counter[str], heard_since: Mapping[str, float]) -> list[tuple[str, str, str]]:
        """(kind, uuid, description) of each broken promise.

        `heard_since`: uuid of a display that is heard now -> since when without a pause.
        """
        found = []
        for text, line in self.lines.items():
            is_safe = line.told_at is not None and not self._was_forgotten(line.told_at) and not self._is_old(line)
            if is_safe and not stored[text]:
                found.append(("log lost", line.uuid, f"{text}: told at {line.told_at:.0f} s and not stored"))
            if stored[text] > 1 and line.uuid not in self.repeats:
                found.append(("log twice", line.uuid, f"{text} is stored {stored[text]} times"))
            since = max(line.written_at, heard_since.get(line.uuid, float("inf")))
            waits = line.told_at is None and text not in self.taken_out and not self.forgotten
            if waits and self._clock() - since > STUCK_SECONDS:
                found.append(("log stuck", line.uuid, f"{text}: heard for {self._clock() - since:.0f} s, never told"))
        return found

    def _is_old(self, line: Line) -> bool:
        monday = line.written_on - timedelta(days=line.written_on.weekday())
        week_ends = monday.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=7)
        return self._calendar() - week_ends > self.kept_for

    def _was_forgotten(self, told_at: float) -> bool:
        return any(since <= told_at <= until for since, until in self.forgotten)
