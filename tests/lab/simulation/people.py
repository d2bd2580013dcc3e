"""Actions of people in a history. They have their own random numbers, so the faults are the same with and without."""

import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from shared.quiet import hours_rules
from shared.vocabulary import QuietPreset, Weekday
from tests.lab.simulation.display import Display
from tests.lab.simulation.history import History

QUIET: Final = 240.0

Deed = Callable[[History, random.Random], None]


def tell_of_people(history: History, until: float, dice: random.Random) -> None:
    """Plan the actions of people until `until`."""
    for _ in range(dice.choice((0, 0, 1, 2, 4))):
        history.agenda.at(dice.uniform(QUIET, 0.9 * until), partial(dice.choice(DEEDS), history, dice))


def _one(history: History, dice: random.Random) -> Display:
    """The display for the next action: usually an ill one."""
    displays = list(history.displays.values())
    ill = [display for display in displays if display.is_ill]
    return dice.choice(ill if ill and dice.random() < 0.7 else displays)


def _some(history: History, dice: random.Random) -> list[Display]:
    displays = list(history.displays.values())
    return dice.sample(displays, dice.randint(1, len(displays)))


def _site(history: History, dice: random.Random) -> str:
    return dice.choice(sorted({site for site in history.sites.values() if site is not None}))


def _hold(history: History, dice: random.Random) -> None:
    display = _one(history, dice)
    history.operator.hold(display, dice.choice((None, dice.uniform(30.0, 1200.0))))
    history.agenda.after(dice.uniform(60.0, 1800.0), lambda: history.operator.resume(display))


def _resume(history: History, dice: random.Random) -> None:
    history.operator.resume(_one(history, dice))


def _leave_out(history: History, dice: random.Random) -> None:
    """Leave out a display or a site for a while."""
    whom = {"displays": [_one(history, dice)]} if dice.random() < 0.5 else {"site": _site(history, dice)}
    made = history.operator.make_quiet(QuietPreset.LEAVE_OUT, **whom)
    history.agenda.after(dice.uniform(60.0, 1800.0), lambda: history.operator.end_quiet(made))


def _maintain(history: History, dice: random.Random) -> None:
    site = dice.choice((None, _site(history, dice)))
    displays = [] if site or dice.random() < 0.4 else _some(history, dice)
    begins_in, seconds = dice.uniform(0.0, 300.0), dice.uniform(60.0, 1500.0)
    history.operator.make_quiet(
        QuietPreset.MAINTENANCE, site=site, displays=displays, begins_in=begins_in, seconds=seconds
    )


def _snooze(history: History, dice: random.Random) -> None:
    history.operator.make_quiet(QuietPreset.SNOOZE, site=_site(history, dice), seconds=dice.uniform(60.0, 1500.0))


def _open_hours(history: History, dice: random.Random) -> None:
    """A shop closes within minutes, and opens again some minutes later."""
    zone, here = ZoneInfo("Europe/Rome"), history.clocks.database()
    closes, length = dice.uniform(60.0, 900.0), dice.uniform(300.0, 2400.0)
    ends, begins = (
        f"{(here + timedelta(seconds=at)).astimezone(zone):%H:%M}" for at in (closes, closes + max(length, 300.0))
    )
    if begins != ends:
        spans = (hours_rules.span(tuple(Weekday), begins, ends, None),)
        history.operator.make_quiet(QuietPreset.OPENING_HOURS, site=_site(history, dice), spans=spans)


def _release(history: History, dice: random.Random) -> None:
    """A person releases a breaker again and again."""
    for _ in range(dice.randint(1, 6)):
        site = dice.choice((None, None, _site(history, dice)))
        history.agenda.after(dice.uniform(0.0, 1200.0), partial(history.operator.release, site))


def _send_to_many(history: History, dice: random.Random) -> None:
    action = dice.choice(("restart_app", "restart_app", "reboot_host", "screen_off", "screen_on"))
    history.operator.send_to_many(_some(history, dice), action, in_waves=dice.random() < 0.6)


DEEDS: Final[Sequence[Deed]] = (
    _hold,
    _resume,
    _leave_out,
    _leave_out,
    _maintain,
    _maintain,
    _snooze,
    _open_hours,
    _release,
    _release,
    _send_to_many,
    _send_to_many,
)
