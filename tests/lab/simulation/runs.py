"""Run many histories side by side, and sum up their results."""

import logging
import math
import multiprocessing
import os
import statistics
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from deploy.local import postgres
from tests import migrated
from tests.lab.simulation.history import Databases, History, Outcome
from tests.lab.simulation.oracle import Breach
from tests.lab.simulation.stories import tell
from tests.lab.simulation.worlds import SETTINGS, Kind, kind_of, tell_of

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue

Told = Callable[[Outcome], None]
KINDS: Final = (
    "needless action",
    "needless reboot",
    "late",
    "unnoticed",
    "cap",
    "carried out twice",
    "stuck",
    "fifth action",
    "forbidden action",
    "pestered",
    "deaf",
    "thrown out",
    "log lost",
    "log twice",
    "log stuck",
    "failed step",
    "two ticks at once",
    "crashed",
)
"""The kinds of breaches; oracle.py describes each."""


@dataclass
class Run:
    """The results of some histories."""

    outcomes: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def breaches(self) -> list[tuple[int, str]]:
        """(seed, description) of each breach."""
        return [(outcome.seed, str(breach)) for outcome in self.outcomes for breach in outcome.breaches]

    @property
    def figures(self) -> dict[str, float]:
        """Counts over all histories, breaches first."""
        total: Counter[str] = sum((outcome.figures for outcome in self.outcomes), Counter())
        found = Counter(breach.kind for outcome in self.outcomes for breach in outcome.breaches)
        waits = sorted(wait for outcome in self.outcomes for wait in outcome.waits)
        return {
            "histories": len(self.outcomes),
            **{kind: found[kind] for kind in KINDS},
            **dict(sorted(total.items())),
            "seconds from falling ill to the action, median": round(statistics.median(waits), 1) if waits else 0.0,
        }

    def as_json(self) -> dict[str, Any]:
        """The result as JSON."""
        breaches = [{"seed": seed, "breach": words} for seed, words in self.breaches]
        return {"figures": self.figures, "breaches": breaches, "seconds": round(self.seconds, 1)}

    def text(self) -> str:
        """The result for people: a table, and how to repeat each breach."""
        lines = [f"{name:<60} {value:>10,}" for name, value in self.figures.items()]
        lines.append(f"{'took, in seconds':<60} {self.seconds:>10,.1f}")
        for seed, words in self.breaches:
            lines += [f"BREACH  {words}", f"        python -m tests.lab.simulation --only {seed}"]
        return "\n".join(lines)


def run_one(databases: Databases, seed: int, kind: Kind | None = None, *, with_people: bool = True) -> Outcome:
    """Run one history, by default of its seed's kind. An exception in it counts as a breach."""
    kind = kind or kind_of(seed)
    databases.empty()
    history = History(databases, seed, SETTINGS[kind])
    history.judge.figures[f"histories of the kind {kind}"] += 1
    try:
        until = tell_of(history, kind) if with_people else tell(history, with_people=False)
        return history.run(until)
    except Exception:  # noqa: BLE001 - the others go on, and this one is told
        fault = Breach("crashed", history.agenda.now, "-", traceback.format_exc())
        return Outcome(seed, [*history.judge.breaches, fault], history.judge.figures, history.judge.waits)


def run_many(
    seeds: Sequence[int],
    processes: int | None = None,
    told: Told = lambda _outcome: None,
    longest_seconds: float = math.inf,
) -> Run:
    """Run each history in processes with a database each. `told` is called with each outcome at once.

    After `longest_seconds` the run ends with the finished histories.
    """
    began = time.monotonic()
    count = max(1, min(processes or os.cpu_count() or 1, len(seeds)))
    outcomes = []
    with databases(count) as urls:
        context = multiprocessing.get_context("spawn")
        free = context.SimpleQueue()
        for url in urls:
            free.put(url)
        with context.Pool(count, _begin, (free,)) as pool:
            for outcome in pool.imap_unordered(_run_here, seeds):
                told(outcome)
                outcomes.append(outcome)
                if time.monotonic() - began > longest_seconds:
                    break
            else:
                pool.close()
                pool.join()
    return Run(sorted(outcomes, key=lambda one: one.seed), time.monotonic() - began)


_of_this_process: list[Databases] = []


def _begin(free: "SimpleQueue[tuple[str, str]]") -> None:
    """Take one of the databases in a new process."""
    logging.disable(logging.CRITICAL)
    _of_this_process.append(Databases(*free.get()))


def _run_here(seed: int) -> Outcome:
    return run_one(_of_this_process[0], seed)


@contextmanager
def databases(count: int) -> Iterator[list[tuple[str, str]]]:
    """The addresses, as owner and as superuser, of `count` migrated databases on a temporary Postgres."""
    with migrated.running() as cluster:
        names = [f"history_{number}" for number in range(count)]
        with postgres.superuser(cluster) as connection:
            for name in names:
                connection.run(f"CREATE DATABASE {name} TEMPLATE {postgres.DATABASE} OWNER {postgres.OWNER}")
        yield [(cluster.url(name, postgres.OWNER, migrated.OWNERS_PASSWORD), cluster.url(name)) for name in names]
