"""A steady 500 messages a second for an hour, with people at the dashboard and conversions: memory does not grow."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.lab.campaigns.fleet import REPORT_SECONDS, Fleet
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.memory import megabytes
from tests.lab.campaigns.verdict import come_to_rest, judge
from tests.lab.campaigns.visitors import Visitors, visiting
from tests.lab.campaigns.whole import Whole, enrolled_fleet
from tests.stack import Stack, running_stack

SAMPLE_SECONDS: Final = 5.0  # of a short campaign an eighth
SLOPE_LIMIT_MB_PER_HOUR: Final = 5.0
UNDER_WAY_SECONDS: Final = 1.0  # messages of the last second may still be in transit
OFFICE: Final = "soffice.bin"
"""LibreOffice, which the converter restarts: its memory depends on the document."""


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    seconds: float = 3600.0
    per_second: int = 500
    displays: int = 100
    report_seconds: float = REPORT_SECONDS  # between two heartbeats, and two health reports, of a display
    seed: int = 1

    @property
    def lines_per_second(self) -> float:
        """Log lines of each display, besides heartbeats and health."""
        return self.per_second / self.displays - 2 / self.report_seconds


@dataclass
class Memory:
    """The private memory of each service over time, in megabytes."""

    of: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def look(self, at: float, whole: Whole) -> None:
        for name, pids in whole.pids().items():
            sizes = (megabytes(pid) for pid in pids if not _is_office(pid))
            self.of.setdefault(name, []).append((at, sum(size for size in sizes if size is not None)))

    def slope(self, name: str) -> float:
        """Growth in megabytes an hour, over the last three quarters: caches fill in the first quarter."""
        samples = self.of[name][len(self.of[name]) // 4 :]
        hours, sizes = zip(*((at / 3600, size) for at, size in samples), strict=True)
        return statistics.linear_regression(hours, sizes).slope


def _is_office(pid: int) -> bool:
    try:
        return OFFICE.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign on its own stack. Returns its ledger."""
    folder.chmod(0o755)  # Postgres is another user
    with running_stack(folder / "stack", DEMO="") as stack:
        return on(stack, plan, folder, say)


def on(stack: Stack, plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign on this stack. Returns its ledger."""
    sizes = {"displays": plan.displays, "per_second": plan.per_second, "minutes": round(plan.seconds / 60)}
    ledger = Ledger("soak", plan.seed, sizes)
    began, whole, memory = time.monotonic(), Whole(stack), Memory()
    with enrolled_fleet(whole, plan.displays, plan.seed, plan.report_seconds) as displays:
        uuids = [one.uuid for one in displays.displays]
        with visiting(stack, uuids, folder) as visitors:
            before = whole.received()
            _steadily(plan, whole, displays, memory, say)
            received = whole.received() - before
        come_to_rest(whole, displays)
    judge(ledger, whole, displays)
    _judge_visits(ledger, visitors, say)
    _judge_memory(ledger, memory)
    ledger.counted["received_per_second"] = round(received / plan.seconds)
    under_way = plan.per_second * UNDER_WAY_SECONDS
    ledger.limits["the rate was held"] = received + under_way > 0.95 * plan.per_second * plan.seconds
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _judge_visits(ledger: Ledger, visitors: Visitors, say: Callable[[str], None]) -> None:
    for refused in sorted(visitors.refused):
        say(refused)
    ledger.counted |= dict(visitors.counted)
    ledger.conditions["every request and every conversion was answered"] = not visitors.refused
    ledger.experiments["people came and presentations were converted"] = {"requests", "conversions"} <= set(
        visitors.counted
    )


def _judge_memory(ledger: Ledger, memory: Memory) -> None:
    slopes = {name: memory.slope(name) for name in memory.of}
    for name, slope in slopes.items():
        ledger.counted |= {
            f"{name}_megabytes": round(memory.of[name][-1][1], 1),
            f"{name}_megabytes_per_hour": round(slope, 2),
        }
        ledger.conditions[f"memory of {name} grows by less than 5 MB/h"] = slope < SLOPE_LIMIT_MB_PER_HOUR


def _steadily(plan: Plan, whole: Whole, displays: Fleet, memory: Memory, say: Callable[[str], None]) -> None:
    began, told, looked = time.monotonic(), 0, 0.0
    while (now := time.monotonic() - began) < plan.seconds:
        due = int(now * plan.lines_per_second)
        displays.log(due - told)
        told = due
        if now >= looked:
            looked = now + min(SAMPLE_SECONDS, plan.seconds / 8)
            memory.look(now, whole)
            if len(memory.of["bridge"]) % 60 == 0:
                sizes = ", ".join(f"{name} {samples[-1][1]:.1f}" for name, samples in memory.of.items())
                say(f"{now:.0f} s: {sizes} MB; {displays.uncommitted} uncommitted")
        time.sleep(0.1)
    memory.look(time.monotonic() - began, whole)  # a slope needs two looks, however slow the machine is
