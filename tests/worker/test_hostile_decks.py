"""Two of the campaign's hostile decks: `make campaign ONLY=decks` sends hundreds."""

import random
from pathlib import Path
from typing import Any

import pytest

from tests.lab.campaigns import decks as campaign
from tests.worker import decks
from tests.worker.beacon import beacon
from tests.worker.harness import DEADLINE_SECONDS, Converter
from tests.worker.hostile import reaching
from tests.worker.hostile.generator import KINDS, Hostile
from tests.worker.hostile.seeds import seeds

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("kind", "suffix", "how"), [("link", "pptx", ("a deck", "object")), ("macro", "odp", "Python")]
)
def test_a_hostile_deck_reaches_nobody_and_leaves_nothing_and_a_good_one_follows(
    running_converter: Converter, tmp_path: Path, kind: str, suffix: str, how: Any
) -> None:
    tally = campaign.Tally("a test")
    decks.make_pptx(tmp_path / "good.pptx", 2)
    with beacon() as listener:
        good = seeds(tmp_path, listener.url)
        content = KINDS[kind].make(good, random.Random(1), suffix, how)
        deck = Hostile(kind, suffix, how, content)

        refused = campaign.meet_once(running_converter, deck, tmp_path / "good.pptx", tmp_path, tally, DEADLINE_SECONDS)

    assert refused is None
    assert (tally.leaks, tally.left, listener.visits) == ([], [], [])
    assert not Path(reaching.touched(good)).exists()
