"""A share of the campaign: a seeded history. test_whole.py has more of them, and test_findings.py longer ones."""

import pytest

from tests.lab.simulation.history import Databases, Outcome
from tests.lab.simulation.oracle import Breach
from tests.lab.simulation.runs import Run, run_one
from tests.lab.simulation.worlds import Kind
from tests.simulation.conftest import IS_WHOLE, Scene, kinds
from tests.simulation.test_world_mutations import nothing_of_the_fleet_comes_through_for_days

SEEDS = ((102, Kind.WORLD), (3_000_001, Kind.HOUR))


@pytest.mark.parametrize(("seed", "kind"), SEEDS if IS_WHOLE else SEEDS[:1])  # test_findings.py runs two of an hour
def test_a_history_breaks_no_promise(databases: Databases, seed: int, kind: Kind) -> None:
    outcome = run_one(databases, seed, kind)

    assert [str(breach) for breach in outcome.breaches] == []
    assert outcome.figures["ticks"] > 10


def test_a_fleet_that_is_silent_for_a_day_by_our_fault_is_left_alone(scene: Scene) -> None:
    history = scene(8, until=1500.0)
    nothing_of_the_fleet_comes_through_for_days(history)

    outcome = history.run(1500.0)

    assert kinds(outcome) == set()
    assert outcome.figures["hours leapt"] > 24
    assert outcome.figures["recovery commands"] == 0


def test_a_breach_is_printed_with_the_command_that_shows_it_again() -> None:
    run = Run([Outcome(42, [Breach("cap", 60.0, "-", "11 recovery commands are open")])])

    assert run.figures["cap"] == 1
    assert "BREACH  cap at 60.0 s, -: 11 recovery commands are open" in run.text()
    assert "python -m tests.lab.simulation --only 42" in run.text()
