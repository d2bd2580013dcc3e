"""What a presentation shows and names that a PDF may not keep: fonts, films, sounds, animations, links.

The file was looked at before (`event_media.rules.inspect`): it is a presentation within the limits and holds no
document type. What is read here is read for a report; a deck that cannot be read has none, and is not refused.
"""

from dataclasses import dataclass, field
from typing import Final

LARGEST_PART_BYTES: Final = 32 * 1024**2  # of XML that is read as a whole; a tree of it takes ten times as much
MOST_TARGETS: Final = 10
LONGEST_TARGET: Final = 200
LATIN, ASIAN, COMPLEX = "latin", "asian", "complex"
_COMPLEX: Final = ((0x0590, 0x08FF), (0x0900, 0x0DFF), (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
_ASIAN: Final = ((0x1100, 0x11FF), (0x2E80, 0xA4CF), (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF))


@dataclass
class Contents:
    """What was found on the slides that are shown."""

    fonts: set[str] | None = field(default_factory=set)
    """Families that text on the slides is set in; None where the format does not tell."""
    listed_fonts: set[str] | None = None
    """Families that the file lists, whether text is set in them or not, where that is all it tells."""
    videos: int = 0
    audios: int = 0
    animated_slides: int = 0
    transitions: int = 0
    """Slides that come with an effect."""
    advancing_slides: int = 0
    """Slides that leave by themselves after a while."""
    hyperlinks: list[str] = field(default_factory=list)
    """Targets of links for people, in order of appearance, each once."""
    linked_files: list[str] = field(default_factory=list)
    """Targets of pictures, objects and media that lie outside of the file."""

    linked_workbooks: list[str] = field(default_factory=list)
    """Workbooks outside of the file from which charts took the values that are kept in it."""

    def link(self, target: str, *, is_hyperlink: bool) -> None:
        """Note a link to the outside."""
        _note(self.hyperlinks if is_hyperlink else self.linked_files, target)

    def link_workbook(self, target: str) -> None:
        """Note the workbook of a chart."""
        _note(self.linked_workbooks, target)


def _note(targets: list[str], target: str) -> None:
    if target[:LONGEST_TARGET] not in targets:
        targets.append(target[:LONGEST_TARGET])


def scripts_of(text: str) -> set[str]:
    """The kinds of script in a text, each of which may have a font of its own; none for blanks."""
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
