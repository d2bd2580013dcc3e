"""The kind of history for a seed, and what the wide world adds to it."""

import random
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from typing import Final

from tests.lab.simulation.ages import tell_of_ages
from tests.lab.simulation.history import History
from tests.lab.simulation.misfits import MISFITS
from tests.lab.simulation.outages import OUTAGES
from tests.lab.simulation.stories import QUIET, Frame, tell

LOG_EVERY: Final = (20.0, 400.0)  # seconds between two lines of a display, at least and at most


class Kind(StrEnum):
    """The kinds of histories."""

    HOUR = "hour"
    WORLD = "world"
    DAY = "day"
    WEEK = "week"


SHARES: Final = ((0.45, Kind.HOUR), (0.85, Kind.WORLD), (0.95, Kind.DAY), (1.0, Kind.WEEK))
"""Kind -> the upper end of its share of all histories."""
SETTINGS: Final[Mapping[Kind, Mapping[str, str]]] = {
    Kind.HOUR: {},
    Kind.WORLD: {},
    Kind.DAY: {},
    Kind.WEEK: {"LOG_RETENTION_DAYS": "1"},
}
NARROW: Final = Frame(sizes=(3, 5, 8, 10, 11, 12, 14), lengths=((25 * 60.0, 45 * 60.0),))
DAYS: Final = {Kind.DAY: 1.2, Kind.WEEK: 7.0}


def kind_of(seed: int) -> Kind:
    """The kind of the history with this seed."""
    drawn = random.Random(f"{seed} kind").random()
    return next(kind for part, kind in SHARES if drawn < part)


def tell_of(history: History, kind: Kind) -> float:
    """Plan a history of this kind. Returns the length of its agenda in seconds."""
    if kind in DAYS:
        return tell_of_ages(history, DAYS[kind])
    if kind is Kind.HOUR:
        return tell(history)
    until = tell(history, NARROW)
    tell_of_the_world(history, until, random.Random(f"{history.seed} world"))
    return until


def tell_of_the_world(history: History, until: float, dice: random.Random) -> None:
    """Plan the faults of displays and of the service, and the lines that displays log."""
    history.keep_logs()
    displays = list(history.displays.values())
    for _ in range(dice.randint(1, 4)):
        misfit = dice.choice(MISFITS)
        at = dice.uniform(QUIET, 0.7 * until)
        history.agenda.at(at, partial(misfit, history, dice.choice(displays), dice))
    for _ in range(dice.choice((0, 1, 1, 2))):
        history.agenda.at(dice.uniform(QUIET, 0.8 * until), partial(dice.choice(OUTAGES), history, dice))
    for display in displays:
        if dice.random() < 0.4:
            plan_logs(history, display.log, until, dice)


def plan_logs(history: History, log: Callable[[], None], until: float, dice: random.Random) -> None:
    """Plan the log lines of one display."""
    every, moment = dice.uniform(*LOG_EVERY), QUIET
    while moment < until:
        history.agenda.at(moment, log)
        moment += every * dice.uniform(0.2, 1.8)
