"""What the real converter loses of a deck is in the report, and what it draws is not."""

from pathlib import Path

import pypdfium2
import pytest

from functions.convert_worker.pdf import Examined, examine
from shared.event_media.contents.rules import BLANK, CHARTS, CUT, DATES, FORMULAS, PICTURES, Contents
from tests.worker import decks, lossy_decks
from tests.worker.harness import Converter
from tests.worker.hostile_pdfs import pdf_with, stream

pytestmark = pytest.mark.slow

BLACK = lossy_decks.box(lossy_decks.text("")).replace(
    "<a:avLst/></a:prstGeom>", '<a:avLst/></a:prstGeom><a:solidFill><a:srgbClr val="000000"/></a:solidFill>'
)
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
        if "older programs" in pdf[0].get_textpage().get_text_range():  # LibreOffice 25.2 takes what stands beside it
            slides["a formula alone"] = (slides["a formula alone"][0], FORMULAS)
    expected: dict[str, set[int]] = {}
    for number, (_, code) in enumerate(slides.values(), 1):
        if code is not None:
            expected.setdefault(code, set()).add(number)
    assert told == expected
    assert contents.losses[FORMULAS].count(4) == 1
    assert found.letters_missing == ()
    assert "OpenSymbol" in (found.embedded_fonts or ())


def test_a_page_that_lost_everything_is_told(running_converter: Converter, tmp_path: Path) -> None:
    full = lossy_decks.picture("rId97").replace('x="914400" y="1828800"', 'x="0" y="0"')
    full = full.replace('cx="4572000" cy="914400"', 'cx="9144000" cy="6858000"')
    slides = lossy_decks.object_with(""), lossy_decks.box(lossy_decks.text("here")), full
    (tmp_path / "deck.pptx").write_bytes(lossy_decks.furnished(tmp_path, *slides))

    assert examined(running_converter, tmp_path / "deck.pptx")[1].losses[BLANK] == [1]


def test_what_an_odp_loses_is_told(running_converter: Converter, tmp_path: Path) -> None:
    slides = (
        lossy_decks.box(lossy_decks.text("plain")),
        lossy_decks.date("datetime1"),
        lossy_decks.formula_alone("x"),
    )
    (tmp_path / "deck.pptx").write_bytes(lossy_decks.furnished(tmp_path, *slides))
    decks.convert(tmp_path / "deck.pptx", "odp", tmp_path)

    assert examined(running_converter, tmp_path / "deck.odp")[1].losses == {DATES: [2]}


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
