"""Letters that no font of the converter has are detected in the PDF: by rules on fake outlines, and in a real PDF."""

import os
import subprocess
from pathlib import Path

import pytest
from pptx import Presentation

from functions.convert_worker import letters
from functions.convert_worker.pdf import examine
from tests.worker.decks import SOFFICE_SECONDS

BOX = ((0.1, 0.0), (0.1, 0.7), (0.5, 0.7), (0.5, 0.0))
OTHER = ((0.0, 0.0), (0.3, 0.8), (0.6, 0.0))
SIZE = (0.4, 0.7)

DRAWN = [
    (BOX, (0.9, 0.9), BOX, True, "the font's box, slanted or turned on the page"),
    (OTHER, SIZE, BOX, False, "a glyph of its own, as large as the box"),
    ((), (0.401, 0.699), BOX, True, "of an unknown outline, as large as the box"),
    ((), (0.41, 0.7), BOX, False, "of an unknown outline and another size"),
    (OTHER, SIZE, (), False, "a font without a box"),
    ((), (0.0, 0.0), (), False, "nothing is known"),
]


@pytest.mark.parametrize(("outline", "size", "box", "is_box", "why"), DRAWN)
def test_a_letter_without_a_glyph_is_told_from_one_that_looks_alike(
    outline: letters.Outline, size: tuple[float, float], box: letters.Outline, is_box: bool, why: str
) -> None:
    assert letters.is_box(outline, size, box) == is_box, why


def test_latin_letters_and_what_nobody_draws_are_not_looked_at_and_signs_are() -> None:
    assert [one for one in "aé1½ \u200d\ufe0f\u0301" if letters.is_looked_at(ord(one))] == []
    assert [one for one in "今😀✔★→①\uf015" if not letters.is_looked_at(ord(one))] == []


LACKED = "今日の本한국✔★☎⚠①\uf015\ue001"
"""Characters without glyphs in Liberation: Asian letters, signs, icons."""


@pytest.mark.slow
def test_a_real_pdf_made_without_such_fonts_says_which_letters_it_lacks(tmp_path: Path) -> None:
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = f"A menu: {LACKED}, ΑБ → ≠ ∑"
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
    assert found.letters_missing == tuple(sorted(LACKED))
