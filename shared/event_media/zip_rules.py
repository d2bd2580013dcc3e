"""Inspect presentations that are ZIP packages, without unpacking them.

LibreOffice's exit code hides failures, and it makes a PDF of random bytes. So a file that is no presentation, or is
too large when unpacked, must be refused before the conversion.
"""

import errno
import gzip
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from typing import IO, BinaryIO, Final
from xml.parsers import expat

from msgspec import Struct

from shared.errors import Encrypted, NoSlides, NotAPresentation, TooLargeUnpacked
from shared.event_media import pictures_rules
from shared.vocabulary import MediaKind

MAX_ENTRIES: Final = 20_000
MAX_DIRECTORY_BYTES: Final = MAX_ENTRIES * 512  # names in real decks are under 100 bytes
MAX_UNPACKED_BYTES: Final = 1024**3
MAX_XML_BYTES: Final = 128 * 1024**2
MAX_CONTENT_TYPES_BYTES: Final = 16 * 1024**2
MAX_DEPTH: Final = 1000  # of elements in elements; real decks have less than 60
MAX_ELEMENTS: Final = 5_000_000  # of all parts
LEAST_SIDE: Final = 12_700  # of a slide, in EMU: a point
LONGEST_ENTITY: Final = 256  # of a picture, in characters; drawing programs declare short names of addresses
BLOCK_BYTES: Final = 64 * 1024
XML_SUFFIXES: Final = (".xml", ".rels")
XML_BEGINS: Final = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*<")
GZIP: Final = b"\x1f\x8b"  # the start of a compressed SVG
NEVER_TYPED: Final = {"content.xml", "styles.xml", "meta.xml", "settings.xml"}  # never have a document type
OFFICES_OWN: Final = re.compile(r"-//OpenOffice\.org//DTD [\w. ]+//EN [\w-]+\.dtd")  # public id and system id
METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the only methods that .pptx and .odp allow
ODP_TYPES: Final = tuple(b"application/vnd.oasis.opendocument.presentation" + end for end in (b"", b"-template"))
_END_OF_DIRECTORY: Final = struct.Struct("<4s4H2LH")
_END_OF_DIRECTORY_64: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64_BYTES: Final = 20
_LONGEST_COMMENT: Final = 65_535
_ENCODINGS: Final = ("ascii", "utf-16-le", "utf-16-be")
_DOCTYPES: Final = tuple("<!DOCTYPE".encode(name) for name in _ENCODINGS)
_ENTITIES: Final = tuple("<!ENTITY".encode(name) for name in _ENCODINGS)

Attributes = Mapping[str, str]
OnElement = Callable[[str, Attributes], bool]
"""A callback with an element's local name and its attributes by local name. True ends the reading."""


class Slides(Struct, frozen=True):
    """How many slides a presentation has."""

    visible: int
    """Visible slides become pages of the PDF."""
    hidden: int


def inspect(file: BinaryIO) -> tuple[MediaKind, Slides]:
    """The kind of a ZIP presentation, and the counts of its slides.

    Raises:
        NotAPresentation: it is another kind of file, is damaged, or has a document type (DOCTYPE).
        Encrypted: it needs a password.
        TooLargeUnpacked: it exceeds one of the limits above.
        NoSlides: it has no visible slide.
    """
    with _zip_errors():
        _check_directory_size(file)
        with zipfile.ZipFile(file) as package:
            _check_entries(package.infolist())
            kind, count = _judge(package)
            damaged = _check_parts(package, kind)
            slides = count(package, damaged)
    if slides.visible == 0:
        raise NoSlides("every_slide_hidden" if slides.hidden else None)
    return kind, slides


@contextmanager
def _zip_errors() -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, expat.ExpatError) as error:
        raise NotAPresentation("presentation_damaged") from error
    except (struct.error, ValueError, LookupError, NotImplementedError, RuntimeError) as error:
        raise NotAPresentation("presentation_damaged") from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a damaged package made zipfile seek before the file's beginning
            raise
        raise NotAPresentation("presentation_damaged") from error


def _check_directory_size(file: BinaryIO) -> None:
    """Refuse a central directory that is too large to load into memory."""
    size = file.seek(0, 2)
    start = max(0, size - _END_OF_DIRECTORY.size - _LONGEST_COMMENT - _LOCATOR_64_BYTES - _END_OF_DIRECTORY_64.size)
    file.seek(start)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0:
        raise NotAPresentation("presentation_damaged")
    entries, directory_bytes = _END_OF_DIRECTORY.unpack_from(tail, at)[4:6]
    if tail[max(0, at - _LOCATOR_64_BYTES) :].startswith(b"PK\x06\x07"):
        at_64 = at - _LOCATOR_64_BYTES - _END_OF_DIRECTORY_64.size
        entries, directory_bytes = _END_OF_DIRECTORY_64.unpack_from(tail, at_64)[7:9]
    if entries > MAX_ENTRIES or directory_bytes > MAX_DIRECTORY_BYTES:
        raise TooLargeUnpacked("presentation_has_too_many_parts", facts={"most": MAX_ENTRIES})


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    """Check the entries of the directory, before anything is unpacked."""
    if len(entries) > MAX_ENTRIES:
        raise TooLargeUnpacked("presentation_has_too_many_parts", facts={"most": MAX_ENTRIES})
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
        raise TooLargeUnpacked("presentation_too_large", facts={"gibibytes": MAX_UNPACKED_BYTES >> 30})
    for entry in entries:
        if entry.flag_bits & 0x1:
            raise Encrypted
        if entry.compress_type not in METHODS:
            raise NotAPresentation("presentation_packed_oddly")
        if _is_xml(entry) and entry.file_size > MAX_XML_BYTES:
            raise TooLargeUnpacked("presentation_part_too_large", facts={"mebibytes": MAX_XML_BYTES >> 20})


def _judge(package: zipfile.ZipFile) -> tuple[MediaKind, Callable[[zipfile.ZipFile, set[str]], Slides]]:
    """The kind that the package declares, and the function that counts its slides. Raises NotAPresentation."""
    names = set(package.namelist())
    if "mimetype" in names:
        with package.open("mimetype") as part:
            declared = part.read(128).strip()
        if declared in ODP_TYPES:
            _check_manifest(package)
            return MediaKind.ODP, _count_odp
    elif "[Content_Types].xml" in names and _main_part(package):
        return MediaKind.PPTX, _count_pptx
    raise NotAPresentation


def _check_manifest(package: zipfile.ZipFile) -> None:
    """Raise Encrypted when the manifest of an OpenDocument file names an encrypted part."""
    found: list[str] = []

    def note(name: str, _attributes: Attributes) -> bool:
        found.append(name)
        return name == "encryption-data"

    if "META-INF/manifest.xml" in package.namelist():
        _walk(package, "META-INF/manifest.xml", note, is_name_allowed=True)
    if found[-1:] == ["encryption-data"]:
        raise Encrypted


def _check_parts(package: zipfile.ZipFile, kind: MediaKind) -> set[str]:
    """Read every part of XML. Returns the damaged ones.

    Refuse document types, which allow entity bombs and access to other files, elements that are nested too deep, and
    pictures with too many pixels.

    LibreOffice and OpenOffice write a document type into some parts of an OpenDocument file: macro libraries,
    shortcuts, menus, formulas, the manifest. It only names one of their own files and declares nothing. Such a document
    type is allowed in those parts.
    """
    damaged, reader = set(), _Reader()
    for entry in package.infolist():
        with package.open(entry) as part:
            if _is_xml(entry):
                is_name_allowed = kind is MediaKind.ODP and entry.filename not in NEVER_TYPED
                parser, _ = _parser(lambda _name, _attributes: False, is_name_allowed=is_name_allowed)
                if not reader.reads(parser, _blocks(part), _DOCTYPES):
                    damaged.add(entry.filename)
            elif pictures_rules.pixels(part) > pictures_rules.MAX_PIXELS:
                raise TooLargeUnpacked(
                    "presentation_picture_too_large", facts={"megapixels": pictures_rules.MAX_PIXELS // 10**6}
                )
        if not _is_xml(entry):
            with package.open(entry) as part:
                reader.reads(_picture_parser(), _blocks_of_picture(part), _ENTITIES)
    return damaged


class _Reader:
    """Reads parts of XML to their end, and refuses a package with too many or too deep elements."""

    def __init__(self) -> None:
        self._elements_left = MAX_ELEMENTS

    def reads(self, parser: expat.XMLParserType, blocks: Iterable[bytes], refused: tuple[bytes, ...]) -> bool:
        """Whether the part is well-formed. Raises NotAPresentation when it is not and begins with one of `refused`."""
        depth = 0

        def start(_name: str, _attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            self._elements_left -= 1
            if depth > MAX_DEPTH or self._elements_left < 0:
                raise TooLargeUnpacked(
                    "presentation_too_deep", facts={"most": MAX_DEPTH, "millions": MAX_ELEMENTS // 10**6}
                )

        def end(_name: str) -> None:
            nonlocal depth
            depth -= 1

        parser.StartElementHandler, parser.EndElementHandler = start, end
        head = b""
        try:
            for block in blocks:
                head = head or block
                parser.Parse(block)
            parser.Parse(b"", True)
        except expat.ExpatError:
            if any(mark in head for mark in refused):
                raise NotAPresentation("presentation_has_doctype") from None
            return False
        return True


def _blocks(part: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    return iter(lambda: part.read(BLOCK_BYTES), b"")


def _blocks_of_picture(part: IO[bytes]) -> Iterator[bytes]:
    """The picture if it is XML (SVG), also a compressed one; of any other, nothing."""
    head = part.read(BLOCK_BYTES)
    if head.startswith(GZIP):
        part.seek(0)
        with suppress(gzip.BadGzipFile, EOFError, zlib.error), gzip.open(part) as unpacked:
            head = unpacked.read(BLOCK_BYTES)
            yield from _up_to(MAX_XML_BYTES, head, unpacked) if XML_BEGINS.match(head) else ()
    elif XML_BEGINS.match(head):
        yield from _up_to(MAX_XML_BYTES, head, part)


def _up_to(most: int, head: bytes, rest: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    """The head and the rest, in blocks. Raises TooLargeUnpacked above `most` bytes."""
    size = 0
    for block in chain([head], _blocks(rest)):
        size += len(block)
        if size > most:
            raise TooLargeUnpacked("presentation_part_too_large", facts={"mebibytes": most >> 20})
        yield block


def _picture_parser() -> expat.XMLParserType:
    """A parser of SVG, in which drawing programs write document types. It refuses entities that may grow."""
    parser = expat.ParserCreate()

    def declare(_name: str, is_parameter: bool, value: str | None, *_where: str | None) -> None:
        if is_parameter or value is None or "&" in value or "%" in value or len(value) > LONGEST_ENTITY:
            raise NotAPresentation("presentation_has_doctype")

    parser.EntityDeclHandler = declare
    return parser


def _main_part(package: zipfile.ZipFile) -> str | None:
    """The name of the part that lists the slides; None when the package is not a presentation."""
    if package.getinfo("[Content_Types].xml").file_size > MAX_CONTENT_TYPES_BYTES:
        raise TooLargeUnpacked
    found: list[str] = []

    def look(name: str, attributes: Attributes) -> bool:
        declared = attributes.get("ContentType", "").lower()
        is_presentation = "presentationml" in declared or "ms-powerpoint" in declared
        if name == "Override" and is_presentation and declared.endswith(".main+xml"):
            found.append(attributes.get("PartName", "").lstrip("/"))
        return bool(found)

    _walk(package, "[Content_Types].xml", look)
    return _names(package).get(found[0].lower()) if found else None


def _count_pptx(package: zipfile.ZipFile, damaged: set[str]) -> Slides:
    main = _main_part(package) or ""
    wanted: list[str] = []
    _walk(package, main, lambda name, attributes: _note_slide(wanted, name, attributes))
    names, targets = _names(package), _relationships(package, main)
    parts = [part for key in wanted if (part := names.get(targets.get(key, "").lower()))]
    if damaged & set(parts):
        raise NotAPresentation("presentation_damaged")
    hidden = {part for part in set(parts) if _is_hidden_slide(package, part)}
    visible = sum(part not in hidden for part in parts)
    return Slides(visible=visible, hidden=len(parts) - visible)


def _note_slide(wanted: list[str], name: str, attributes: Attributes) -> bool:
    """Note the relationship id of a slide: the `id` of `sldId` in a namespace, which `_parser` calls `:id`."""
    if name == "sldId":
        wanted.append(attributes.get(":id", ""))
    elif name == "sldSz" and any(int(attributes.get(side, LEAST_SIDE)) < LEAST_SIDE for side in ("cx", "cy")):
        raise NotAPresentation("presentation_damaged")
    return False


def _relationships(package: zipfile.ZipFile, part: str) -> dict[str, str]:
    """The targets of a part's relationships inside the package, by id."""
    folder, name = posixpath.split(part)
    links: dict[str, str] = {}

    def note(element: str, attributes: Attributes) -> bool:
        if element == "Relationship" and attributes.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", "")))
            links[attributes.get("Id", "")] = target.lstrip("/")
        return False

    rels = _names(package).get(posixpath.join(folder, "_rels", f"{name}.rels").lower())
    if rels:
        _walk(package, rels, note)
    return links


def _is_hidden_slide(package: zipfile.ZipFile, part: str) -> bool:
    shown: list[str] = []

    def look(_name: str, attributes: Attributes) -> bool:
        shown.append(attributes.get("show", "1"))
        return True

    _walk(package, part, look)
    return shown[:1] in (["0"], ["false"])


def _count_odp(package: zipfile.ZipFile, _damaged: set[str]) -> Slides:
    """Count the pages, and the pages whose style is hidden; the styles come before the pages."""
    hidden_styles: set[str] = set()
    pages: list[str] = []
    style = [""]

    def note(name: str, attributes: Attributes) -> bool:
        if name == "style":
            style[0] = attributes.get(":name", "")
        elif name == "drawing-page-properties" and attributes.get(":visibility") == "hidden":
            hidden_styles.add(style[0])
        elif name == "page":
            pages.append(attributes.get(":style-name", ""))
        return False

    _walk(package, "content.xml", note)
    hidden = sum(page in hidden_styles for page in pages)
    return Slides(visible=len(pages) - hidden, hidden=hidden)


def _is_xml(entry: zipfile.ZipInfo) -> bool:
    return entry.filename.lower().endswith(XML_SUFFIXES)


def _names(package: zipfile.ZipFile) -> dict[str, str]:
    """The parts' names by their lower-case form: names of parts are case-insensitive."""
    return {name.lower(): name for name in package.namelist()}


def _walk(package: zipfile.ZipFile, name: str, on_element: OnElement, *, is_name_allowed: bool = False) -> None:
    """Read one XML part in blocks until `on_element` returns True."""
    parser, reached = _parser(on_element, is_name_allowed=is_name_allowed)
    with package.open(name) as part:
        while not reached() and (block := part.read(BLOCK_BYTES)):
            parser.Parse(block)


def _parser(on_element: OnElement, *, is_name_allowed: bool = False) -> tuple[expat.XMLParserType, Callable[[], bool]]:
    """A parser that refuses a document type, and a function that tells whether `on_element` has returned True.

    With `is_name_allowed`, LibreOffice's own document types pass if they declare nothing. Attributes come by local
    name, with a colon before it if they have a namespace.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    enough: list[bool] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if not enough:
            plain = {(":" + key.rpartition(" ")[2] if " " in key else key): v for key, v in attributes.items()}
            if on_element(name.rpartition(" ")[2], plain):
                enough.append(True)

    def refuse(_name: str, system: str | None, public: str | None, declares: bool) -> None:
        if is_name_allowed and not declares and OFFICES_OWN.fullmatch(f"{public} {system}"):
            return
        raise NotAPresentation("presentation_has_doctype")

    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    return parser, lambda: bool(enough)
