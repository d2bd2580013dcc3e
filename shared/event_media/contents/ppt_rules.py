"""Read what the slides of a .ppt contain, by the records of its stream ([MS-PPT] 2.13.24 lists their types).

Text refers to fonts by number, from many places of the stream, and the list of fonts names many that no slide uses. So
only the listed fonts are read, not those that text uses.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

from msgspec import Struct

from shared.event_media.contents.rules import Contents
from shared.event_media.ole_rules import Stream, deck_stream, shown_places

CONTAINER: Final = 0xF
SLIDE: Final = 0x03EE
HYPERLINK, STRING, TARGET_INSTANCE = 0x0FD7, 0x0FBA, 1
VIDEOS: Final = frozenset({0x1006, 0x1007})  # ExAviMovie, ExMCIMovie
OUTSIDE: Final = frozenset({0x1005, 0x1010})  # ExVideo, linked WAV: with the path of a file
OLE_LINK: Final = 0x0FCE  # ExternalOleLink: it has a kind, but no readable path
AN_OLE_LINK: Final = "an object of another file"
AUDIOS: Final = frozenset({0x100D, 0x100E, 0x100F, 0x1010})  # MIDI, CD, embedded and linked WAV
ANIMATION, ANIMATION_ATOM, BUILD_AT = 0x1014, 0x0FF1, 20  # AnimationInfo; a 0 at BUILD_AT of its atom: no animation
TIME_NODE: Final = 0xF144  # an animation of PowerPoint 2002 and later
SHOW_INFO: Final = 0x03F9  # SlideShowSlideInfoAtom
ADVANCES: Final = 0x0400  # its flag fAutoAdvance
THROUGH_BLACK: Final = 1  # the direction of a cut through black
FONT: Final = 0x0FB7  # FontEntityAtom: a name of at most 32 characters, and more
FONT_NAME_BYTES: Final = 64
LONGEST_TEXT: Final = 2048  # bytes
MOST_RECORDS: Final = 1_000_000
NO_END: Final = 2**62


class Record(Struct, frozen=True):
    """The header of one record."""

    kind: int
    instance: int
    start: int
    """Where its content begins."""
    length: int
    is_container: bool

    @property
    def end(self) -> int:
        return self.start + self.length


def read(file: BinaryIO) -> Contents:
    """The contents of the document and its visible slides. Raises the errors of `deck_stream` and ValueError."""
    deck, contents = deck_stream(file), Contents(fonts=None)
    listed: set[str] = set()
    animated: set[int] = set()
    slide, link_ends, path_ends = 0, 0, 0
    for record in _shown_records(file, deck):
        contents.videos += record.kind in VIDEOS
        contents.audios += record.kind in AUDIOS
        slide = record.start if record.kind == SLIDE else slide
        link_ends = record.end if record.kind == HYPERLINK else link_ends
        path_ends = record.end if record.kind in OUTSIDE else path_ends
        if record.kind == FONT:
            listed.add(_text(deck.read(record.start, min(record.length, FONT_NAME_BYTES))))
        elif _is_effect(record, deck):
            animated.add(slide)
        elif record.kind == SHOW_INFO:
            _note_show(deck.read(record.start, 12), contents)
        elif record.kind == OLE_LINK:
            contents.link(AN_OLE_LINK, is_hyperlink=False)
        elif record.kind == STRING and record.start < max(link_ends, path_ends):
            text = _text(deck.read(record.start, min(record.length, LONGEST_TEXT)))
            _note(text, record, contents, is_hyperlink=record.start < link_ends)
    contents.animated_slides = len(animated - {0})
    contents.listed_fonts = (listed - {""}) or None
    return contents


def _shown_records(file: BinaryIO, deck: Stream) -> Iterator[Record]:
    """The records of the document and of each visible slide; of a file of an older form, all records of the stream.

    Raises ValueError when a slide is not where the document says.
    """
    try:
        document, *slides = shown_places(file)
    except (KeyError, ValueError, IndexError, struct.error):
        yield from _records(deck, 0, NO_END)
        return
    yield from _tree(deck, document)
    for place in slides:
        records = _tree(deck, place)
        first = next(records, None)
        if first is None or first.kind != SLIDE:
            raise ValueError("a slide does not lie where the document says")
        yield first
        yield from records


def _tree(deck: Stream, place: int) -> Iterator[Record]:
    """The record at this place, and the records inside it."""
    length: int = struct.unpack("<4xL", deck.read(place, 8))[0]
    return _records(deck, place, place + 8 + length)


def _records(deck: Stream, position: int, end: int) -> Iterator[Record]:
    """Every record, also inside containers, in the order of the stream.

    A record is cut at the end of its container. So a wrong length spoils only the rest of that container.
    """
    ends = [end]
    for _ in range(MOST_RECORDS):
        while ends and position + 8 > ends[-1]:
            position = ends.pop()
        header = deck.read(position, 8) if ends else b""
        if len(header) < 8:
            return
        version, kind, length = struct.unpack("<HHL", header)
        start = position + 8
        record = Record(kind, version >> 4, start, min(length, ends[-1] - start), version & 0xF == CONTAINER)
        yield record
        if record.is_container:
            ends.append(record.end)
        position = record.start if record.is_container else record.end


def _is_effect(record: Record, deck: Stream) -> bool:
    if record.kind == ANIMATION_ATOM:
        return deck.read(record.start + BUILD_AT, 1) not in {b"", b"\0"}
    return record.kind == TIME_NODE or (record.kind == ANIMATION and not record.is_container)


def _note_show(raw: bytes, contents: Contents) -> None:
    """Note a slide's transition: direction and kind of its effect, and its flags.

    Kind 0 is a plain cut, which only counts as an effect if it goes through black. LibreOffice writes other directions
    for a plain cut.
    """
    if len(raw) == 12:
        direction, kind = raw[8], raw[9]
        contents.transitions += bool(kind) or direction == THROUGH_BLACK
        contents.advancing_slides += bool(int.from_bytes(raw[10:], "little") & ADVANCES)


def _note(text: str, record: Record, contents: Contents, *, is_hyperlink: bool) -> None:
    """Note a link's target. A hyperlink has other texts too; a film has only its path."""
    if not is_hyperlink or (record.instance == TARGET_INSTANCE and ":" in text):
        contents.link(text, is_hyperlink=is_hyperlink)


def _text(raw: bytes) -> str:
    """UTF-16 text up to its terminating NUL."""
    return raw[: len(raw) // 2 * 2].decode("utf-16-le", "replace").partition("\0")[0]
