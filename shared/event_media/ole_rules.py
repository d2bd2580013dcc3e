"""Inspect presentations that are OLE compound files: .ppt, and any presentation that Office has encrypted.

[MS-CFB] describes the container: a file system of sectors, with small streams in a stream of their own.
[MS-PPT] describes the records in the stream `PowerPoint Document`, and which of them are valid.
"""

from __future__ import annotations  # array[int] is a type from Python 3.12 on only

import struct
from array import array
from typing import TYPE_CHECKING, BinaryIO, Final

from msgspec import Struct

from shared.errors import Encrypted, NoSlides, NotAPresentation
from shared.event_media.zip_rules import Slides

if TYPE_CHECKING:
    from collections.abc import Iterator

DECK: Final = "PowerPoint Document"
OLD_DECK: Final = "PP40"  # the stream of PowerPoint 4; its slides are not counted
CURRENT_USER: Final = "Current User"
PICTURES: Final = "Pictures"
ENCRYPTED_PACKAGE: Final = "EncryptedPackage"
MAX_DIRECTORY_ENTRIES: Final = 65_536
MAX_READS: Final = 1_000_000  # the most reads of a stream: the records of a hostile file may form a loop
MAX_DIRECTORY_RECORD_BYTES: Final = 16 * 1024**2
_LARGEST_SECTOR: Final = 0xFFFFFFFA  # larger numbers mark ends of chains and free sectors
_NO_ENTRY: Final = 0xFFFFFFFF
_FAT_SECTORS_IN_HEADER: Final = 109

_ENCRYPTED_TOKEN: Final = 0xF3D1C4DF
_DOCUMENT, _SLIDE_LIST, _SLIDE_PERSIST, _SLIDE_INFO = 0x03E8, 0x0FF0, 0x03F3, 0x03F9
_USER_EDIT, _PERSIST_DIRECTORY = 0x0FF5, 0x1772
_HIDDEN_FLAG: Final = 0x0004
_MAX_EDITS: Final = 10_000
_EDIT_WITH_PASSWORD_BYTES: Final = 32  # the atom's length when the file is encrypted


def inspect(file: BinaryIO) -> Slides | None:
    """The counts of slides in a .ppt; None when its records have an older or unusual form.

    Raises:
        NotAPresentation: it is another kind of document, or damaged.
        Encrypted: it needs a password, or is an encrypted .pptx.
        NoSlides: it has no visible slide.
    """
    try:
        container = _Container(file)
        streams = container.root_streams()
    except (struct.error, IndexError, ValueError) as error:
        raise NotAPresentation("presentation_damaged") from error
    if ENCRYPTED_PACKAGE in streams:
        raise Encrypted
    if DECK in streams:
        return _inspect_deck(container, streams)
    if OLD_DECK in streams:
        return None
    raise NotAPresentation


def deck_stream(file: BinaryIO) -> Stream:
    """The stream of the deck's records. Raises KeyError, ValueError, IndexError or struct.error."""
    container = _Container(file)
    return container.open(container.root_streams()[DECK])


def pictures_bytes(file: BinaryIO) -> int:
    """The size of the stream with the deck's pictures; 0 without one. Raises as `deck_stream` does."""
    entry = _Container(file).root_streams().get(PICTURES)
    return entry.size if entry else 0


def shown_places(file: BinaryIO) -> dict[int, int]:
    """The offset of the document (0) and of each visible slide (its number) in the deck's stream, by the newest edit.

    Raises KeyError, ValueError, IndexError or struct.error when the file has an older form or is damaged.
    """
    container = _Container(file)
    streams = container.root_streams()
    deck = container.open(streams[DECK])
    _, edit = struct.unpack_from("<LL", container.open(streams[CURRENT_USER]).read(0, 20), 12)
    places, document = _places(deck, edit)
    slides = [places[reference] for reference in _slide_references(deck, places[document])]
    shown = {number: place for number, place in enumerate(slides, 1) if not _is_hidden(deck, place)}
    return {0: places[document], **shown}


def _inspect_deck(container: _Container, streams: dict[str, _Entry]) -> Slides | None:
    try:
        deck = container.open(streams[DECK])
        user = container.open(streams[CURRENT_USER]).read(0, 20) if CURRENT_USER in streams else b""
    except (struct.error, IndexError, ValueError) as error:
        raise NotAPresentation("presentation_damaged") from error
    try:
        slides = _count(deck, user)
    except (struct.error, IndexError, ValueError, KeyError):
        return None  # LibreOffice may still read it: the converter decides
    if slides.visible == 0:
        raise NoSlides("every_slide_hidden" if slides.hidden else None)
    return slides


def _count(deck: Stream, user: bytes) -> Slides:
    """Count the slides: from the newest edit to the document, its list of slides, and each slide's flags."""
    token, edit = struct.unpack_from("<LL", user, 12)
    if token == _ENCRYPTED_TOKEN:
        raise Encrypted
    places, document = _places(deck, edit)
    slides = [places[reference] for reference in _slide_references(deck, places[document])]
    hidden = sum(_is_hidden(deck, place) for place in slides)
    return Slides(visible=len(slides) - hidden, hidden=hidden)


def _places(deck: Stream, edit: int) -> tuple[dict[int, int], int]:
    """The offset of each numbered object, and the document's number. Newer edits override older ones."""
    places: dict[int, int] = {}
    document = 0
    for number in range(_MAX_EDITS):
        record = _Record.at(deck, edit)
        if record.type != _USER_EDIT:
            raise ValueError("no edit")
        if record.length >= _EDIT_WITH_PASSWORD_BYTES:
            raise Encrypted
        previous, directory, reference = struct.unpack_from("<LLL", deck.read(record.body, 20), 8)
        document = document if number else reference
        for key, place in _directory(deck, directory):
            places.setdefault(key, place)
        if previous == 0 or previous >= edit:
            return places, document
        edit = previous
    raise ValueError("too many edits")


def _directory(deck: Stream, place: int) -> Iterator[tuple[int, int]]:
    record = _Record.at(deck, place)
    if record.type != _PERSIST_DIRECTORY or record.length > MAX_DIRECTORY_RECORD_BYTES:
        raise ValueError("no directory")
    numbers = array("I", deck.read(record.body, record.length // 4 * 4))
    at = 0
    while at < len(numbers):
        first, count = numbers[at] & 0xFFFFF, numbers[at] >> 20
        yield from ((first + step, numbers[at + 1 + step]) for step in range(count))
        at += 1 + count


def _slide_references(deck: Stream, document: int) -> list[int]:
    """The numbers of the slides, in order. The list of slides has instance 0; masters and notes have other lists."""
    record = _Record.at(deck, document)
    if record.type != _DOCUMENT:
        raise ValueError("no document")
    return [
        struct.unpack("<L", deck.read(child.body, 4))[0]
        for part in record.children(deck)
        if part.type == _SLIDE_LIST and part.instance == 0
        for child in part.children(deck)
        if child.type == _SLIDE_PERSIST
    ]


def _is_hidden(deck: Stream, slide: int) -> bool:
    for child in _Record.at(deck, slide).children(deck):
        if child.type == _SLIDE_INFO:
            flags: int = struct.unpack("<H", deck.read(child.body + 10, 2))[0]
            return bool(flags & _HIDDEN_FLAG)
    return False


class _Record(Struct, frozen=True):
    """One record of the deck's stream: its header, and where its body begins."""

    type: int
    instance: int
    body: int
    length: int

    @classmethod
    def at(cls, deck: Stream, place: int) -> _Record:
        version_and_instance, kind, length = struct.unpack("<HHL", deck.read(place, 8))
        return cls(kind, version_and_instance >> 4, place + 8, length)

    def children(self, deck: Stream) -> Iterator[_Record]:
        place = self.body
        while place + 8 <= self.body + self.length:
            child = _Record.at(deck, place)
            yield child
            place = child.body + child.length


class _Entry(Struct, frozen=True):
    """An entry of the container's directory."""

    name: str
    is_stream: bool
    left: int
    right: int
    child: int
    start: int
    size: int


class Stream:
    """Random access to the bytes of a chain of sectors. Reading past the end gives fewer bytes."""

    def __init__(self, file: BinaryIO | Stream, sectors: array[int], sector_bytes: int, base: int) -> None:
        """Sector n lies at `base + n * sector_bytes` of `file`."""
        self._reads_left = MAX_READS
        self._file = file
        self._sectors = sectors
        self._sector_bytes = sector_bytes
        self._base = base

    def read(self, offset: int, count: int) -> bytes:
        """Read up to `count` bytes from `offset` on. Raises ValueError after more reads than a real file needs."""
        self._reads_left -= 1
        if self._reads_left < 0:
            raise ValueError("records without end")
        parts = []
        while count > 0 and offset // self._sector_bytes < len(self._sectors):
            number, inside = divmod(offset, self._sector_bytes)
            step = min(count, self._sector_bytes - inside)
            parts.append(self._raw(self._base + self._sectors[number] * self._sector_bytes + inside, step))
            offset, count = offset + step, count - step
        return b"".join(parts)

    def _raw(self, place: int, count: int) -> bytes:
        if isinstance(self._file, Stream):
            return self._file.read(place, count)
        self._file.seek(place)
        return self._file.read(count)


class _Container:
    """A compound file. Raises ValueError, IndexError or struct.error when it is damaged."""

    def __init__(self, file: BinaryIO) -> None:
        file_bytes = file.seek(0, 2)
        file.seek(0)
        header = file.read(512)
        sector_shift, mini_shift = struct.unpack_from("<HH", header, 30)
        if sector_shift not in {9, 12} or mini_shift != 6:
            raise ValueError("no sector size")
        self._file = file
        self._sector_bytes = 1 << sector_shift
        self._sectors = file_bytes // self._sector_bytes
        directory, _, self._mini_cutoff, mini_fat = struct.unpack_from("<4L", header, 48)
        self._fat = self._read_fat(header)
        self._mini_fat = self._numbers(self._chain(mini_fat, self._fat))
        self._entries = self._read_directory(directory)
        root = self._entries[0]
        self._mini = Stream(file, self._chain(root.start, self._fat), self._sector_bytes, self._sector_bytes)

    def root_streams(self) -> dict[str, _Entry]:
        """The top-level streams by name. Streams inside embedded objects do not count."""
        found: dict[str, _Entry] = {}
        waiting, seen = [self._entries[0].child], set[int]()
        while waiting:
            number = waiting.pop()
            if number == _NO_ENTRY or number in seen:
                continue
            seen.add(number)
            entry = self._entries[number]
            waiting += [entry.left, entry.right]
            if entry.is_stream:
                found[entry.name] = entry
        return found

    def open(self, entry: _Entry) -> Stream:
        """The stream of a directory entry."""
        if entry.size < self._mini_cutoff:
            return Stream(self._mini, self._chain(entry.start, self._mini_fat), 64, 0)
        sectors = self._chain(entry.start, self._fat)
        if len(sectors) * self._sector_bytes < entry.size:
            raise ValueError("a stream is cut")
        return Stream(self._file, sectors, self._sector_bytes, self._sector_bytes)

    def _read_fat(self, header: bytes) -> array[int]:
        """The file allocation table: the next sector of each sector. The header and a chain list its own sectors."""
        numbers = array("I", header[76 : 76 + 4 * _FAT_SECTORS_IN_HEADER])
        following = struct.unpack_from("<L", header, 68)[0]
        for _ in range(self._sectors):
            if following >= _LARGEST_SECTOR:
                break
            more = self._numbers(array("I", [following]))
            numbers.extend(more[:-1])
            following = more[-1]
        used = array("I", (number for number in numbers if number < _LARGEST_SECTOR))
        if len(used) > self._sectors:
            raise ValueError("too many sectors")
        return self._numbers(used)

    def _chain(self, start: int, following: array[int]) -> array[int]:
        """The sectors of a chain in order."""
        chain = array("I")
        while start < _LARGEST_SECTOR:
            if len(chain) > len(following):
                raise ValueError("a chain goes round in circles")
            chain.append(start)
            start = following[start]
        return chain

    def _numbers(self, sectors: array[int]) -> array[int]:
        """The content of these sectors as 32-bit numbers."""
        stream = Stream(self._file, sectors, self._sector_bytes, self._sector_bytes)
        raw = stream.read(0, len(sectors) * self._sector_bytes)
        return array("I", raw[: len(raw) // 4 * 4])

    def _read_directory(self, start: int) -> list[_Entry]:
        sectors = self._chain(start, self._fat)
        count = min(len(sectors) * self._sector_bytes // 128, MAX_DIRECTORY_ENTRIES)
        stream = Stream(self._file, sectors, self._sector_bytes, self._sector_bytes)
        return [_entry(stream.read(128 * number, 128)) for number in range(count)]


def _entry(raw: bytes) -> _Entry:
    name_bytes, kind = struct.unpack_from("<HB", raw, 64)
    left, right, child = struct.unpack_from("<3L", raw, 68)
    start, size = struct.unpack_from("<LL", raw, 116)
    name = raw[: min(64, max(0, name_bytes - 2))].decode("utf-16-le", "replace")
    return _Entry(name, kind == 2, left, right, child, start, size)
