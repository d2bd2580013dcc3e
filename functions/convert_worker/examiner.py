"""The program that examines a finished PDF and its deck: `python -m functions.convert_worker.examiner SOCKET`.

It receives over the socket the deck's kind and the open files: the PDF and, unless the kind is `-`, the deck. It prints
each finding as a line of JSON as soon as it is known: `pages`, `fonts`, `contents`, `letters`, `thumbnail`; `contents`
again when the slides were compared with the pages.
Hostile bytes can harm this process only. It has little memory and time, can write no file, knows no secret and has no
network.
"""

import base64
import ctypes
import json
import os
import re
import resource
import signal
import socket
import struct
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final
from xml.etree.ElementTree import ParseError

import pypdfium2
import pypdfium2.raw as pdfium
from msgspec.structs import asdict

from functions.convert_worker import comparison, letters
from functions.convert_worker.comparison import Kind, Placed
from functions.convert_worker.letters import Outline
from functions.convert_worker.pdf import NO_DECK
from shared.event_media.contents import odp_rules, ppt_rules, pptx_rules
from shared.event_media.contents.rules import Contents, Slide
from shared.vocabulary import MediaKind

TAIL_BYTES: Final = 1024  # PDF readers look for the end mark in these last bytes
MEMORY_BYTES: Final = 1536 * 1024**2
CPU_SECONDS: Final = 18
FONT_SECONDS: Final = 6.0  # for all pages: a deck of 5,000 slides is not read to its end
LETTER_SECONDS: Final = 6.0  # for all pages too
NAME_BYTES: Final = 256
OUTLINE_POINTS: Final = 100.0  # the font size at which outlines are measured; any size will do
LOST: Final = 0xFFFD  # the replacement character
BOX: Final = 0  # the first glyph of a font: the box that it draws for a letter that it lacks
PAGE_PIXELS: Final = 1440  # the longer side of a page whose letters are looked at
MOST_OBJECTS: Final = 20_000  # of a page, whose places are looked at
CONTRAST: Final = 40  # of 255: what differs less cannot be read
THUMBNAIL_PIXELS: Final = 480  # the longer side
KINDS: Final[Mapping[int, Kind]] = {
    pdfium.FPDF_PAGEOBJ_TEXT: "text",
    pdfium.FPDF_PAGEOBJ_PATH: "path",
    pdfium.FPDF_PAGEOBJ_SHADING: "path",
}
PR_SET_PDEATHSIG, CLONE_NEWUSER, CLONE_NEWNET = 1, 0x10000000, 0x40000000
BAD_DECK: Final = (
    *(ValueError, LookupError, RuntimeError, MemoryError, OSError, EOFError),
    *(struct.error, zlib.error, zipfile.BadZipFile, ParseError),
)


def main(connection: int) -> None:
    """Write each finding as a line, until all are written or a limit ends this process."""
    _limit()
    kind, files = _wait_for_files(connection)
    with os.fdopen(files[0], "rb") as file:
        document = _open(file) if _looks_whole(file) else None
        say("pages", len(document) if document else 0)
        if document:
            say("fonts", _fonts(document))
            contents = _contents(kind, files[1], document) if kind != NO_DECK else None
            say("contents", _plain(contents))
            say("letters", _letters(document, contents))
            say("contents", _plain(contents))
            say("thumbnail", base64.b64encode(_thumbnail(document)).decode())
    sys.stdout.flush()
    os._exit(0)  # closing a damaged document may crash


def _wait_for_files(connection: int) -> tuple[str, list[int]]:
    """The deck's kind and the open files. Ends this process when the worker sends none."""
    with socket.socket(fileno=connection) as ours:
        kind, files, _, _ = socket.recv_fds(ours, 64, 2)
    if not files:
        sys.exit(0)
    return kind.decode(), files


def say(name: str, finding: Any) -> None:
    """Print one finding at once: the next step may kill this process."""
    print(json.dumps({name: finding}), flush=True)  # noqa: T201 - the worker reads standard output


def _limit() -> None:
    """Die with the worker, limit memory and time, write no file, and drop the network where the kernel allows it."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.unshare(CLONE_NEWUSER | CLONE_NEWNET)
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


def _looks_whole(file: BinaryIO) -> bool:
    """Whether the file begins and ends like a PDF."""
    size = file.seek(0, 2)
    file.seek(0)
    begins = file.read(5) == b"%PDF-"
    file.seek(max(0, size - TAIL_BYTES))
    return begins and b"%%EOF" in file.read()


def _open(file: BinaryIO) -> pypdfium2.PdfDocument | None:
    try:
        return pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError:
        return None


def _fonts(document: pypdfium2.PdfDocument) -> dict[str, Any]:
    """The names of the embedded fonts that the text uses, and how many pages were examined."""
    embedded: set[str] = set()
    until = time.monotonic() + FONT_SECONDS
    pages = 0
    for pages in range(1, len(document) + 1):
        page = pdfium.FPDF_LoadPage(document, pages - 1)
        if page:
            embedded.update(_embedded(_objects(page)))
            pdfium.FPDF_ClosePage(page)
        if time.monotonic() > until:
            break
    return {"embedded": sorted(embedded), "pages": pages}


def _objects(page: Any) -> Iterator[Any]:
    """Every object of a page, also inside forms."""
    waiting = [pdfium.FPDFPage_GetObject(page, number) for number in range(pdfium.FPDFPage_CountObjects(page))]
    while waiting:
        one = waiting.pop()
        if pdfium.FPDFPageObj_GetType(one) == pdfium.FPDF_PAGEOBJ_FORM:
            count = pdfium.FPDFFormObj_CountObjects(one)
            waiting += [pdfium.FPDFFormObj_GetObject(one, number) for number in range(max(0, count))]
        yield one


def _embedded(objects: Iterator[Any]) -> Iterator[str]:
    """The names of the embedded fonts of these objects, without the mark of a subset (`BAAAAA+`)."""
    for one in objects:
        if pdfium.FPDFPageObj_GetType(one) != pdfium.FPDF_PAGEOBJ_TEXT:
            continue
        font = pdfium.FPDFTextObj_GetFont(one)
        if font and pdfium.FPDFFont_GetIsEmbedded(font) == 1:
            name = ctypes.create_string_buffer(NAME_BYTES)
            pdfium.FPDFFont_GetBaseFontName(font, name, NAME_BYTES)
            yield name.value.decode("utf-8", "replace").rpartition("+")[2]


def _letters(document: pypdfium2.PdfDocument, contents: Contents | None) -> dict[str, Any]:
    """The letters that are drawn as their font's empty box, and how many pages were read.

    Compares the pages with the deck, too.
    """
    outlines: dict[tuple[bytes, int], Outline] = {}
    missing: set[str] = set()
    slides = contents.slides if contents is not None and len(contents.slides) == len(document) else []
    until = time.monotonic() + LETTER_SECONDS
    pages = 0
    for number in range(len(document)):
        pages = number + 1
        page = pdfium.FPDF_LoadPage(document, number)
        text = pdfium.FPDFText_LoadPage(page) if page else None
        if text:
            codes = list(_codes(text))
            missing.update(
                chr(code)
                for place, code in codes
                if code == LOST or (letters.is_looked_at(code) and _is_box(text, place, code, outlines))
            )
            if contents is not None:
                slide = slides[number] if slides else Slide(number + 1)
                shown = _visible(document[number], text, codes) if slide.formulas else ""
                comparison.compare(contents, slide, shown, _placed(page), _size(page))
            pdfium.FPDFText_ClosePage(text)
        if page:
            pdfium.FPDF_ClosePage(page)
        if time.monotonic() > until:
            break
    return {"missing": sorted(missing), "pages": pages}


def _visible(page: pypdfium2.PdfPage, text: Any, codes: list[tuple[int, int]]) -> str:
    """The letters of a page that differ from what is behind them: LibreOffice draws formulas black, also on black."""
    width, height = page.get_size()
    scale = PAGE_PIXELS / max(width, height, 1.0)
    bitmap = page.render(scale=scale, grayscale=True)
    grey = memoryview(bitmap.buffer).cast("B")
    shown = []
    for place, code in codes:
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        pdfium.FPDFText_GetCharBox(text, place, left, right, bottom, top)
        across = slice(max(0, int(left.value * scale)), min(bitmap.width, int(right.value * scale) + 1))
        down = range(max(0, int((height - top.value) * scale)), int((height - bottom.value) * scale) + 1)
        rows = [grey[y * bitmap.stride :][across] for y in down if y < bitmap.height]
        tones = [tone for row in rows if len(row) for tone in (min(row), max(row))]
        if tones and max(tones) - min(tones) >= CONTRAST:
            shown.append(chr(code))
    return "".join(shown)


def _size(page: Any) -> tuple[float, float]:
    return pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)


def _placed(page: Any) -> Iterator[Placed]:
    """The first objects of a page with their places."""
    for number in range(min(MOST_OBJECTS, pdfium.FPDFPage_CountObjects(page))):
        one = pdfium.FPDFPage_GetObject(page, number)
        left, bottom, right, top = (ctypes.c_float() for _ in range(4))
        if pdfium.FPDFPageObj_GetBounds(one, left, bottom, right, top):
            kind = KINDS.get(pdfium.FPDFPageObj_GetType(one), "other")
            yield Placed(left.value, bottom.value, right.value, top.value, kind)


def _codes(text: Any) -> Iterator[tuple[int, int]]:
    """The letters of a page with their indexes. A surrogate pair, in either order, is one letter at the first index.

    Half of a pair, which a line break leaves, is LOST.
    """
    places = iter(range(max(0, pdfium.FPDFText_CountChars(text))))
    for place in places:
        code: int = pdfium.FPDFText_GetUnicode(text, place)
        if 0xD800 <= code < 0xE000:
            high, low = sorted((code, int(pdfium.FPDFText_GetUnicode(text, place + 1))))
            if 0xD800 <= high < 0xDC00 <= low < 0xE000:
                code = 0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00
                next(places, None)
            else:
                code = LOST
        yield place, code


def _is_box(text: Any, place: int, code: int, outlines: dict[tuple[bytes, int], Outline]) -> bool:
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    points = pdfium.FPDFText_GetFontSize(text, place)
    owner = pdfium.FPDFText_GetTextObject(text, place)
    if not owner or points <= 0 or not pdfium.FPDFText_GetCharBox(text, place, left, right, bottom, top):
        return False
    font = pdfium.FPDFTextObj_GetFont(owner)
    name = ctypes.create_string_buffer(NAME_BYTES)
    pdfium.FPDFFont_GetBaseFontName(font, name, NAME_BYTES)
    for each in (code, BOX):
        if (name.value, each) not in outlines:
            outlines[name.value, each] = _outline(font, each)
    size = (right.value - left.value) / points, (top.value - bottom.value) / points
    return letters.is_box(outlines[name.value, code], size, outlines[name.value, BOX])


def _outline(font: Any, code: int) -> Outline:
    """The points of a letter's outline; none where PDFium gives none, like for letters above U+FFFF."""
    path = pdfium.FPDFFont_GetGlyphPath(font, code, OUTLINE_POINTS)
    points = []
    for number in range(max(0, pdfium.FPDFGlyphPath_CountGlyphSegments(path))) if path else ():
        segment = pdfium.FPDFGlyphPath_GetGlyphPathSegment(path, number)
        x, y = ctypes.c_float(), ctypes.c_float()
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        points.append((round(x.value, 4), round(y.value, 4)))
    return tuple(points)


def _libreoffice(document: pypdfium2.PdfDocument) -> tuple[int, int] | None:
    """The version of LibreOffice that made the PDF; None when the PDF does not say it."""
    version = re.match(r"LibreOffice (\d+)\.(\d+)", document.get_metadata_value("Producer"))
    return (int(version[1]), int(version[2])) if version else None


def _contents(kind: str, deck: int, document: pypdfium2.PdfDocument) -> Contents | None:
    """The deck's contents; None when the deck cannot be read."""
    try:
        with os.fdopen(deck, "rb") as file:
            return _read(kind, file, _libreoffice(document))
    except BAD_DECK:
        return None


def _plain(contents: Contents | None) -> dict[str, Any] | None:
    """The contents for the report: without the slides."""
    if contents is None:
        return None
    fonts, listed = _sorted(contents.fonts), _sorted(contents.listed_fonts)
    return {**asdict(contents), "slides": [], "fonts": fonts, "listed_fonts": listed}


def _sorted(names: set[str] | None) -> list[str] | None:
    return None if names is None else sorted(names)


def _read(kind: str, file: BinaryIO, libreoffice: tuple[int, int] | None) -> Contents:
    file.seek(0)
    if kind == MediaKind.PPT:
        return ppt_rules.read(file)
    with zipfile.ZipFile(file) as package:
        return pptx_rules.read(package, libreoffice) if kind == MediaKind.PPTX else odp_rules.read(package)


def _thumbnail(document: pypdfium2.PdfDocument) -> bytes:
    """The first page as a PNG."""
    page = document[0]
    scale = THUMBNAIL_PIXELS / max(*page.get_size(), 1.0)
    bitmap = page.render(scale=scale, rev_byteorder=True)
    width, height, channels = bitmap.width, bitmap.height, bitmap.n_channels
    if channels not in {3, 4}:
        raise ValueError("a page is rendered in colours")
    raw = memoryview(bitmap.buffer).cast("B")
    rows = (bytes(raw[y * bitmap.stride :][: width * channels]) for y in range(height))
    return png(width, height, channels, rows)


def png(width: int, height: int, channels: int, rows: Iterator[bytes]) -> bytes:
    """A PNG of 8 bits a channel: RGB or RGBA, by rows from the top."""
    header = struct.pack(">LLBBBBB", width, height, 8, 2 if channels == 3 else 6, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
    parts = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">L", len(content)) + kind + content + struct.pack(">L", zlib.crc32(kind + content))


if __name__ == "__main__":
    main(int(sys.argv[1]))
