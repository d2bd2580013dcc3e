"""What is on the slides of a .ppt, by the records of its stream ([MS-PPT] 2.13.24 lists their types).

Text takes its fonts by number from places all over the stream; the list of them names many that no slide uses.
So the fonts of a .ppt are not told.
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
MOST_RECORDS: Final = 1_000_000


def read(file: BinaryIO) -> Contents:
    """What the stream's records say. Raises what a damaged file raises."""
    deck, contents = deck_stream(file), Contents(fonts=None)
    position, slide, animated, link_ends = 0, 0, set[int](), 0
    for _ in range(MOST_RECORDS):
        header = deck.read(position, 8)
        if len(header) < 8:
            break
        version, kind, length = struct.unpack("<HHL", header)
        slide = position if kind == SLIDE else slide
        contents.videos += kind in VIDEOS
        contents.audios += kind in AUDIOS
        if kind in EFFECTS:
            animated.add(slide)
        if kind == HYPERLINK:
            link_ends = position + 8 + length
        elif kind == HYPERLINK_TARGET and version >> 4 == TARGET_INSTANCE and position < link_ends:
            _note_target(deck.read(position + 8, min(length, 2048)), contents)
        position += 8 if version & 0xF == CONTAINER else 8 + length
    contents.animated_slides = len(animated - {0})
    return contents


def _note_target(raw: bytes, contents: Contents) -> None:
    target = raw[: len(raw) // 2 * 2].decode("utf-16-le", "replace").rstrip("\0")
    if ":" in target:
        contents.link(target, is_hyperlink=True)
