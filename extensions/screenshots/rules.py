"""Pictures of screens: which are valid, how many are kept, and until when the service accepts them. Pure."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from shared.errors import UnsupportedMediaType, UploadTooLarge

LARGEST_BYTES: Final = 60_000
LARGEST_SIDE: Final = 8_192
KEPT: Final = 10  # of each client: pictures that people requested, and pictures before its last failure
KEPT_FOR: Final = timedelta(days=14)
WANTED_AFTER_FAILURE: Final = timedelta(minutes=30)
OLDEST: Final = timedelta(days=1)
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # JPEG markers that hold the size
_SCAN: Final = 0xDA


class Picture(Struct, frozen=True):
    """A JPEG that was checked."""

    jpeg: bytes
    width: int
    height: int


def read_jpeg(content: bytes) -> Picture:
    """Check a JPEG. Raises UploadTooLarge, and UnsupportedMediaType if it is not a complete JPEG."""
    if len(content) > LARGEST_BYTES:
        raise UploadTooLarge("screenshot_too_large", limit_bytes=LARGEST_BYTES)
    width, height = _size(content)
    if not (0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE and content.endswith(b"\xff\xd9")):
        raise UnsupportedMediaType("jpeg_incomplete")
    return Picture(content, width, height)


def _size(content: bytes) -> tuple[int, int]:
    """Width and height from the frame's header; zeros if no header comes before the picture."""
    at = 2
    while content[:2] == b"\xff\xd8" and content[at : at + 1] == b"\xff" and at + 9 <= len(content):
        marker, length = content[at + 1], int.from_bytes(content[at + 2 : at + 4], "big")
        if marker in _FRAMES:
            return int.from_bytes(content[at + 7 : at + 9], "big"), int.from_bytes(content[at + 5 : at + 7], "big")
        if marker == _SCAN or length < 2:
            break
        at += 2 + length
    return 0, 0


def taken_at(now: datetime, age: timedelta) -> datetime:
    """When a picture was taken, from the age that the display gives."""
    return now - min(age, OLDEST)
