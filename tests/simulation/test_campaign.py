"""An interrupted campaign continues where it was, if its parameters and code are unchanged."""

from collections import Counter
from pathlib import Path

import pytest

from tests.lab.simulation import campaign
from tests.lab.simulation.campaign import Kept, Plan
from tests.lab.simulation.history import Outcome
from tests.lab.simulation.oracle import Breach

FIRST = Outcome(1_000_000, [Breach("cap", 60.0, "-", "11 are open")], Counter(ticks=30), [12.5], 3.0)
SECOND = Outcome(1_000_001, [], Counter(ticks=40), [], 5.0)


def test_what_is_over_is_kept_and_a_line_cut_short_is_told_again(tmp_path: Path) -> None:
    plan = Plan(10, part=tmp_path / "simulation.part.jsonl")
    kept = Kept.of(plan)
    kept.add(FIRST)
    kept.add(SECOND)
    assert plan.part is not None
    plan.part.write_text(plan.part.read_text()[:-20])

    again = Kept.of(plan)
    again.add(SECOND)

    assert again.outcomes == [FIRST]
    assert Kept.of(plan).outcomes == [FIRST, SECOND]


def test_another_campaign_or_other_code_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(10, part=tmp_path / "simulation.part.jsonl")
    Kept.of(plan).add(FIRST)
    assert Kept.of(Plan(10, seed=2, part=plan.part)).outcomes == []

    Kept.of(plan).add(FIRST)
    monkeypatch.setattr(campaign, "SHAPING", ("bridge",))

    assert Kept.of(plan).outcomes == []
