"""Read the system journal from the oldest segment on, number each line, and give it to the spool."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from logging import WARNING
from typing import Any, Final

from displays.agent import journalctl
from displays.agent.journald_rules import (
    GOES_ON,
    TOLD_OF,
    UNTOLD,
    Line,
    Segment,
    body,
    boots_between,
    is_after,
    is_logged,
    kernel_boot_of,
    line_from,
    missing,
)
from displays.agent.journald_spool import SAVE_SECONDS, JournaldSpool
from displays.client.spool import SpooledLog
from displays.client.state import Boot
from shared.structured_log import event

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
        self._todo: deque[int] = deque()  # segments that are read after the present one
        self._start = (boot.install_id, boot.boot_seq)
        self._key, self._seq = GOES_ON, 0  # the present segment, and the last number in it
        self._read_until = ""  # the cursor of the last line that was read
        self._is_told = True  # whether the word about the present segment's gap is numbered
        self._has_begun = self._knows_boots = False
        self._numbered_until = ""  # the newest entry that an earlier start may have numbered in the present segment
        self._change_at = 0.0  # when another level or list of units may be written; monotonic seconds
        self.why_not = ""  # why it cannot read, for people

    async def run(self) -> None:
        """Read for ever. When journalctl ends, log why and start it again."""
        while True:
            try:
                if self._has_begun or await self.begin():
                    await self._spool.room.wait()
                    await self._look_for_other_boots()
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
        """Take over the segments of earlier starts, and begin a new one. False when there is no journal."""
        kernel_boot, here = await self._now()
        if not here:
            self.why_not = self.why_not or "the journal cannot be read: it shows no entry"
            return False
        self.why_not, self._has_begun = "", True
        before = list(self._spool.segments.values())
        own = replace(self._own(here, self._level()), kernel_boot=kernel_boot)
        is_same_boot = not before or before[-1].kernel_boot in {"", kernel_boot}
        is_lost = not before and (self._spool.is_damaged or self._boot.boot_seq > 1)
        if is_lost or not is_same_boot:  # lines may be stored twice, but none is lost
            first = await self._asked(journalctl.first_cursor(kernel_boot)) or here
            own = replace(own, cursor=first, from_first=True, gap=UNTOLD if is_lost else "")
        if not self._spool.begin([own], here if is_same_boot else "", must=not before or not is_same_boot):
            self._numbered_until = here
        self._todo.extend(self._spool.segments)
        self._enter(self._todo.popleft())
        return True

    async def _now(self) -> tuple[str, str]:
        """The present boot of the machine, and its newest entry. In a container only the journal may know the boot."""
        kernel_boot = self._boot.boot_id.replace("-", "")
        here = await self._asked(journalctl.newest_cursor(kernel_boot))
        here = here or await self._asked(journalctl.newest_cursor(""))
        return kernel_boot_of(here), here

    async def _asked(self, question: Awaitable[str]) -> str:
        """The answer of journalctl; empty when it fails, with the reason in `why_not`."""
        try:
            return await question
        except OSError as error:
            self.why_not = f"the journal cannot be read: {error.strerror or error}"
            return ""

    async def _look_for_other_boots(self) -> None:
        """Once: add segments for boots of the machine in which the agent began none."""
        segments = self._spool.segments
        if self._knows_boots or len({one.kernel_boot for one in segments.values()}) == 1:
            return
        self._knows_boots = True
        try:
            others = boots_between(await journalctl.boots(), list(segments.values()))
            firsts = {boot: await journalctl.first_cursor(boot) for boot in others}
        except OSError:
            event(
                "machine_boots_unknown",
                "Lines of an earlier boot may be missing: journalctl cannot list the boots.",
                WARNING,
            )
            return
        last, present = next(reversed(segments.items()))
        own = replace(self._own("", present.level), from_first=True)
        new = [replace(own, kernel_boot=boot, cursor=first) for boot, first in firsts.items() if first]
        self._todo.extend([*self._spool.insert(new, last), last])
        self._todo.remove(last)  # the first of the two

    def _own(self, cursor: str, level: str) -> Segment:
        """A segment that this start of the agent numbers."""
        return Segment(*self._start, GOES_ON, cursor, level, units=self._units)

    def _enter(self, key: int) -> None:
        """Begin to read a segment."""
        segments = self._spool.segments
        segment, before = segments[key], segments.get(self._key)
        if segment.seq != GOES_ON:
            self._seq = segment.seq
        elif before is None or before.start != segment.start:
            self._seq = 0
        self._key, self._read_until, self._is_told = key, segment.cursor, segment.gap != UNTOLD

    async def _read(self) -> None:
        """Read the present segment, until it ends, the spool is full or journalctl ends."""
        segment, began, is_last = self._spool.segments[self._key], self._read_until, not self._todo
        is_at_first = segment.from_first and began == segment.cursor
        knows_the_gap = segment.gap and began == segment.cursor and not is_at_first
        if began and not knows_the_gap and not await journalctl.exists(began, segment.kernel_boot):
            self._lose_the_place(segment)
            return
        if not self._is_told:
            self._is_told = True
            self._number(segment, "warning", missing(segment, self._seq + 1), began)
        units = segment.units or self._units
        entries = journalctl.entries_from(began, segment.kernel_boot, follow=is_last)
        async with contextlib.aclosing(entries) as lines:
            async for text in lines:
                self.why_not = ""
                line = line_from(text, OWN_UNIT, units)
                if line is None or (line.cursor == began and not is_at_first):
                    continue
                if segment.end and is_after(line.cursor, segment.end):
                    break
                if is_last and self._is_new(line) and self._begins_another(segment):
                    return
                self._take(segment, line)
                if not self._spool.room.is_set():
                    return
        if is_last:
            self.why_not = "the journal cannot be read: journalctl has ended"
        else:
            self._go_on()

    def _take(self, segment: Segment, line: Line) -> None:
        self._read_until = line.cursor
        if is_logged(line.level, segment.level):
            self._number(segment, line.level, body(line, segment, self._seq + 1), line.cursor)

    def _number(self, segment: Segment, level: str, message: dict[str, Any], cursor: str) -> None:
        self._seq += 1
        self._spool.keep(SpooledLog(level, message), self._key, cursor)
        self._numbered(segment, self._seq)

    def _go_on(self) -> None:
        """The present segment is read. Enter the next one."""
        self._spool.finished(self._key, self._seq)
        self._enter(self._todo.popleft())

    def _is_new(self, line: Line) -> bool:
        """Whether no earlier start can have numbered this line. Those before keep their level and units."""
        return not self._numbered_until or is_after(line.cursor, self._numbered_until)

    def _begins_another(self, segment: Segment) -> bool:
        """Begin a segment if the log level or the list of units is another one, and the disk takes it."""
        wanted, now = (self._level(), self._units), time.monotonic()
        has_read = self._read_until != segment.cursor or not segment.from_first
        if (segment.level, segment.units or self._units) == wanted or not has_read or now < self._change_at:
            return False
        gap = TOLD_OF if segment.gap and self._read_until == segment.cursor else ""
        changed = replace(segment, seq=self._seq, cursor=self._read_until, level=wanted[0], units=wanted[1], gap=gap)
        changed = replace(changed, from_first=False)
        if not self._spool.begin([changed], self._read_until):
            self._change_at = now + SAVE_SECONDS
            return False
        self._todo.append(next(reversed(self._spool.segments)))
        self._go_on()
        return True

    def _lose_the_place(self, segment: Segment) -> None:
        """The entry of our cursor was removed. End the segment there, and begin one that tells it, for the rest.

        Of an earlier start only that start knew the numbers of the rest, and of its segments that go on from this one.
        They get numbers of this start.
        """
        is_own = segment.start == self._start
        rest = replace(segment, cursor=self._read_until, from_first=False, gap=UNTOLD, seq=self._seq)
        changes = {self._key: replace(segment, end=self._read_until)}
        if not is_own:
            install_id, boot_seq = self._start
            rest = replace(rest, install_id=install_id, boot_seq=boot_seq, seq=GOES_ON)
            for key in self._todo:
                one = self._spool.segments[key]
                if one.start != segment.start or one.seq != GOES_ON:
                    break
                changes[key] = replace(one, install_id=install_id, boot_seq=boot_seq)
        before = (self._todo[0] if is_own else self._todo[-1]) if self._todo else None
        [key] = self._spool.insert([rest], before, changes)
        self._todo.insert(0 if is_own else max(0, len(self._todo) - 1), key)
        self._go_on()

    async def _anchor(self) -> None:
        before, newest = self._read_until, ""
        with contextlib.suppress(OSError):
            newest = await journalctl.newest_cursor(self._spool.segments[self._key].kernel_boot)
        await asyncio.sleep(SETTLE_SECONDS)
        if newest and not self.why_not and not self._todo and self._read_until == before and self._is_told:
            self._spool.anchor(newest, self._seq)
