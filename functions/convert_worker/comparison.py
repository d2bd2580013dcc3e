"""Compare a slide of the deck with its page of the PDF: what the page lacks is noted in the deck's contents."""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from shared.event_media.contents.rules import BLANK, CUT, FORMULAS, Contents, Slide

POINTS: Final = 3.0  # text may leave the page by so much, and by a quarter of its height
BACKGROUND: Final = 0.98  # the part of the page that a colour covers at least when it is the background


Kind = Literal["text", "path", "other"]


class Placed(NamedTuple):
    """An object of a page, by its edges in points from the page's lower left corner."""

    left: float
    bottom: float
    right: float
    top: float
    kind: Kind


def compare(contents: Contents, slide: Slide, text: str, objects: Iterable[Placed], size: tuple[float, float]) -> None:
    """Note whether the page lacks everything or cuts text, and that the formulas in its text are not lost."""
    lost = contents.losses.get(FORMULAS, [])
    for _ in range(formulas_shown(slide, text)):
        lost.remove(slide.number)
    if not lost:
        contents.losses.pop(FORMULAS, None)
    is_blank, is_cut = slide.is_drawn, False
    for each in objects:
        is_blank = is_blank and _is_background(each, size)
        is_cut = is_cut or (each.kind == "text" and _leaves_page(each, size))
    contents.lose(BLANK, slide.number, is_blank)
    contents.lose(CUT, slide.number, is_cut)


def formulas_shown(slide: Slide, text: str) -> int:
    """How many formulas of the slide are in the text of its page, beside the slide's other text."""
    left = _signs(text)
    left.subtract(_signs("".join(slide.text)))
    shown = 0
    for formula in slide.formulas:
        needed = _signs(formula)
        if needed and all(left[sign] >= count for sign, count in needed.items()):
            left.subtract(needed)
            shown += 1
    return shown


def _signs(text: str) -> Counter[str]:
    """The letters and digits; a formula's letters in italics are the plain ones."""
    return Counter(sign for sign in unicodedata.normalize("NFKC", text) if unicodedata.category(sign)[0] in "LN")


def _is_background(each: Placed, size: tuple[float, float]) -> bool:
    width, height = size
    across, up = min(each.right, width) - max(each.left, 0), min(each.top, height) - max(each.bottom, 0)
    return each.kind == "path" and across >= BACKGROUND * width and up >= BACKGROUND * height


def _leaves_page(each: Placed, size: tuple[float, float]) -> bool:
    """Whether an edge of the page goes through this text, or the text lies outside.

    LibreOffice leaves out shapes that lie outside of the page.
    """
    width, height = size
    spare = max(POINTS, (each.top - each.bottom) / 4)
    return min(each.left, each.bottom, width - each.right, height - each.top) < -spare
