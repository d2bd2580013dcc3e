"""The size of a picture, read from its header: a small file may unpack to gigabytes."""

from typing import IO, Final, Literal

Order = Literal["big", "little"]

MAX_PIXELS: Final = 150_000_000
_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # SOF markers
_JPEG_BARE: Final = frozenset({0x01, *range(0xD0, 0xD9)})  # markers without a length
_TIFF_WIDTH, _TIFF_HEIGHT, _TIFF_SHORT = 256, 257, 3
_TIFF_LONGEST: Final = 64  # IFD entries looked at


def pixels(file: IO[bytes]) -> int:
    """Width times height of a PNG, GIF, BMP, JPEG or TIFF; 0 for anything else or what cannot be read.

    `file` is read from its current position on, by far not to its end.
    """
    head = file.read(32)
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return _area(head[16:20], head[20:24], "big")
    if head[:6] in {b"GIF87a", b"GIF89a"}:
        return _area(head[6:8], head[8:10], "little")
    if head[:2] == b"BM" and len(head) >= 26:
        return abs(_signed(head[18:22]) * _signed(head[22:26]))
    if head[:3] == b"\xff\xd8\xff":
        return _jpeg(head[2:], file)
    if head[:4] in {b"II*\x00", b"MM\x00*"}:
        return _tiff(head + file.read(1024 * 1024))
    return 0


def _area(width: bytes, height: bytes, order: Order) -> int:
    return int.from_bytes(width, order) * int.from_bytes(height, order)


def _signed(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)  # a negative height means top-down


def _jpeg(read: bytes, file: IO[bytes]) -> int:
    """Walk the segments up to the frame header; the comments and profiles before it may be long."""
    reader = _Ahead(read, file)
    while reader.take(1) == b"\xff":
        marker = reader.take(1)
        while marker == b"\xff":  # fill bytes
            marker = reader.take(1)
        if not marker or marker[0] == 0xDA:
            return 0
        if marker[0] in _JPEG_BARE:
            continue
        length = int.from_bytes(reader.take(2), "big")
        if marker[0] in _JPEG_FRAMES:
            frame = reader.take(5)
            return _area(frame[1:3], frame[3:5], "big")
        if length < 2 or len(reader.take(length - 2)) != length - 2:
            return 0
    return 0


class _Ahead:
    """Bytes that were read already, and then the file."""

    def __init__(self, read: bytes, file: IO[bytes]) -> None:
        self._read = read
        self._file = file

    def take(self, count: int) -> bytes:
        taken, self._read = self._read[:count], self._read[count:]
        return taken + self._file.read(count - len(taken)) if len(taken) < count else taken


def _tiff(data: bytes) -> int:
    """The first image of the file, where its directory lies near the beginning."""
    order: Order = "little" if data[:2] == b"II" else "big"
    start = int.from_bytes(data[4:8], order)
    count = min(int.from_bytes(data[start : start + 2], order), _TIFF_LONGEST)
    found = {_TIFF_WIDTH: 0, _TIFF_HEIGHT: 0}
    for number in range(count):
        entry = data[start + 2 + 12 * number :][:12]
        tag = int.from_bytes(entry[:2], order)
        if tag in found:
            short = int.from_bytes(entry[2:4], order) == _TIFF_SHORT
            found[tag] = int.from_bytes(entry[8:10] if short else entry[8:12], order)
    return found[_TIFF_WIDTH] * found[_TIFF_HEIGHT]
