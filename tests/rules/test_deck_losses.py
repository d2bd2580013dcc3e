"""What slides lose on the way to a PDF is found in each format, and counted as a second reader counts it."""

import io
import re
import struct
import zipfile
from collections import Counter
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest
from PIL import Image, UnidentifiedImageError
from pptx import Presentation

from functions.convert_worker import comparison
from functions.convert_worker.comparison import Placed
from shared.conversions import report_rules
from shared.conversions.report_rules import Findings
from shared.event_media import pictures_rules
from shared.event_media.contents import odp_rules, ppt_rules, pptx_rules
from shared.event_media.contents.rules import BLANK, CHARTS, CUT, DATES, FORMULAS, PICTURES, Contents, Slide
from tests.rules.test_deck_contents import atom, ppt_of, record, show_info, slide
from tests.worker import decks, hostile_decks, lossy_decks
from tests.worker.hostile.seeds import picture_of
from tests.worker.lossy_decks import PIXEL, furnished

PAGE: Final = (720.0, 540.0)
BACKGROUND: Final = Placed(0, 0, 720, 540, kind="path")


def read_pptx(deck: bytes, libreoffice: tuple[int, int] | None = None) -> Contents:
    with zipfile.ZipFile(io.BytesIO(deck)) as package:
        return pptx_rules.read(package, libreoffice)


def read_odp(deck: bytes) -> Contents:
    with zipfile.ZipFile(io.BytesIO(deck)) as package:
        return odp_rules.read(package)


LOST: Final[list[tuple[str, dict[str, list[int]]]]] = [
    (lossy_decks.formula_alone("x"), {FORMULAS: [1]}),
    (lossy_decks.formula_in_text("x"), {FORMULAS: [1]}),
    (lossy_decks.in_table(lossy_decks.formula_in_text("x")), {FORMULAS: [1]}),
    (lossy_decks.NEW_CHART, {CHARTS: [1]}),
    (lossy_decks.date("datetime1"), {DATES: [1]}),
    (lossy_decks.date("datetimeFigureOut"), {DATES: [1]}),
    (lossy_decks.date("slidenum"), {}),
    (lossy_decks.object_with(""), {PICTURES: [1]}),
    (lossy_decks.object_with(PIXEL), {}),
    (lossy_decks.INK, {PICTURES: [1]}),
    (lossy_decks.UNKNOWN, {PICTURES: [1]}),
    (lossy_decks.with_picture_for_others(lossy_decks.UNKNOWN, "p14"), {PICTURES: [1]}),
    (lossy_decks.with_picture_for_others(lossy_decks.UNKNOWN, "am3d"), {}),
    (lossy_decks.for_others_nothing(lossy_decks.picture("rId97"), "am3d"), {PICTURES: [1]}),
    (lossy_decks.for_others_nothing(lossy_decks.picture("rId97"), "p14"), {}),
    (lossy_decks.picture("rId97", svg="rId98"), {}),
    (lossy_decks.picture("rId99"), {}),
    (lossy_decks.picture("rId96"), {PICTURES: [1]}),
    (lossy_decks.hidden(lossy_decks.picture("rId96")), {}),
    (lossy_decks.picture(lossy_decks.WEB_PAGE), {PICTURES: [1]}),
    (lossy_decks.picture(lossy_decks.AVIF), {PICTURES: [1]}),
    (lossy_decks.chart("rId96"), {CHARTS: [1]}),
    (lossy_decks.chart(lossy_decks.SURFACE), {CHARTS: [1]}),
    (lossy_decks.chart(lossy_decks.NEW_PART), {CHARTS: [1]}),
    (lossy_decks.chart(lossy_decks.PIE), {}),
    (lossy_decks.smartart("rId96"), {PICTURES: [1]}),
    (f"<p:sp><p:txBody>{lossy_decks.text('plain')}</p:txBody></p:sp>", {}),
]


LOST_BEFORE_25: Final[list[tuple[str, dict[str, list[int]]]]] = [
    (lossy_decks.picture("rId99", svg="rId98"), {PICTURES: [1]}),
    (lossy_decks.picture("rId96", svg="rId98"), {PICTURES: [1]}),
    (lossy_decks.picture(lossy_decks.STAND_IN, svg="rId98"), {PICTURES: [1]}),
    (lossy_decks.picture(lossy_decks.CLEAR, svg="rId98"), {PICTURES: [1]}),
    (lossy_decks.chart(lossy_decks.OF_PIE), {CHARTS: [1]}),
]


@pytest.mark.parametrize(("xml", "lost"), LOST)
def test_what_a_slide_of_a_pptx_loses_is_found(tmp_path: Path, xml: str, lost: dict[str, list[int]]) -> None:
    assert read_pptx(furnished(tmp_path, xml)).losses == lost


@pytest.mark.parametrize(("xml", "lost"), LOST_BEFORE_25)
def test_what_libreoffice_draws_since_25_is_lost_only_before(
    tmp_path: Path, xml: str, lost: dict[str, list[int]]
) -> None:
    deck = furnished(tmp_path, xml)

    assert read_pptx(deck, (24, 8)).losses == lost
    assert read_pptx(deck, (25, 2)).losses == {}


SVGS: Final = [
    ('<svg viewBox="0 0 24 24">', (48, 48), False),
    ('<svg viewBox="0 0 24 24">', (100, 119), True),
    ('<svg width="30mm" height="10mm">', (300, 100), False),
    ('<svg height="10mm" width="30mm">', (100, 119), True),
    ('<svg width="300" height="100" viewBox="0 0 24 24">', (90, 30), False),
    ('<svg width="300" height="100" viewBox="0 0 24 24">', (30, 30), False),
    ('<svg width="100%" height="100%">', (100, 119), False),
    ('<?xml version="1.0"?><s:svg xmlns:s="http://www.w3.org/2000/svg" viewBox="0,0,3,1"/>', (100, 33), False),
    ('<svg width="." height="0" viewBox="0 0 1.2.3 4">', (10, 30), False),
    ("no svg", (10, 30), False),
]


@pytest.mark.parametrize(("svg", "size", "is_other"), SVGS)
def test_a_picture_of_other_proportions_than_its_svg_is_a_stand_in(
    svg: str, size: tuple[int, int], is_other: bool
) -> None:
    assert pictures_rules.is_stand_in(picture_of(*size, (9, 9, 9)), svg.encode()) == is_other


def test_a_picture_that_cannot_be_unpacked_is_no_stand_in() -> None:
    damaged = lossy_decks.clear_picture().replace(b"x\x9c", b"no")
    for picture in (damaged, damaged[:20], damaged[:40]):
        assert not pictures_rules.is_stand_in(picture, b"")


PICTURES_BEGIN: Final = [
    (b"", False),
    (b" \n<?xml version='1.0'?><Error>AccessDenied</Error>", False),
    (b'{"error": 404}', False),
    (b"<html><svg></svg></html>", False),
    (b"<!-- a --><!DOCTYPE svg><svg>", True),
    (b"\xef\xbb\xbf<?xml version='1.0'?><n:svg>", True),
    (b"\0\0\0\x0cjP  \r\n\x87\n", False),
    (b"\0\0\1\0\1\0", False),
    (b"%!PS-Adobe-3.0 EPSF-3.0", False),
    (b"\xc5\xd0\xd3\xc6", True),
    (b"\xd7\xcd\xc6\x9a", True),
    (b"\1\0\0\0l\0\0\0", True),
]


@pytest.mark.parametrize(("head", "drawn"), PICTURES_BEGIN)
def test_what_is_no_picture_for_libreoffice_is_known_by_its_first_bytes(head: bytes, drawn: bool) -> None:
    assert pictures_rules.may_be_drawn(head) == drawn


@pytest.mark.parametrize(
    ("libreoffice", "lost"), [(None, [1, 2, 3]), ((7, 4), [1, 2, 3]), ((25, 2), [1, 3]), ((26, 2), [1, 3])]
)
def test_a_formula_is_not_lost_where_libreoffice_takes_the_picture_beside_it(
    tmp_path: Path, libreoffice: tuple[int, int] | None, lost: list[int]
) -> None:
    bare = lossy_decks.formula_in_text("x")
    pictured = lossy_decks.with_picture_for_others(bare, "a14")
    deck = furnished(tmp_path, lossy_decks.formula_alone("x"), pictured, bare)

    assert read_pptx(deck, libreoffice).losses == {FORMULAS: lost}


def test_what_a_hidden_slide_holds_is_not_lost_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    found = read_pptx(furnished(tmp_path, lossy_decks.NEW_CHART, lossy_decks.date("datetime3"), hidden=1))

    assert (found.losses, [each.number for each in found.slides]) == ({DATES: [2]}, [2])


HIDDEN: Final = re.compile(r'<p:pic><p:nvPicPr><p:cNvPr[^>]*hidden="1".*?</p:pic>', re.DOTALL)
NOT_TAKEN: Final = re.compile(r'<mc:Choice Requires="(?:cx1|am3d)">.*?</mc:Choice>(</mc:AlternateContent>)?', re.DOTALL)


def test_a_second_reader_counts_the_same_losses(tmp_path: Path) -> None:
    """It takes slides and relationships from python-pptx, pictures from Pillow, and searches whole documents."""
    kinds = [xml for xml, _ in LOST + LOST_BEFORE_25]
    deck = furnished(tmp_path, *(kinds[number % len(kinds)] + kinds[number // 3 % len(kinds)] for number in range(90)))
    names = {"a": lossy_decks.A, "m": lossy_decks.M, "asvg": lossy_decks.SVG}
    linked = f"{{{lossy_decks.R}}}"
    counted: Counter[str] = Counter()
    for each in Presentation(io.BytesIO(deck)).slides:
        whole = HIDDEN.sub("", each.part.blob.decode())
        tree = ET.fromstring(NOT_TAKEN.sub(r"\1", whole))
        parts = {key: link.target_part.blob for key, link in each.part.rels.items()}
        counted[FORMULAS] += len(tree.findall(".//m:oMath", names))
        counted[DATES] += whole.count('type="datetime')
        counted[CHARTS] += whole.count(f'uri="{lossy_decks.CX}"')
        for chart in tree.findall(".//{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"):
            counted[CHARTS] += b"<c:pieChart>" not in parts.get(chart.get(f"{linked}id", ""), b"")
        for blip in tree.findall(".//a:blip", names):
            square = blip.find(".//asvg:svgBlip", names) is not None
            counted[PICTURES] += not shows(parts.get(blip.get(f"{linked}embed", "")), square=square)
        placed = tree.findall(
            ".//a:graphicData[@uri='http://schemas.openxmlformats.org/presentationml/2006/ole']", names
        )
        counted[PICTURES] += sum(one.find(".//a:blip", names) is None for one in placed)
        ends = [found[1] for found in NOT_TAKEN.finditer(whole)]
        counted[PICTURES] += len(ends) - ends.count(None)
        taken = NOT_TAKEN.sub("", whole)
        counted[PICTURES] += taken.count("<p:contentPart ") + taken.count("2010/ink") + taken.count('r:dm="rId96"')

    found = read_pptx(deck)
    assert {code: len(slides) for code, slides in found.losses.items()} == dict(counted)
    assert min(counted.values()) > 2


def shows(picture: bytes | None, *, square: bool) -> bool:
    """Whether Pillow reads the picture and, beside the square SVG, it is a square with something on it."""
    try:
        image = Image.open(io.BytesIO(picture or b""))
    except UnidentifiedImageError:
        return False
    return not square or (image.width == image.height > 1 and image.getbbox() is not None)


def test_the_font_of_each_private_character_is_found_and_told_with_its_number(tmp_path: Path) -> None:
    signs = lossy_decks.box(lossy_decks.text("&#xF069; a", "Webdings") + lossy_decks.text("&#xE001;", None))

    found = read_pptx(furnished(tmp_path, signs))
    report = report_rules.report(
        Findings(1, 1, 0, (), found, has_thumbnail=True, letters_missing=("今", "\ue001", "\uf069"))
    )

    told = next(warning for warning in report["warnings"] if warning["code"] == "letters_missing")
    assert found.signs["\uf069"] == "Webdings"
    assert told == {"code": "letters_missing", "count": 3, "letters": "今", "signs": ["U+E001", "Webdings 105"]}


@pytest.mark.parametrize(
    ("xml", "chosen"),
    [
        ("<p:showPr><p:sldAll/></p:showPr>", False),
        ('<p:showPr><p:custShow id="0"/></p:showPr>', True),
        ('<p:showPr><p:sldRg st="2" end="3"/></p:showPr>', True),
    ],
)
def test_a_show_of_chosen_slides_is_told(tmp_path: Path, xml: str, chosen: bool) -> None:
    deck = furnished(tmp_path, "")
    name = "ppt/presProps.xml"
    properties = f'<p:presentationPr xmlns:p="{lossy_decks.P}">{xml}</p:presentationPr>'

    found = read_pptx(hostile_decks.with_parts(deck, {name: properties.encode()}))

    codes = [one["code"] for one in report_rules.report(Findings(1, 1, 0, (), found, has_thumbnail=True))["warnings"]]
    assert found.shows_chosen_slides == chosen
    assert ("chosen_slides_ignored" in codes) == chosen


ODP_LOST: Final = [
    ('<text:date text:date-value="2001-01-01"/>', {DATES: [1]}),
    ('<text:time text:fixed="true">12:00</text:time>', {}),
    ("<text:time>12:00</text:time>", {DATES: [1]}),
]


@pytest.mark.parametrize(("xml", "lost"), ODP_LOST)
def test_dates_of_an_odp_that_change_by_themselves_are_found(
    tmp_path: Path, xml: str, lost: dict[str, list[int]]
) -> None:
    assert read_odp(changed_odp(tmp_path, ("Slide 1 of 1", xml))).losses == lost


ODP_FRAMES: Final = [
    ('<draw:image xlink:href="Pictures/gone.png"/>', {PICTURES: [1]}),
    ('<draw:image xlink:href="Pictures/here.png"/>', {}),
    ('<draw:image xlink:href="https://example.org/a.png"/>', {}),
    ('<draw:object-ole xlink:href="./Object 1"/>', {PICTURES: [1]}),
    ('<draw:object-ole xlink:href="./Object 1"/><draw:image xlink:href="./Pictures/here.png"/>', {}),
    ('<draw:object-ole xlink:href="./Object 1"/><draw:image xlink:href="./Pictures/page.png"/>', {PICTURES: [1]}),
    ('<draw:object xlink:href="./Formula"/>', {FORMULAS: [1]}),
    ('<draw:object xlink:href="./Object 1"/>', {PICTURES: [1]}),
    ('<draw:object xlink:href="./Object 1"/><draw:image xlink:href="./Pictures/here.png"/>', {}),
    ('<draw:floating-frame xlink:href="Pictures/here.png"/>', {PICTURES: [1]}),
    ('<draw:applet xlink:href="Pictures/here.png"/>', {PICTURES: [1]}),
    ("<draw:image><office:binary-data>iVBORw0KGgo=</office:binary-data></draw:image>", {}),
    ('<draw:plugin xlink:href="Pictures/here.png"/>', {}),
]


@pytest.mark.parametrize(("xml", "lost"), ODP_FRAMES)
def test_pictures_objects_and_formulas_of_an_odp_are_found(
    tmp_path: Path, xml: str, lost: dict[str, list[int]]
) -> None:
    frame = f'<draw:frame xmlns:xlink="http://www.w3.org/1999/xlink">{xml}</draw:frame></draw:page>'
    formula = b'<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi><mo>=</mo><mn>7</mn></math>'
    deck = changed_odp(tmp_path, ("</draw:page>", frame))

    found = read_odp(
        hostile_decks.with_parts(
            deck,
            {
                "Pictures/here.png": lossy_decks.EMPTY,
                "Pictures/page.png": b"<html></html>",
                "Formula/content.xml": formula,
            },
        )
    )

    assert found.losses == lost
    assert [each.formulas for each in found.slides] == [["x7"] if FORMULAS in lost else []]


@pytest.mark.parametrize(
    ("how", "chosen"),
    [
        ('presentation:show="Lobby"', True),
        ('presentation:start-page="Page 2"', True),
        ('presentation:mouse="true"', False),
    ],
)
def test_a_show_of_chosen_slides_of_an_odp_is_told(tmp_path: Path, how: str, chosen: bool) -> None:
    deck = changed_odp(tmp_path, ("</office:presentation>", f"<presentation:settings {how}/></office:presentation>"))

    assert read_odp(deck).shows_chosen_slides == chosen


@pytest.mark.parametrize(("source", "lost"), [("current-date", {DATES: [1]}), ("fixed", {})])
def test_dates_in_the_footers_of_an_odp_are_found(tmp_path: Path, source: str, lost: dict[str, list[int]]) -> None:
    declared = f'<presentation:date-time-decl presentation:name="d1" presentation:source="{source}"/><draw:page '
    wanted = (("<draw:page ", declared + 'presentation:use-date-time-name="d1" '),)

    assert read_odp(changed_odp(tmp_path, *wanted)).losses == lost


def changed_odp(folder: Path, *changes: tuple[str, str]) -> bytes:
    decks.make_odp(folder / "a.odp", 1)
    content = (folder / "a.odp").read_bytes()
    text = hostile_decks.part_of(content, "content.xml").decode()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return hostile_decks.with_parts(content, {"content.xml": text.encode()})


DATE_IN_TEXT: Final = atom(0x0FF7, bytes(8))
MASTER: Final = record(0x03F8, atom(0x0FF8, bytes(4)))


def footers(flags: int, instance: int = 0) -> bytes:
    return record(0x0FD9, atom(0x0FDA, bytes(2) + bytes([flags, 0])), instance=instance)


PPT_LOST: Final[list[tuple[str, bytes, list[bytes], list[int]]]] = [
    ("in the text", b"", [slide(show_info()), slide(show_info(), DATE_IN_TEXT, DATE_IN_TEXT)], [2, 2]),
    ("of a hidden slide", b"", [slide(show_info(flags=4), DATE_IN_TEXT), slide(show_info())], []),
    ("in a footer", b"", [slide(show_info(), footers(3)), slide(show_info()), MASTER], [1]),
    ("in the footer of all others", footers(3, 3), [slide(show_info(), footers(0)), slide(show_info()), MASTER], [2]),
    ("in the footer of notes", footers(3, 4), [slide(show_info()), MASTER], []),
    ("said to be fixed", footers(5, 3), [slide(show_info()), MASTER], []),
    ("for which no master has a place", footers(3, 3), [slide(show_info())], []),
]


@pytest.mark.parametrize(("where", "before", "parts", "lost"), PPT_LOST, ids=[case[0] for case in PPT_LOST])
def test_dates_of_a_ppt_that_change_by_themselves_are_found(
    where: str, before: bytes, parts: list[bytes], lost: list[int]
) -> None:
    slides = [part for part in parts if part is not MASTER]
    behind = b"".join(part for part in parts if part is MASTER)

    found = ppt_rules.read(ppt_of(*slides, before=before, behind=behind))

    assert found.losses.get(DATES, []) == lost, where


def stored(size: int, place: int, content: bytes = b"") -> bytes:
    """The record of a picture of the file."""
    return atom(0xF007, bytes(20) + struct.pack("<LLL", size, 1, place) + bytes(4) + content)


def shape(*properties: tuple[int, int], refers: bytes = b"") -> bytes:
    """A shape with these properties."""
    raw = b"".join(struct.pack("<HL", *each) for each in properties)
    return record(0xF004, record(0xF00B, raw, instance=len(properties), container=False), refers)


OBJECT: Final = record(0xF011, atom(0x0BC1, bytes(4)))
STORED: Final = stored(100, 0) + stored(0, 0) + stored(100, 9999) + stored(0, 0xFFFFFFFF, bytes(50))
PPT_PICTURES: Final = [
    ("there", shape((0x4104, 1)), []),
    ("of no size", shape((0x4104, 2)), [1]),
    ("behind the end", shape((0x0180, 3), (0x4104, 3)), [1]),
    ("in its record", shape((0x4104, 4)), []),
    ("that nobody stored", shape((0x4104, 5)), [1]),
    ("without a number", shape((0x4104, 0)), [1]),
    ("linked alone", shape((0xC105, 9)), [1]),
    ("with its name", shape((0x4104, 1), (0xC105, 9)), []),
    ("of an object", shape((0x4104, 1), refers=OBJECT), []),
    ("that an object lacks", shape((0x0180, 3), refers=OBJECT), [1]),
    ("that a box needs not", shape((0x0180, 3)), []),
]


@pytest.mark.parametrize(("which", "drawing", "lost"), PPT_PICTURES, ids=[case[0] for case in PPT_PICTURES])
def test_pictures_that_a_ppt_lacks_are_found(which: str, drawing: bytes, lost: list[int]) -> None:
    found = ppt_rules.read(ppt_of(slide(show_info(), drawing), before=STORED, pictures=bytes(200)))

    assert found.losses.get(PICTURES, []) == lost, which
    assert [each.is_drawn for each in found.slides] == [which != "that a box needs not"]


def test_slides_of_a_ppt_with_text_are_known_by_their_number() -> None:
    boxed = slide(show_info(), atom(0x0FA0, "a".encode("utf-16-le")))
    blank = slide(show_info(), atom(0x0FA0, " \r".encode("utf-16-le")))
    hidden = slide(show_info(flags=4), atom(0x0FA8, b"a"))

    found = ppt_rules.read(ppt_of(hidden, boxed, blank, slide(show_info()), slide(show_info()), texts={5: b"a"}))

    assert [(each.number, each.is_drawn) for each in found.slides] == [(2, True), (3, False), (4, False), (5, True)]


@pytest.mark.parametrize(("flags", "chosen"), [(0, False), (0x04, True), (0x08, True), (0x80, False)])
def test_a_show_of_chosen_slides_of_a_ppt_is_told(flags: int, chosen: bool) -> None:
    show = atom(0x0401, bytes(76) + bytes([flags, 0, 0, 0]))

    assert ppt_rules.read(ppt_of(slide(show_info()), before=show)).shows_chosen_slides == chosen


SHOWN: Final = [
    (["x7"], ["Heading"], "Heading\r\nx\r\n7", 1, "drawn"),
    (["x7"], ["Heading"], "Heading", 0, "lost"),
    (["x7", "x7"], [], "x7", 1, "one of two"),
    (["7"], ["7 days"], "7 days", 0, "the page has it for another reason"),
    (["\U0001d465"], [], "x", 1, "a letter in italics of its own"),
    (["¿"], [], "¿", 0, "nothing that can be looked for"),
]


@pytest.mark.parametrize(("formulas", "text", "page", "count", "why"), SHOWN)
def test_a_formula_is_shown_when_the_page_has_its_letters_beside_all_others(
    formulas: list[str], text: list[str], page: str, count: int, why: str
) -> None:
    contents, of_deck = Contents(losses={FORMULAS: [4] * len(formulas)}), Slide(4, True, formulas, text)

    comparison.compare(contents, of_deck, page, [BACKGROUND, Placed(1, 1, 9, 9, kind="text")], PAGE)

    assert len(contents.losses.get(FORMULAS, [])) == len(formulas) - count, why


PLACED: Final[list[tuple[list[Placed], set[str], str]]] = [
    ([BACKGROUND, BACKGROUND], {BLANK}, "nothing but the background"),
    ([], {BLANK}, "nothing at all"),
    ([BACKGROUND, Placed(10, 10, 20, 20, kind="path")], set(), "a small path"),
    ([Placed(100, 100, 200, 120, kind="text")], set(), "text inside"),
    ([Placed(-60, 100, 200, 120, kind="text")], {CUT}, "text through the left edge"),
    ([Placed(100, -40, 200, -20, kind="text")], {CUT}, "a line below the page"),
    ([Placed(700, 100, 760, 120, kind="text")], {CUT}, "text through the right edge"),
    ([Placed(-2, 100, 200, 120, kind="text")], set(), "the blank beside a letter"),
    ([Placed(-60, 100, 200, 120, kind="other")], set(), "a picture through the edge"),
    ([BACKGROUND, Placed(0, 0, 720, 540, kind="other")], set(), "a picture as large as the page"),
]


@pytest.mark.parametrize(("objects", "lost", "why"), PLACED)
def test_blank_pages_and_cut_text_are_told(objects: list[Placed], lost: set[str], why: str) -> None:
    contents = Contents()

    comparison.compare(contents, Slide(3, is_drawn=True), "", objects, PAGE)

    assert contents.losses == {code: [3] for code in lost}, why


@pytest.mark.parametrize(("read", "codes"), [(3, []), (2, ["pages_not_read"]), (0, ["pages_not_read"])])
def test_pages_that_were_not_read_are_told(read: int, codes: list[str]) -> None:
    report = report_rules.report(Findings(3, 3, 0, (), Contents(), has_thumbnail=True, pages_read=read))

    assert [warning["code"] for warning in report["warnings"]] == codes


@pytest.mark.parametrize(("read", "slides"), [(0, []), (3, [2, 3]), (9, [2, 3, 7])])
def test_only_of_pages_that_were_compared_a_formula_is_called_lost(read: int, slides: list[int]) -> None:
    contents = Contents(losses={"formulas_lost": [2, 3, 7]})
    report = report_rules.report(Findings(9, 9, 0, (), contents, has_thumbnail=True, pages_read=read))

    assert [warning["slides"] for warning in report["warnings"] if warning["code"] == "formulas_lost"] == [slides][
        : len(slides)
    ]


def test_a_slide_without_anything_on_it_may_have_a_blank_page(tmp_path: Path) -> None:
    empty, full = read_pptx(furnished(tmp_path, "", lossy_decks.picture("rId97"))).slides

    assert (empty.is_drawn, full.is_drawn) == (False, True)
