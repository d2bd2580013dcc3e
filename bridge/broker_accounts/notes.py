"""What the broker's launcher notes of the broker (its crashes, its open files), carried to the database."""

import contextlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from shared.leadership import store as leadership_store
from shared.postgres.door import transaction
from shared.structured_log import event

FILES: Final = "broker.files"  # beside the crashes: deploy.parts.broker_launch
FILE_STEPS: Final = 100  # a per cent more or less is written down


class Crashes:
    """What the broker's launcher noted: a line for each crash, in seconds since 1970."""

    def __init__(self, engine: Engine, file: Path) -> None:
        """Nothing is read yet."""
        self._engine = engine
        self._file = file
        self._carried = ""  # the file's content that the database has

    def carry(self) -> None:
        """Bring to the database what it does not have yet. Raises SQLAlchemyError: later."""
        try:
            noted = self._file.read_text(encoding="ascii")
        except (OSError, UnicodeError):
            return  # no crash yet, or nobody can say
        if noted == self._carried:
            return
        with transaction(self._engine) as connection:
            came = leadership_store.note_broker_crashes(connection, list(_times(noted)))
        self._carried = noted
        if came:
            event("broker_crashed", "the broker ended without having been told to", crashes=came)


class OpenFiles:
    """What the broker's launcher writes down each second: how many files the broker has open, and may open."""

    def __init__(self, engine: Engine, file: Path) -> None:
        """Nothing is read yet."""
        self._engine = engine
        self._file = file
        self._carried: tuple[int, ...] = ()

    def carry(self) -> None:
        """Bring it to the database when it is another share of what may be. Raises SQLAlchemyError: later."""
        try:
            opened, most = (int(word) for word in self._file.read_text(encoding="ascii").split())
        except (OSError, ValueError):
            return  # nobody can say
        share = (opened * FILE_STEPS // max(1, most), most)
        if share != self._carried:
            with transaction(self._engine) as connection:
                leadership_store.note_broker_files(connection, opened, most)
            self._carried = share


def _times(noted: str) -> Iterable[datetime]:
    for line in noted.split():
        with contextlib.suppress(ValueError, OverflowError, OSError):
            yield datetime.fromtimestamp(float(line), UTC)
