"""Store the notes of the broker's launcher (the broker's crashes, open files and memory) in the database."""

import contextlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from shared.leadership import store as leadership_store
from shared.postgres.door import transaction
from shared.structured_log import event

FILE_STEPS: Final = 100  # a change of one per cent is stored
MEMORY_STEP_BYTES: Final = 2**24  # and one of 16 MiB


class Crashes:
    """The launcher's file of crashes: a line for each crash, in seconds since 1970."""

    def __init__(self, engine: Engine, file: Path) -> None:
        """`file` is BROKER_CRASHES_FILE."""
        self._engine = engine
        self._file = file
        self._carried = ""  # the file's content that is stored already

    def carry(self) -> None:
        """Store new crashes. Raises SQLAlchemyError: retry later."""
        try:
            noted = self._file.read_text(encoding="ascii")
        except (OSError, UnicodeError):
            return  # no crash yet, or the file cannot be read
        if noted == self._carried:
            return
        with transaction(self._engine) as connection:
            came = leadership_store.note_broker_crashes(connection, list(_times(noted)))
        self._carried = noted
        if came:
            event("broker_crashed", "the broker crashed", crashes=came)


class OpenFiles:
    """The launcher's file of open files, written each second: how many the broker has open and may open; its memory."""

    def __init__(self, engine: Engine, file: Path) -> None:
        """`file` is FILES of the launcher."""
        self._engine = engine
        self._file = file
        self._carried: tuple[int, ...] = ()

    def carry(self) -> None:
        """Store the figures when a step was passed. Raises SQLAlchemyError: retry later."""
        try:
            opened, most, memory_bytes = (int(word) for word in self._file.read_text(encoding="ascii").split())
        except (OSError, ValueError):
            return  # not written yet, or unreadable
        step = (opened * FILE_STEPS // max(1, most), most, memory_bytes // MEMORY_STEP_BYTES)
        if step != self._carried:
            with transaction(self._engine) as connection:
                leadership_store.note_broker_files(connection, opened, most, memory_bytes)
            self._carried = step


def _times(noted: str) -> Iterable[datetime]:
    for line in noted.split():
        with contextlib.suppress(ValueError, OverflowError, OSError):
            yield datetime.fromtimestamp(float(line), UTC)
