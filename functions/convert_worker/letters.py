"""Find letters that a PDF draws as an empty box, because no font of the converter has them.

A PDF holds the text beside the drawing, so the letter behind a box is known. The box is the first glyph of each font.
"""

import unicodedata
from typing import Final

FIRST: Final = 0x0250  # below it are Latin letters, which every font has
SAME: Final = 0.003  # the most that two drawings of one box differ, in parts of the font's size

Outline = tuple[tuple[float, float], ...]
"""Points of a glyph's path, in parts of the font's size; empty when unknown."""


def is_looked_at(code: int) -> bool:
    """Whether this code point is a visible sign that a font may lack."""
    kind = unicodedata.category(chr(code))
    return code >= FIRST and (kind[0] in "LNPS" or kind == "Co")


def is_box(outline: Outline, size: tuple[float, float], box: Outline) -> bool:
    """Whether a letter is drawn as its font's box: by its outline or, when that is unknown, by its size."""
    if outline or not box:
        return bool(box) and outline == box
    across, up = [x for x, _ in box], [y for _, y in box]
    return abs(size[0] - (max(across) - min(across))) < SAME and abs(size[1] - (max(up) - min(up))) < SAME
