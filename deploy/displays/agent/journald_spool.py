"""The spool of logs with journald behind it: a few numbered lines in memory, and their segments on the disk."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from deploy.displays.agent.journald_rules import Segment, as_content, is_after, segments_from
from deploy.displays.client import durable
from deploy.displays.client.contract import LogsCommitted
from deploy.displays.client.spool import SpooledLog

IN_MEMORY: Final = 200  # numbered lines; journald keeps the rest
SAVE_SECONDS: Final = 60.0
SEGMENTS: Final = 300  # the most segments that are kept; the oldest are dropped first


class JournaldSpool:
    """Numbered lines that wait for `logs_committed`, for LogSender, and the segments on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        left = _read(path)
        self._segments = left[-SEGMENTS:]
        self._messages: deque[tuple[SpooledLog, str]] = deque()  # with the cursor of each line
        self._handed_out = 0
        self._saved_at = -SAVE_SECONDS
        self._is_saved = True
        self.room = asyncio.Event()
        self.room.set()

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def segments(self) -> Sequence[Segment]:
        """The segments with uncommitted lines, the oldest first, the present one last."""
        return tuple(self._segments)

    def append(self, message: SpooledLog) -> None:
        """Keep a message that is not a line of the system journal. It is lost when the agent ends."""
        self.keep(message, "")

    def keep(self, message: SpooledLog, cursor: str) -> None:
        """Keep a line that has just been numbered."""
        self._messages.append((message, cursor))
        if len(self._messages) >= IN_MEMORY:
            self.room.clear()

    def has_unsent(self) -> bool:
        return self._handed_out < len(self._messages)

    def next(self) -> SpooledLog | None:
        """The next line to send, in order; None when all were sent since the last rewind."""
        if not self.has_unsent():
            return None
        self._handed_out += 1
        return self._messages[self._handed_out - 1][0]

    def rewind(self) -> None:
        self._handed_out = 0

    def commit(self, mark: LogsCommitted) -> int:
        """Remove the lines that the mark covers, from the oldest on. Returns how many."""
        before = len(self._messages)
        while self._messages and self._messages[0][0].is_covered_by(mark):
            message, cursor = self._messages.popleft()
            self._handed_out = max(0, self._handed_out - 1)
            self._passed(message, cursor)
        if len(self._messages) <= IN_MEMORY // 2:
            self.room.set()
        return before - len(self._messages)

    def _passed(self, message: SpooledLog, cursor: str) -> None:
        """Let the segment of this line begin after it, and drop the segments before, which are committed."""
        number, boot = message.body["seq"], (message.body["install_id"], message.body["boot_seq"])
        for index, one in enumerate(self._segments):
            own = (one.install_id, one.boot_seq) == boot and one.seq < number
            if own and not (one.end and cursor and is_after(cursor, one.end)):
                self._segments[index] = replace(one, seq=number, cursor=cursor or one.cursor)
                del self._segments[:index]
                self._is_saved = False
                return

    def begin(self, segment: Segment, end_of_the_last: str) -> None:
        """Begin a segment, and write it to the disk before its first line is numbered."""
        if self._segments and not self._segments[-1].end:
            self._segments[-1] = replace(self._segments[-1], end=end_of_the_last)
        self._segments.append(segment)
        self.save()

    def insert(self, segment: Segment) -> None:
        """Insert a segment that is read before the present one."""
        self._segments.insert(-1, segment)
        self.save()

    def finished(self, segment: Segment, number: int) -> None:
        """All lines of a segment are read, up to this number. Drop it if none of them is uncommitted."""
        boot = (segment.install_id, segment.boot_seq)
        if any((one.body["install_id"], one.body["boot_seq"]) == boot for one, _ in self._messages):
            return
        own = [one for one in self._segments if (one.install_id, one.boot_seq) == boot and one.end == segment.end]
        for one in own:
            self._segments.remove(one)
            self._is_saved = False
        if self._segments and (self._segments[0].install_id, self._segments[0].boot_seq) == boot:
            self._segments[0] = replace(self._segments[0], seq=max(self._segments[0].seq, number))

    def anchor(self, cursor: str) -> None:
        """Let the segment begin at this entry, if no line waits, so that journald may remove older entries."""
        if not self._messages and len(self._segments) == 1 and self._segments[0].cursor != cursor:
            self._segments[0] = replace(self._segments[0], cursor=cursor)
            self._is_saved = False

    def save_when_due(self, now: float) -> None:
        """Save once a minute at most, and only after a change. `now` is in monotonic seconds."""
        if not self._is_saved and now - self._saved_at >= SAVE_SECONDS:
            self._saved_at = now
            self.save()

    def save(self) -> None:
        """Write the segments. If the disk refuses, the next start reads from an earlier line, and no line is lost."""
        with contextlib.suppress(OSError):
            durable.replace_file(self._path, as_content(self._segments))
            self._is_saved = True


def _read(path: Path) -> list[Segment]:
    try:
        return segments_from(path.read_bytes())
    except OSError:
        return []
