"""Faults of the service in a history. Each ends; the judge knows while one lasts."""

import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from tests.lab.simulation.history import History

WHOLE_FLEET: Final = 10  # displays from which on the breaker can recognise a fault of the service
Fault = Callable[[History, random.Random], None]


def lasting(
    history: History, seconds: float, begin: Callable[[], None], end: Callable[[], None], *, patient: bool = False
) -> None:
    """Begin a fault now and end it after `seconds`; `patient`: time may be skipped meanwhile."""
    history.fault_begins(patient=patient)
    begin()

    def over() -> None:
        end()
        history.agenda.after(30.0, lambda: history.fault_ends(patient=patient))  # clients reconnect with a back-off

    history.agenda.after(seconds, over)


def _set(thing: object, name: str, value: object) -> Callable[[], None]:
    return lambda: setattr(thing, name, value)


def _a_while(dice: random.Random) -> float:
    return dice.choice((dice.uniform(1.0, 40.0), dice.uniform(30.0, 300.0), dice.uniform(180.0, 900.0)))


def bridge_is_killed(history: History, dice: random.Random) -> None:
    first = history.bridges[0]
    lasting(history, _a_while(dice), first.kill, first.start)


def bridge_is_stopped(history: History, dice: random.Random) -> None:
    first = history.bridges[0]
    lasting(history, _a_while(dice), first.stop, first.start)


def bridge_hangs(history: History, dice: random.Random) -> None:
    first = history.bridges[0]
    lasting(history, dice.uniform(5.0, 400.0), first.hang, first.awake)


def standby_takes_over(history: History, dice: random.Random) -> None:
    second = history.bridges[1]
    second.start()
    history.agenda.after(dice.uniform(2.0, 60.0), lambda: bridge_is_killed(history, dice))
    history.agenda.after(dice.uniform(600.0, 1500.0), second.kill)


def broker_is_killed(history: History, dice: random.Random) -> None:
    lasting(history, _a_while(dice), history.broker.kill, history.broker.start)


def broker_is_stopped(history: History, dice: random.Random) -> None:
    lasting(history, _a_while(dice), history.broker.stop, history.broker.start)


def canary_dies(history: History, dice: random.Random) -> None:
    mute = _set(history.broker, "muted", frozenset({"canary"}))
    lasting(history, dice.uniform(60.0, 900.0), mute, _set(history.broker, "muted", frozenset()))


def displays_are_refused(history: History, dice: random.Random) -> None:
    """Lose heartbeats of displays in the service and nowhere else; with few displays no breaker can notice it."""
    if sum(display.is_on for display in history.displays.values()) >= WHOLE_FLEET:
        mute = _set(history.broker, "muted", frozenset({"heartbeat"}))
        lasting(history, dice.uniform(30.0, 900.0), mute, _set(history.broker, "muted", frozenset()))


def database_is_away(history: History, dice: random.Random) -> None:
    gates = (history.bridge_gate, history.tick_gate)

    def begin() -> None:
        for gate in gates:
            gate.is_away = True

    def end() -> None:
        for gate in gates:
            gate.is_away = False

    lasting(history, _a_while(dice), begin, end)


def database_restarts(history: History, _dice: random.Random) -> None:
    def begin() -> None:
        history.bridge_gate.loses_sessions = history.tick_gate.loses_sessions = True

    lasting(history, 60.0, begin, lambda: None)


def database_is_slow(history: History, dice: random.Random) -> None:
    seconds = dice.choice((dice.uniform(0.2, 3.0), dice.uniform(3.0, 30.0)))
    gate = history.bridge_gate
    lasting(
        history,
        dice.uniform(60.0, 600.0),
        _set(gate, "commit_seconds", seconds),
        _set(gate, "commit_seconds", 0.0),
    )


def commits_lose_their_answers(history: History, dice: random.Random) -> None:
    gates = (history.bridge_gate, history.tick_gate)

    def begin() -> None:
        dice.choice(gates).lose_commit_answer = True

    lasting(history, 90.0, begin, lambda: None)


def tick_is_missing(history: History, dice: random.Random) -> None:
    lasting(
        history,
        dice.uniform(60.0, 900.0),
        _set(history, "tick_is_missing", value=True),
        _set(history, "tick_is_missing", value=False),
    )


def tick_comes_again(history: History, dice: random.Random) -> None:
    """Run a tick twice, and at another time."""
    for _ in range(dice.randint(1, 10)):
        history.agenda.after(dice.uniform(0.0, 600.0), history.tick)


def tick_is_slow(history: History, dice: random.Random) -> None:
    """Delay a tick in the middle of a statement; other ticks may begin meanwhile."""
    for _ in range(dice.randint(1, 5)):
        at = (dice.randint(0, 25), dice.uniform(1.0, 100.0))
        history.agenda.after(dice.uniform(0.0, 600.0), _set(history.tick_gate, "wait_at", at))
    tick_comes_again(history, dice)


def tick_is_killed(history: History, dice: random.Random) -> None:
    """Kill a tick between two statements, or after a publish that it does not record."""
    for _ in range(dice.randint(1, 6)):
        if dice.random() < 0.6:
            kill = _set(history.tick_gate, "kill_at", dice.randint(0, 30))
        else:
            kill = _set(history.publisher, "kill_after", dice.randint(0, 3))
        history.agenda.after(dice.uniform(0.0, 600.0), kill)


def publishes_go_unanswered(history: History, dice: random.Random) -> None:
    lasting(
        history,
        120.0,
        _set(history.publisher, "loses_answers", dice.randint(1, 4)),
        _set(history.publisher, "loses_answers", 0),
    )


def database_clock_steps(history: History, dice: random.Random) -> None:
    """Step the database's clock forward or back; sometimes correct it again."""
    step = timedelta(seconds=dice.choice((1, -1)) * dice.choice((dice.uniform(1, 60), dice.uniform(60, 600), 3600)))
    clocks = history.clocks

    def begin() -> None:
        clocks.database_is_off_by += step

    def end() -> None:
        if dice.random() < 0.5:
            clocks.database_is_off_by -= step

    lasting(history, dice.uniform(60.0, 1200.0), begin, end)


FAULTS: Final[Sequence[Fault]] = (
    bridge_is_killed,
    bridge_is_stopped,
    bridge_hangs,
    standby_takes_over,
    broker_is_killed,
    broker_is_stopped,
    canary_dies,
    displays_are_refused,
    database_is_away,
    database_restarts,
    database_is_slow,
    commits_lose_their_answers,
    tick_is_missing,
    tick_comes_again,
    tick_is_slow,
    tick_is_killed,
    publishes_go_unanswered,
    database_clock_steps,
)
