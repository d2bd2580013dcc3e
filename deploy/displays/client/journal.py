"""The journal of commands: each is on the disk before the display acts on it.

One JSON line per move, appended and fsynced; the last line of an id is where it stands. Opening the
journal rewrites it down to the last 256 ids, which also removes a line torn by a power cut, and so
does growing beyond `COMPACT_AT_LINES`.
"""

import contextlib
import errno
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Final

from deploy.displays.client import durable
from deploy.displays.client.state import JournalEntry, keep_last

COMPACT_AT_LINES: Final = 2048  # eight moves for each id that is kept

_FIELDS: Final = {field.name for field in fields(JournalEntry)}
_LATER: Final = {"traceparent"}  # older entries lack it and count all the same


def _is_entry(body: Mapping[str, object]) -> bool:
    return _FIELDS - _LATER <= body.keys() <= _FIELDS


def read(path: Path) -> dict[str, JournalEntry]:
    """What stands in the file, each command where it stands."""
    return keep_last(JournalEntry(**body) for body in durable.json_lines(path) if _is_entry(body))


class Journal:
    """The file and what it says. `write` returns only when the entry is on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries = read(path)
        self._file = self._compacted()

    def entries(self) -> list[JournalEntry]:
        """The last 256 commands in order of acceptance, each where it stands."""
        return list(self._entries.values())

    def write(self, entry: JournalEntry) -> None:
        """Append `entry` and wait for the disk. Raises OSError: then the command must not be acted on."""
        durable.append(self._file, durable.as_lines([asdict(entry)]))
        os.fsync(self._file)
        self._entries = keep_last([*self._entries.values(), entry])
        self._lines += 1
        if self._lines > COMPACT_AT_LINES:
            with contextlib.suppress(OSError):  # the entry itself is on the disk
                old, self._file = self._file, self._compacted()
                os.close(old)

    def close(self) -> None:
        """Nothing can be written any more: -1 is never another file's descriptor."""
        os.close(self._file)
        self._file = -1

    def _compacted(self) -> int:
        """Rewrite the file to what still says something; returns its new descriptor."""
        durable.replace_file(self._path, durable.as_lines(asdict(entry) for entry in self._entries.values()))
        self._lines = len(self._entries)
        return os.open(self._path, os.O_WRONLY | os.O_APPEND)


class UnwritableJournal(Journal):
    """A journal on a disk that takes nothing: it is read, and every write is refused."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._entries = read(path)
        except OSError:
            self._entries = {}

    def write(self, entry: JournalEntry) -> None:
        """Raises OSError, always."""
        raise OSError(errno.EROFS, f"the journal cannot be written: {entry.id} is not carried out")

    def close(self) -> None:
        """There is no file."""
