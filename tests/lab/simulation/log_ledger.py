"""The ledger of log lines: what displays wrote, what they were told is safe, and what the database has."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

STUCK_SECONDS: Final = 1500.0
"""A spool sends again each ten minutes at least: whoever is heard for so long has told every line."""


@dataclass
class Line:
    """One log line. Times are seconds of the history."""

    uuid: str
    written_at: float
    written_on: datetime  # by the database's clock
    told_at: float | None = None  # when its display let go of it


class LogLedger:
    """Kept beside the product, by the text of each line."""

    def __init__(self, clock: Callable[[], float], calendar: Callable[[], datetime]) -> None:
        """`clock`: seconds of the history; `calendar`: what the database's clock shows."""
        self.lines: dict[str, Line] = {}
        self.repeats: set[str] = set()  # displays whose counters went back: theirs may come twice
        self.taken_out: set[str] = set()  # lines on a disk that its display has no more: nobody can be told
        self.forgotten: list[tuple[float, float]] = []  # from when to when the database lost what it had
        self.kept_for = timedelta.max  # the service drops a week's lines when that has passed since its end
        self._clock, self._calendar = clock, calendar

    def new(self, uuid: str) -> str:
        """The text of a new line."""
        text = f"line {len(self.lines)} of {uuid}"
        self.lines[text] = Line(uuid, self._clock(), self._calendar())
        return text

    def told(self, texts: Iterable[str]) -> None:
        """Their display was told that they are stored, and forgets them."""
        for text in texts:
            line = self.lines[text]
            line.told_at = self._clock() if line.told_at is None else line.told_at

    def faults(self, stored: Counter[str], heard_since: Mapping[str, float]) -> list[tuple[str, str, str]]:
        """(kind, uuid, words) of each broken promise.

        `heard_since`: since when every display is heard without a pause that is heard now.
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
