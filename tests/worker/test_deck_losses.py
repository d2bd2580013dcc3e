"""What the real converter loses of a deck is in the report, and what it draws is not."""

import re
import struct
from pathlib import Path

import pypdfium2
import pytest

from functions.convert_worker.pdf import Examined, examine
from shared.event_media.contents.rules import BLANK, CHARTS, CUT, DATES, FORMULAS, PICTURES, Contents
from tests.worker import decks, hostile_decks, lossy_decks
from tests.worker.harness import Converter
from tests.worker.hostile.seeds import picture_of
from tests.worker.hostile_pdfs import pdf_with, stream
from tests.worker.lossy_decks import PIXEL

pytestmark = pytest.mark.slow

BLACK = lossy_decks.box(lossy_decks.text("")).replace(
    "<a:avLst/></a:prstGeom>", '<a:avLst/></a:prstGeom><a:solidFill><a:srgbClr val="000000"/></a:solidFill>'
)
NEWER = {"a formula alone": FORMULAS, "a pictured formula": None}
"""What LibreOffice 25.2 loses of slides otherwise: it takes what stands beside a formula for older programs."""
WINGDINGS = "&#xF04A;&#xF0E0;"  # what PowerPoint's AutoCorrect writes for :) and -->


def examined(converter: Converter, deck: Path) -> tuple[Examined, Contents]:
    answer = converter.convert(deck)
    assert answer.status_code == 200, answer.text
    deck.with_suffix(".pdf").write_bytes(answer.content)
    with deck.with_suffix(".pdf").open("rb") as file, deck.open("rb") as source:
        found = examine(file, source, deck.suffix[1:])
    assert found is not None
    assert found.contents is not None
    return found, found.contents


def test_what_a_pptx_loses_is_told_slide_by_slide_and_what_is_drawn_is_not(
    running_converter: Converter, tmp_path: Path
) -> None:
    slides = {
        "a formula alone": (lossy_decks.formula_alone("x"), None),
        "a formula in text": (lossy_decks.formula_in_text("y"), FORMULAS),
        "a formula in a table": (lossy_decks.in_table(lossy_decks.formula_alone("z")), FORMULAS),
        "a formula alone beside one in text": (
            lossy_decks.formula_alone("v") + lossy_decks.formula_in_text("w"),
            FORMULAS,
        ),
        "a formula on black": (BLACK + lossy_decks.formula_alone("u"), FORMULAS),
        "a pictured formula": (lossy_decks.with_picture_for_others(lossy_decks.formula_in_text("t"), "a14"), FORMULAS),
        "a chart": (lossy_decks.NEW_CHART, CHARTS),
        "a date": (lossy_decks.date("datetime1"), DATES),
        "an object without a picture": (lossy_decks.object_with("") + lossy_decks.box(lossy_decks.text("a")), PICTURES),
        "ink": (lossy_decks.INK, PICTURES),
        "a picture that is not in the file": (lossy_decks.picture("rId96"), PICTURES),
        "signs": (lossy_decks.box(lossy_decks.text(WINGDINGS, "Wingdings")), None),
        "text through the edge": (
            lossy_decks.box(lossy_decks.text("Wide and far")).replace('x="914400"', 'x="-500000"'),
            CUT,
        ),
        "nothing": ("", None),
    }
    (tmp_path / "deck.pptx").write_bytes(lossy_decks.furnished(tmp_path, *(xml for xml, _ in slides.values())))

    found, contents = examined(running_converter, tmp_path / "deck.pptx")

    told = {code: set(numbers) for code, numbers in contents.losses.items() if code != BLANK}
    with pypdfium2.PdfDocument(tmp_path / "deck.pdf") as pdf:
        is_newer = "older programs" in pdf[0].get_textpage().get_text_range()
    expected: dict[str, set[int]] = {}
    for number, (name, (_, code)) in enumerate(slides.items(), 1):
        if (lost := NEWER.get(name, code) if is_newer else code) is not None:
            expected.setdefault(lost, set()).add(number)
    assert told == expected
    assert contents.losses[FORMULAS].count(4) == (2 if is_newer else 1)
    assert found.letters_missing == ()
    assert "OpenSymbol" in (found.embedded_fonts or ())


def test_a_page_that_lost_everything_is_told(running_converter: Converter, tmp_path: Path) -> None:
    full = lossy_decks.picture("rId97").replace('x="914400" y="1828800"', 'x="0" y="0"')
    full = full.replace('cx="4572000" cy="914400"', 'cx="9144000" cy="6858000"')
    slides = lossy_decks.object_with(""), lossy_decks.box(lossy_decks.text("here")), full
    (tmp_path / "deck.pptx").write_bytes(lossy_decks.furnished(tmp_path, *slides))

    assert examined(running_converter, tmp_path / "deck.pptx")[1].losses[BLANK] == [1]


EMPTY_PLACES = [
    (lossy_decks.picture("rId97"), False),
    (lossy_decks.picture("rId96"), True),
    (lossy_decks.picture(lossy_decks.WEB_PAGE), True),
    (lossy_decks.picture(lossy_decks.AVIF), True),
    (lossy_decks.hidden(lossy_decks.picture("rId97")), False),
    (lossy_decks.INK, True),
    (lossy_decks.with_picture_for_others(lossy_decks.INK, "p14"), True),
    (lossy_decks.with_picture_for_others(lossy_decks.UNKNOWN, "p14"), True),
    (lossy_decks.with_picture_for_others(lossy_decks.UNKNOWN, "am3d"), False),
    (lossy_decks.for_others_nothing(lossy_decks.picture("rId97"), "am3d"), True),
    (lossy_decks.for_others_nothing(lossy_decks.picture("rId97"), "p14"), False),
    (lossy_decks.object_with(""), True),
    (lossy_decks.object_with("rId97"), False),
    (lossy_decks.chart("rId96"), True),
    (lossy_decks.chart(lossy_decks.PIE), False),
    (lossy_decks.smartart("rId96"), True),
    ("", False),
]


def test_each_place_of_a_pptx_that_is_empty_on_its_page_is_told(running_converter: Converter, tmp_path: Path) -> None:
    """The second reader is the page's picture. A hidden shape and an empty slide leave nothing to tell."""
    shapes = [shape for shape, _ in EMPTY_PLACES]
    (tmp_path / "deck.pptx").write_bytes(lossy_decks.furnished(tmp_path, *shapes))

    _, contents = examined(running_converter, tmp_path / "deck.pptx")

    told = contents.losses.get(PICTURES, []) + contents.losses.get(CHARTS, [])
    assert sorted(told) == [number for number, (_, empty) in enumerate(EMPTY_PLACES, 1) if empty]
    nothing = {number for number, shape in enumerate(shapes, 1) if not shape or "hidden=" in shape}
    assert one_coloured(tmp_path / "deck.pdf") == {*told, *nothing}
    assert set(contents.losses[BLANK]) == set(told) - {10}  # a slide with nothing that LibreOffice reads


def one_coloured(pdf: Path) -> set[int]:
    """The pages of one colour."""
    with pypdfium2.PdfDocument(pdf) as opened:
        pictures = [page.render(scale=0.5).to_pil() for page in opened]
    return {number for number, picture in enumerate(pictures, 1) if picture.getcolors(1) is not None}


def test_an_svg_is_told_as_missing_when_its_page_shows_what_stands_beside_it(
    running_converter: Converter, tmp_path: Path
) -> None:
    """LibreOffice draws the SVG itself since its version 25, and before it what PptxGenJS and others put beside it."""
    beside = ["rId97", PIXEL, lossy_decks.CLEAR, lossy_decks.STAND_IN, "rId96", lossy_decks.WEB_PAGE]
    slides = [lossy_decks.picture(each, svg="rId98") for each in beside]
    (tmp_path / "deck.pptx").write_bytes(lossy_decks.furnished(tmp_path, *slides))

    _, contents = examined(running_converter, tmp_path / "deck.pptx")

    with pypdfium2.PdfDocument(tmp_path / "deck.pdf") as pdf:
        colours = [page.render(scale=0.5).to_pil().convert("RGB").getcolors(1 << 20) or [] for page in pdf]
    without = [number for number, each in enumerate(colours, 1) if lossy_decks.BLUE not in dict(map(reversed, each))]
    assert contents.losses.get(PICTURES, []) == without[1:]
    assert len(without) in {0, len(slides)}


ODP_FRAMES = [
    ('<draw:image xlink:href="Pictures/here.png"/>', False),
    ('<draw:image xlink:href="Pictures/page.png"/>', True),
    ('<draw:object-ole xlink:href="./Object"/>', True),
    ('<draw:object-ole xlink:href="./Object"/><draw:image xlink:href="Pictures/here.png"/>', False),
    ('<draw:object xlink:href="./Object"/>', True),
    ('<draw:floating-frame xlink:href="Pictures/here.png"/>', True),
    ('<draw:applet xlink:href="Pictures/here.png"/>', True),
]


def test_each_place_of_an_odp_that_is_empty_on_its_page_is_told(running_converter: Converter, tmp_path: Path) -> None:
    deck = odp_with_frames(tmp_path, [frame for frame, _ in ODP_FRAMES])
    told = [number for number, (_, empty) in enumerate(ODP_FRAMES, 1) if empty]

    _, contents = examined(running_converter, deck)

    assert contents.losses == {PICTURES: told, BLANK: told}
    assert one_coloured(deck.with_suffix(".pdf")) == set(told)


def odp_with_frames(folder: Path, frames: list[str]) -> Path:
    """A deck whose slides have nothing but a frame."""
    decks.make_odp(folder / "deck.odp", len(frames))
    content = (folder / "deck.odp").read_bytes()
    page, *others = hostile_decks.part_of(content, "content.xml").decode().split("<draw:frame ")
    for frame, other in zip(frames, others, strict=True):
        place = 'svg:width="9cm" svg:height="6cm" svg:x="6cm" svg:y="8cm" xmlns:xlink="http://www.w3.org/1999/xlink"'
        page += f"<draw:frame {place}>{frame}</draw:frame>{other.partition('</draw:frame>')[2]}"
    parts = {"content.xml": page.encode(), "Pictures/here.png": picture_of(9, 9, (200, 0, 0))}
    parts["Pictures/page.png"] = b"<html></html>"
    entry = '<manifest:file-entry manifest:full-path="Pictures/{}.png" manifest:media-type="image/png"/>'
    entries = "".join(entry.format(name) for name in ("here", "page"))
    manifest = hostile_decks.part_of(content, "META-INF/manifest.xml").decode()
    parts["META-INF/manifest.xml"] = manifest.replace("</manifest:manifest>", f"{entries}</manifest:manifest>").encode()
    (folder / "deck.odp").write_bytes(hostile_decks.with_parts(content, parts))
    return folder / "deck.odp"


PPT_PICTURE = struct.pack("<H", 0x4104)  # the property pib of a shape


def test_each_place_of_a_ppt_that_is_empty_on_its_page_is_told(running_converter: Converter, tmp_path: Path) -> None:
    """The .ppt is LibreOffice's own, with the numbers of some pictures spoilt."""
    shapes = [lossy_decks.picture("rId97"), lossy_decks.object_with("rId97")] * 3
    slides = [lossy_decks.box(lossy_decks.text("hidden")), *shapes, ""]
    (tmp_path / "deck.pptx").write_bytes(lossy_decks.furnished(tmp_path, *slides, hidden=1))
    decks.convert(tmp_path / "deck.pptx", "ppt", tmp_path)
    before, *behind = (tmp_path / "deck.ppt").read_bytes().split(PPT_PICTURE + struct.pack("<L", 1))
    assert len(behind) == len(shapes)
    numbers = [1, 1, 0, 0, 99, 99]
    spoilt = before + b"".join(
        PPT_PICTURE + struct.pack("<L", one) + rest for one, rest in zip(numbers, behind, strict=True)
    )
    (tmp_path / "deck.ppt").write_bytes(spoilt)

    _, contents = examined(running_converter, tmp_path / "deck.ppt")

    assert contents.losses == {PICTURES: [4, 5, 6, 7], BLANK: [4, 5, 6, 7]}
    assert one_coloured(tmp_path / "deck.pdf") == {3, 4, 5, 6, 7}  # the pages lack the hidden slide


FIXED = lossy_decks.box(lossy_decks.text("1/2/2001"))
STANDS_FOR_A_DATE = "NineSigns"
TEXT_OF_PPT = struct.pack("<HHL", 0, 0x0FA0, 18) + STANDS_FOR_A_DATE.encode("utf-16-le")
DATE_OF_PPT = struct.pack("<HHLH", 0, 0x0FA0, 2, ord("*")) + struct.pack("<HHLLL", 0, 0x0FF7, 8, 0, 0)


@pytest.mark.parametrize("kind", ["pptx", "odp", "ppt"])
def test_each_date_that_became_the_day_of_the_conversion_is_told(
    running_converter: Converter, tmp_path: Path, kind: str
) -> None:
    """The second reader is the text of the page: the dates in the deck are of 2001.

    LibreOffice writes dates into a .ppt as plain text, so records of dates take the place of a text as long as they.
    """
    date = lossy_decks.box(lossy_decks.text(STANDS_FOR_A_DATE)) if kind == "ppt" else lossy_decks.date("datetime1")
    slides = FIXED, FIXED, date, "", date, FIXED + date
    (tmp_path / "deck.pptx").write_bytes(lossy_decks.furnished(tmp_path, *slides, hidden=1))
    if kind != "pptx":
        decks.convert(tmp_path / "deck.pptx", kind, tmp_path)
    deck = tmp_path / f"deck.{kind}"
    deck.write_bytes(deck.read_bytes().replace(TEXT_OF_PPT, DATE_OF_PPT))

    _, contents = examined(running_converter, deck)

    with pypdfium2.PdfDocument(tmp_path / "deck.pdf") as pdf:
        texts = [page.get_textpage().get_text_range() for page in pdf]
    current = [number for number, text in enumerate(texts, 2) if re.search(r"\d\d", text.replace("1/2/2001", ""))]
    assert contents.losses == {DATES: current}
    assert current == [3, 5, 6]


MAKERS = [
    ("LibreOffice 7.4", True),
    ("LibreOffice 24.8.4.2 (X86_64)", True),
    ("LibreOffice 25.2.3.2 (X86_64) / LibreOffice Community", False),
    ("another", True),
    ("", True),
]


@pytest.mark.parametrize(("maker", "is_lost"), MAKERS)
def test_what_libreoffice_draws_since_25_is_lost_in_pdfs_of_all_others(
    tmp_path: Path, maker: str, is_lost: bool
) -> None:
    made = pdf_with(b"/MediaBox[0 0 100 50]", f"<</Producer({maker})>>".encode())
    (tmp_path / "deck.pdf").write_bytes(made.replace(b"<</Root 1 0 R>>", b"<</Root 1 0 R/Info 4 0 R>>"))
    picture = lossy_decks.picture(lossy_decks.STAND_IN, svg="rId98")
    (tmp_path / "deck.pptx").write_bytes(lossy_decks.furnished(tmp_path, picture))

    with (tmp_path / "deck.pdf").open("rb") as file, (tmp_path / "deck.pptx").open("rb") as source:
        found = examine(file, source, "pptx")

    assert found is not None
    assert found.contents is not None
    assert (PICTURES in found.contents.losses) == is_lost


HALF = b"/MediaBox[0 0 100 50]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>"
MAP = b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange"


@pytest.mark.parametrize(("meaning", "missing"), [("d83d", ("\ufffd",)), ("fffd", ("\ufffd",)), ("0061", ())])
def test_half_an_emoji_and_a_replacement_sign_are_missing_letters(
    tmp_path: Path, meaning: str, missing: tuple[str, ...]
) -> None:
    means = f" 1 beginbfchar <41> <{meaning}> endbfchar endcmap end".encode()
    page = stream(b"", b"BT /F 20 Tf 10 10 Td (A) Tj ET")
    (tmp_path / "a.pdf").write_bytes(pdf_with(HALF, page, FONT, stream(b"", MAP + means)))

    with (tmp_path / "a.pdf").open("rb") as file:
        found = examine(file)

    assert found is not None
    assert found.letters_missing == missing
