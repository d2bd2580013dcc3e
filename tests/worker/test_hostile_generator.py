"""The campaign's decks have the named faults: every kind, in both formats, equal for the same seed."""

from pathlib import Path

import pytest

from tests.lab.campaigns import decks as campaign
from tests.worker import decks
from tests.worker.harness import Converter
from tests.worker.hostile import generator
from tests.worker.hostile.leaks import leaks
from tests.worker.hostile.seeds import Secrets, Seeds
from tests.worker.hostile_pdfs import PDF

PROMISED = (
    *("truncated", "bit-flipped", "zip bomb", "XML bomb", "password", "macro", "link", "foreign entity"),
    *("wrong magic", "many shapes", "many slides", "huge picture"),
)


def test_five_hundred_decks_have_every_kind_in_every_format_and_way() -> None:
    assert set(generator.order(1, campaign.FULL)) == generator.ALL_VARIANTS
    assert {name for name, _, _ in generator.ALL_VARIANTS} >= set(PROMISED)
    for kind in PROMISED:
        assert {suffix for suffix, _ in generator.KINDS[kind].variants} >= {"pptx", "odp"}, kind
    ways = {(name, how) for name, _, how in generator.ALL_VARIANTS}
    assert {("many shapes", 20_000), ("many slides", 5_000), ("huge picture", 12_000)} <= ways
    for target in ("http", "a file's address", "a share"):
        assert ("link", (target, "object")) in ways, "OLE"


def test_the_same_seed_makes_the_same_decks_also_when_it_goes_on_in_the_middle(tmp_path: Path) -> None:
    good = small_seeds(tmp_path)

    whole = [deck.name for deck in generator.generate(good, 5, 5)]
    again = list(generator.generate(good, 5, 5))
    rest = list(generator.generate(good, 5, 5, skip=3))

    assert [deck.name for deck in again] == whole
    assert [deck.name for deck in rest] == whole[3:]
    assert (again[2].kind, again[2].content) == ("bit-flipped", next(generator.generate(good, 5, 3, skip=2)).content)


def small_seeds(folder: Path) -> Seeds:
    """Good decks without LibreOffice, so the .ppt is not a real one."""
    decks.make_pptx(folder / "a.pptx", 1)
    decks.make_odp(folder / "a.odp", 1)
    pptx, odp = ((folder / name).read_bytes() for name in ("a.pptx", "a.odp"))
    secrets = Secrets(folder / "secret.txt", folder / "secret.odp", folder / "secret.png")
    return Seeds(pptx, odp, b"ppt" * 100, "http://127.0.0.1:9", secrets)


def test_a_campaign_that_was_ended_goes_on_unless_its_code_has_changed(tmp_path: Path) -> None:
    plan = campaign.Plan(decks=40, part=tmp_path / "part.json")
    tally = campaign.Tally(campaign.made_by(plan), done=7, met={"a kind"}, late=["one"])
    tally.statuses["200"] += 7
    others = (campaign.Plan(decks=41, part=plan.part), campaign.Plan(decks=40, seed=2, part=plan.part))

    tally.keep(plan)

    assert campaign.Tally.of(plan) == tally
    for other in others:
        assert campaign.Tally.of(other) == campaign.Tally(campaign.made_by(other))


def test_words_of_others_in_a_pdf_are_seen() -> None:
    assert not leaks(PDF)
    assert leaks(PDF + b"% root:x:0:0")


@pytest.mark.parametrize(
    ("refusals", "is_slow", "spoiled", "again", "unmet"),
    [
        ([None], True, 0, 0, 0),
        ([503], False, 1, 0, 0),  # a plain LibreOffice is fast, so the deck is to blame
        ([503, None], True, 0, 1, 0),
        ([503, 503, 503], True, 0, 2, 1),
    ],
)
def test_a_slow_machine_is_shown_to_be_one_before_a_deck_is_met_again(
    monkeypatch: pytest.MonkeyPatch, refusals: list[int | None], is_slow: bool, spoiled: int, again: int, unmet: int
) -> None:
    left = list(refusals)
    monkeypatch.setattr(campaign, "meet_once", lambda *_: left.pop(0))
    monkeypatch.setattr(campaign, "machine_is_too_slow", lambda *_: is_slow)
    tally = campaign.Tally("any")
    deck = generator.Hostile("truncated", "odp", None, b"")

    campaign.meet(Converter.__new__(Converter), deck, Path(), Path(), tally, 10)

    assert (len(tally.spoiled), tally.met_again, len(tally.unmet), left) == (spoiled, again, unmet, [])
