"""The report of a conversion: what the PDF lacks."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from shared.event_media.contents.rules import FORMULAS, LOSSES, MOST_TARGETS, Contents

MOST_SLIDES: Final = 50  # numbers of slides, in a warning
MOST_LETTERS: Final = 40  # letters without a glyph, in a report
SYMBOL_FONTS: Final = 0xF0  # fonts of symbols have their 256 characters from U+F000 on
METRIC_COMPATIBLE: Final = {
    "calibri": "Carlito",
    "calibri light": "Carlito",
    "cambria": "Caladea",
    "arial": "Liberation Sans",
    "helvetica": "Liberation Sans",
    "arial narrow": "Liberation Sans Narrow",
    "times new roman": "Liberation Serif",
    "courier new": "Liberation Mono",
}
"""Font family -> free font whose letters have the same widths."""
STYLE_WORDS: Final = re.compile(
    r"(regular|roman|normal|book|bold|italic|oblique|medium|light|thin|black|heavy|extra|ultra|semi|demi|ps|mt|vf|std|\d)*"
)


class Findings(Struct, frozen=True):
    """Facts about a finished conversion; None: unknown."""

    pages: int
    visible_slides: int | None
    hidden_slides: int | None
    embedded_fonts: tuple[str, ...] | None
    """Names of the fonts in the PDF, in its spelling."""
    contents: Contents | None
    """The contents of the deck."""
    has_thumbnail: bool
    letters_missing: tuple[str, ...] = ()
    """Letters that the PDF shows as empty boxes."""
    pages_read: int | None = None
    """How many pages were read for them, and compared with the deck."""


def report(found: Findings) -> dict[str, Any]:
    """The report of a finished conversion. `warnings` makes the badge amber; without them the PDF is complete."""
    fonts = _fonts(found.contents, found.embedded_fonts)
    return {
        "pages": found.pages,
        "visible_slides": found.visible_slides,
        "hidden_slides": found.hidden_slides,
        "fonts": fonts,
        "thumbnail": found.has_thumbnail,
        "warnings": [
            *_slides_warnings(found),
            *_losses_warnings(found),
            *_letters_warnings(found.letters_missing, found.contents),
            *_font_warnings(fonts),
            *_unknown_warnings(found, fonts),
            *_contents_warnings(found.contents),
        ],
    }


def _slides_warnings(found: Findings) -> Iterator[dict[str, Any]]:
    if found.visible_slides is not None and found.pages != found.visible_slides:
        yield {"code": "pages_differ", "slides": found.visible_slides, "pages": found.pages}
    if found.hidden_slides:
        yield {"code": "hidden_slides", "slides": found.hidden_slides}


def _losses_warnings(found: Findings) -> Iterator[dict[str, Any]]:
    contents = found.contents
    if contents is None:
        return
    for code in LOSSES:
        slides = contents.losses.get(code, [])
        if code == FORMULAS and found.pages_read is not None:  # only the page tells whether one is lost
            slides = [number for number in slides if number <= found.pages_read]
        if slides:
            yield {"code": code, "count": len(slides), "slides": sorted(set(slides))[:MOST_SLIDES]}
    if contents.shows_chosen_slides:
        yield {"code": "chosen_slides_ignored"}


def _letters_warnings(letters: tuple[str, ...], contents: Contents | None) -> Iterator[dict[str, Any]]:
    """Characters of private use are boxes in a browser, too, so they are told by font and number in that font."""
    if letters:
        fonts = contents.signs if contents is not None else {}
        shown = letters[:MOST_LETTERS]
        yield {
            "code": "letters_missing",
            "count": len(letters),
            "letters": "".join(each for each in shown if not _is_private(each)),
            "signs": [_sign(each, fonts.get(each)) for each in shown if _is_private(each)],
        }


def _is_private(letter: str) -> bool:
    return unicodedata.category(letter) == "Co"


def _sign(letter: str, font: str | None) -> str:
    """A character of private use as PowerPoint's dialog *Symbol* shows it, if the font is known: `Webdings 105`."""
    code = ord(letter)
    return f"{font} {code & 0xFF}" if font and code >> 8 == SYMBOL_FONTS else f"U+{code:04X}"


def _fonts(contents: Contents | None, embedded: tuple[str, ...] | None) -> dict[str, Any] | None:
    """The fonts of the deck's text: named, missing in the PDF, and present in it; None: unknown.

    A format that lists fonts without their use only shows that none is missing.
    """
    if contents is None or embedded is None:
        return None
    named = contents.fonts if contents.fonts is not None else contents.listed_fonts
    if named is None:
        return None
    missing = _missing(named, embedded)
    if missing and contents.fonts is None:
        return None
    return {"named": sorted(named), "substituted": missing, "embedded": sorted(embedded)}


def _missing(named: set[str], embedded: tuple[str, ...]) -> list[str]:
    """The families without a font in the PDF."""
    return sorted(family for family in named if not any(is_font_of(name, family) for name in embedded))


def _unknown_warnings(found: Findings, fonts: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    """Warnings about checks that could not be made; without them the report would claim a complete PDF."""
    if found.pages_read is not None and found.pages_read < found.pages:
        yield {"code": "pages_not_read", "pages": found.pages - found.pages_read}
    if found.contents is None:
        yield {"code": "contents_not_known"}
    elif fonts is None:
        embedded = found.embedded_fonts or ()
        missing = _missing(found.contents.listed_fonts or set(), embedded) if embedded else []
        yield {"code": "fonts_not_known", "fonts": missing, "same_widths": _twins(missing, embedded)}


def _font_warnings(fonts: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    if fonts and fonts["substituted"]:
        missing = fonts["substituted"]
        yield {"code": "fonts_substituted", "fonts": missing, "same_widths": _twins(missing, fonts["embedded"])}


def _twins(families: list[str], embedded: Iterable[str]) -> dict[str, str]:
    """The families that fonts with the same widths replace, so that line breaks stay the same."""
    twins = {family: METRIC_COMPATIBLE.get(family.lower(), "") for family in families}
    return {family: twin for family, twin in twins.items() if any(is_font_of(name, twin) for name in embedded)}


def _contents_warnings(contents: Contents | None) -> Iterator[dict[str, Any]]:
    if contents is None:
        return
    lost = {"videos": contents.videos, "audios": contents.audios, "animated_slides": contents.animated_slides}
    if any(lost.values()):
        yield {"code": "motion_lost", **lost}
    if contents.transitions or contents.advancing_slides:
        yield {"code": "timing_lost", "transitions": contents.transitions, "advancing": contents.advancing_slides}
    if contents.linked_workbooks:
        yield _links("workbooks_not_asked", contents.linked_workbooks)
    if contents.linked_files:
        yield _links("links_not_followed", contents.linked_files)
    if contents.hyperlinks:
        yield _links("hyperlinks", contents.hyperlinks)


def _links(code: str, targets: list[str]) -> dict[str, Any]:
    return {"code": code, "count": len(targets), "targets": targets[:MOST_TARGETS]}


def is_font_of(name: str, family: str) -> bool:
    """Whether the PDF's font `name` (`OpenSans-BoldItalic`) is of this family (`Open Sans`)."""
    wanted, found = _letters(family), _letters(name)
    if not wanted or not found.startswith(wanted):
        return False
    return STYLE_WORDS.fullmatch(found[len(wanted) :]) is not None


def _letters(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
