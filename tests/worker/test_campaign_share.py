"""A share of the campaigns on conversions: the same code at a small size."""

from pathlib import Path

import pytest

from tests.lab.campaigns import conversions, decks
from tests.lab.campaigns.ledger import Ledger

pytestmark = pytest.mark.slow


def passed(ledger: Ledger) -> bool:
    """Print the ledger. Returns whether every condition holds."""
    print(ledger.text())
    return not ledger.broken


def test_hostile_decks_reach_nobody_hold_nobody_up_and_leave_nothing(tmp_path: Path) -> None:
    assert passed(decks.run(decks.Plan(decks=16, deadline=6, seed=46), tmp_path))


def test_a_worker_that_is_killed_anywhere_leaves_one_row_and_one_file(tmp_path: Path) -> None:
    ledger = conversions.run(conversions.Plan(kills=4, storms=1, seed=2), tmp_path)

    assert passed(ledger)
    assert ledger.counted["boundaries"] > 25
