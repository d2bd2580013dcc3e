"""What is on the slides of a .ppt, by the records of its stream ([MS-PPT] 2.13.24 lists their types).

Text takes its fonts by number from places all over the stream; the list of them names many that no slide uses. So
which fonts text is set in is not told, only which ones it can be set in.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from shared.event_media.compound_files.rules import Stream, deck_stream
from shared.event_media.contents.rules import Contents

CONTAINER: Final = 0xF
SLIDE: Final = 0x03EE
HYPERLINK, STRING, TARGET_INSTANCE = 0x0FD7, 0x0FBA, 1
VIDEOS: Final = frozenset({0x1006, 0x1007})  # ExAviMovie, ExMCIMovie
OUTSIDE: Final = frozenset({0x1005, 0x1010})  # ExVideo, linked WAV: with the path of a file
OLE_LINK: Final = 0x0FCE  # ExternalOleLink: whose path is not told, its kind is
AN_OLE_LINK: Final = "an object of another file"
AUDIOS: Final = frozenset({0x100D, 0x100E, 0x100F, 0x1010})  # MIDI, CD, embedded and linked WAV
EFFECTS: Final = frozenset({0x1014, 0xF144})  # AnimationInfo of old, time nodes of PowerPoint 2002
FONT: Final = 0x0FB7  # FontEntityAtom: a name of at most 32 characters, and more
FONT_NAME_BYTES: Final = 64
LONGEST_TEXT: Final = 2048  # bytes
MOST_RECORDS: Final = 1_000_000


@dataclass(frozen=True)
class Record:
    """The head of one record."""

    kind: int
    instance: int
    start: int
    """Of its content."""
    length: int
    is_container: bool

    @property
    def end(self) -> int:
        return self.start + self.length


def read(file: BinaryIO) -> Contents:
    """What the stream's records say. Raises what a damaged file raises."""
    deck, contents = deck_stream(file), Contents(fonts=None)
    listed: set[str] = set()
    animated: set[int] = set()
    slide, link_ends, path_ends = 0, 0, 0
    for record in _records(deck):
        contents.videos += record.kind in VIDEOS
        contents.audios += record.kind in AUDIOS
        slide = record.start if record.kind == SLIDE else slide
        link_ends = record.end if record.kind == HYPERLINK else link_ends
        path_ends = record.end if record.kind in OUTSIDE else path_ends
        if record.kind == FONT:
            listed.add(_text(deck.read(record.start, min(record.length, FONT_NAME_BYTES))))
        elif record.kind in EFFECTS:
            animated.add(slide)
        elif record.kind == OLE_LINK:
            contents.link(AN_OLE_LINK, is_hyperlink=False)
        elif record.kind == STRING and record.start < max(link_ends, path_ends):
            text = _text(deck.read(record.start, min(record.length, LONGEST_TEXT)))
            _note(text, record, contents, is_hyperlink=record.start < link_ends)
    contents.animated_slides = len(animated - {0})
    contents.listed_fonts = (listed - {""}) or None
    return contents


def _records(deck: Stream) -> Iterator[Record]:
    """Every record, those inside of containers too, in the order of the stream."""
    position = 0
    for _ in range(MOST_RECORDS):
        header = deck.read(position, 8)
        if len(header) < 8:
            return
        version, kind, length = struct.unpack("<HHL", header)
        record = Record(kind, version >> 4, position + 8, length, version & 0xF == CONTAINER)
        yield record
        position = record.start if record.is_container else record.end


def _note(text: str, record: Record, contents: Contents, *, is_hyperlink: bool) -> None:
    """A hyperlink has a title and other texts beside its target; a film has its path alone."""
    if not is_hyperlink or (record.instance == TARGET_INSTANCE and ":" in text):
        contents.link(text, is_hyperlink=is_hyperlink)


def _text(raw: bytes) -> str:
    """UTF-16 up to its end mark."""
    return raw[: len(raw) // 2 * 2].decode("utf-16-le", "replace").partition("\0")[0]
