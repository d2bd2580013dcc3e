"""Displays that do not keep the contract: they break it, go back in time, share a login, or come and go."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

from tests.lab.simulation.conduct import CONDUCTS, SOUND
from tests.lab.simulation.display import Display
from tests.lab.simulation.history import History
from tests.lab.simulation.stories import MISHAPS, Story


def _misbehave(history: History, display: Display, dice: random.Random) -> None:
    """Break the contract after a software update, until the next one."""
    display.conduct = dice.choice(CONDUCTS)
    if dice.random() < 0.5:
        history.agenda.after(dice.uniform(300.0, 2400.0), partial(setattr, display, "conduct", SOUND))


def _all_misbehave(history: History, display: Display, dice: random.Random) -> None:
    """An update that reaches one display after another."""
    conduct = dice.choice(CONDUCTS)
    for number, one in enumerate(history.displays.values()):
        history.agenda.after(number * dice.uniform(5.0, 120.0), partial(setattr, one, "conduct", conduct))
    del display


def _lose_a_count(history: History, display: Display, dice: random.Random) -> None:
    """Lose the count of its last boot, so that the next boot has the same number."""
    display.put_disk(display.at_boot)
    _then_something(history, display, dice)


def _freeze_the_disk(history: History, display: Display, dice: random.Random) -> None:
    """A write filter restores the disk at each boot."""
    display.freeze_disk()
    for _ in range(dice.randint(1, 3)):
        at = dice.uniform(10.0, 1500.0)
        history.agenda.after(at, display.cut_power)
        history.agenda.after(at + dice.uniform(5.0, 60.0), display.power_on)
    _then_something(history, display, dice)


def _return_to_an_old_disk(history: History, display: Display, dice: random.Random) -> None:
    """Use a spare disk, and after a while the old one again."""
    old = display.reimage()
    history.agenda.after(dice.uniform(200.0, 1500.0), partial(display.put_disk, old))
    _then_something(history, display, dice)


def _restore_an_image(history: History, display: Display, dice: random.Random) -> None:
    """Restore an image of the present disk some boots later."""
    image = display.disk.copy()
    for _ in range(dice.randint(0, 2)):
        at = dice.uniform(60.0, 600.0)
        history.agenda.after(at, display.cut_power)
        history.agenda.after(at + 10.0, display.power_on)
    history.agenda.after(dice.uniform(700.0, 1500.0), partial(display.put_disk, image))
    _then_something(history, display, dice)


def _then_something(history: History, display: Display, dice: random.Random) -> None:
    if dice.random() < 0.5:
        mishap = dice.choice(MISHAPS)
        history.agenda.after(dice.uniform(200.0, 2000.0), partial(mishap, history, display, dice))


def _share_a_login(history: History, display: Display, dice: random.Random) -> None:
    """Set up a second device from the first one's image."""
    if display.uuid in history.judge.truth.twins or display.uuid in history.judge.truth.deleted:
        return
    twin = history.add_twin(display)
    history.judge.figures["logins shared by two devices"] += 1
    history.judge.ledger.repeats.add(display.uuid)  # each makes the other's counters seem to go back
    if dice.random() < 0.5:
        twin.disk = display.disk.copy()
    twin.power_on()
    if dice.random() < 0.3:
        history.agenda.after(dice.uniform(900.0, 2400.0), twin.cut_power)


def _have_a_wrong_clock(history: History, display: Display, dice: random.Random) -> None:
    hours = dice.choice((1.0, -1.0)) * dice.choice((1.0, 2.0, dice.uniform(0.1, 14.0)))
    display.nature = replace(display.nature, clock_error=timedelta(hours=hours))
    del history


def _flap_on_and_on(history: History, display: Display, dice: random.Random) -> None:
    for _ in range(dice.randint(30, 150)):
        history.agenda.after(dice.uniform(0.0, 2400.0), display.flap)


MISFITS: Final[Sequence[Story]] = (
    *(_misbehave, _misbehave, _misbehave, _all_misbehave),
    *(_lose_a_count, _lose_a_count, _freeze_the_disk, _return_to_an_old_disk, _restore_an_image),
    *(_share_a_login, _have_a_wrong_clock, _flap_on_and_on),
)
