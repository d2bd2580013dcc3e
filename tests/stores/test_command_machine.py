"""A share of the command machine's interleavings; `make campaign ONLY=commands` runs 10,000."""

from collections import Counter
from dataclasses import dataclass, field

import pytest
from sqlalchemy import Engine

from tests.stores.command_coverage import RARE, missing, write_down_moves
from tests.stores.command_run import run

LOTS = range(1, 5)
MORE = range(5, 25)
"""Seeds of further lots, because a move that is expected a few times in 100 interleavings may not come at all."""
INTERLEAVINGS = 25  # of a lot: those of one seed resemble each other


@dataclass
class Lots:
    """What all lots so far have reached, and where connections died."""

    engine: Engine
    reached: Counter[str] = field(default_factory=Counter)
    deaths: Counter[str] = field(default_factory=Counter)

    def run(self, seed: int) -> None:
        reached, deaths = run(self.engine, INTERLEAVINGS, seed)
        self.reached, self.deaths = self.reached + reached, self.deaths + deaths


@pytest.fixture(scope="module")
def lots(engine: Engine) -> Lots:
    write_down_moves(engine)
    return Lots(engine)


@pytest.mark.parametrize("seed", LOTS)
def test_no_interleaving_breaks_a_promise(lots: Lots, seed: int) -> None:
    before = lots.reached["interleavings"]

    lots.run(seed)

    assert lots.reached["interleavings"] >= before + INTERLEAVINGS


def test_hardly_a_path_is_left_out(lots: Lots) -> None:
    for seed in MORE:
        if set(missing(lots.reached)) <= RARE:
            break
        lots.run(seed)

    assert set(missing(lots.reached)) <= RARE  # a campaign must reach everything
    assert lots.deaths.total() > 40
    assert set(lots.deaths) >= {f"{number} statements" for number in (0, 1, 2, 3)} | {"commit unheard"}


def test_a_run_that_left_something_out_says_what() -> None:
    assert "queued -> sent" in missing(Counter({"sent -> received": 3}))
