"""Tests that take too long for `make test`: scenes with all rules intact, long histories, the same history twice."""

import pytest

from tests.lab.simulation.history import Databases
from tests.lab.simulation.runs import run_one
from tests.lab.simulation.worlds import Kind
from tests.simulation.conftest import Scene
from tests.simulation.test_mutations import MUTATIONS
from tests.simulation.test_screen_mutations import SCREENS
from tests.simulation.test_world_mutations import WORLD

SCENES = {**MUTATIONS, **SCREENS, **WORLD}

SEEDS = ((3_000_003, Kind.HOUR), (3_000_007, Kind.WORLD), (3_000_008, Kind.DAY))


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_is_whole_while_its_rule_stands(scene: Scene, name: str) -> None:
    mutation = SCENES[name]
    intact = scene(mutation.displays, until=mutation.until, **dict(mutation.settings))
    mutation.tell(intact)

    assert intact.run(mutation.until).breaches == []


@pytest.mark.parametrize(("seed", "kind"), SEEDS)
def test_the_same_seed_tells_the_same_history(databases: Databases, seed: int, kind: Kind) -> None:
    first, second = (run_one(databases, seed, kind) for _ in range(2))

    assert [str(breach) for breach in first.breaches] == []
    assert (first.figures, first.waits) == (second.figures, second.waits)
