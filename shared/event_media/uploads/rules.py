"""Uploads that come in parts (tus 1.0): what may follow what, and for how long.

An upload is a row and its parts on the volume. A part is one file, written by one request and never changed; the
row says which parts count, in order. So a request that was killed, or was overtaken by another one, can spoil
nothing: what it wrote and never told the row is no part of the upload.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.errors import UploadLocked, UploadOffsetConflict

LIFE: Final = timedelta(days=1)
"""From the creation; then the upload and its parts are removed."""
LEASE: Final = timedelta(seconds=30)
"""A request whose row has not changed for so long counts as dead."""
PART_BYTES: Final = 8 * 1024**2
PART_SECONDS: Final = 8.0
"""A part ends when it is so large or so old: what a killed request can lose."""
ASSEMBLY: Final = timedelta(seconds=180)
"""The lease while the parts become one file."""


@dataclass(frozen=True)
class UploadTurn:
    """The right of one request to add to an upload."""

    upload_id: str
    token: str
    offset: int
    """Bytes that are there already."""
    bytes: int
    """Of the whole file."""
    filename: str
    parts: tuple[str, ...]

    @property
    def left(self) -> int:
        """Bytes that are missing."""
        return self.bytes - self.offset


def check_turn(now: datetime, received: int, offset: int, writer_until: datetime | None) -> None:
    """May a request have the turn from `offset` on? Raises UploadLocked or UploadOffsetConflict.

    It ends the turn of a request that still sends: that one's connection may be gone without our notice, and its token
    keeps it from adding anything. The turn of one that makes the parts one file lasts longer than LEASE and is waited
    for.
    """
    if writer_until is not None and writer_until > now + LEASE:
        seconds = max(1, round((writer_until - now).total_seconds()))
        raise UploadLocked(retry_after_seconds=seconds)
    if offset != received:
        raise UploadOffsetConflict(upload_offset=received)
