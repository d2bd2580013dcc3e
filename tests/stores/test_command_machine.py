"""A share of the command machine's interleavings; `make campaign ONLY=commands` runs 10,000."""

from collections import Counter

from sqlalchemy import Engine

from tests.stores.command_coverage import RARE, missing, write_down_moves
from tests.stores.command_run import run

MORE = range(2, 10)
"""Seeds of further lots of a hundred: what comes a few times in 500 interleavings comes, now and then, not at all."""


def test_no_interleaving_breaks_a_promise_and_hardly_a_path_is_left_out(engine: Engine) -> None:
    write_down_moves(engine)

    reached, deaths = run(engine, interleavings=500, seed=1)
    for seed in MORE:
        if set(missing(reached)) <= RARE:
            break
        more_reached, more_deaths = run(engine, interleavings=100, seed=seed)
        reached, deaths = reached + more_reached, deaths + more_deaths

    assert reached["interleavings"] >= 500
    assert set(missing(reached)) <= RARE  # a campaign leaves out nothing
    assert deaths.total() > 100
    assert set(deaths) >= {f"{number} statements" for number in (0, 1, 2, 3)} | {"commit unheard"}


def test_a_run_that_left_something_out_says_what() -> None:
    assert "queued -> sent" in missing(Counter({"sent -> received": 3}))
