"""The contents of a presentation that a PDF may lose: fonts, films, sounds, animations, links.

`event_media.rules.inspect` has already checked that the file is a presentation within the limits and has no document
type. These contents are only for the report; a deck that cannot be read here is not refused.
"""

from typing import Final

from msgspec import Struct, field

LARGEST_PART_BYTES: Final = 32 * 1024**2  # the largest XML part that is read; its tree takes ten times the memory
MOST_TARGETS: Final = 10
LONGEST_TARGET: Final = 200
LATIN, ASIAN, COMPLEX = "latin", "asian", "complex"
FORMULAS, CHARTS, DATES = "formulas_lost", "charts_not_drawn", "dates_stand_still"
PICTURES, BLANK, CUT = "pictures_missing", "pages_blank", "text_cut"
LOSSES: Final = (FORMULAS, CHARTS, PICTURES, BLANK, CUT, DATES)
"""What slides lose: codes of the report's warnings."""
_COMPLEX: Final = ((0x0590, 0x08FF), (0x0900, 0x0DFF), (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
_ASIAN: Final = ((0x1100, 0x11FF), (0x2E80, 0xA4CF), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF))


class Slide(Struct):
    """A visible slide, and what its page must show."""

    number: int
    """Among all slides, from 1."""
    is_drawn: bool = False
    """Whether it has text, a picture or an object."""
    formulas: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    """All other text."""


class Contents(Struct):
    """The contents of the visible slides."""

    fonts: set[str] | None = field(default_factory=set)
    """Font families that the text uses; None when the format does not tell."""
    listed_fonts: set[str] | None = None
    """Font families that the file lists, used or not; for formats without `fonts`."""
    videos: int = 0
    audios: int = 0
    animated_slides: int = 0
    transitions: int = 0
    """Slides with a transition effect."""
    advancing_slides: int = 0
    """Slides that advance by themselves after a time."""
    hyperlinks: list[str] = field(default_factory=list)
    """Targets of links that people click, in order of appearance, each once."""
    linked_files: list[str] = field(default_factory=list)
    """Pictures, objects and media that are linked from outside the file."""
    linked_workbooks: list[str] = field(default_factory=list)
    """Workbooks outside the file from which charts took their values."""
    slides: list[Slide] = field(default_factory=list)
    """In order; empty when the format does not tell."""
    losses: dict[str, list[int]] = field(default_factory=dict)
    """One of LOSSES -> for each thing that is lost, the number of its slide."""
    signs: dict[str, str] = field(default_factory=dict)
    """Characters of private use -> the font family that gives them a shape."""
    shows_chosen_slides: bool = False
    """Whether the slide show leaves out visible slides."""

    def lose(self, what: str, slide: int, count: int = 1) -> None:
        """Note that the PDF lacks so many things of this slide."""
        if count:
            self.losses.setdefault(what, []).extend([slide] * count)

    def link(self, target: str, *, is_hyperlink: bool) -> None:
        """Note a link that leads out of the file."""
        _note(self.hyperlinks if is_hyperlink else self.linked_files, target)

    def link_workbook(self, target: str) -> None:
        """Note the workbook of a chart."""
        _note(self.linked_workbooks, target)


def _note(targets: list[str], target: str) -> None:
    if target[:LONGEST_TARGET] not in targets:
        targets.append(target[:LONGEST_TARGET])


def scripts_of(text: str) -> set[str]:
    """The scripts of a text, each of which may have its own font; blanks have none."""
    found = set()
    for character in text:
        if not character.isspace():
            found.add(_script_of(ord(character)))
    return found


def _script_of(code: int) -> str:
    if code < _COMPLEX[0][0]:
        return LATIN
    if any(low <= code <= high for low, high in _COMPLEX):
        return COMPLEX
    return ASIAN if code >= 0x20000 or any(low <= code <= high for low, high in _ASIAN) else LATIN
