"""Measure a small picture of the screen: its brightness, its colours, its likeness to others. Pure."""

import struct
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
CHANNELS: Final = {0: 1, 2: 3, 4: 2, 6: 4}  # colour type of a PNG -> bytes of a pixel
LARGEST_SIDE: Final = 256
SHADES: Final = 16  # steps of a channel that count as one colour
LEAST_CHANGE: Final = 3  # in brightness; Chromium draws the same page alike
Value = TypeVar("Value")


class NoPicture(ValueError):
    """The picture is no PNG of the kind that this module reads."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The measurements of one picture."""

    brightness: int  # 0 to 255; of the whole, of the darkest and of the brightest pixel
    darkest: int
    brightest: int
    commonest: float  # the share of the commonest colour
    luma: tuple[bytes, ...]  # brightness of each pixel, row by row

    @property
    def is_dark(self) -> bool:
        return self.brightness <= 6 and self.commonest >= 0.99

    @property
    def percent(self) -> int:
        """The share of the commonest colour; 100 only when nothing has another one."""
        return 100 if self.commonest == 1 else min(99, round(100 * self.commonest))

    def differs(self, before: "Glimpse") -> bool:
        """Whether any part of the picture is another than before."""
        if [len(row) for row in self.luma] != [len(row) for row in before.luma]:
            return True
        pairs = zip(b"".join(self.luma), b"".join(before.luma), strict=True)
        return any(abs(now - then) >= LEAST_CHANGE for now, then in pairs)

    def hash(self) -> str:
        """The dHash: for each of 8 rows of 9 cells, whether a cell is darker than the cell to its right; 16 digits."""
        cells = [_cells(rows) for rows in _split(self.luma, 8)]
        bits = [left < right for row in cells for left, right in pairwise(row)]
        return f"{int(''.join('01'[bit] for bit in bits), 2):016x}"


def _cells(rows: Sequence[bytes]) -> list[float]:
    """The brightness of nine cells beside each other."""
    columns = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return [sum(cell) / len(cell) for cell in _split(columns, 9)]


def _split(values: Sequence[Value], parts: int) -> list[Sequence[Value]]:
    """Parts of equal length, but for one; each has a value at least."""
    edges = [number * len(values) // parts for number in range(parts + 1)]
    return [values[min(begin, len(values) - 1) : max(end, begin + 1)] for begin, end in pairwise(edges)]


def glimpse(png: bytes) -> Glimpse:
    """Measure a PNG. Raises NoPicture."""
    width, height, pixels = _pixels(png)
    luma = tuple(bytes((299 * red + 587 * green + 114 * blue) // 1000 for red, green, blue in row) for row in pixels)
    colours = Counter(tuple(value // SHADES for value in pixel) for row in pixels for pixel in row)
    return Glimpse(
        brightness=sum(map(sum, luma)) // (width * height),
        darkest=min(map(min, luma)),
        brightest=max(map(max, luma)),
        commonest=colours.most_common(1)[0][1] / (width * height),
        luma=luma,
    )


def _pixels(png: bytes) -> tuple[int, int, list[list[tuple[int, int, int]]]]:
    """Width, height and the rows of colours. Raises NoPicture."""
    if not png.startswith(SIGNATURE):
        raise NoPicture("not a PNG")
    try:
        width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", png[16:29])
        channels = CHANNELS[kind]
        if depth != 8 or interlaced or not (0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE):
            raise NoPicture("a PNG of another kind")
        stride = width * channels
        raw = zlib.decompressobj().decompress(_data(png), (stride + 1) * height)
        rows = _unfiltered(raw, stride, channels, height)
    except (struct.error, zlib.error, KeyError, IndexError) as error:
        raise NoPicture("a damaged PNG") from error
    return width, height, [[_colour(row[at : at + channels]) for at in range(0, stride, channels)] for row in rows]


def _data(png: bytes) -> bytes:
    parts, at = [], len(SIGNATURE)
    while at + 8 <= len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        if name == b"IDAT":
            parts.append(png[at + 8 : at + 8 + length])
        at += 12 + length
    return b"".join(parts)


def _unfiltered(raw: bytes, stride: int, channels: int, height: int) -> list[bytearray]:
    """Undo PNG's filters. Returns the rows of bytes."""
    rows, above = list[bytearray](), bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        row, kind = bytearray(raw[start + 1 : start + 1 + stride]), raw[start]
        for x in range(stride):
            left = row[x - channels] if x >= channels else 0
            corner = above[x - channels] if x >= channels else 0
            row[x] = (row[x] + _predicted(kind, left, above[x], corner)) & 255
        rows.append(row)
        above = row
    return rows


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:  # Paeth
        guess = left + up - corner
        return min((left, up, corner), key=lambda value: abs(guess - value))
    return (0, left, up, (left + up) // 2)[kind]


def _colour(values: bytearray) -> tuple[int, int, int]:
    return (values[0], values[0], values[0]) if len(values) < 3 else (values[0], values[1], values[2])
