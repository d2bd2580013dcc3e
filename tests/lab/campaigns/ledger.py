"""The results of a campaign, with the machine and the commit: `campaign-results/<name>.json`, read by `figures`."""

import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from deploy.parts.layout import REPOSITORY
from tests import diary

RESULTS: Final = REPOSITORY / "campaign-results"


@dataclass
class Ledger:
    """One campaign: its sizes, its counts, and the conditions for passing.

    `conditions` must hold on every machine. `limits` are times: they judge a campaign, which runs on a machine that
    does nothing else, and not a share of it in `make test`.
    """

    name: str
    seed: int
    sizes: dict[str, int]
    counted: dict[str, float] = field(default_factory=dict)
    conditions: dict[str, bool] = field(default_factory=dict)
    limits: dict[str, bool] = field(default_factory=dict)
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

    def text(self) -> str:
        """The ledger for people."""
        verdict = "FAILED" if self.broken else "too slow" if self.too_slow else "passed"
        lines = [f"{self.name}: {verdict} (seed {self.seed}, {self.seconds:.0f} s)"]
        lines += [f"  {name}: {value:g}" for name, value in {**self.sizes, **self.counted}.items()]
        judged = {**self.conditions, **self.limits}
        lines += [f"  {'ok  ' if holds else 'NOT '} {name}" for name, holds in judged.items()]
        return "\n".join([*lines, f"  {self.note}"] if self.note else lines)

    def save(self) -> Path:
        """Write the ledger, with the machine and the commit, over the last one of its name."""
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{self.name}.json"
        whole = {**asdict(self), "machine": this_machine(), "commit": commit(), "at": now()}
        path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
        return path


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
