"""The campaign on third-party decks, with a few generated decks: through the API, and compared with LibreOffice."""

from pathlib import Path

import pytest

from tests.lab.campaigns import corpus
from tests.lab.campaigns.corpus import Plan
from tests.stack import Stack
from tests.worker import decks


@pytest.mark.slow
def test_decks_look_as_in_plain_libreoffice_and_their_reports_are_true(stack: Stack, tmp_path: Path) -> None:
    given = tmp_path / "decks"
    given.mkdir()
    decks.make_pptx(given / "show.ppsx", 2, hidden=1, seed=77)
    decks.make_odp(given / "pages.odp", 2)
    (given / "no deck.pptx").write_bytes(b"nothing of the kind")

    ledger = corpus.meet_all(Plan(given), stack.api(), tmp_path)

    assert ledger.broken == []
    assert ledger.counted["ready"] == 2
    assert ledger.counted["pages_compared"] == 3
    assert ledger.counted["refused_not_a_presentation"] == 1
    assert ledger.counted["claims_compared"] >= 12
