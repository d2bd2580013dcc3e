"""The effects of the required Debian packages and the substitute fonts, with the real converter."""

from pathlib import Path

import pytest
from pptx import Presentation

from functions.convert_worker.pdf import Examined, examine
from tests.worker import decks, hostile_decks
from tests.worker.harness import Converter

pytestmark = pytest.mark.slow


def examined(converter: Converter, deck: Path) -> Examined:
    answer = converter.convert(deck)
    assert answer.status_code == 200, answer.text
    deck.with_suffix(".pdf").write_bytes(answer.content)
    with deck.with_suffix(".pdf").open("rb") as file:
        found = examine(file)
    assert found is not None
    return found


def test_asian_letters_and_emoji_have_glyphs_calibri_light_and_tahoma_stand_ins(
    running_converter: Converter, tmp_path: Path
) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    for place, text, font in (
        (slide.shapes.title, "Light", "Calibri Light"),
        (slide.placeholders[1], "Tahoma 今日の中文 한국어 😀🚀🎉👍", "Tahoma"),
    ):
        place.text = text
        place.text_frame.paragraphs[0].runs[0].font.name = font
    deck.save(str(tmp_path / "a.pptx"))

    found = examined(running_converter, tmp_path / "a.pptx")

    embedded = found.embedded_fonts or ()
    assert found.letters_missing == ()
    families = {name.removesuffix("-Regular") for name in embedded}  # LibreOffice 25 names the style, too
    assert {"Carlito", "DejaVuSansCondensed"} <= families
    assert any("CJK" in name for name in embedded)
    assert any("Symbola" in name for name in embedded)
    assert not any(name.startswith("NotoSans-") for name in embedded), "what stands in for a font of no known widths"


def test_a_deck_with_a_form_is_converted(running_converter: Converter, tmp_path: Path) -> None:
    decks.make_odp(tmp_path / "a.odp", 1)
    content = (tmp_path / "a.odp").read_bytes()
    text = hostile_decks.part_of(content, "content.xml").decode()
    form = (
        '<office:forms form:automatic-focus="false" form:apply-design-mode="false" '
        'xmlns:form="urn:oasis:names:tc:opendocument:xmlns:form:1.0"><form:form form:name="Form"/></office:forms>'
    )
    page = text.index(">", text.index("<draw:page ")) + 1
    (tmp_path / "b.odp").write_bytes(
        hostile_decks.with_parts(content, {"content.xml": (text[:page] + form + text[page:]).encode()})
    )

    assert examined(running_converter, tmp_path / "b.odp").pages == 1
