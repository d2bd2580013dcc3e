"""A few seconds of each campaign that takes minutes: the same code and the same conditions."""

from pathlib import Path

from tests.faults.test_campaigns import made, passed
from tests.lab.campaigns import clock, herd, logins, network, noise, stolen
from tests.lab.campaigns.ledger import Ledger, until_it_comes_about


def test_faults_of_the_network_lose_nothing_and_no_display_is_thought_dead(tmp_path: Path) -> None:
    plan = network.Plan(displays=4, rounds=2 * len(network.FAULTS), lines=10, longest_seconds=0.4, seed=2)

    ledger = network.run(plan, tmp_path)

    assert passed(ledger)
    assert {fault for _, fault in plan.faults} == set(network.FAULTS)


def test_clocks_that_leap_lose_nothing_and_no_display_is_thought_dead(tmp_path: Path) -> None:
    assert passed(clock.run(clock.Plan(displays=4, lines=10, seconds=0.2), tmp_path))


def test_displays_that_log_more_than_can_be_read_cost_their_neighbours_nothing(tmp_path: Path) -> None:
    def run(dose: int) -> Ledger:
        plan = noise.Plan(displays=5, lines=40, seconds=2.0, commands=2, flooders=2, backlog=dose * 20_000)
        return noise.run(plan, made(tmp_path, dose))

    assert passed(until_it_comes_about(run))


def test_displays_that_all_come_back_at_once_are_let_in(tmp_path: Path) -> None:
    ledger = herd.run(herd.Plan(displays=100, kills=1, lines=3, report_seconds=2), tmp_path)

    assert passed(ledger)


def test_displays_that_are_taken_away_crash_no_broker_and_touch_nobody_else(tmp_path: Path) -> None:
    def run(dose: int) -> Ledger:
        plan = logins.Plan(rounds=6, without_door=dose * 2, expiry_seconds=2, will_seconds=1)
        return logins.run(plan, made(tmp_path, dose))

    assert passed(until_it_comes_about(run))


def test_one_stolen_login_costs_its_neighbours_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    ways = tuple(way for way in stolen.WAYS if way.name in {"shared groups", "user properties of 180 KB"})

    def run(dose: int) -> Ledger:
        return stolen.run(stolen.Plan(seconds=dose * 1.0, ways=ways, beats=200), made(tmp_path, dose))

    assert passed(until_it_comes_about(run))
