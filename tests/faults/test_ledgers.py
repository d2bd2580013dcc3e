"""A ledger tells a fault from an experiment that did not come about, and a wait from a standstill."""

from itertools import count

import pytest

from tests.lab.campaigns.ledger import Ledger, until_it_comes_about, wait_while_it_moves


def test_what_did_not_come_about_is_said_and_breaks_nothing() -> None:
    ledger = Ledger("kills", 1, {}, experiments={"lines waited": False})

    assert (ledger.broken, ledger.missed) == ([], ["lines waited"])
    assert "did not come about: lines waited" in ledger.text()


@pytest.mark.parametrize(
    ("comes_about_at", "is_broken", "doses"),
    [(1, False, [1]), (2, False, [1, 2]), (9, False, [1, 2, 4]), (9, True, [1])],
)
def test_an_experiment_gets_a_larger_dose_until_it_comes_about_or_something_breaks(
    comes_about_at: int, is_broken: bool, doses: list[int]
) -> None:
    tried: list[int] = []

    def run(dose: int) -> Ledger:
        tried.append(dose)
        experiments = {"lines waited": dose >= comes_about_at}
        return Ledger("kills", 1, {}, conditions={"no line lost": not is_broken}, experiments=experiments)

    ledger = until_it_comes_about(run)

    assert tried == doses
    assert bool(ledger.broken) is is_broken


def test_a_wait_lasts_as_long_as_something_moves_and_ends_at_a_standstill() -> None:
    steps = count()

    wait_while_it_moves(lambda: next(steps), lambda found: found == 20, stall_seconds=60)

    with pytest.raises(TimeoutError, match="7 for 0 s"):
        wait_while_it_moves(lambda: 7, lambda found: found == 20, stall_seconds=0)
