"""Read what the slides of a .ppt contain, by the records of its stream ([MS-PPT] 2.13.24 lists their types).

Text refers to fonts by number, from many places of the stream, and the list of fonts names many that no slide uses. So
only the listed fonts are read, not those that text uses.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

from msgspec import Struct, field

from shared.event_media.contents.rules import DATES, PICTURES, Contents, Slide
from shared.event_media.ole_rules import Stream, deck_stream, pictures_bytes, shown_places

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
DATE_FIELDS: Final = frozenset({0x0FF7, 0x1015})  # DateTimeMCAtom, RTFDateTimeMCAtom: text of a slide
MAIN_MASTER, FOOTER_DATE = 0x03F8, 0x0FF8
FOOTERS, FOOTERS_ATOM, OF_ALL_SLIDES = 0x0FD9, 0x0FDA, 3  # the instance of the document's footers
SLIDE_LIST, OF_SLIDES, SLIDE_PERSIST = 0x0FF0, 0, 0x03F3  # a list with the text of the slides' placeholders
TEXTS: Final = frozenset({0x0FA0, 0x0FA8})  # TextCharsAtom, TextBytesAtom
BLANKS: Final = b"\0 \t\r\n\x0b"
PICTURE: Final = 0xF007  # OfficeArtFBSE: where a picture of the file lies; shapes name it by its number
PICTURE_SIZE_AT, PICTURE_BYTES = 20, 36  # its fields size, cRef and foDelay; a longer record holds the picture itself
SHAPE, PROPERTIES, OBJECT = 0xF004, 0xF00B, 0x0BC1  # OfficeArtSpContainer, OfficeArtFOPT, ExObjRefAtom
PICTURE_OF_SHAPE, NAME_OF_PICTURE = 0x4104, 0xC105  # properties pib and pibName of a shape
PROPERTY_BYTES: Final = 6
TODAY: Final = 0x03  # its flags fHasDate and fHasTodayDate
SHOW: Final = 0x0401  # SlideShowDocInfoAtom
CHOSEN_AT, CHOSEN = 76, 0x0C  # its flags fUseSlideRange and fDocUseNamedShow
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
    dates, drawings = _Dates(), _Drawings(pictures_bytes(file))
    link_ends, path_ends = 0, 0
    for slide, record in _shown_records(file, deck):
        contents.videos += record.kind in VIDEOS
        contents.audios += record.kind in AUDIOS
        link_ends = record.end if record.kind == HYPERLINK else link_ends
        path_ends = record.end if record.kind in OUTSIDE else path_ends
        if record.kind == FONT:
            listed.add(_text(deck.read(record.start, min(record.length, FONT_NAME_BYTES))))
        elif _is_effect(record, deck):
            animated.add(slide)
        elif record.kind in {SHOW_INFO, SHOW}:
            _note_show(record, deck, contents)
        elif record.kind == OLE_LINK:
            contents.link(AN_OLE_LINK, is_hyperlink=False)
        elif record.kind == STRING and record.start < max(link_ends, path_ends):
            text = _text(deck.read(record.start, min(record.length, LONGEST_TEXT)))
            _note(text, record, contents, is_hyperlink=record.start < link_ends)
        dates.note(slide, record, deck)
        drawings.note(slide, record, deck)
    contents.slides = [Slide(number, is_drawn=number in drawings.slides) for number in sorted(dates.all_slides)]
    for slide in drawings.without_picture():
        contents.lose(PICTURES, slide)
    contents.animated_slides = len(animated - {0})
    for slide in dates.slides(deck):
        contents.lose(DATES, slide)
    contents.listed_fonts = (listed - {""}) or None
    return contents


class _Dates(Struct):
    """Dates and times that change by themselves: in the text of slides, or in their footers."""

    in_text: list[int] = field(default_factory=list)
    """The slide of each."""
    all_slides: set[int] = field(default_factory=set)
    in_footer: dict[int, bool] = field(default_factory=dict)
    """Slide -> whether it wants one; 0: those that do not say."""
    footers: int = 0
    """The kind of the last footers: of all slides, or of notes."""

    def note(self, slide: int, record: Record, deck: Stream) -> None:
        """Note what a record says about dates."""
        if record.kind == SLIDE:
            self.all_slides.add(slide)
        elif record.kind == FOOTERS:
            self.footers = record.instance
        elif record.kind == FOOTERS_ATOM and (slide or self.footers == OF_ALL_SLIDES):
            self.in_footer[slide] = int.from_bytes(deck.read(record.start + 2, 1)) & TODAY == TODAY
        elif record.kind in DATE_FIELDS and slide:
            self.in_text.append(slide)

    def slides(self, deck: Stream) -> list[int]:
        """The slide of each date. A footer shows one only if a master has a place for it."""
        of_all = self.in_footer.get(0, False)
        wanting = [slide for slide in sorted(self.all_slides) if self.in_footer.get(slide, of_all)]
        return self.in_text + (wanting if wanting and _has_dated_master(deck) else [])


class _Shape(Struct):
    """A shape of a slide. LibreOffice draws a picture, or an object of another program, by its picture alone."""

    slide: int
    picture: int = 0
    """Its number in the file, from 1."""
    needs_picture: bool = False


class _Drawings(Struct):
    """The text and pictures of the slides, and which pictures the file has."""

    stored_bytes: int
    """The size of the stream of pictures."""
    stored: list[bool] = field(default_factory=list)
    """Whether the file has the picture, by its number."""
    shapes: list[_Shape] = field(default_factory=list)
    slides: set[int] = field(default_factory=set)
    """Those with text, a picture or an object."""
    listed: int | None = None
    """The last slide in the list of their text; None in other lists."""

    def note(self, slide: int, record: Record, deck: Stream) -> None:
        """Note what a record says about text and pictures."""
        if record.kind == SLIDE_LIST:
            self.listed = 0 if record.instance == OF_SLIDES else None
        elif record.kind == SLIDE_PERSIST and self.listed is not None:
            self.listed += 1
        elif record.kind in TEXTS and deck.read(record.start, min(record.length, LONGEST_TEXT)).strip(BLANKS):
            self.slides.add(slide or self.listed or 0)
        elif record.kind == PICTURE:
            size, _, place = struct.unpack("<LLL", deck.read(record.start + PICTURE_SIZE_AT, 12).ljust(12, b"\0"))
            self.stored.append(record.length > PICTURE_BYTES or (size > 0 and place < self.stored_bytes))
        elif slide:
            self._note_shape(slide, record, deck)

    def _note_shape(self, slide: int, record: Record, deck: Stream) -> None:
        if record.kind == SHAPE:
            self.shapes.append(_Shape(slide))
        elif self.shapes and record.kind == PROPERTIES:
            raw = deck.read(record.start, min(record.length, record.instance * PROPERTY_BYTES))
            for name, value in struct.iter_unpack("<HL", raw[: len(raw) // PROPERTY_BYTES * PROPERTY_BYTES]):
                if name in {PICTURE_OF_SHAPE, NAME_OF_PICTURE}:
                    self.shapes[-1].needs_picture = True
                    self.shapes[-1].picture = value if name == PICTURE_OF_SHAPE else self.shapes[-1].picture
        elif self.shapes and record.kind == OBJECT:
            self.shapes[-1].needs_picture = True
        if self.shapes and self.shapes[-1].needs_picture:
            self.slides.add(slide)

    def without_picture(self) -> list[int]:
        """The slide of each shape that lacks its picture."""
        there = {number for number, is_stored in enumerate(self.stored, 1) if is_stored}
        return [shape.slide for shape in self.shapes if shape.needs_picture and shape.picture not in there]


def _shown_records(file: BinaryIO, deck: Stream) -> Iterator[tuple[int, Record]]:
    """The records of the document (0) and of each visible slide (its number).

    Of a file of an older form, all records of the stream; its slides have the numbers in which they come.
    Raises ValueError when a slide is not where the document says.
    """
    try:
        places = shown_places(file)
    except (KeyError, ValueError, IndexError, struct.error):
        number = 0
        for record in _records(deck, 0, NO_END):
            number += record.kind == SLIDE
            yield number, record
        return
    for number, place in places.items():
        records = _tree(deck, place)
        first = next(records, None)
        if first is None or (number and first.kind != SLIDE):
            raise ValueError("a slide does not lie where the document says")
        yield number, first
        yield from ((number, record) for record in records)


def _has_dated_master(deck: Stream) -> bool:
    """Whether a master has a place for the date in its footer."""
    master_ends = 0
    for record in _records(deck, 0, NO_END):
        master_ends = record.end if record.kind == MAIN_MASTER else master_ends
        if record.kind == FOOTER_DATE and record.start < master_ends:
            return True
    return False


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


def _note_show(record: Record, deck: Stream, contents: Contents) -> None:
    """Note how the whole deck is shown, or one slide of it."""
    if record.kind == SHOW_INFO:
        _note_transition(deck.read(record.start, 12), contents)
    else:
        flags = int.from_bytes(deck.read(record.start + CHOSEN_AT, 1))
        contents.shows_chosen_slides = bool(flags & CHOSEN)


def _note_transition(raw: bytes, contents: Contents) -> None:
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
