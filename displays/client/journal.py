"""The journal of commands: each command is on the disk before the display acts on it.

Each change of a command's state is a JSON line, appended and fsynced; the last line of an id has its present state. The
journal is rewritten with the last 256 ids when it is opened, which also removes a line torn by a power cut, and when it
has more than `COMPACT_AT_LINES` lines.
"""

import contextlib
import errno
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Final

from displays.client import durable
from displays.client.state import JournalEntry, keep_last

COMPACT_AT_LINES: Final = 2048  # eight lines for each id that is kept

_FIELDS: Final = {field.name for field in fields(JournalEntry)}
_LATER: Final = {"traceparent"}  # older entries lack this field and are valid


def _is_entry(body: Mapping[str, object]) -> bool:
    return _FIELDS - _LATER <= body.keys() <= _FIELDS


def read(path: Path) -> dict[str, JournalEntry]:
    """The commands in the file, each in its last state."""
    return keep_last(JournalEntry(**body) for body in durable.json_lines(path) if _is_entry(body))


class Journal:
    """The journal's file and its entries. `write` returns only when the entry is on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries = read(path)
        self._file = self._compacted()

    def entries(self) -> list[JournalEntry]:
        """The last 256 commands in order of acceptance, each in its last state."""
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

    def works(self) -> bool:
        """Whether the disk takes writes now."""
        return durable.takes_writes(self._path)

    def close(self) -> None:
        """Close the file. A later write fails, because -1 is never another file's descriptor."""
        os.close(self._file)
        self._file = -1

    def _compacted(self) -> int:
        """Rewrite the file with the last entry of each command. Returns its new descriptor."""
        durable.replace_file(self._path, durable.as_lines(asdict(entry) for entry in self._entries.values()))
        self._lines = len(self._entries)
        return os.open(self._path, os.O_WRONLY | os.O_APPEND)


class UnwritableJournal(Journal):
    """A journal on a read-only or full disk: it can be read, and every write fails."""

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
        """Do nothing: there is no file."""
