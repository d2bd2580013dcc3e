"""A share of the campaign: a seeded history; more of them in test_whole.py."""

import pytest

from tests.simulation.history import Databases, Outcome
from tests.simulation.oracle import Breach
from tests.simulation.runs import Run, run_one

SEEDS = (3_000_001,)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_history_breaks_no_promise(databases: Databases, seed: int) -> None:
    outcome = run_one(databases, seed)

    assert [str(breach) for breach in outcome.breaches] == []
    assert outcome.figures["ticks"] > 10


def test_a_breach_is_printed_with_the_command_that_shows_it_again() -> None:
    run = Run([Outcome(42, [Breach("cap", 60.0, "-", "11 recovery commands are open")])])

    assert run.figures["cap"] == 1
    assert "BREACH  cap at 60.0 s, -: 11 recovery commands are open" in run.text()
    assert "python -m tests.simulation --only 42" in run.text()
