"""The random choices within a step of the command machine, and how often each kind of step comes."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.vocabulary import CommandAction, CommandSource, CommandState, PublishAnswer
from tests.stores.command_faults import Crash

SEEDS: Final = 2**24 - 1  # for larger ranges Hypothesis prefers small numbers
RESULTS: Final = [CommandState.SUCCEEDED, CommandState.FAILED, CommandState.REJECTED]


@dataclass(frozen=True)
class Fate:
    """The fate of one publish."""

    answer: int | None = None
    left: bool = False
    arrives: bool = False
    recorded: bool = True
    """False: the publisher is killed before it records anything."""


@dataclass(frozen=True)
class Several:
    """One to `most` of these; an element that is listed more often is chosen more often."""

    choices: Sequence[Any]
    most: int
    least: int = 1


TAKEN = Fate(PublishAnswer.SUCCESS, left=True, arrives=True)
VANISHED = Fate(PublishAnswer.SUCCESS, left=True)  # the broker took it, but the display is gone
NOBODY = Fate(PublishAnswer.NO_SUBSCRIBER, left=True)
LOST = Fate(left=True, arrives=True)  # it arrives, but the answer does not
KILLED = Fate(left=True, arrives=True, recorded=False)
NO_BROKER = Fate()
REFUSED = Fate(0x97)  # quota exceeded: try later
DENIED = Fate(PublishAnswer.NOT_AUTHORIZED)
FATES = [*[TAKEN] * 6, *[NOBODY] * 3, VANISHED, LOST, LOST, KILLED, NO_BROKER, REFUSED, DENIED]
CRASHES = [None] * 40 + [
    *(Crash(number) for number in (0, 1, 2, 3, 4, 6)),
    Crash(committed=True),
    Crash(committed=True),
]
HOW = ["works"] * 4 + ["fails", "hangs", "hangs"]
CUTS = [None] * 10 + [1, 2, 3, 4]  # the effect before which a display loses power
ALL = slice(None)
HEARD = [*[slice(0)] * 3, ALL, ALL, slice(-1, None), slice(None, None, 2)]
"""Which of all ACKs that the display has sent arrive at once: none, all, only the latest, or every other one."""
WHICH = Several(range(12), 4)
BOTH = [True, False]

Chances = Mapping[str, Sequence[Any] | Several]
ASKING: Final[Chances] = {
    "action": list(CommandAction),
    "source": [CommandSource.RECOVERY, CommandSource.OPERATOR, CommandSource.OPERATOR],
    "override": [True, True, False],
    "seconds": [None, 60, 600, 600],
    "crash": CRASHES,
}
PUBLISHING: Final[Chances] = {
    "fates": Several(FATES, 2),
    "online": BOTH,
    "heard": HEARD,
    "delivered": [True, True, False],
    "how": HOW,
    "cut": CUTS,
    "claims": CRASHES,
    "records": CRASHES,
}
STEPS: Final[dict[str, tuple[int, Chances]]] = {
    "ask": (6, ASKING),
    "wait": (2, {"passed": [3, 21, 31, 65, 185, 185, 601]}),
    "tick": (4, {"crash": CRASHES}),
    "time_tells": (5, {"passed": [65, 185, 185, 601], "silent": BOTH, "crash": CRASHES}),
    "withdraw": (2, {"crash": CRASHES}),
    "work": (10, PUBLISHING),
    "hold": (3, {}),
    "go_on": (3, {"fate": FATES, "late": BOTH}),
    "deliver": (5, {"which": WHICH, "how": HOW, "cut": CUTS}),
    "forget": (2, {}),
    "start_machine": (3, {}),
    "hear": (6, {"which": WHICH, "crash": CRASHES}),
    "babble": (2, {"words": Several([CommandState.RECEIVED, CommandState.RUNNING, *RESULTS], 3)}),
    "forge": (1, {"word": [CommandState.RECEIVED, *RESULTS]}),
    "beat": (4, {"crash": CRASHES}),
    "fall_silent": (3, {"stale": BOTH}),
    "come_back": (1, {}),
    "at_once": (2, {"pair": Several(["tick", "tick", "claim", "hear", "beat", "withdraw"], 2, least=2)}),
}
"""Kind of step -> its relative frequency, and its random choices."""
OPENINGS: Final = [
    *[None] * 9,
    (CommandAction.REBOOT_HOST, "hangs", None),
    (CommandAction.RESTART_APP, "hangs", None),
    (CommandAction.SHUTDOWN_HOST, "works", None),
    (CommandAction.SHUTDOWN_HOST, "works", 1),
]
"""How a run begins: with any command, or with one that a display has received and that ends in a rare way.

With a number, power is lost before that effect: the command is in the journal and was not carried out. After a restart
that hangs, another one is issued when the first times out: the display is still busy. After a reboot that hangs, the
display is usually heard three minutes later.
"""
WEIGHTED: Final = [name for name, (weight, _) in STEPS.items() for _ in range(weight)]
Step = tuple[str, dict[str, Any]]


def step_of(seed: int, number: int, only: str | None = None) -> Step:
    """The step for this seed and position, of any kind or only of one.

    Hypothesis likes to repeat a number in a run, so the same number at another position makes another step.
    """
    chance = random.Random(f"{seed} {number}")
    name = only or chance.choice(WEIGHTED)
    return name, {argument: _drawn(chance, choices) for argument, choices in STEPS[name][1].items()}


def _drawn(chance: random.Random, choices: Sequence[Any] | Several) -> Any:
    if isinstance(choices, Several):
        return chance.choices(choices.choices, k=chance.randint(choices.least, choices.most))
    return chance.choice(choices)
