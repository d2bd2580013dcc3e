"""`make campaign ONLY=simulation`: a thousand histories, and a ledger of the results.

Each result is stored at once, so that an interrupted campaign continues where it was.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from deploy.parts.layout import REPOSITORY
from tests.lab.campaigns.fingerprint import fingerprint
from tests.lab.campaigns.ledger import Ledger
from tests.lab.simulation.history import Outcome
from tests.lab.simulation.oracle import Breach
from tests.lab.simulation.runs import KINDS, Run, run_many

FIRST_SEEDS: Final = 1_000_000  # history i of seed s has the seed s * FIRST_SEEDS + i

SHAPING: Final = ("shared", "extensions", "bridge", "functions/scheduler_tick", "migrations", "tests/lab/simulation")
"""The code that decides a history: when it changes, stored results are not used."""
EACH: Final = 50  # histories between two messages of progress


@dataclass(frozen=True)
class Plan:
    """How many histories, and the first seed."""

    histories: int = 1000
    seed: int = 1
    part: Path | None = None
    """The file of stored results, to continue from; None: no file."""

    @property
    def seeds(self) -> list[int]:
        """The seed of each history."""
        return [self.seed * FIRST_SEEDS + number for number in range(self.histories)]


def run(plan: Plan, processes: int | None = None) -> Ledger:
    """Run the histories; every kind of breach is a condition of the ledger."""
    ledger = Ledger("simulation", plan.seed, {"histories": plan.histories})
    kept = Kept.of(plan)
    over = {outcome.seed for outcome in kept.outcomes}
    progress = Progress(plan.histories, len(over), kept.add)
    done = run_many([seed for seed in plan.seeds if seed not in over], processes, progress)
    done = Run([*kept.outcomes, *done.outcomes], kept.seconds + done.seconds)
    figures = done.figures
    ledger.counted = {name: figures[name] for name in figures if name != "histories"}
    ledger.conditions = {f"no history with: {kind}": figures[kind] == 0 for kind in KINDS}
    ledger.conditions["every rule broken on purpose is seen"] = _sees_mutations()
    ledger.conditions["recovery acted"] = figures.get("reboot_host carried out", 0) >= plan.histories / 2
    ledger.seconds = done.seconds
    if plan.part is not None:
        plan.part.unlink(missing_ok=True)
    return ledger


def _sees_mutations() -> bool:
    """Whether the judge finds each broken rule, and no breach while all rules are intact; and more dark shops."""
    command = [sys.executable, "-m", "pytest", "-q", "tests/simulation", "tests/tick/test_dark_shops.py"]
    return (
        subprocess.run(command, check=False, cwd=REPOSITORY, env={**os.environ, "SIMULATION": "whole"}).returncode == 0
    )


@dataclass
class Kept:
    """The finished histories of the same campaign: a line each, after a line with the fingerprint of the code."""

    file: Path | None
    outcomes: list[Outcome] = field(default_factory=list)

    @classmethod
    def of(cls, plan: Plan) -> "Kept":
        """Read the results of the same code; without any, begin a new file."""
        if plan.part is None:
            return cls(None)
        made_by = fingerprint(f"{plan.histories} {plan.seed}", SHAPING)
        lines = plan.part.read_text(encoding="utf-8").splitlines() if plan.part.exists() else []
        whole = [line for line in lines[1:] if line.endswith("}")] if lines[:1] == [made_by] else []
        plan.part.parent.mkdir(exist_ok=True)
        draft = plan.part.with_suffix(".draft")
        draft.write_text("".join(line + "\n" for line in (made_by, *whole)), encoding="utf-8")
        draft.replace(plan.part)
        return cls(plan.part, [_outcome(line) for line in whole])

    def add(self, outcome: Outcome) -> None:
        """Store one more result."""
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({**vars(outcome), "breaches": [vars(one) for one in outcome.breaches]}) + "\n")

    @property
    def seconds(self) -> float:
        """About how long the histories took, two at a time."""
        return sum(outcome.seconds for outcome in self.outcomes) / (os.cpu_count() or 1)


def _outcome(line: str) -> Outcome:
    told = json.loads(line)
    breaches = [Breach(**breach) for breach in told["breaches"]]
    return Outcome(told["seed"], breaches, Counter(told["figures"]), told["waits"], told["seconds"])


class Progress:
    """Prints each breach at once, and the progress of the run."""

    def __init__(self, histories: int, done: int = 0, keep: Callable[[Outcome], None] = lambda _outcome: None) -> None:
        self._done, self._histories, self._keep = done, histories, keep

    def __call__(self, outcome: Outcome) -> None:
        self._done += 1
        self._keep(outcome)
        for breach in outcome.breaches:
            print(f"{breach}\n  python -m tests.lab.simulation --only {outcome.seed}", file=sys.stderr, flush=True)
        if self._done % EACH == 0:
            print(f"{self._done} of {self._histories} histories", file=sys.stderr, flush=True)
