"""A share of each campaign: the same code at a small size."""

from pathlib import Path

from tests.lab.campaigns import fuzz, hang, kills, lies
from tests.lab.campaigns.ledger import Ledger


def passed(ledger: Ledger) -> bool:
    """Print the ledger. Returns whether every condition holds."""
    print(ledger.text())
    return not ledger.broken


def test_kills_of_bridge_postgres_and_broker_lose_nothing_and_store_nothing_twice(tmp_path: Path) -> None:
    plan = kills.Plan(
        displays=10, bridge=2, postgres=1, broker=1, lines=800, flood=1000, longest_wait_seconds=0.5, seed=3
    )

    ledger = kills.run(plan, tmp_path)

    assert passed(ledger)
    assert ledger.counted["lines"] == 8000
    assert ledger.counted["most_lines_waiting"] > 1000  # otherwise nothing could be lost


def test_spoiled_payloads_among_good_ones_cost_themselves_alone(tmp_path: Path) -> None:
    ledger = fuzz.run(fuzz.Plan(spoiled=8_000, good=400, displays=10, seed=5), tmp_path)

    assert passed(ledger)
    assert ledger.counted["spoiled"] == 8_000


def test_a_postgres_that_stands_still_costs_nothing(tmp_path: Path) -> None:
    ledger = hang.run(hang.Plan(displays=10, seconds=2, lines=50), tmp_path)

    assert passed(ledger)


def test_no_lie_about_a_command_is_believed_and_no_honest_display_is_doubted(tmp_path: Path) -> None:
    ledger = lies.run(lies.Plan(commands=120, displays=60, seed=4), tmp_path)

    assert passed(ledger)
    assert ledger.counted["lies"] > 40
    assert ledger.counted["carried_out"] > 20
