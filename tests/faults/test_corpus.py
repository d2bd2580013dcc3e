"""The campaign on third-party decks detects lost pages, different pictures, and false or missing claims."""

from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation
from pptx.oxml import parse_xml
from pptx.util import Inches

from tests.lab.campaigns import corpus, corpus_claims
from tests.lab.campaigns.corpus import Plan, Tally
from tests.lab.campaigns.ledger import Ledger
from tests.worker import decks, hostile_decks, lossy_decks
from tests.worker.hostile_pdfs import pdf_with, stream

RED = pdf_with(b"/MediaBox[0 0 100 50]/Contents 4 0 R", stream(b"", b"1 0 0 rg 0 0 50 50 re f"))
WHITE = pdf_with(b"/MediaBox[0 0 100 50]/Contents 4 0 R", stream(b"", b"1 1 1 rg 0 0 50 50 re f"))


def compared(ours: bytes, plain: bytes | None, again: bytes | None = None) -> Tally:
    tally = Tally()
    corpus.compare(ours, plain, "a deck", tally, lambda: again)
    return tally


def test_a_pdf_with_other_pages_than_plain_libreoffice_makes_is_seen() -> None:
    assert compared(b"no pdf", RED).pages == ["a deck: 0 pages, plain LibreOffice 1"]


def test_a_page_that_looks_different_is_seen_unless_libreoffice_itself_varies() -> None:
    assert compared(RED, RED, RED).pictures == []
    assert compared(RED, WHITE, WHITE).pictures == ["a deck: pages [1]"]
    by_itself = compared(RED, WHITE, RED)
    assert (by_itself.pictures, by_itself.counted["decks_that_look_different_each_time"]) == ([], 1)


@pytest.mark.parametrize(
    ("code", "plain", "seen"),
    [("not_a_presentation", RED, 1), ("not_a_presentation", None, 0), ("encrypted", None, 0), ("no_slides", WHITE, 0)],
)
def test_a_deck_that_is_refused_though_plain_libreoffice_shows_it_is_seen(
    code: str, plain: bytes | None, seen: int
) -> None:
    tally = Tally()
    corpus.refused(code, Path("a.odp"), tally, lambda: plain)

    assert (len(tally.failed), tally.counted[f"refused_{code}"]) == (seen, 1)


def test_a_campaign_that_saw_something_has_failed_and_so_has_one_that_saw_nothing() -> None:
    for tally in (compared(RED, WHITE, WHITE), Tally()):
        ledger = Ledger("corpus", 1, {})
        corpus.judge(ledger, tally)
        assert ledger.broken


REPORT: dict[str, Any] = {
    "visible_slides": 1,
    "hidden_slides": 1,
    "fonts": {"named": ["Imaginary", "Calibri"]},
    "warnings": [
        {"code": "hyperlinks", "count": 1},
        {"code": "timing_lost", "transitions": 1, "advancing": 0},
        *({"code": code, "count": 1, "slides": [1]} for code in ("dates_stand_still", "charts_not_drawn")),
        {"code": "pictures_missing", "count": 2, "slides": [1, 7]},
    ],
}
SPOILT: list[tuple[dict[str, Any], str]] = [
    ({"visible_slides": 2}, "visible"),
    ({"hidden_slides": 0}, "hidden"),
    ({"fonts": {"named": ["Calibri"]}}, "fonts not named: Imaginary"),
    ({"warnings": REPORT["warnings"][1:]}, "hyperlinks"),
    *(
        ({"warnings": [one for one in REPORT["warnings"] if one["code"] != code]}, named)
        for code, named in (
            ("timing_lost", "transitions"),
            ("dates_stand_still", "dates not named: 1"),
            ("charts_not_drawn", "charts not named: 1"),
            ("pictures_missing", "ink not named: 1"),
        )
    ),
    ({"warnings": [*REPORT["warnings"], {"code": "motion_lost", "animated_slides": 1}]}, "animated_slides"),
]


@pytest.fixture
def deck(tmp_path: Path) -> Path:
    """One shown slide with a font, a link and an effect, and a hidden one."""
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    frame = slide.shapes.add_textbox(0, 0, Inches(2), Inches(1)).text_frame
    frame.text = "text"
    frame.paragraphs[0].runs[0].font.name = "Imaginary"
    frame.paragraphs[0].runs[0].hyperlink.address = "https://example.org/"
    transition = slide._element.makeelement(slide._element.tag.replace("}sld", "}transition"), {})
    transition.append(transition.makeelement(transition.tag.replace("}transition", "}fade"), {}))
    slide._element.append(transition)
    names = f'xmlns:p="{lossy_decks.P}" xmlns:a="{lossy_decks.A}"'
    for xml in (
        f'<a:fld {names} type="datetime4"/>',
        f'<a:graphicData {names} uri="{lossy_decks.CX}"/>',
        f"<p:contentPart {names}/>",
    ):
        slide._element.append(parse_xml(xml))
    made.slides.add_slide(made.slide_layouts[6])._element.set("show", "0")
    made.save(str(tmp_path / "a.pptx"))
    return tmp_path / "a.pptx"


def test_a_true_report_has_no_wrong_claim(deck: Path) -> None:
    held = corpus_claims.held(deck, "pptx", REPORT)

    assert held.wrong == []
    assert held.compared == 12


@pytest.mark.parametrize(("spoilt", "named"), SPOILT)
def test_each_false_or_missing_claim_is_seen(deck: Path, spoilt: dict[str, Any], named: str) -> None:
    wrong = corpus_claims.held(deck, "pptx", {**REPORT, **spoilt}).wrong

    assert len(wrong) == 1
    assert wrong[0].startswith(named)


def test_slides_of_an_odp_are_counted_by_the_other_reader(tmp_path: Path) -> None:
    decks.make_odp(tmp_path / "a.odp", 3, hidden=1)
    report = {**REPORT, "visible_slides": 2, "warnings": []}

    assert corpus_claims.held(tmp_path / "a.odp", "odp", report).wrong == []
    assert corpus_claims.held(tmp_path / "a.odp", "odp", {**report, "visible_slides": 3}).wrong


def test_dates_of_an_odp_are_found_by_the_other_reader(tmp_path: Path) -> None:
    decks.make_odp(tmp_path / "a.odp", 2)
    content = (tmp_path / "a.odp").read_bytes()
    text = hostile_decks.part_of(content, "content.xml").replace(b"Slide 1 of 2", b'<text:date text:fixed="true"/>')
    text = text.replace(b"Slide 2 of 2", b"<text:time>12:00</text:time>")
    (tmp_path / "a.odp").write_bytes(hostile_decks.with_parts(content, {"content.xml": text}))
    report: dict[str, Any] = {"visible_slides": 2, "hidden_slides": 0, "fonts": None, "warnings": []}
    told = {"code": "dates_stand_still", "count": 1, "slides": [2]}

    assert corpus_claims.held(tmp_path / "a.odp", "odp", report).wrong == ["dates not named: 2"]
    assert corpus_claims.held(tmp_path / "a.odp", "odp", {**report, "warnings": [told]}).wrong == []


def test_what_the_report_says_it_does_not_know_is_no_claim(deck: Path) -> None:
    unknown = {**REPORT, "fonts": None, "warnings": [{"code": "contents_not_known"}]}

    assert corpus_claims.held(deck, "pptx", unknown).compared == 2


def test_decks_are_found_by_name_below_the_folder_and_a_share_is_spread_evenly(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    for name in ("a.PPSX", "inner/b.odp", "c.txt", "d.key", *(f"{number}.ppt" for number in range(8))):
        (tmp_path / name).touch()

    assert len(Plan(tmp_path).decks()) == 10
    assert len(Plan(tmp_path, share=0.5).decks()) == 5
    assert len(Plan(tmp_path, share=0.0001).decks()) == 1
    assert Plan(tmp_path / "nothing").decks() == []
