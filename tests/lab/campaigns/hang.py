"""Postgres is stopped by SIGSTOP while displays talk: no line is lost, and the bridge survives."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.lab.campaigns.fleet import fleet
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.machine import Machine, machine
from tests.lab.campaigns.memory import Memory
from tests.lab.campaigns.verdict import come_to_rest, judge, until_committed, until_connected

MOST_MEGABYTES = 32.0  # a window of decoded messages, with Python's overhead
TOLD_SECONDS = 45.0  # the bridge reports a fault after this long without a commit


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    displays: int = 200
    seconds: float = 300.0
    lines: int = 500  # lines of each display, spread over the time
    seed: int = 1


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger("hang", plan.seed, {"displays": plan.displays, "stopped_seconds": int(plan.seconds)})
    began = time.monotonic()
    with machine(folder) as service:
        with fleet(service, plan.displays, plan.seed) as displays:
            until_connected(displays)
            bridge = service.bridge.process
            displays.log(plan.lines // 10)
            until_committed(displays)
            during = _stop_postgres(plan, service, ledger, displays.log, lambda: displays.uncommitted)
            say(f"Postgres goes on after {plan.seconds:.0f} s with {during} lines waiting")
            rest = come_to_rest(service, displays)
            ledger.conditions["the same bridge runs"] = service.bridge.process is bridge
        judge(ledger, service, displays)
    ledger.counted |= {"lines_waiting": during, "rest_seconds": round(rest, 1)}
    ledger.conditions["nothing was said to be committed meanwhile"] = during == plan.lines * 9 // 10 * plan.displays
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _stop_postgres(
    plan: Plan, service: Machine, ledger: Ledger, log: Callable[[int], None], uncommitted: Callable[[], int]
) -> int:
    """Stop Postgres for a time. Returns how many lines waited when it continued."""
    memory = Memory(lambda: {"bridge": service.bridge.pids})
    service.database.signal(signal.SIGSTOP)
    try:
        each, steps = plan.lines * 9 // 10, 10
        for step in range(steps):
            log(each * (step + 1) // steps - each * step // steps)
            time.sleep(plan.seconds / steps)
            service.bridge.look()
            memory.look()
        ledger.counted["bridge_grew_megabytes"] = round(memory.grew, 1)
        ledger.conditions[f"the bridge grows by less than {MOST_MEGABYTES:.0f} MB"] = memory.grew < MOST_MEGABYTES
        if plan.seconds > TOLD_SECONDS:
            ledger.conditions["/healthz says that no batch is committed"] = "no batch is committed" in service.faults()
        return uncommitted()
    finally:
        service.database.signal(signal.SIGCONT)
