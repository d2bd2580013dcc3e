"""Whether the disk gives back what it took: cards wear out, and forgeries hold less than they say.

A page of 4 KB carries its own hash. It is read at each start, and once a day a new one is written, dropped from the
kernel's cache and read back from the disk itself.
"""

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Final

from displays.client import durable

PAGE_BYTES: Final = 4096
HASH_BYTES: Final = 32
A_DAY: Final = 20 * 3600.0  # seconds; so that a display that is off at night is tried each day, too


class Card:
    """The disk below one file. `lies` is None until a page was read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._look_at = 0.0  # monotonic
        self.lies: bool | None = None

    def look(self, now: float, clock: float) -> None:
        """Try the disk, if that is due. `now` is monotonic, `clock` in seconds since 1970."""
        if now < self._look_at:
            return
        self._look_at = now + A_DAY
        age = self._age(clock)
        if age is not None:
            self._judge(_is_whole(self._read()))
        if age is None or not 0 <= age < A_DAY:
            page = os.urandom(PAGE_BYTES - HASH_BYTES)
            page += hashlib.sha256(page).digest()
            with contextlib.suppress(OSError):  # a disk that takes nothing does not lie
                durable.replace_file(self._path, page)
                self._judge(self._read() == page)

    def _judge(self, well: bool) -> None:
        self.lies = bool(self.lies) or not well

    def _age(self, clock: float) -> float | None:
        """The age of the page on the disk; None: there is none."""
        try:
            return clock - self._path.stat().st_mtime
        except OSError:
            return None

    def _read(self) -> bytes:
        """The page as the disk has it; empty if the disk cannot read it."""
        try:
            with self._path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                return file.read(PAGE_BYTES)
        except OSError:
            return b""


def _is_whole(page: bytes) -> bool:
    return len(page) == PAGE_BYTES and hashlib.sha256(page[:-HASH_BYTES]).digest() == page[-HASH_BYTES:]
