"""What the first bytes of a picture tell: its size (a small file may unpack to gigabytes), and whether it is drawn."""

import io
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Final, Literal

Order = Literal["big", "little"]

MAX_PIXELS: Final = 150_000_000
HEAD_BYTES: Final = 4096
TWIN_BYTES: Final = 64 * 1024
"""So much of a picture's file `may_be_drawn` and `is_stand_in` need; an empty canvas of this size has 4,000² pixels."""
_LEAST_PIXELS: Final = 64  # a smaller picture beside an SVG is none
_UNPACKED_BYTES: Final = 64 * 1024**2
_PNG: Final = b"\x89PNG\r\n\x1a\n"
# nothing, a page of an error, XML but SVG; HEIC and AVIF, JPEG 2000, XL and XR, icons, PostScript without a preview
_NOT_DRAWN: Final = re.compile(
    rb"\s*$|(?:\xef\xbb\xbf)?\s*(?:<!doctype html|<html|[\[{]|<(?!.*?svg\b))"
    rb"|.{4}ftyp|\0\0\0\x0c(?:jP|JXL) |\xff\x0a|\xff\x4f\xff\x51|II\xbc|\0\0\x01\0|%!PS",
    re.DOTALL | re.IGNORECASE,
)
_SVG_TAG: Final = re.compile(rb"<(?:\w+:)?svg\b[^>]*>")
_SVG_SIDES: Final = re.compile(rb"\s(viewBox|width|height)\s*=\s*[\"']([^\"']*)[\"']")
_LENGTH: Final = re.compile(rb"(\d+\.?\d*|\.\d+)[a-z]*")
_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # SOF markers
_JPEG_BARE: Final = frozenset({0x01, *range(0xD0, 0xD9)})  # markers without a length
_TIFF_WIDTH, _TIFF_HEIGHT, _TIFF_SHORT = 256, 257, 3
_TIFF_LONGEST: Final = 64  # the most IFD entries that are read


def pixels(file: IO[bytes]) -> int:
    """Width times height of a PNG, GIF, BMP, WebP, JPEG or TIFF; 0 for any other or an unreadable file.

    Only the beginning of `file` is read, from its current position.
    """
    head = file.read(32)
    for shape, measure in SHAPES:
        if shape.match(head):
            return measure(head, file)
    return 0


def may_be_drawn(head: bytes) -> bool:
    """Whether a picture that begins so is none of the kinds that LibreOffice shows as an empty place."""
    return _NOT_DRAWN.match(head) is None


def is_stand_in(twin: bytes, svg: bytes) -> bool:
    """Whether the picture for older programs beside an SVG is another one: tiny, of other proportions, an empty canvas.

    Programs that cannot draw the SVG put such a picture there. Both are the beginnings of the files.
    """
    if 0 < pixels(io.BytesIO(twin)) < _LEAST_PIXELS:
        return True
    if not twin.startswith(_PNG) or len(twin) < len(_PNG) + 16:
        return False
    width, height = struct.unpack_from(">LL", twin, 16)
    shapes = [*_proportions(svg)]
    is_other = all(abs(width - height * shape) > 0.03 * width + 1 + shape for shape in shapes)
    return (bool(shapes) and is_other) or _is_empty(twin, height)


def _proportions(svg: bytes) -> Iterator[float]:
    """Width by height of an SVG: of what it draws, and of the picture; none where it does not tell."""
    tag = _SVG_TAG.search(svg)
    said = dict(_SVG_SIDES.findall(tag[0])) if tag else {}
    box = said.get(b"viewBox", b"").replace(b",", b" ").split()
    for sides in (box[2:4], [said.get(side, b"") for side in (b"width", b"height")]):
        lengths = [float(found[1]) for found in map(_LENGTH.fullmatch, sides) if found]
        if len(lengths) == 2 and lengths[1]:
            yield lengths[0] / lengths[1]


def _is_empty(png: bytes, height: int) -> bool:
    """Whether a PNG holds only zeros, but for the first byte of each row, which says how the row is packed."""
    packed, at = b"", len(_PNG)
    while at + 8 <= len(png):
        length, kind = struct.unpack_from(">L4s", png, at)
        packed += png[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    try:
        raw = zlib.decompressobj().decompress(packed, _UNPACKED_BYTES)
    except zlib.error:
        return False
    return bool(raw) and len(raw) - raw.count(0) <= height


def _area(width: bytes, height: bytes, order: Order) -> int:
    return int.from_bytes(width, order) * int.from_bytes(height, order)


def _signed(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)  # a negative height means top-down


def _webp(head: bytes) -> int:
    """Read the size from the first chunk, which has one of three forms: extended, lossless or lossy."""
    if head[12:16] == b"VP8X":
        return (1 + int.from_bytes(head[24:27], "little")) * (1 + int.from_bytes(head[27:30], "little"))
    if head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (1 + (bits & 0x3FFF)) * (1 + (bits >> 14 & 0x3FFF))
    width, height = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:30], "little")
    return (width & 0x3FFF) * (height & 0x3FFF)


def _jpeg(read: bytes, file: IO[bytes]) -> int:
    """Read the segments up to the frame header; comments and profiles before it may be long."""
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
    """Reads first the bytes that were already read, then the file."""

    def __init__(self, read: bytes, file: IO[bytes]) -> None:
        self._read = read
        self._file = file

    def take(self, count: int) -> bytes:
        taken, self._read = self._read[:count], self._read[count:]
        return taken + self._file.read(count - len(taken)) if len(taken) < count else taken


def _tiff(data: bytes) -> int:
    """Read the size of the first image, if its directory is near the beginning of the file."""
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


def _bmp(head: bytes, _file: IO[bytes]) -> int:
    return abs(_signed(head[18:22]) * _signed(head[22:26])) if len(head) >= 26 else 0


SHAPES: Final[tuple[tuple[re.Pattern[bytes], Callable[[bytes, IO[bytes]], int]], ...]] = (
    (re.compile(_PNG), lambda head, _: _area(head[16:20], head[20:24], "big")),
    (re.compile(rb"GIF8[79]a"), lambda head, _: _area(head[6:8], head[8:10], "little")),
    (re.compile(rb"BM"), _bmp),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), lambda head, _: _webp(head)),
    (re.compile(rb"\xff\xd8\xff"), lambda head, file: _jpeg(head[2:], file)),
    (re.compile(rb"II\*\x00|MM\x00\*"), lambda head, file: _tiff(head + file.read(1024 * 1024))),
)
"""The first bytes of each picture format, and the function that reads its size."""
