"""The events of a history, drawn from its seed, so that the same seed gives the same events."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from shared.vocabulary import QuietPreset
from tests.lab.simulation.ailments import NEVER, Ailment, Nature
from tests.lab.simulation.display import Display
from tests.lab.simulation.faults import FAULTS
from tests.lab.simulation.history import History
from tests.lab.simulation.people import tell_of_people

SIZES: Final = (3, 5, 8, 10, 11, 12, 14, 16, 20, 32)
SITES: Final = ("Berlin", "Vienna", "Lyon")
QUIET: Final = 300.0  # the fleet registers in the first minutes
LENGTHS: Final = ((25 * 60.0, 45 * 60.0), (25 * 60.0, 45 * 60.0), (60 * 60.0, 90 * 60.0))

Story = Callable[[History, Display, random.Random], None]


@dataclass(frozen=True)
class Frame:
    """The ranges from which the number of displays and the length are drawn."""

    sizes: Sequence[int] = SIZES
    lengths: Sequence[tuple[float, float]] = LENGTHS


WIDE: Final = Frame()


def tell(history: History, frame: Frame = WIDE, *, with_people: bool = True) -> float:
    """Plan all events. Returns the length in seconds. Without people nobody controls recovery."""
    dice = history.dice
    until = dice.uniform(*dice.choice(frame.lengths))
    for _ in range(dice.choice(frame.sizes)):
        display = history.add_display(_nature(dice), dice.choice(SITES))
        history.agenda.at(dice.uniform(0.0, 60.0), display.power_on)
        for _ in range(dice.choice((0, 0, 1, 1, 2))):
            mishap = dice.choice(MISHAPS)
            history.agenda.at(dice.uniform(QUIET, 0.8 * until), partial(mishap, history, display, dice))
    for _ in range(dice.choice((0, 0, 1))):
        history.agenda.at(dice.uniform(QUIET, 0.6 * until), partial(dice.choice(MASS), history, dice))
    for _ in range(dice.choice((0, 1, 1, 2, 3, 4))):
        history.agenda.at(dice.uniform(QUIET, 0.9 * until), partial(dice.choice(FAULTS), history, dice))
    history.plan_ticks(until, dice.uniform(0.0, 60.0))
    if with_people:
        tell_of_people(history, until, random.Random(f"{history.seed} people"))
    return until


def _nature(dice: random.Random) -> Nature:
    is_slow = dice.random() < 0.1
    return Nature(
        interval=dice.choice((30, 30, 30, 30, 30, 30, 10, 60)),
        boot_seconds=dice.uniform(150.0, 400.0) if is_slow else dice.uniform(15.0, 90.0),
        restart_seconds=dice.uniform(2.0, 20.0),
        answer_delay=dice.uniform(20.0, 80.0) if dice.random() < 0.05 else dice.uniform(0.05, 3.0),
        clock_error=timedelta(days=dice.uniform(-400, 400)) if dice.random() < 0.1 else timedelta(),
        capabilities=("restart_app", "shutdown_host") if dice.random() < 0.05 else Nature.capabilities,
    )


# --- one display ---


def _crash(history: History, display: Display, dice: random.Random) -> None:
    cure = dice.choice(("restart", "restart", "reboot", NEVER))
    again = dice.choice((None, None, dice.uniform(5.0, 900.0)))
    ends = dice.choice((None, None, dice.uniform(3.0, 18.0), dice.uniform(60.0, 900.0)))
    _maybe_fuse(display, dice)
    display.ail(Ailment("crashed", cure, ends, again))
    del history


def _fail(history: History, display: Display, dice: random.Random) -> None:
    cure = dice.choice(("restart", "restart", "reboot", NEVER))
    display.ail(Ailment("failed", cure, None, dice.choice((None, None, dice.uniform(30.0, 1200.0)))))
    if dice.random() < 0.5:
        history.agenda.after(dice.uniform(60.0, 2400.0), lambda: history.operator.acknowledge(display))


def _freeze(history: History, display: Display, dice: random.Random) -> None:
    cure = dice.choice(("reboot", "reboot", NEVER))
    ends = dice.choice((None, None, dice.uniform(20.0, 400.0), dice.uniform(150.0, 900.0)))
    again = dice.choice((None, None, dice.uniform(30.0, 1200.0)))
    _maybe_fuse(display, dice)
    display.ail(Ailment(dice.choice(("frozen", "frozen", "frozen", "deaf")), cure, ends, again))
    del history


def _lose_picture(history: History, display: Display, dice: random.Random) -> None:
    """The player runs, and only the screen shows the fault."""
    cure = dice.choice(("restart", "restart", "reboot", NEVER))
    ends = dice.choice((None, None, dice.uniform(20.0, 100.0), dice.uniform(150.0, 900.0)))
    again = dice.choice((None, None, dice.uniform(30.0, 1200.0)))
    _maybe_fuse(display, dice)
    display.ail(Ailment(dice.choice(("black", "still")), cure, ends, again))
    del history


def _change_screen(history: History, display: Display, dice: random.Random) -> None:
    """Faults that no command mends: a cable, a switch, with or without a plan; or a dark picture for a minute."""
    display.show(dice.choice(("disconnected", "off", "off", "unknown", "black")))
    lasts = dice.uniform(1.0, 100.0) if display.screen == "black" else dice.uniform(10.0, 1800.0)
    if display.screen == "off" and dice.random() < 0.5:
        seconds = dice.uniform(300.0, 1500.0)
        history.operator.make_quiet(QuietPreset.MAINTENANCE, displays=[display], seconds=seconds)
    history.agenda.after(lasts, partial(display.show, "ok"))


def _die(history: History, display: Display, dice: random.Random) -> None:
    """It hangs so that nothing reaches it, until a person pulls the plug."""
    display.ail(Ailment("dead", "reboot"))
    _pull_plug(history, display, dice)


def _pull_plug(history: History, display: Display, dice: random.Random) -> None:
    history.agenda.after(dice.uniform(60.0, 1800.0), lambda: _lose_power(history, display, dice))


def _lose_power(history: History, display: Display, dice: random.Random) -> None:
    display.cut_power()
    history.agenda.after(dice.choice((dice.uniform(5.0, 40.0), dice.uniform(40.0, 1500.0))), display.power_on)


def _lose_network(history: History, display: Display, dice: random.Random) -> None:
    display.lose_network()
    lasts = dice.choice((dice.uniform(2.0, 60.0), dice.uniform(60.0, 300.0), dice.uniform(180.0, 1500.0)))
    history.agenda.after(lasts, display.find_network)


def _flap(history: History, display: Display, dice: random.Random) -> None:
    for _ in range(dice.randint(5, 20)):
        history.agenda.after(dice.uniform(0.0, 900.0), display.flap)


def _stop(history: History, display: Display, dice: random.Random) -> None:
    display.stop_player()
    if dice.random() < 0.3:
        history.agenda.after(dice.uniform(10.0, 300.0), lambda: _lose_network(history, display, dice))
    history.agenda.after(dice.uniform(300.0, 1800.0), display.start_player)


def _switch_off(history: History, display: Display, dice: random.Random) -> None:
    if dice.random() < 0.5:
        history.operator.send(display, "shutdown_host")
    else:
        display.switch_off("shutdown")
    history.agenda.after(dice.uniform(300.0, 1800.0), display.power_on)


def _reimage(_history: History, display: Display, _dice: random.Random) -> None:
    display.reimage()


def _be_operated(history: History, display: Display, dice: random.Random) -> None:
    _maybe_fuse(display, dice)
    history.operator.send(display, dice.choice(("restart_app", "reboot_host")))


def _switch_screen(history: History, display: Display, dice: random.Random) -> None:
    """The screen is off by plan for a while: by a command, which may be lost, or by its hours."""
    _maybe_fuse(display, dice)
    lasts = dice.uniform(60.0, 1800.0)
    if dice.random() < 0.5:
        history.operator.send(display, "screen_off")
        history.agenda.after(lasts, lambda: history.operator.send(display, "screen_on"))
    else:
        display.plan("hours")
        history.agenda.after(lasts, partial(display.plan, None))


def _maybe_fuse(display: Display, dice: random.Random) -> None:
    if dice.random() < 0.15:
        display.fuse = dice.randint(0, 6)


MISHAPS: Final[Sequence[Story]] = (
    *(_crash, _crash, _crash),
    *(_freeze, _freeze, _freeze),
    *(_lose_picture, _lose_picture, _change_screen),
    *(_fail, _die, _lose_power, _lose_network, _lose_network),
    *(_flap, _stop, _switch_off, _reimage, _be_operated, _switch_screen),
)


# --- many displays ---


def _some(history: History, dice: random.Random, least: float) -> list[Display]:
    share = dice.uniform(least, 1.0)
    return [display for display in history.displays.values() if dice.random() < share]


def _crowd_crashes(history: History, dice: random.Random) -> None:
    for display in _some(history, dice, 0.3):
        history.agenda.after(dice.uniform(0.0, 20.0), partial(display.ail, Ailment("crashed", "restart")))


def _crowd_freezes(history: History, dice: random.Random) -> None:
    ends = dice.choice((None, dice.uniform(200.0, 1500.0)))
    for display in _some(history, dice, 0.2):
        history.agenda.after(dice.uniform(0.0, 120.0), partial(display.ail, Ailment("frozen", "reboot", ends)))


def _crowd_turns_black(history: History, dice: random.Random) -> None:
    """A playlist shows nothing, so no restart helps."""
    ends = dice.choice((None, dice.uniform(200.0, 1500.0)))
    for display in _some(history, dice, 0.2):
        history.agenda.after(dice.uniform(0.0, 30.0), partial(display.ail, Ailment("black", NEVER, ends)))


def _screens_lose_power(history: History, dice: random.Random) -> None:
    for display in _some(history, dice, 0.3):
        display.show("disconnected")
        history.agenda.after(dice.uniform(300.0, 1500.0), partial(display.show, "ok"))


def _site_goes_dark(history: History, dice: random.Random) -> None:
    lasts = dice.uniform(30.0, 1500.0)
    for display in _some(history, dice, 0.3):
        display.lose_network()
        history.agenda.after(lasts + dice.uniform(0.0, 30.0), display.find_network)


def _power_goes_out(history: History, dice: random.Random) -> None:
    lasts = dice.uniform(5.0, 900.0)
    for display in _some(history, dice, 0.3):
        display.cut_power()
        history.agenda.after(lasts + dice.uniform(0.0, 5.0), display.power_on)


MASS: Final = (
    _crowd_crashes,
    _crowd_freezes,
    _crowd_turns_black,
    _screens_lose_power,
    _site_goes_dark,
    _power_goes_out,
)
