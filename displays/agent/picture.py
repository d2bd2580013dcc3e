"""Measure a small picture of the screen: its brightness, and how much of it has one colour. Pure."""

import struct
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import Final

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
CHANNELS: Final = {0: 1, 2: 3, 4: 2, 6: 4}  # colour type of a PNG -> bytes of a pixel
LARGEST_SIDE: Final = 256
SHADES: Final = 16  # steps of a channel that count as one colour


class NoPicture(ValueError):
    """The picture is no PNG of the kind that this module reads."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """The measurements of one picture."""

    brightness: int  # 0 to 255
    commonest: float  # the share of the commonest colour

    @property
    def is_black(self) -> bool:
        return self.brightness <= 6 and self.commonest >= 0.99


def glimpse(png: bytes) -> Glimpse:
    """Measure a PNG. Raises NoPicture."""
    width, height, pixels = _pixels(png)
    luma = [[(299 * red + 587 * green + 114 * blue) // 1000 for red, green, blue in row] for row in pixels]
    colours = Counter(tuple(value // SHADES for value in pixel) for row in pixels for pixel in row)
    return Glimpse(
        brightness=sum(map(sum, luma)) // (width * height),
        commonest=colours.most_common(1)[0][1] / (width * height),
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
