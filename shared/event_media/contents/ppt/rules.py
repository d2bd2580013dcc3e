"""What is on the slides of a .ppt, by the records of its stream ([MS-PPT] 2.13.24 lists their types).

Text takes its fonts by number from places all over the stream; the list of them names many that no slide uses. So
which fonts text is set in is not told, only which ones it can be set in.
"""

import struct
from typing import BinaryIO, Final

from shared.event_media.compound_files.rules import deck_stream
from shared.event_media.contents.rules import Contents

CONTAINER: Final = 0xF
SLIDE: Final = 0x03EE
HYPERLINK, HYPERLINK_TARGET, TARGET_INSTANCE = 0x0FD7, 0x0FBA, 1
VIDEOS: Final = frozenset({0x1006, 0x1007})  # ExAviMovie, ExMCIMovie
AUDIOS: Final = frozenset({0x100D, 0x100E, 0x100F, 0x1010})  # MIDI, CD, embedded and linked WAV
EFFECTS: Final = frozenset({0x1014, 0xF144})  # AnimationInfo of old, time nodes of PowerPoint 2002
FONT: Final = 0x0FB7  # FontEntityAtom: a name of at most 32 characters, and more
FONT_NAME_BYTES: Final = 64
MOST_RECORDS: Final = 1_000_000


def read(file: BinaryIO) -> Contents:
    """What the stream's records say. Raises what a damaged file raises."""
    deck, contents = deck_stream(file), Contents(fonts=None)
    listed: set[str] = set()
    position, slide, animated, link_ends = 0, 0, set[int](), 0
    for _ in range(MOST_RECORDS):
        header = deck.read(position, 8)
        if len(header) < 8:
            break
        version, kind, length = struct.unpack("<HHL", header)
        slide = position if kind == SLIDE else slide
        contents.videos += kind in VIDEOS
        contents.audios += kind in AUDIOS
        if kind == FONT:
            listed.add(_text(deck.read(position + 8, min(length, FONT_NAME_BYTES))))
        if kind in EFFECTS:
            animated.add(slide)
        if kind == HYPERLINK:
            link_ends = position + 8 + length
        elif kind == HYPERLINK_TARGET and version >> 4 == TARGET_INSTANCE and position < link_ends:
            _note_target(deck.read(position + 8, min(length, 2048)), contents)
        position += 8 if version & 0xF == CONTAINER else 8 + length
    contents.animated_slides = len(animated - {0})
    contents.listed_fonts = (listed - {""}) or None
    return contents


def _note_target(raw: bytes, contents: Contents) -> None:
    target = _text(raw)
    if ":" in target:
        contents.link(target, is_hyperlink=True)


def _text(raw: bytes) -> str:
    """UTF-16 up to its end mark."""
    return raw[: len(raw) // 2 * 2].decode("utf-16-le", "replace").partition("\0")[0]
