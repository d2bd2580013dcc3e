"""Read the system journal from the oldest segment on, number each line, and give it to the spool."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from deploy.displays.agent.journalctl import entries_from, exists, newest_cursor
from deploy.displays.agent.journald_rules import Line, Segment, body, is_after, is_logged, line_from, removed
from deploy.displays.agent.journald_spool import JournaldSpool
from deploy.displays.client.spool import SpooledLog
from deploy.displays.client.state import Boot

AGAIN_SECONDS: Final = 10.0  # after journalctl has ended
ANCHOR_SECONDS: Final = 3600.0
SETTLE_SECONDS: Final = 5.0  # within this time journalctl shows the lines written before
OWN_UNIT: Final = "signage-display.service"

Numbered = Callable[[Segment, int], None]


class JournaldReader:
    """The reader of one start of the agent. `level` gives the log level; `numbered` is called with each number."""

    def __init__(
        self, spool: JournaldSpool, boot: Boot, units: Sequence[str], level: Callable[[], str], numbered: Numbered
    ) -> None:
        self._spool, self._boot, self._level, self._numbered = spool, boot, level, numbered
        self._units = tuple(dict.fromkeys((*units, OWN_UNIT)))
        self._todo: deque[Segment] = deque()
        self._current = Segment(boot.install_id, boot.boot_seq, 0, "")
        self._seq = 0
        self._read_until = ""  # the cursor of the last line that was read
        self._gone = set[str]()  # cursors whose entries were removed
        self._has_begun = False
        self.why_not = ""  # why it cannot read, for people

    async def run(self) -> None:
        """Read for ever. When journalctl ends, log why and start it again."""
        while True:
            try:
                if self._has_begun or await self.begin():
                    await self._spool.room.wait()
                    await self._skip_what_was_removed()
                    await self._read()
            except OSError as error:
                self.why_not = f"the journal cannot be read: {error.strerror or error}"
            if self.why_not:
                await asyncio.sleep(AGAIN_SECONDS)

    async def watch(self) -> None:
        """For ever: save the spool when due, and move the segment on, so that a quiet machine may drop old entries."""
        loop = asyncio.get_running_loop()
        anchored = loop.time()
        while True:
            await asyncio.sleep(SETTLE_SECONDS)
            self._spool.save_when_due(loop.time())
            if loop.time() - anchored >= ANCHOR_SECONDS:
                anchored = loop.time()
                await self._anchor()

    async def begin(self) -> bool:
        """Take over the segments of earlier starts, up to now, and begin a new one. False when there is no journal."""
        here = await self._newest()
        if not here:
            self.why_not = "the journal cannot be read: it shows no entry"
            return False
        self.why_not, self._has_begun = "", True
        self._spool.begin(Segment(self._boot.install_id, self._boot.boot_seq, 0, here, self._level()), here)
        self._todo.extend(self._spool.segments)
        self._enter(self._todo.popleft())
        return True

    async def _newest(self) -> str:
        with contextlib.suppress(OSError):
            return await newest_cursor()
        return ""

    def _enter(self, segment: Segment) -> None:
        same = (segment.install_id, segment.boot_seq) == (self._current.install_id, self._current.boot_seq)
        self._seq = max(self._seq, segment.seq) if same else segment.seq
        self._current, self._read_until = segment, segment.cursor

    async def _read(self) -> None:
        """Read until the spool is full or journalctl ends."""
        began = self._read_until
        async with contextlib.aclosing(entries_from(began, self._units)) as entries:
            async for text in entries:
                self.why_not = ""
                line = line_from(text, OWN_UNIT)
                if line is not None and line.cursor != began:
                    self._take(line)
                    if not self._spool.room.is_set():
                        return
        self.why_not = "the journal cannot be read: journalctl has ended"

    def _take(self, line: Line) -> None:
        while self._current.end and is_after(line.cursor, self._current.end):
            self._spool.finished(self._current, self._seq)
            self._enter(self._todo.popleft())
        if not self._todo and self._current.level != self._level():
            changed = replace(self._current, seq=self._seq, cursor=self._read_until, level=self._level())
            self._spool.begin(changed, self._read_until)
            self._current = changed
        self._read_until = line.cursor
        if is_logged(line.level, self._current.level):
            self._seq += 1
            self._spool.keep(SpooledLog(line.level, body(line, self._current, self._seq)), line.cursor)
            self._numbered(self._current, self._seq)

    async def _skip_what_was_removed(self) -> None:
        """If the entry of our cursor was removed, report the loss in a line of its own.

        The later lines of an earlier start get numbers of this start, because their own numbers are unknown.
        """
        while self._read_until and self._read_until not in self._gone and not await exists(self._read_until):
            gone, self._seq = replace(self._current, seq=self._seq), self._seq + 1
            self._gone.add(self._read_until)
            self._spool.keep(SpooledLog("warning", removed(gone, datetime.now(UTC))), gone.end)
            self._numbered(gone, self._seq)
            if (gone.install_id, gone.boot_seq) != (self._boot.install_id, self._boot.boot_seq):
                rest = Segment(self._boot.install_id, self._boot.boot_seq, 0, gone.cursor, gone.level, gone.end)
                self._todo.insert(len(self._todo) - 1, rest)
                self._spool.insert(rest)
                self._enter(self._todo.popleft())

    async def _anchor(self) -> None:
        before = self._read_until
        newest = await self._newest()
        await asyncio.sleep(SETTLE_SECONDS)
        if newest and not self.why_not and not self._todo and self._read_until == before:
            self._spool.anchor(newest)
