"""The spool of logs with journald behind it: a few numbered lines in memory, and their segments on the disk."""

import asyncio
import itertools
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from logging import WARNING
from pathlib import Path
from types import MappingProxyType
from typing import Final

from displays.agent.journald_rules import (
    GOES_ON,
    READ_LINES,
    TOLD_OF,
    UNTOLD,
    Segment,
    as_content,
    segments_from,
)
from displays.client import durable
from displays.client.contract import LogsCommitted
from displays.client.spool import SpooledLog
from shared.structured_log import event

IN_MEMORY: Final = 2 * READ_LINES  # numbered lines; journald keeps the rest
SAVE_SECONDS: Final = 60.0
SEGMENTS: Final = 300  # with more segments, a start in the same boot of the machine begins none of its own


@dataclass(slots=True)
class Waiting:
    """A numbered line, and the segment and cursor that it has."""

    message: SpooledLog
    segment: int
    cursor: str
    is_committed: bool = False


class JournaldSpool:
    """Numbered lines that wait for `logs_committed`, for LogSender, and the segments on the disk.

    A segment is named by a key, which holds until the agent ends.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keys = itertools.count()
        self._segments: dict[int, Segment] = {}  # in the order in which they are read
        self._messages: deque[Waiting] = deque()
        self._handed_out = 0
        self._saved_at = -SAVE_SECONDS
        self._is_saved = True
        self.is_damaged = False  # whether there was a file that could not be read
        self.room = asyncio.Event()
        self.room.set()
        self._load()

    def _load(self) -> None:
        try:
            self._segments = {next(self._keys): one for one in segments_from(self._path.read_bytes())}
        except FileNotFoundError:
            pass
        except (OSError, ValueError):
            self.is_damaged = True

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def segments(self) -> dict[int, Segment]:
        """The segments with uncommitted lines in the order in which they are read, the present one last."""
        return dict(self._segments)

    def append(self, message: SpooledLog) -> None:
        """Keep a message that is not a line of the system journal. It is lost when the agent ends."""
        self.keep(message, GOES_ON, "")

    def keep(self, message: SpooledLog, segment: int, cursor: str) -> None:
        """Keep a line that has just been numbered in this segment."""
        self._messages.append(Waiting(message, segment, cursor))
        if len(self._messages) >= IN_MEMORY:
            self.room.clear()

    def has_unsent(self) -> bool:
        return self._handed_out < len(self._messages)

    def next(self) -> SpooledLog | None:
        """The next line to send, in order; None when all were sent since the last rewind."""
        if not self.has_unsent():
            return None
        self._handed_out += 1
        return self._messages[self._handed_out - 1].message

    def rewind(self) -> None:
        self._handed_out = 0

    def commit(self, mark: LogsCommitted) -> int:
        """Note the lines that the mark covers, and remove them from the oldest on. Returns how many it covers anew.

        Marks of several starts may come in any order.
        """
        covered = [one for one in self._messages if not one.is_committed and one.message.is_covered_by(mark)]
        for one in covered:
            one.is_committed = True
        while self._messages and self._messages[0].is_committed:
            first = self._messages.popleft()
            self._handed_out = max(0, self._handed_out - 1)
            self._passed(first.message.body["seq"], first.segment, first.cursor)
        if len(self._messages) <= READ_LINES:
            self.room.set()
        return len(covered)

    def _passed(self, number: int, segment: int, cursor: str) -> None:
        """Let the segment begin after this line, and drop the segments before, which are committed."""
        if (one := self._segments.get(segment)) is None:
            return
        while (first := next(iter(self._segments))) != segment:
            del self._segments[first]
        is_word = one.gap == UNTOLD and cursor == one.cursor
        at_first, gap = one.from_first and is_word, TOLD_OF if is_word else ""
        self._segments[segment] = replace(one, seq=number, cursor=cursor, from_first=at_first, gap=gap)
        self._is_saved = False

    def begin(self, segments: Sequence[Segment], end_of_the_last: str = "", *, must: bool = False) -> bool:
        """Begin segments, and write them to the disk before their first line is numbered.

        Returns False if the last segment goes on instead: the disk refuses, or there are too many segments. With `must`
        they begin anyway: then lines may be stored twice, but none is lost.
        """
        before, last = self._segments, next(reversed(self._segments), None)
        if len(before) >= SEGMENTS and not must:
            return False
        self._segments = before | {next(self._keys): one for one in segments}
        if last is not None and end_of_the_last:
            self._segments[last] = replace(before[last], end=before[last].end or end_of_the_last)
        if self.save() or must:
            self._drop_above(2 * SEGMENTS)
            return True
        self._segments = before
        return False

    def _drop_above(self, most: int) -> None:
        """Give up the oldest segments above `most`, one for each boot of the machine, and log that."""
        while len(self._segments) > most:
            del self._segments[next(iter(self._segments))]
            self._is_saved = False
            event("machine_lines_given_up", "Lines of an old boot are given up: too many boots wait.", WARNING)

    def insert(
        self, segments: Sequence[Segment], before: int | None, changes: Mapping[int, Segment] = MappingProxyType({})
    ) -> list[int]:
        """Insert segments that are read before this one, or last (None), and change others. Returns the new keys.

        If the disk refuses, lines may be stored twice, but none is lost.
        """
        keys = [next(self._keys) for _ in segments]
        order = [key for key in self._segments if key != before]
        place = list(self._segments).index(before) if before is not None else len(order)
        order[place:place] = [*keys, *([] if before is None else [before])]
        all_of_them = self._segments | dict(zip(keys, segments, strict=True)) | dict(changes)
        self._segments = {key: all_of_them[key] for key in order}
        self.save()
        return keys

    def finished(self, segment: int, number: int) -> None:
        """All lines of a segment are read, up to this number. Drop it if no line waits, in it or before it."""
        if next(iter(self._segments)) != segment or any(one.segment == segment for one in self._messages):
            return
        one = self._segments.pop(segment)
        following = next(iter(self._segments))
        after = self._segments[following]
        if after.start == one.start and after.seq == GOES_ON:
            self._segments[following] = replace(after, seq=number)
        self._is_saved = False

    def anchor(self, cursor: str, number: int) -> None:
        """Let the last segment begin at this entry, after this number, if no line waits.

        So journald may remove older entries.
        """
        last, one = next(reversed(self._segments.items()))
        if not self._messages and (len(self._segments) > 1 or one.cursor != cursor):
            self._segments = {last: replace(one, seq=number, cursor=cursor, from_first=False, gap="")}
            self._is_saved = False

    def save_when_due(self, now: float) -> None:
        """Save once a minute at most, and only after a change. `now` is in monotonic seconds."""
        if not self._is_saved and now - self._saved_at >= SAVE_SECONDS:
            self._saved_at = now
            self.save()

    def save(self) -> bool:
        """Write the segments. If the disk refuses, the next start reads from an earlier line, and no line is lost."""
        try:
            durable.replace_file(self._path, as_content(self._segments.values()))
            self._is_saved = True
        except OSError:
            self._is_saved = False
        return self._is_saved
