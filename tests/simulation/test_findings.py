"""The smallest histories that once showed a fault. Each guards a fix.

All scenes run; of the generated histories `make test` runs the first of each list.
"""

from collections.abc import Callable
from datetime import timedelta

import pytest

from shared.vocabulary import QuietPreset
from tests.lab.simulation.ailments import Ailment, Nature
from tests.lab.simulation.display import Display
from tests.lab.simulation.history import Databases, History
from tests.lab.simulation.runs import run_one
from tests.lab.simulation.worlds import Kind
from tests.simulation.conftest import IS_WHOLE, Scene, kinds, of

AN_HOUR = timedelta(hours=1)
SLOW = (
    pytest.param(1_000_242, id="a display whose connection is back before its heartbeat"),
    pytest.param(1_000_286, id="the last displays to come back as the breaker closes"),
)
OF_A_THOUSAND = (
    pytest.param(1_000_532, id="a maintenance window beside which five of sixteen fall silent"),
    pytest.param(1_000_853, id="half an hour of health in which the bridge connects again"),
    pytest.param(1_000_981, id="a display that comes back just before nobody is heard any more"),
)


def test_a_clock_once_an_hour_ahead_leaves_no_listening_time_in_the_future(scene: Scene) -> None:
    history = scene(4, until=1000.0)
    ill = of(history)[0]
    clocks, first = history.clocks, history.bridges[0]

    def set_ahead() -> None:
        clocks.database_is_off_by += AN_HOUR

    def set_right() -> None:
        clocks.database_is_off_by -= AN_HOUR

    history.agenda.at(300.0, set_ahead)
    history.agenda.at(310.0, first.kill)
    history.agenda.at(320.0, first.start)
    history.agenda.at(500.0, set_right)
    history.agenda.at(600.0, lambda: ill.ail(Ailment("crashed", "restart")))

    outcome = history.run(1000.0)

    assert outcome.figures["restart_app carried out"] == 1
    assert kinds(outcome) == set()


def test_a_display_that_froze_while_the_clock_was_ahead_is_rebooted_once_it_is_right(scene: Scene) -> None:
    history = scene(12, until=1100.0)
    clocks = history.clocks

    def set_ahead() -> None:
        history.fault_begins()
        clocks.database_is_off_by += AN_HOUR

    def set_right() -> None:
        clocks.database_is_off_by -= AN_HOUR
        history.fault_ends()

    history.agenda.at(300.0, set_ahead)
    history.agenda.at(500.0, lambda: of(history)[0].ail(Ailment("frozen", "reboot")))
    history.agenda.at(600.0, set_right)

    outcome = history.run(1100.0)

    assert outcome.figures["reboot_host carried out"] == 1
    assert kinds(outcome) == set()


def leave_out(history: History, _displays: list[Display]) -> None:
    history.operator.make_quiet(QuietPreset.LEAVE_OUT, site="Berlin")


def delete(history: History, displays: list[Display]) -> None:
    for display in displays:
        history.operator.delete(display)


@pytest.mark.parametrize("let_alone", [leave_out, delete] if IS_WHOLE else [delete])
def test_who_is_left_of_a_silent_fleet_is_left_alone(
    scene: Scene, let_alone: Callable[[History, list[Display]], None]
) -> None:
    history = scene(9, until=2400.0)
    berlin = of(history)
    for number in range(3):
        history.agenda.at(2.0 + number, history.add_display(Nature(), "Vienna").power_on)
    history.agenda.at(436.0, lambda: setattr(history.broker, "muted", frozenset({"heartbeat", "health"})))
    history.agenda.at(1200.0, lambda: let_alone(history, berlin))

    outcome = history.run(2400.0)

    assert outcome.figures["reboot_host carried out"] == 0
    assert kinds(outcome) == set()


def test_no_display_of_a_wave_that_is_our_fault_is_rebooted_before_the_wave_is_seen(scene: Scene) -> None:
    history = scene(12, until=800.0)
    history.agenda.at(436.0, lambda: setattr(history.broker, "muted", frozenset({"heartbeat"})))

    outcome = history.run(800.0)

    assert outcome.figures["reboot_host carried out"] == 0
    assert kinds(outcome) == set()


@pytest.mark.parametrize("seed", SLOW if IS_WHOLE else SLOW[:1])
def test_no_display_is_rebooted_for_coming_back_slowly(databases: Databases, seed: int) -> None:
    assert run_one(databases, seed, Kind.HOUR, with_people=False).breaches == []


@pytest.mark.parametrize("seed", OF_A_THOUSAND if IS_WHOLE else OF_A_THOUSAND[:1])
def test_what_a_thousand_histories_found_stays_mended(databases: Databases, seed: int) -> None:
    assert run_one(databases, seed, Kind.HOUR).breaches == []
