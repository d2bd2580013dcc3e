"""A short run of the campaign that watches memory for an hour."""

from pathlib import Path

from tests.lab.campaigns import soak
from tests.stack import Stack


def test_a_steady_load_is_held_beside_people_and_decks_and_its_memory_watched(stack: Stack, tmp_path: Path) -> None:
    """Four seconds cannot show how memory develops in an hour, so the test only checks that it is recorded."""
    ledger = soak.on(stack, soak.Plan(seconds=4, per_second=100, displays=10, report_seconds=0.5), tmp_path)

    print(ledger.text())
    assert all(name.startswith("memory of ") for name in ledger.broken)
    assert {"bridge_megabytes", "api_megabytes", "convert-worker_megabytes"} <= ledger.counted.keys()
    assert min(ledger.counted[name] for name in ("requests", "conversions", "bridge_megabytes")) > 0
