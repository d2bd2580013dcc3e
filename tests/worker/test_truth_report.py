"""The report on a deck and its PDF: with the real converter, and for harmful files."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation
from pptx.util import Inches

from functions.convert_worker import pdf
from functions.convert_worker.examiner import png
from functions.convert_worker.pdf import Examined, examine
from shared.conversions import report_rules
from shared.conversions.report_rules import Findings
from tests.worker import decks, hostile_decks
from tests.worker.harness import Converter
from tests.worker.hostile_pdfs import HOSTILE, PDF, pdf_with, stream

pytestmark = pytest.mark.slow

HERE = "Liberation Sans"  # from Debian's fonts-liberation, which the converter requires
NOWHERE = "Futura Imaginaria"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"


def pptx(path: Path, font: str | None, change: Callable[[Any], None] = lambda _slide: None) -> Path:
    """A deck of one slide with text in `font`; None: the theme's font (Calibri)."""
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    for place, text in ((slide.shapes.title, "A title"), (slide.placeholders[1], "Some text")):
        place.text = text
        place.text_frame.paragraphs[0].runs[0].font.name = font
    change(slide)
    deck.save(str(path))
    return path


def odp(path: Path, *changes: tuple[str, str]) -> Path:
    """A deck of one slide with these texts replaced in its content."""
    decks.make_odp(path, 1)
    content = decks_content(path)
    for old, new in changes:
        assert old in content, old
        content = content.replace(old, new, 1)
    path.write_bytes(hostile_decks.with_parts(path.read_bytes(), {"content.xml": content.encode()}))
    return path


def decks_content(path: Path) -> str:
    return hostile_decks.part_of(path.read_bytes(), "content.xml").decode()


def odp_in(font: str) -> tuple[tuple[str, str], ...]:
    """The replacements that set the text of `odp` in a font."""
    style = (
        '<style:style style:name="T" style:family="text"><style:text-properties '
        f"fo:font-family=\"'{font}', sans-serif\"/></style:style>"
    )
    return (
        ("</office:automatic-styles>", style + "</office:automatic-styles>"),
        ("Slide 1 of 1", '<text:span text:style-name="T">Slide 1 of 1</text:span>'),
    )


def examined(converter: Converter, deck: Path) -> Examined:
    answer = converter.convert(deck)
    assert answer.status_code == 200, answer.text
    result = deck.with_suffix(".pdf")
    result.write_bytes(answer.content)
    with result.open("rb") as file, deck.open("rb") as source:
        found = examine(file, source, deck.suffix[1:])
    assert found is not None
    return found


def warnings_of(found: Examined) -> dict[str, Any]:
    report = report_rules.report(Findings(found.pages, 1, 0, found.embedded_fonts, found.contents, has_thumbnail=True))
    return {warning["code"]: warning for warning in report["warnings"]}


def test_a_deck_whose_fonts_are_all_there_has_an_empty_report(running_converter: Converter, tmp_path: Path) -> None:
    for deck in (pptx(tmp_path / "a.pptx", HERE), odp(tmp_path / "b.odp", *odp_in(HERE))):
        found = examined(running_converter, deck)

        assert found.contents
        assert found.contents.fonts == {HERE}
        assert warnings_of(found) == {}


def test_a_font_that_the_converter_lacks_is_named(running_converter: Converter, tmp_path: Path) -> None:
    for deck in (pptx(tmp_path / "a.pptx", NOWHERE), odp(tmp_path / "b.odp", *odp_in(NOWHERE))):
        assert warnings_of(examined(running_converter, deck))["fonts_substituted"]["fonts"] == [NOWHERE]


def test_a_font_that_only_the_theme_names_is_told_with_its_stand_in(
    running_converter: Converter, tmp_path: Path
) -> None:
    warning = warnings_of(examined(running_converter, pptx(tmp_path / "a.pptx", None)))["fonts_substituted"]

    assert (warning["fonts"], warning["same_widths"]) == (["Calibri"], {"Calibri": "Carlito"})


def test_fonts_of_hidden_slides_and_of_scripts_that_do_not_occur_are_nobodys_concern(tmp_path: Path) -> None:
    def hide_one(slide: Any) -> None:
        properties = slide.shapes.title.text_frame.paragraphs[0].runs[0]._r.get_or_add_rPr()
        for script, font in (("ea", "MS Imaginary Gothic"), ("cs", "Imaginary Naskh")):
            properties.append(properties.makeelement(f"{{{A}}}{script}", {"typeface": font}))
        deck = slide.part.package.presentation_part.presentation
        other = deck.slides.add_slide(deck.slide_layouts[6])
        box = other.shapes.add_textbox(0, 0, Inches(2), Inches(1))
        box.text_frame.text = "hidden"
        box.text_frame.paragraphs[0].runs[0].font.name = NOWHERE
        other._element.set("show", "0")

    assert contents_of(pptx(tmp_path / "a.pptx", HERE, hide_one)).fonts == {HERE}


def contents_of(deck: Path) -> Any:
    """The examiner's findings in a deck, without a PDF."""
    with (deck.parent / "any.pdf").open("w+b") as file, deck.open("rb") as source:
        file.write(PDF)
        found = examine(file, source, deck.suffix[1:])
    assert found is not None
    assert found.contents is not None
    return found.contents


def test_films_sounds_animations_and_links_of_a_pptx_are_found(tmp_path: Path) -> None:
    def furnish(slide: Any) -> None:
        (tmp_path / "film.mp4").write_bytes(b"\0\0\0\x18ftypisom")
        slide.shapes.add_movie(str(tmp_path / "film.mp4"), 0, 0, Inches(1), Inches(1), mime_type="video/mp4")
        relate = slide.part.rels.get_or_add_ext_rel
        office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
        relate(office + "audio", "file:///C:/sound.wav")
        relate(office + "image", "http://192.0.2.1/picture.png")
        relate(office + "oleObject", "file://server/share/table.xlsx")
        slide.placeholders[1].text_frame.paragraphs[0].runs[0].hyperlink.address = "https://example.org/"
        timing = slide._element.find(f"{{{P}}}timing")
        timing.append(timing.makeelement(f"{{{P}}}animEffect", {}))

    found = contents_of(pptx(tmp_path / "a.pptx", HERE, furnish))

    assert (found.videos, found.audios, found.animated_slides) == (1, 1, 1)
    assert found.hyperlinks == ["https://example.org/"]
    assert sorted(found.linked_files) == [
        "file:///C:/sound.wav",
        "file://server/share/table.xlsx",
        "http://192.0.2.1/picture.png",
    ]


def test_films_sounds_animations_and_links_of_an_odp_are_found(tmp_path: Path) -> None:
    xlink = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
    frames = (
        f'<draw:frame><draw:plugin {xlink} xlink:href="Media/film" draw:mime-type="video/mp4"/></draw:frame>'
        f'<draw:frame><draw:plugin {xlink} xlink:href="../sound.mp3"/></draw:frame>'
        f'<draw:frame><draw:image {xlink} xlink:href="\\\\server\\share\\a.png"/></draw:frame>'
        f'<draw:frame><draw:image {xlink} xlink:href="Pictures/inside.png"/></draw:frame>'
        '<anim:par xmlns:anim="urn:oasis:names:tc:opendocument:xmlns:animation:1.0">'
        '<anim:seq presentation:node-type="main-sequence"><anim:set/></anim:seq></anim:par>'
    )
    link = f'<text:a {xlink} xlink:href="https://example.org/">Slide</text:a> 1 of 1'

    found = contents_of(odp(tmp_path / "a.odp", ("Slide 1 of 1", link), ("</draw:page>", frames + "</draw:page>")))

    assert (found.videos, found.audios, found.animated_slides) == (1, 1, 1)
    assert found.hyperlinks == ["https://example.org/"]
    assert sorted(found.linked_files) == ["../sound.mp3", "\\\\server\\share\\a.png"]


def test_links_and_animations_of_a_ppt_are_found(tmp_path: Path) -> None:
    def link(slide: Any) -> None:
        slide.placeholders[1].text_frame.paragraphs[0].runs[0].hyperlink.address = "https://example.org/"

    decks.convert(pptx(tmp_path / "a.pptx", HERE, link), "ppt", tmp_path)

    found = contents_of(tmp_path / "a.ppt")

    assert (found.hyperlinks, found.animated_slides, found.fonts) == (["https://example.org/"], 0, None)


def record(kind: int, *content: bytes, instance: int = 0, container: bool = True) -> bytes:
    """One record of a .ppt."""
    body = b"".join(content)
    return struct.pack("<HHL", instance << 4 | (0xF if container else 0), kind, len(body)) + body


def words(text: str, instance: int = 0) -> bytes:
    return record(0x0FBA, text.encode("utf-16-le"), instance=instance, container=False)


def test_films_sounds_animations_and_linked_files_of_a_ppt_are_found(tmp_path: Path) -> None:
    animation = record(0x1014, bytes(28), container=False)
    stream_of_ppt = (
        record(0x1006, record(0x1005, words("\\\\server\\film.avi")))
        + record(0x1010, words("C:\\sound.wav"))
        + record(0x0FCE, words("Excel.Sheet.8", 2))
        + record(0x0FD7, words("a site"), words("https://example.org/", 1))
        + record(0x03EE, animation, animation)
        + record(0x03EE, animation)
    )
    (tmp_path / "a.ppt").write_bytes(hostile_decks.compound_file({"PowerPoint Document": stream_of_ppt}))

    found = contents_of(tmp_path / "a.ppt")

    assert (found.videos, found.audios, found.animated_slides) == (1, 1, 2)
    assert found.linked_files == ["\\\\server\\film.avi", "C:\\sound.wav", "an object of another file"]
    assert found.hyperlinks == ["https://example.org/"]


def test_fonts_of_a_ppt_are_said_to_be_unknown_with_those_that_may_be_missing(
    running_converter: Converter, tmp_path: Path
) -> None:
    decks.convert(pptx(tmp_path / "a.pptx", NOWHERE), "ppt", tmp_path)

    warning = warnings_of(examined(running_converter, tmp_path / "a.ppt"))["fonts_not_known"]

    assert NOWHERE in warning["fonts"]
    assert warning["same_widths"]["Arial"] == "Liberation Sans"


def test_a_deck_that_cannot_be_read_costs_its_part_of_the_report_alone(tmp_path: Path) -> None:
    deck, result = tmp_path / "a.pptx", tmp_path / "a.pdf"
    deck.write_bytes(b"PK\x03\x04 and then nothing")
    result.write_bytes(PDF)

    with result.open("rb") as file, deck.open("rb") as source:
        found = examine(file, source, "pptx")

    assert found is not None
    assert (found.pages, found.contents, found.thumbnail is not None) == (1, None, True)


@pytest.mark.parametrize("what", HOSTILE)
def test_a_pdf_that_harms_its_reader_harms_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    (tmp_path / "a.pdf").write_bytes(HOSTILE[what])

    found = None
    for seconds in (3, 60):  # the second try, if a slow machine has read nothing in the first
        monkeypatch.setattr(pdf, "SECONDS", seconds)
        with (tmp_path / "a.pdf").open("rb") as file:
            found = found or examine(file)

    assert found is not None
    assert found.pages == 1
    assert found.thumbnail is None or len(found.thumbnail) < 2_000_000


NO_PDFS = [b"", b"%PDF-1.4", b"%PDF-1.4 no pages %%EOF", b"no" + PDF, PDF.replace(b"%%EOF", b"")]


@pytest.mark.parametrize("content", NO_PDFS)
def test_what_is_no_pdf_with_pages_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.pdf").write_bytes(content)

    with (tmp_path / "a.pdf").open("rb") as file:
        assert examine(file) is None


def test_the_thumbnail_is_a_picture_of_the_first_page(tmp_path: Path) -> None:
    half_red = stream(b"", b"1 0 0 rg 0 0 50 50 re f")
    (tmp_path / "a.pdf").write_bytes(pdf_with(b"/MediaBox[0 0 100 50]/Contents 4 0 R", half_red))

    with (tmp_path / "a.pdf").open("rb") as file:
        found = examine(file)

    assert found is not None
    assert found.thumbnail is not None
    width, height, rows = pixels(found.thumbnail)
    assert (width, height) == (480, 240)
    assert rows[120][1 + 3 * 100 :][:3] == b"\xff\x00\x00"
    assert rows[120][1 + 3 * 400 :][:3] == b"\xff\xff\xff"
    assert png(1, 1, 3, iter([b"abc"])).endswith(b"IEND\xaeB`\x82")


def pixels(picture: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and the rows (with their filter bytes) of a PNG of the product."""
    width, height = struct.unpack(">LL", picture[16:24])
    size = struct.unpack(">L", picture[33:37])[0]
    raw = zlib.decompress(picture[41 : 41 + size])
    return width, height, [raw[at : at + 1 + 3 * width] for at in range(0, len(raw), 1 + 3 * width)]


def test_an_examiner_that_was_killed_says_nothing_and_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(PDF)

    with (tmp_path / "a.pdf").open("rb") as file, pdf.Examiner() as examiner:
        examiner._process.kill()
        examiner._process.wait()
        assert examiner.examine(file) is None


def test_an_examiner_whose_worker_has_gone_ends(tmp_path: Path) -> None:
    with pdf.Examiner() as examiner:
        examiner._ours.close()
        assert examiner._process.wait(60) == 0
