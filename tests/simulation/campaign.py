"""`make campaign ONLY=simulation`: a thousand histories, and the ledger of what they came to."""

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Final

from deploy.local.layout import REPOSITORY
from tests.faults.ledger import Ledger
from tests.simulation.history import Outcome
from tests.simulation.runs import KINDS, run_many

FIRST_SEEDS: Final = 1_000_000  # history number i of seed s is that of s * FIRST_SEEDS + i

EACH: Final = 50  # histories between two words of progress


@dataclass(frozen=True)
class Plan:
    """How many histories, from which seed on."""

    histories: int = 1000
    seed: int = 1

    @property
    def seeds(self) -> list[int]:
        """One for each history."""
        return [self.seed * FIRST_SEEDS + number for number in range(self.histories)]


def run(plan: Plan, processes: int | None = None) -> Ledger:
    """Run them; every kind of breach is a condition of its own."""
    ledger = Ledger("simulation", plan.seed, {"histories": plan.histories})
    done = run_many(plan.seeds, processes, Progress(plan.histories))
    figures = done.figures
    ledger.counted = {name: figures[name] for name in figures if name != "histories"}
    ledger.conditions = {f"no history with: {kind}": figures[kind] == 0 for kind in KINDS}
    ledger.conditions["every rule broken on purpose is seen"] = _sees_mutations()
    ledger.conditions["recovery acted"] = figures.get("reboot_host carried out", 0) >= plan.histories / 2
    ledger.seconds = done.seconds
    return ledger


def _sees_mutations() -> bool:
    """Whether the judge sees each rule broken, and nothing while all stand."""
    command = [sys.executable, "-m", "pytest", "-q", "tests/simulation"]
    return (
        subprocess.run(command, check=False, cwd=REPOSITORY, env={**os.environ, "SIMULATION": "whole"}).returncode == 0
    )


class Progress:
    """Tells each breach at once, and how far the run is."""

    def __init__(self, histories: int) -> None:
        self._done, self._histories = 0, histories

    def __call__(self, outcome: Outcome) -> None:
        self._done += 1
        for breach in outcome.breaches:
            print(f"{breach}\n  python -m tests.simulation --only {outcome.seed}", file=sys.stderr, flush=True)
        if self._done % EACH == 0:
            print(f"{self._done} of {self._histories} histories", file=sys.stderr, flush=True)
