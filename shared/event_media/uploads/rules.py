"""The rules of uploads in parts (tus 1.0).

An upload is a row and its parts on the volume. A part is one file, written by one request and never changed. The row
lists the parts that count, in order. So a request that is killed, or loses its turn, can spoil nothing: a file that is
not in the row is not part of the upload.
"""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from shared.errors import UploadLocked, UploadOffsetConflict

LIFE: Final = timedelta(days=1)
"""An upload and its parts are removed so long after its creation."""
LEASE: Final = timedelta(seconds=30)
"""A request that has stored no part for so long counts as dead."""
PART_BYTES: Final = 8 * 1024**2
PART_SECONDS: Final = 8.0
"""A part ends at this size or age. A killed request loses no more than that."""
ASSEMBLY: Final = timedelta(seconds=180)
"""The lease while the parts become one file."""


class UploadTurn(Struct, frozen=True):
    """The right of one request to add to an upload."""

    upload_id: str
    token: str
    offset: int
    """How many bytes are stored."""
    bytes: int
    """The length of the whole file."""
    filename: str
    parts: tuple[str, ...]

    @property
    def left(self) -> int:
        """How many bytes are missing."""
        return self.bytes - self.offset


def check_turn(now: datetime, received: int, offset: int, writer_until: datetime | None) -> None:
    """Check whether a request may have the turn from `offset` on. Raises UploadLocked or UploadOffsetConflict.

    A new request takes the turn from a request that still sends: its connection may be broken unnoticed, and its token
    no longer lets it add a part. A request that assembles the parts has a lease longer than LEASE, and keeps its turn.
    """
    if writer_until is not None and writer_until > now + LEASE:
        seconds = max(1, round((writer_until - now).total_seconds()))
        raise UploadLocked(retry_after_seconds=seconds)
    if offset != received:
        raise UploadOffsetConflict(upload_offset=received)
