"""A steady 500 messages a second for long: memory does not grow."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from deploy.local.probes import wait_until
from tests.faults.fleet import REPORT_SECONDS, Fleet, fleet
from tests.faults.ledger import Ledger, tell
from tests.faults.machine import Component, Machine, machine
from tests.faults.verdict import REST_SECONDS, come_to_rest, judge

SAMPLE_SECONDS = 5.0
SLOPE_LIMIT_MB_PER_HOUR = 5.0


@dataclass(frozen=True)
class Plan:
    """How much of it."""

    seconds: float = 3600.0
    per_second: int = 500
    displays: int = 100
    seed: int = 1

    @property
    def lines_per_second(self) -> float:
        """Of each display, beside its heartbeats and health."""
        return self.per_second / self.displays - 2 / REPORT_SECONDS


@dataclass
class Memory:
    """Resident megabytes of some components over time."""

    of: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def look(self, at: float, component: Component) -> None:
        pids = component.pids
        self.of.setdefault(component.name, []).append((at, sum(map(_megabytes, pids))))

    def slope(self, name: str) -> float:
        """Megabytes an hour, over the later three quarters: caches fill in the first one."""
        samples = self.of[name][len(self.of[name]) // 4 :]
        hours, megabytes = zip(*((at / 3600, size) for at, size in samples), strict=True)
        return statistics.linear_regression(hours, megabytes).slope


def _megabytes(pid: int) -> float:
    """What this process alone holds in memory: shared buffers of Postgres would count for each of its processes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    kilobytes = [int(line.split()[1]) for line in lines if line.startswith("RssAnon:")]
    return sum(kilobytes) / 1024


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """The campaign's ledger."""
    sizes = {"displays": plan.displays, "per_second": plan.per_second, "minutes": round(plan.seconds / 60)}
    ledger = Ledger("soak", plan.seed, sizes)
    began = time.monotonic()
    memory = Memory()
    with machine(folder) as service:
        with fleet(service, plan.displays, plan.seed) as displays:
            wait_until(lambda: displays.is_connected, REST_SECONDS)
            before = service.counted("received")
            _steadily(plan, service, displays, memory, say)
            rate = (service.counted("received") - before) / plan.seconds
            come_to_rest(service, displays)
        judge(ledger, service, displays)
    for name in ("bridge", "broker"):
        slope = memory.slope(name)
        ledger.counted |= {
            f"{name}_megabytes": round(memory.of[name][-1][1], 1),
            f"{name}_megabytes_per_hour": round(slope, 2),
        }
        ledger.conditions[f"memory of the {name} grows by less than 5 MB/h"] = slope < SLOPE_LIMIT_MB_PER_HOUR
    ledger.counted["received_per_second"] = round(rate)
    ledger.conditions["the rate was held"] = rate > 0.95 * plan.per_second
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _steadily(plan: Plan, service: Machine, displays: Fleet, memory: Memory, say: Callable[[str], None]) -> None:
    began, told, looked = time.monotonic(), 0, 0.0
    while (now := time.monotonic() - began) < plan.seconds:
        due = int(now * plan.lines_per_second)
        displays.log(due - told)
        told = due
        if now >= looked:
            looked = now + SAMPLE_SECONDS
            service.looked_after()
            for component in (service.bridge, service.broker):
                memory.look(now, component)
            if len(memory.of["bridge"]) % 60 == 0:
                say(f"{now:.0f} s: bridge {memory.of['bridge'][-1][1]:.1f} MB, {displays.uncommitted} uncommitted")
        time.sleep(0.1)
