"""The kernel's tests pass in a copy without an extension; `make campaign ONLY=without` runs all of them for each."""

from pathlib import Path

from tests.lab.campaigns import without


def test_a_tick_passes_its_tests_where_nobody_is_notified(tmp_path: Path) -> None:
    ledger = without.run(
        without.Plan(["notifications"], ["tests/tick/test_moments.py", "tests/tick/test_tick.py"]), tmp_path
    )

    assert ledger.broken == []
    assert ledger.counted["passed without notifications"] > 10
