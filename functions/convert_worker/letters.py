"""Letters and signs that the PDF shows as its font's empty box, because no font of the converter has them.

A PDF keeps the text beside its drawing, so a box still knows which letter it stands for. Each font carries its own box,
as the first of its glyphs.
"""

import unicodedata
from typing import Final

FIRST: Final = 0x0250  # below it are Latin letters, which every font has
SAME: Final = 0.003  # of the font's size: what the sizes of two drawings of one box differ at most

Outline = tuple[tuple[float, float], ...]
"""Points of a glyph's path, in parts of the font's size; none where the PDF does not tell."""


def is_looked_at(code: int) -> bool:
    """Is it something that a font draws, and may lack?"""
    kind = unicodedata.category(chr(code))
    return code >= FIRST and (kind[0] in "LNPS" or kind == "Co")


def is_box(outline: Outline, size: tuple[float, float], box: Outline) -> bool:
    """Is a letter of this outline, or of this size where the outline is not known, drawn as its font's box?"""
    if outline or not box:
        return bool(box) and outline == box
    across, up = [x for x, _ in box], [y for _, y in box]
    return abs(size[0] - (max(across) - min(across))) < SAME and abs(size[1] - (max(up) - min(up))) < SAME
