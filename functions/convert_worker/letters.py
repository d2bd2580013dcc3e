"""Letters that the PDF shows as its font's empty box, because no font of the converter has them.

A PDF keeps the text beside its drawing, so a box still knows which letter it stands for. Most fonts draw it as one
rectangle in another. Some draw it otherwise: there all Chinese, Japanese and Korean letters of a font have one size.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

FIRST: Final = 0x0250  # below it are Latin letters, which every font has
EAST: Final = 0x2E80  # from here on: Chinese, Japanese, Korean
PICTURES: Final = 0x1F000  # from here on: emoji
RECTANGULAR: Final = frozenset("口囗回日曰凸凹ロㅁ")
"""Letters that look like the box."""
POINTS: Final = range(8, 13)  # of two rectangles, however often a path comes back to its beginning


@dataclass(frozen=True)
class PageLetter:
    """One letter as a page shows it."""

    letter: str
    font: str
    size: tuple[float, float]
    """Width and height of its outline, in parts of the font's size."""
    is_box: bool
    """Is its outline known to be one rectangle in another?"""


def is_looked_at(code: int) -> bool:
    """Is it a letter or an emoji that a font may lack?"""
    return code >= PICTURES or (code >= FIRST and unicodedata.category(chr(code)).startswith("L"))


def missing(seen: Iterable[PageLetter]) -> list[str]:
    """The letters without a glyph, each once, in the order of their codes."""
    shapes: dict[tuple[str, int], dict[tuple[float, float], set[str]]] = defaultdict(lambda: defaultdict(set))
    boxes: set[tuple[str, tuple[float, float]]] = set()
    for one in seen:
        shapes[one.font, _script(ord(one.letter))][one.size].add(one.letter)
        if one.is_box and one.letter not in RECTANGULAR:
            boxes.add((one.font, one.size))
    found: set[str] = set()
    for (font, script), by_size in shapes.items():
        for size, letters in by_size.items():
            is_only_size = script == EAST and len(by_size) == 1 and len(letters) > 1
            if is_only_size or (font, size) in boxes:
                found |= letters
    return sorted(found)


def is_box(points: list[tuple[float, float]]) -> bool:
    """Is a path of these points, joined by straight lines, one rectangle in another?"""
    bent = sum(a[0] != b[0] and a[1] != b[1] for a, b in pairwise(points))
    return len(points) in POINTS and bent <= 1  # one step leads from the outer rectangle to the inner


def _script(code: int) -> int:
    if code >= PICTURES:
        return PICTURES
    return EAST if code >= EAST else code >> 8
