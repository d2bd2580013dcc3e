"""The results of a campaign, with the machine and the commit: `campaign-results/<name>.json`, read by `figures`."""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from deploy.parts.layout import REPOSITORY
from tests import diary

RESULTS: Final = REPOSITORY / "campaign-results"
DOSES: Final = (1, 2, 4)
NOTE_SECONDS: Final = 10.0  # between two notes of progress


@dataclass
class Ledger:
    """One campaign: its sizes, its counts, and the conditions for passing.

    `conditions` must hold on every machine. `limits` are times: they judge a campaign, which runs on a machine that
    does nothing else, and not a share of it in `make test`. `experiments` say whether what a condition is about came
    about at all, such as messages that wait: where it did not, the conditions prove less, and nothing is broken.
    """

    name: str
    seed: int
    sizes: dict[str, int]
    counted: dict[str, float] = field(default_factory=dict)
    conditions: dict[str, bool] = field(default_factory=dict)
    limits: dict[str, bool] = field(default_factory=dict)
    experiments: dict[str, bool] = field(default_factory=dict)
    seconds: float = 0.0
    note: str = ""
    """Further facts about the run."""

    @property
    def broken(self) -> list[str]:
        """The broken conditions."""
        return [name for name, holds in self.conditions.items() if not holds]

    @property
    def too_slow(self) -> list[str]:
        """The broken limits."""
        return [name for name, holds in self.limits.items() if not holds]

    @property
    def missed(self) -> list[str]:
        """The experiments that did not come about."""
        return [name for name, came_about in self.experiments.items() if not came_about]

    def text(self) -> str:
        """The ledger for people."""
        passed = "passed, but an experiment did not come about" if self.missed else "passed"
        verdict = "FAILED" if self.broken else "too slow" if self.too_slow else passed
        lines = [f"{self.name}: {verdict} (seed {self.seed}, {self.seconds:.0f} s)"]
        lines += [f"  {name}: {value:g}" for name, value in {**self.sizes, **self.counted}.items()]
        judged = {**self.conditions, **self.limits}
        lines += [f"  {'ok  ' if holds else 'NOT '} {name}" for name, holds in judged.items()]
        lines += [f"  {'ok  ' if came else 'did not come about:'} {name}" for name, came in self.experiments.items()]
        return "\n".join([*lines, f"  {self.note}"] if self.note else lines)

    def save(self) -> Path:
        """Write the ledger, with the machine and the commit, over the last one of its name."""
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{self.name}.json"
        whole = {**asdict(self), "machine": this_machine(), "commit": commit(), "at": now()}
        path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
        return path


def until_it_comes_about(run: Callable[[int], Ledger]) -> Ledger:
    """Run a campaign, and again with twice and four times the dose while an experiment of it does not come about."""
    for dose in DOSES:
        ledger = run(dose)
        if ledger.broken or not ledger.missed:
            break
        tell(f"not with a dose of {dose}: {', '.join(ledger.missed)}")
    return ledger


def wait_while_it_moves(count: Callable[[], int], is_enough: Callable[[int], bool], stall_seconds: float) -> None:
    """Wait until it is enough, however long that takes, and note the progress.

    Raises:
        TimeoutError: `count` stayed the same for `stall_seconds`.
    """
    last, moved_at, noted_at = count(), time.monotonic(), time.monotonic()
    while not is_enough(last):
        time.sleep(0.02)
        found, now = count(), time.monotonic()
        if found != last:
            last, moved_at = found, now
            if now - noted_at > NOTE_SECONDS:
                diary.progress(f"{found:,}")
                noted_at = now
        elif now - moved_at > stall_seconds:
            raise TimeoutError(f"{found:,} for {stall_seconds:g} s")


def tell(progress: str) -> None:
    """Print the progress of a campaign."""
    diary.progress(progress)
    print(progress, file=sys.stderr, flush=True)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def commit() -> str:
    """The tested commit, with a plus if files differ from it."""
    done = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=REPOSITORY, check=False, capture_output=True, text=True
    )
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=no"],
        cwd=REPOSITORY,
        check=False,
        capture_output=True,
        text=True,
    )
    return (done.stdout.strip() or "unknown") + ("+" if changed.stdout.strip() else "")


def this_machine() -> str:
    """A description of processor, cores, memory, kernel and Python."""
    cpu = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = next((line.partition(":")[2].strip() for line in cpu.splitlines() if line.startswith("model name")), "?")
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    kernel = ".".join(platform.release().split(".")[:2])
    where = f"Linux {kernel}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores of {model}, {gib:.0f} GiB, {where}"
