"""More faults of the service: a restored database, a dead leader, a broker that drops, forgets or is strict."""

import random
from collections.abc import Sequence
from functools import partial
from typing import Final

from shared.leadership.store import LEADER_LOCK
from tests.lab.simulation.broker import Rule
from tests.lab.simulation.display import Display
from tests.lab.simulation.faults import WHOLE_FLEET, Fault, lasting
from tests.lab.simulation.history import History

WHOLE_SITE: Final = 7  # working displays of a site from which on its breaker can recognise a fault of the service
HEARTBEATS: Final = frozenset({"heartbeat"})


def database_forgets(history: History, dice: random.Random) -> None:
    """Replace the database by a copy that is some seconds old."""
    history.databases.copies.make()
    history.judge.keeps()
    gates = (history.bridge_gate, history.tick_gate)

    def begin() -> None:
        for gate in gates:
            gate.is_away = True

    def end() -> None:
        history.databases.copies.put_back()
        history.judge.forgets()
        for gate in gates:
            gate.is_away = False

    seconds = dice.choice((dice.uniform(1.0, 40.0), dice.uniform(30.0, 150.0)))
    history.agenda.after(seconds, lambda: lasting(history, dice.uniform(1.0, 60.0), begin, end))


def lead_is_held_by_a_ghost(history: History, dice: random.Random) -> None:
    """The leader's process is dead, but Postgres keeps its lock until keepalives fail."""
    copies = history.databases.copies
    if dice.random() < 0.5:
        history.bridges[1].start()
        history.agenda.after(dice.uniform(900.0, 1500.0), history.bridges[1].kill)
    lasting(history, dice.uniform(5.0, 45.0), lambda: copies.haunt(LEADER_LOCK), copies.exorcise)


def broker_crashes(history: History, dice: random.Random) -> None:
    """The broker crashes after its last save of up to a minute ago, and forgets later sessions."""
    unsaved = dice.choice((1.0, dice.uniform(1.0, 60.0)))
    crash = partial(history.broker.crash, unsaved)
    lasting(history, dice.uniform(0.5, 10.0), crash, history.broker.start)


def broker_crashes_again_and_again(history: History, dice: random.Random) -> None:
    for _ in range(dice.randint(2, 6)):
        history.agenda.after(dice.uniform(0.0, 900.0), partial(broker_crashes, history, dice))


def bridge_restarts_again_and_again(history: History, dice: random.Random) -> None:
    first = history.bridges[0]
    for _ in range(dice.randint(2, 6)):
        at = dice.uniform(0.0, 600.0)
        begin = dice.choice((first.kill, first.stop))
        history.agenda.after(at, partial(lasting, history, dice.uniform(0.5, 20.0), begin, first.start))


def broker_is_strict(history: History, dice: random.Random) -> None:
    """The broker takes only ten publishes at a time; many commands are issued, once while no tick finds the broker."""
    history.broker.receive_maximum = 10
    for _ in range(dice.randint(1, 3)):
        history.agenda.after(dice.uniform(30.0, 900.0), partial(_send_to_all, history))
    away = partial(lasting, history, dice.uniform(5.0, 90.0), history.broker.stop, history.broker.start)
    history.agenda.after(dice.uniform(30.0, 900.0), away)


def _send_to_all(history: History) -> None:
    history.operator.send_to_many(list(history.displays.values()), "restart_app", in_waves=False)


def works(display: Display) -> bool:
    """Whether the display plays and is heard."""
    return display.is_reachable and not display.is_ill


def drop(history: History, rule: Rule, seconds: float, *, patient: bool = False) -> None:
    """Let a rule of the broker drop messages of displays for `seconds`."""

    def begin() -> None:
        history.broker.rules.append(rule)

    def end() -> None:
        history.broker.rules.remove(rule)

    lasting(history, seconds, begin, end, patient=patient)


def _some_minutes(dice: random.Random) -> float:
    return dice.choice((dice.uniform(30.0, 300.0), dice.uniform(200.0, 1500.0), dice.uniform(1200.0, 3000.0)))


def heartbeats_are_dropped(history: History, dice: random.Random) -> None:
    """Drop the heartbeats of one display, of some or of all; other messages pass."""
    uuids = sorted(history.displays)
    some = dice.choice((None, frozenset(dice.sample(uuids, 1)), frozenset(dice.sample(uuids, len(uuids) // 2 + 1))))
    drop(history, Rule(HEARTBEATS, some), _some_minutes(dice))


def everything_is_dropped(history: History, dice: random.Random) -> None:
    """Drop all messages of the fleet or of a site with enough displays to recognise a fault of the service."""
    places = [None, *sorted({site for site in history.sites.values() if site is not None})]
    if (rule := rule_of_a_place(history, dice.choice(places))) is not None:
        drop(history, rule, _some_minutes(dice))


def rule_of_a_place(history: History, site: str | None) -> Rule | None:
    """A rule that drops all messages of the fleet (None) or of a site; None if too few of its displays work."""
    here = {uuid for uuid, of in history.sites.items() if site is None or of == site}
    working = sum(works(history.displays[uuid]) for uuid in here)
    if working < (WHOLE_FLEET if site is None else WHOLE_SITE):
        return None
    return Rule(None, None if site is None else frozenset(here))


def clients_are_deleted(history: History, dice: random.Random) -> None:
    """Delete one or some clients, ill ones first, because they may have open commands."""
    ill = [display for display in history.displays.values() if display.is_ill]
    for display in ill[:2] or [dice.choice(list(history.displays.values()))]:
        history.agenda.after(dice.uniform(0.0, 400.0), partial(_delete, history, display))


def _delete(history: History, display: Display) -> None:
    if display.uuid not in history.judge.truth.twins:
        history.operator.delete(display)


OUTAGES: Final[Sequence[Fault]] = (
    *(database_forgets, database_forgets, lead_is_held_by_a_ghost, lead_is_held_by_a_ghost),
    *(broker_crashes, broker_crashes_again_and_again, bridge_restarts_again_and_again, broker_is_strict),
    *(heartbeats_are_dropped, heartbeats_are_dropped, everything_is_dropped, everything_is_dropped),
    clients_are_deleted,
)
