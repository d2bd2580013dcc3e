"""Histories of days: quiet times are skipped.

A leap lets time pass for the service (the database's clock and the monotonic ones) and not for the agenda: meanwhile
displays that talk kept talking, silent ones stayed silent, the bridge listened and ticks found nothing new. It happens
only while nothing is in progress.
"""

import random
from collections.abc import Callable
from functools import partial
from typing import Final

import sqlalchemy as sa

from tests.lab.simulation.ailments import Nature
from tests.lab.simulation.broker import Rule
from tests.lab.simulation.display import Display
from tests.lab.simulation.history import History
from tests.lab.simulation.misfits import MISFITS
from tests.lab.simulation.outages import HEARTBEATS, drop, rule_of_a_place
from tests.lab.simulation.people import DEEDS
from tests.lab.simulation.stories import MISHAPS

DAY: Final = 86_400.0
AWAKE: Final = (240.0, 480.0)  # seconds between two leaps, at least and at most
TALKS: Final = 130.0  # seconds within which a talking display is heard: two intervals of a minute
AGAIN: Final = 20.0  # seconds until the next try to leap
TRIES: Final = 45
SHIFTED: Final = {
    "client_heartbeats": ("last_heartbeat_at", "sign_at"),
    "client_health": ("received_at", "previous_at"),
}
"""Table -> its columns with the last times at which a client was heard."""
COLUMNS: Final = sa.text(
    "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
    " AND table_name = ANY(:tables)"
)
OURSELVES: Final = (
    """
    UPDATE bridge_status SET canary_at = canary_at + :leap * interval '1 second',
        last_commit_at = last_commit_at + :leap * interval '1 second'
    """,
    "UPDATE scheduler_status SET last_tick_at = last_tick_at + :leap * interval '1 second'",
)


def leap(history: History, seconds: float, tries: int = TRIES) -> None:
    """Leap as soon as nothing is in progress; not at all if that never happens."""
    for bridge in history.bridges:
        bridge.turn()
    if not _may_leap(history):
        if tries:
            history.agenda.after(AGAIN, partial(leap, history, seconds, tries - 1))
        else:
            history.judge.figures["leaps left out"] += 1
        return
    talking = history.judge.truth.leap(seconds, TALKS)
    now = history.clocks.database()
    with history.databases.judge.begin() as connection:
        for table, columns in SHIFTED.items():
            for column in columns:
                if _exists(history, table, column):
                    values = {"leap": seconds, "now": now, "talks": TALKS, "uuids": talking}
                    connection.execute(_shift(table, column), values)
        for statement in OURSELVES:
            connection.execute(sa.text(statement), {"leap": seconds})
    history.clocks.leapt += seconds
    history.judge.figures["hours leapt"] += round(seconds / 3600)


def _shift(table: str, column: str) -> sa.TextClause:
    return sa.text(
        f"""
        UPDATE {table} SET {column} = {column} + :leap * interval '1 second'
        WHERE client_uuid = ANY(:uuids)
            AND {column} > CAST(:now AS timestamptz) - 2.5 * CAST(:talks AS float8) * interval '1 second'
        """
    )


_columns: dict[tuple[str, str], bool] = {}


def _exists(history: History, table: str, column: str) -> bool:
    if not _columns:
        with history.databases.judge.connect() as connection:
            found = {tuple(row) for row in connection.execute(COLUMNS, {"tables": list(SHIFTED)})}
        _columns.update({(table, one): (table, one) in found for table in SHIFTED for one in SHIFTED[table]})
    return _columns[table, column]


def _may_leap(history: History) -> bool:
    """Whether nothing is in progress, in the service and on any display."""
    if not history.is_calm or history.judge.is_anything_due:
        return False
    quiet = history.judge.truth.quiet()
    unsettled = (TALKS < one.total_seconds() < 500.0 for one in quiet.values())
    return not any(unsettled) and not any(bridge.has_unread for bridge in history.bridges)


# --- events of days ---


def tell_of_ages(history: History, days: float) -> float:
    """Plan a history of `days`. Returns the length of its agenda in seconds."""
    dice = random.Random(f"{history.seed} ages")
    history.is_long = True
    for _ in range(dice.randint(6, 14)):
        display = history.add_display(_nature(dice), dice.choice(("Berlin", "Berlin", "Vienna")))
        history.agenda.at(dice.uniform(0.0, 60.0), display.power_on)
    history.keep_logs()
    leaps = 11 if days < 2 else 18
    moment = 500.0
    moments = [moment]
    for _ in range(leaps):
        history.agenda.at(moment, partial(leap, history, days * DAY / leaps * dice.uniform(0.7, 1.3)))
        moment += dice.uniform(*AWAKE)
        moments.append(moment)
    until = moment + 900.0
    for _ in range(dice.randint(1, 2)):
        begin = dice.randrange(1, leaps - 2)
        end = dice.randrange(begin + 1, leaps + 1)
        seconds = moments[end] - moments[begin] + dice.uniform(0.0, 60.0)
        history.agenda.at(
            moments[begin] - dice.uniform(60.0, 220.0), partial(dice.choice(SILENCES), history, dice, seconds)
        )
    _plan_small_things(history, until, dice)
    history.plan_ticks(until, dice.uniform(0.0, 60.0))
    return until


def _nature(dice: random.Random) -> Nature:
    return Nature(interval=dice.choice((30, 30, 60)), boot_seconds=dice.uniform(15.0, 90.0))


def _plan_small_things(history: History, until: float, dice: random.Random) -> None:
    displays = list(history.displays.values())
    for stories, most in ((MISHAPS, 5), (MISFITS, 3)):
        for _ in range(dice.randint(0, most)):
            story, display = dice.choice(stories), dice.choice(displays)
            history.agenda.at(dice.uniform(400.0, until - 900.0), partial(story, history, display, dice))
    for _ in range(dice.choice((0, 0, 1, 2))):
        history.agenda.at(dice.uniform(400.0, until), partial(dice.choice(DEEDS), history, dice))
    for display in displays:
        if dice.random() < 0.5:
            for _ in range(dice.randint(2, 30)):
                history.agenda.at(dice.uniform(300.0, until - 600.0), display.log)


# --- long silences ---


def fleet_is_dropped(history: History, dice: random.Random, seconds: float) -> None:
    """A rule of the broker drops all messages over a weekend."""
    if (rule := rule_of_a_place(history, dice.choice((None, "Berlin")))) is not None:
        drop(history, rule, seconds, patient=True)


def heartbeats_are_dropped(history: History, dice: random.Random, seconds: float) -> None:
    some = dice.choice((None, frozenset(dice.sample(sorted(history.displays), 3))))
    drop(history, Rule(HEARTBEATS, some), seconds, patient=True)


def site_is_dark(history: History, dice: random.Random, seconds: float) -> None:
    """A site has no network, so commands to it would help nobody."""
    _each(history, dice, seconds, Display.lose_network, Display.find_network)


def site_is_without_power(history: History, dice: random.Random, seconds: float) -> None:
    _each(history, dice, seconds, Display.cut_power, Display.power_on)


def _each(
    history: History,
    dice: random.Random,
    seconds: float,
    begin: Callable[[Display], None],
    end: Callable[[Display], None],
) -> None:
    site = dice.choice((None, "Berlin", "Vienna"))
    for uuid, display in history.displays.items():
        if site in {None, history.sites[uuid]}:
            begin(display)
            history.agenda.after(seconds + dice.uniform(0.0, 30.0), partial(end, display))


SILENCES: Final = (fleet_is_dropped, fleet_is_dropped, heartbeats_are_dropped, site_is_dark, site_is_without_power)
