"""Letters that no font of the converter has are seen in the PDF: by rules on made-up outlines, and in a real PDF."""

import os
import subprocess
from pathlib import Path

import pytest
from pptx import Presentation

from functions.convert_worker import letters
from functions.convert_worker.letters import PageLetter
from functions.convert_worker.pdf import examine
from tests.worker.decks import SOFFICE_SECONDS

BOX, OTHER = (0.5, 0.7), (0.9, 0.8)
RECTANGLES = [(0, 0), (9, 0), (9, 9), (0, 9), (0, 0), (1, 1), (1, 8), (8, 8), (8, 1), (1, 1)]


def seen(text: str, *sizes: tuple[float, float], font: str = "Any", is_box: bool = False) -> list[PageLetter]:
    return [PageLetter(letter, font, size, is_box) for letter, size in zip(text, sizes, strict=True)]


SIGHTS = [
    (seen("今日本", BOX, BOX, BOX), "今日本", "all letters of the East have one size"),
    (seen("今日本", BOX, BOX, OTHER), "", "glyphs of their own"),
    (seen("今", BOX), "", "one letter has one size"),
    (seen("今", BOX, is_box=True), "今", "one letter, seen to be a box"),
    (seen("今", BOX, is_box=True) + seen("ก", BOX), "ก今", "whatever else has the box's size in that font"),
    (seen("今", BOX, is_box=True) + seen("ก", BOX, font="Thai"), "今", "in that font"),
    (seen("口", BOX, is_box=True), "", "that letter is a box"),
    (seen("ابت", BOX, BOX, BOX), "", "a ligature is one glyph for several letters"),
    (seen("😀🚀", OTHER, OTHER, is_box=True), "😀🚀", "emoji"),
    ([], "", "nothing"),
]


@pytest.mark.parametrize(("sight", "missing", "why"), SIGHTS)
def test_a_letter_without_a_glyph_is_told_from_one_that_looks_alike(
    sight: list[PageLetter], missing: str, why: str
) -> None:
    assert letters.missing(sight) == sorted(missing), why


def test_a_box_is_one_rectangle_in_another() -> None:
    assert letters.is_box([(float(x), float(y)) for x, y in RECTANGLES])
    assert not letters.is_box([(0.0, 0.0), (1.0, 0.0), (1.0, 5.0), (0.0, 5.0), (0.0, 0.0)]), "a stroke, as of vav"
    assert not letters.is_box([(float(x), float(x * y)) for x, y in RECTANGLES]), "slanted"


def test_latin_letters_and_signs_are_not_looked_at_and_emoji_are() -> None:
    assert [letters.is_looked_at(ord(one)) for one in "aé1…今😀"] == [False, False, False, False, True, True]


@pytest.mark.slow
def test_a_real_pdf_made_without_such_fonts_says_which_letters_it_lacks(tmp_path: Path) -> None:
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "A menu: 今日の本 한국"
    deck.save(str(tmp_path / "a.pptx"))
    few = "<fontconfig><dir>/usr/share/fonts/truetype/liberation</dir><cachedir>/tmp/few-fonts</cachedir></fontconfig>"
    (tmp_path / "fonts.conf").write_text(few.replace("/tmp/few-fonts", str(tmp_path / "cache")))
    command = ["soffice", f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--headless", "--convert-to"]

    subprocess.run(
        [*command, "pdf", "--outdir", str(tmp_path), str(tmp_path / "a.pptx")],
        env={**os.environ, "FONTCONFIG_FILE": str(tmp_path / "fonts.conf")},
        check=True,
        capture_output=True,
        timeout=SOFFICE_SECONDS,
    )

    with (tmp_path / "a.pdf").open("rb") as file:
        found = examine(file)
    assert found is not None
    assert found.letters_missing == tuple(sorted("今日の本한국"))
