"""The screen of a simulated display as a JPEG: its name, its state and the time, on the state's colour. Pure.

The picture is made of squares of 8 by 8 pixels, each of one colour. A JPEG keeps such a square as one number, so that
writing one takes a few lines and no library.
"""

import struct
from collections.abc import Iterable
from typing import Final

COLUMNS, ROWS = 120, 68  # squares
SQUARE: Final = 8  # pixels
LETTERS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-:./()',"
DOTS: Final = (  # five rows of three dots for each letter, a digit each
    "7555726227717477171755711747177475771122757577571725755656563444365556746477464434553"
    "5575572227111525565544447577556555525552656442557365655342167222255557555225577555255"
    "55222712470070002020000021124412221422242200000024"
)
COLOURS: Final = {"running": (60, 150, 105), "crashed": (55, 110, 190), "black": (0, 128, 128)}
"""State -> brightness, blueness and redness."""
OTHER: Final = (70, 128, 128)
LEVEL, EDGE = 128, 4  # the middle value of a colour in a JPEG; the margin around the words, in squares


def draw(name: str, moment: str, state: str) -> bytes:
    """A JPEG with these words, in the colour of the state; a black screen shows none."""
    ground, blue, red = COLOURS.get(state, OTHER)
    squares = [bytearray([ground]) * COLUMNS for _ in range(ROWS)]
    if state != "black":
        for text, top, size in ((name, 6, 2), (state, 26, 2), (moment, 50, 1)):
            _write(squares, text.upper(), top, size)
    return _jpeg(squares, blue, red)


def _write(squares: list[bytearray], text: str, top: int, size: int) -> None:
    for place, letter in enumerate(text):
        left = EDGE + place * 4 * size
        dots = _dots(letter)
        for y in range(5 * size):
            for x in range(3 * size):
                if int(dots[y // size]) >> (2 - x // size) & 1 and left + x < COLUMNS:
                    squares[top + y][left + x] = 235


def _dots(letter: str) -> str:
    at = 5 * LETTERS.find(letter)
    return DOTS[at : at + 5] if at >= 0 else "00000"


def _jpeg(squares: Iterable[bytearray], blue: int, red: int) -> bytes:
    """A baseline JPEG (ITU T.81): three components of full size, one table for each purpose."""
    parts = b"".join(bytes((number, 0x11, 0)) for number in (1, 2, 3))
    frame = struct.pack(">BHHB", 8, ROWS * SQUARE, COLUMNS * SQUARE, 3) + parts
    levels = bytes([0x00, 1, 0, 0, 0, 8, *[0] * 11]) + bytes(range(9))  # lengths of codes, and what they stand for
    rest = bytes([0x10, 1, *[0] * 15, 0])
    scan = bytes((3, 1, 0, 2, 0, 3, 0, 0, 63, 0))
    segments = ((0xDB, bytes([0, *[8] * 64])), (0xC0, frame), (0xC4, levels), (0xC4, rest), (0xDA, scan))
    head = b"".join(struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body for marker, body in segments)
    return b"\xff\xd8" + head + _scan(squares, blue, red) + b"\xff\xd9"


def _scan(squares: Iterable[bytearray], blue: int, red: int) -> bytes:
    """Encode each number as its difference to the previous one, followed by the end of its square."""
    steps = {step: _code(step) + "0" for step in range(-255, 256)}
    last, bits = LEVEL, []
    tint = steps[blue - LEVEL] + steps[red - LEVEL]
    for row in squares:
        for level in row:
            bits.append(steps[level - last] + tint)
            last, tint = level, steps[0] * 2
    text = "".join(bits)
    text += "1" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\x00")


def _code(step: int) -> str:
    """The number of bits of a difference, then its bits; a negative difference is written as its complement."""
    size = abs(step).bit_length()
    if not size:
        return "0"
    return f"{15 + size:05b}" + f"{step if step > 0 else step + (1 << size) - 1:0{size}b}"
