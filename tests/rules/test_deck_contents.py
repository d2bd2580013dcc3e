"""The report's readers: Strict Open XML, charts and SmartArt, timing, linked workbooks, odd .ppt files."""

import io
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from deploy.parts.layout import REPOSITORY
from shared.conversions import report_rules
from shared.conversions.report_rules import Findings
from shared.event_media.contents import odp_rules, ppt_rules, pptx_rules
from shared.event_media.contents.rules import LOSSES, Contents
from tests.worker import decks, hostile_decks

STRICT = [
    ("http://schemas.openxmlformats.org/drawingml/2006/", "http://purl.oclc.org/ooxml/drawingml/"),
    ("http://schemas.openxmlformats.org/presentationml/2006/", "http://purl.oclc.org/ooxml/presentationml/"),
    (
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "http://purl.oclc.org/ooxml/officeDocument/relationships",
    ),
]
SLIDE = "ppt/slides/slide1.xml"


def read_pptx(deck: bytes) -> Contents:
    with zipfile.ZipFile(io.BytesIO(deck)) as package:
        return pptx_rules.read(package)


def strict(deck: bytes) -> bytes:
    """The deck in the format Strict Open XML Presentation of PowerPoint."""
    parts = {}
    with zipfile.ZipFile(io.BytesIO(deck)) as package:
        for name in package.namelist():
            text = package.read(name)
            for usual, other in STRICT if name.endswith((".xml", ".rels")) else ():
                text = text.replace(usual.encode(), other.encode())
            parts[name] = text
    return hostile_decks.with_parts(deck, parts)


@pytest.fixture
def furnished(tmp_path: Path) -> bytes:
    """A deck with a font, an animation and a transition."""
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "A title"
    slide.shapes.title.text_frame.paragraphs[0].runs[0].font.name = "Futura Imaginaria"
    slide.placeholders[1].text_frame.text = "a site"
    slide.placeholders[1].text_frame.paragraphs[0].runs[0].hyperlink.address = "https://example.org/"
    deck.save(str(tmp_path / "a.pptx"))
    content = (tmp_path / "a.pptx").read_bytes()
    moving = b'<p:transition advTm="5000"><p:fade/></p:transition><p:timing><p:anim/></p:timing></p:sld>'
    text = hostile_decks.part_of(content, SLIDE).replace(b"</p:sld>", moving)
    return hostile_decks.with_parts(content, {SLIDE: text})


def test_a_deck_in_strict_open_xml_is_read_as_any_other(furnished: bytes) -> None:
    usual, of_strict = read_pptx(furnished), read_pptx(strict(furnished))

    assert usual.fonts == {"Futura Imaginaria", "Calibri"}
    assert usual.hyperlinks == ["https://example.org/"]
    assert (usual.animated_slides, usual.transitions, usual.advancing_slides) == (1, 1, 1)
    assert of_strict == usual


def test_a_presentation_of_an_unknown_namespace_is_said_to_be_unknown(furnished: bytes) -> None:
    main = "ppt/presentation.xml"
    foreign = hostile_decks.part_of(furnished, main).replace(b"presentationml/2006/main", b"presentationml/2099/main")

    with pytest.raises(ValueError, match="namespace"):
        read_pptx(hostile_decks.with_parts(furnished, {main: foreign}))


def test_fonts_of_charts_and_their_linked_workbooks_are_found(tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]  # python-pptx says no types
    data.categories = ["a"]
    data.add_series("b", (1,))
    size = (Inches(1),) * 4
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *size, data).chart
    chart.font.name = "TT Imaginary"
    relate = chart.part.rels.get_or_add_ext_rel
    relate("http://schemas.openxmlformats.org/officeDocument/2006/relationships/oleObject", "file:///C:/sales.xlsx")
    deck.save(str(tmp_path / "a.pptx"))

    found = read_pptx((tmp_path / "a.pptx").read_bytes())

    assert found.fonts == {"TT Imaginary"}
    assert (found.linked_workbooks, found.linked_files) == (["file:///C:/sales.xlsx"], [])


def test_fonts_of_smartart_are_found(tmp_path: Path) -> None:
    deck = hostile_decks.pptx_bytes(tmp_path)
    drawing = (
        '<dsp:drawing xmlns:dsp="http://schemas.microsoft.com/office/drawing/2008/diagram" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dsp:spTree><dsp:sp><dsp:txBody><a:p><a:r>'
        '<a:rPr><a:latin typeface="Art Imaginary"/></a:rPr><a:t>text</a:t></a:r></a:p></dsp:txBody></dsp:sp>'
        "</dsp:spTree></dsp:drawing>"
    )
    rels = hostile_decks.part_of(deck, "ppt/slides/_rels/slide1.xml.rels").decode()
    kind = "http://schemas.microsoft.com/office/2007/relationships/diagramDrawing"
    link = f'<Relationship Id="rId99" Type="{kind}" Target="../diagrams/drawing1.xml"/></Relationships>'
    parts = {
        "ppt/diagrams/drawing1.xml": drawing.encode(),
        "ppt/slides/_rels/slide1.xml.rels": rels.replace("</Relationships>", link).encode(),
    }

    fonts = read_pptx(hostile_decks.with_parts(deck, parts)).fonts

    assert fonts is not None
    assert "Art Imaginary" in fonts


NEW_AND_OLD = (
    '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
    '<mc:Choice Requires="p14"><p:transition><p:x/></p:transition></mc:Choice>'
    "<mc:Fallback><p:transition><p:fade/></p:transition></mc:Fallback></mc:AlternateContent>"
)
TRANSITIONS = [
    ("", 0, 0, "none"),
    ("<p:transition/>", 0, 0, "its speed alone"),
    ("<p:transition><p:cut/></p:transition>", 1, 0, "an effect"),
    ('<p:transition advTm="3000"/>', 0, 1, "leaves by itself"),
    ("<p:transition><p:sndAc/></p:transition>", 0, 0, "a sound is told elsewhere"),
    (
        NEW_AND_OLD,
        1,
        0,
        "twice in the file, one slide",
    ),
]


@pytest.mark.parametrize(("xml", "transitions", "advancing", "why"), TRANSITIONS)
def test_how_slides_come_and_go_is_found(tmp_path: Path, xml: str, transitions: int, advancing: int, why: str) -> None:
    deck = hostile_decks.pptx_bytes(tmp_path)
    slide = hostile_decks.part_of(deck, SLIDE).replace(b"</p:sld>", f"{xml}</p:sld>".encode())

    found = read_pptx(hostile_decks.with_parts(deck, {SLIDE: slide}))

    assert (found.transitions, found.advancing_slides) == (transitions, advancing), why


def test_how_slides_of_an_odp_come_and_go_and_the_fonts_of_its_charts_are_found(tmp_path: Path) -> None:
    decks.make_odp(tmp_path / "a.odp", 2, hidden=1)
    content = (tmp_path / "a.odp").read_bytes()
    text = hostile_decks.part_of(content, "content.xml").decode()
    shown = 'presentation:visibility="visible"'
    assert shown in text
    coming = (
        ' presentation:transition-type="automatic" presentation:duration="PT5S" '
        'xmlns:smil="urn:oasis:names:tc:opendocument:xmlns:smil-compatible:1.0" smil:type="fade"'
    )
    text = text.replace(shown, shown + coming, 1)
    placed = (
        '<draw:frame><draw:object xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="./Object 1"/></draw:frame>'
    )
    text = text.replace("</draw:page>", f"{placed}</draw:page>", 1)
    names = 'xmlns:{0}="urn:oasis:names:tc:opendocument:xmlns:{0}:1.0"'
    chart = (
        f"<office:document-content {' '.join(names.format(name) for name in ('office', 'style', 'chart'))} "
        'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"><office:automatic-styles>'
        '<style:style style:name="ch1" style:family="chart"><style:text-properties fo:font-family="Chart Imaginary"/>'
        '</style:style></office:automatic-styles><office:body><chart:axis chart:style-name="ch1"/></office:body>'
        "</office:document-content>"
    )
    parts = {"content.xml": text.encode(), "Object 1/content.xml": chart.encode()}

    with zipfile.ZipFile(io.BytesIO(hostile_decks.with_parts(content, parts))) as package:
        found = odp_rules.read(package)

    assert (found.transitions, found.advancing_slides) == (1, 1), "of the slide that is shown"
    assert found.fonts is not None
    assert "Chart Imaginary" in found.fonts


def record(kind: int, *content: bytes, instance: int = 0, container: bool = True, more: int = 0) -> bytes:
    """A record of a .ppt; its length claims `more` bytes than it has."""
    body = b"".join(content)
    return struct.pack("<HHL", instance << 4 | (0xF if container else 0), kind, len(body) + more) + body


def atom(kind: int, content: bytes, more: int = 0) -> bytes:
    return record(kind, content, container=False, more=more)


def show_info(effect: int = 0, flags: int = 0) -> bytes:
    return atom(0x03F9, bytes(8) + struct.pack("<BBHL", 0, effect, flags, 0))


def animation(build: int) -> bytes:
    return record(0x1014, atom(0x0FF1, bytes(20) + bytes([build]) + bytes(7)))


def ppt_of(
    *slides: bytes,
    before: bytes = b"",
    behind: bytes = b"",
    places: dict[int, int] | None = None,
    texts: dict[int, bytes] | None = None,
    pictures: bytes = b"",
) -> io.BytesIO:
    """A .ppt with these slides.

    `before` is in its document, `behind` comes after all slides, `places` moves slides in the directory, `texts` are
    those of placeholders by the slide's number, `pictures` is a stream of its own.
    """
    persists = b"".join(
        atom(0x03F3, struct.pack("<5L", number + 1, 0, 0, 256, 0))
        + (atom(0x0FA8, (texts or {})[number]) if number in (texts or {}) else b"")
        for number in range(1, len(slides) + 1)
    )
    stream, found = b"", []
    for part in (record(0x03E8, before, record(0x0FF0, persists)), *slides):
        found.append(len(stream))
        stream += part
    stream += behind
    for number, place in (places or {}).items():
        found[number + 1] = place
    directory = atom(0x1772, struct.pack(f"<L{len(found)}L", len(found) << 20 | 1, *found))
    edit = atom(0x0FF5, struct.pack("<7L", 0, 0, 0, len(stream), 1, len(found), 0))
    user = struct.pack("<HHLLLL", 0, 0x0FF6, 20, 20, 0xE391C05F, len(stream) + len(directory))
    whole = {"Current User": user, "PowerPoint Document": stream + directory + edit}
    whole |= {"Pictures": pictures} if pictures else {}
    return io.BytesIO(hostile_decks.compound_file(whole))


def slide(*content: bytes) -> bytes:
    return record(0x03EE, *content)


def test_a_length_that_does_not_add_up_costs_a_ppt_its_own_container_alone() -> None:
    lost = record(0x0FD7, atom(0x0FBA, b"", more=5000))
    link = record(0x0FD7, record(0x0FBA, "https://example.org/".encode("utf-16-le"), instance=1, container=False))

    found = ppt_rules.read(ppt_of(slide(show_info(), animation(1)), slide(animation(1)), before=lost + link))

    assert (found.animated_slides, found.hyperlinks) == (2, ["https://example.org/"])


def test_a_container_longer_than_its_document_brings_no_hidden_slide_along() -> None:
    hidden, longer = slide(show_info(flags=4), animation(1)), record(0x0FD7, more=5000)

    found = ppt_rules.read(ppt_of(hidden, slide(show_info()), before=longer))

    assert (found.animated_slides, found.transitions) == (0, 0)


def test_of_a_ppt_only_slides_that_are_shown_and_animated_count() -> None:
    hidden = slide(show_info(flags=4), animation(1))

    found = ppt_rules.read(ppt_of(slide(show_info(), animation(0)), hidden, slide(show_info(), animation(1))))

    assert found.animated_slides == 1, 'neither the hidden one, nor the one that says "no build"'


def test_how_slides_of_a_ppt_come_and_go_is_found() -> None:
    found = ppt_rules.read(ppt_of(slide(show_info(effect=6)), slide(show_info(flags=0x400)), slide(show_info(flags=1))))

    assert (found.transitions, found.advancing_slides) == (1, 1)


def test_a_ppt_one_of_whose_slides_is_not_met_is_not_said_to_be_known() -> None:
    with pytest.raises(ValueError, match="a slide"):
        ppt_rules.read(ppt_of(slide(show_info()), slide(show_info()), places={1: 0}))


def test_timing_workbooks_and_missing_letters_are_told() -> None:
    contents = Contents(transitions=3, advancing_slides=1)
    contents.link_workbook("file:///C:/sales.xlsx")

    report = report_rules.report(Findings(1, 1, 0, (), contents, True, letters_missing=tuple("今日")))

    assert report["warnings"] == [
        {"code": "letters_missing", "count": 2, "letters": "今日", "signs": []},
        {"code": "timing_lost", "transitions": 3, "advancing": 1},
        {"code": "workbooks_not_asked", "count": 1, "targets": ["file:///C:/sales.xlsx"]},
    ]


def test_calibri_light_has_a_stand_in_of_nearly_the_same_widths() -> None:
    report = report_rules.report(Findings(1, 1, 0, ("Carlito",), Contents({"Calibri Light"}), has_thumbnail=True))

    assert report["warnings"][0]["same_widths"] == {"Calibri Light": "Carlito"}


def test_the_page_and_the_guide_have_words_for_every_warning() -> None:
    source = (REPOSITORY / "shared" / "conversions" / "report_rules.py").read_text(encoding="utf-8")
    codes = set(re.findall(r'"code": "(\w+)"|_links\("(\w+)"', source))
    named = {one or other for one, other in codes} | set(LOSSES)
    program = (REPOSITORY / "dashboard" / "lib" / "conversion_report.js").read_text(encoding="utf-8")
    guide = (REPOSITORY / "docs" / "reference.md").read_text(encoding="utf-8")

    assert {"letters_missing", "timing_lost", "workbooks_not_asked", "hyperlinks"} <= named
    assert {code for code in named if f"\n  {code}: (" not in program} == set()
    assert {code for code in named if f"`{code}`" not in guide} == set()
