"""`make test`: every suite in a pytest of its own, each within its budget of seconds.

A suite fails when a test fails, when it has no tests, when it takes longer than its budget (it is
ended then), and when it leaves a process behind. The last line is `N passed, N failed`.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from deploy.local import guardian
from deploy.local.layout import REPOSITORY

# In this order; about 15 minutes in all. `faults` and `simulation` are shares of `make campaign`.
BUDGET_SECONDS = {
    "rules": 25,
    "stores": 85,
    "api": 90,
    "bridge": 105,
    "worker": 170,
    "tick": 25,
    "faults": 60,
    "simulation": 45,
    "local": 230,
    "journeys": 105,
    "browser": 115,
}


@dataclass
class Outcome:
    """What became of one suite. `complaints` beside failed tests; each counts as one failure."""

    suite: str
    seconds: float
    tests: int = 0
    failed: int = 0
    skipped: int = 0
    complaints: tuple[str, ...] = ()

    @property
    def passed(self) -> int:
        return self.tests - self.failed - self.skipped


def run_suite(suite: str, budget: float) -> Outcome:
    """Run one suite to its end or to the end of its budget."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="signage-tests-") as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", f"tests/{suite}", "-q", f"--junit-xml={report}"]
        code, complaints = _within(command, budget)
        outcome = Outcome(suite, time.monotonic() - began)
        if report.exists():
            _count(outcome, report)
    complaints += _left_behind()
    if outcome.tests == 0:
        complaints += ("no test ran",)
    elif code != 0 and outcome.failed == 0 and not complaints:
        complaints += (f"pytest ended with exit code {code}",)
    outcome.complaints = complaints
    return outcome


def _within(command: Sequence[str], budget: float) -> tuple[int, tuple[str, ...]]:
    process = subprocess.Popen(command, cwd=REPOSITORY, process_group=0)
    try:
        return process.wait(budget), ()
    except subprocess.TimeoutExpired:
        guardian.send_group(process.pid, signal.SIGINT)  # pytest prints where it was
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            guardian.send_group(process.pid, signal.SIGKILL)
        return process.wait(), (f"took longer than its budget of {budget:.0f} s and was ended",)
    except KeyboardInterrupt:
        guardian.send_group(process.pid, signal.SIGINT)
        process.wait()
        raise


def _count(outcome: Outcome, report: Path) -> None:
    suites = ET.parse(report).getroot().iter("testsuite")
    for suite in suites:
        outcome.tests += int(suite.get("tests", 0))
        outcome.failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        outcome.skipped += int(suite.get("skipped", 0))


def _left_behind() -> tuple[str, ...]:
    """Processes that the suite started and did not end: named, then killed."""
    deadline = time.monotonic() + 3
    while guardian.reap() and time.monotonic() < deadline:
        time.sleep(0.05)
    left = tuple(f"left a process behind: {_command_line(pid)}" for pid in guardian.descendants(os.getpid()))
    guardian.end_everything_below(0)
    return left


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:150]
    except OSError:
        return str(pid)


def show(outcomes: Sequence[Outcome], budgets: dict[str, int]) -> None:
    """The table of suites."""
    print(f"\n{'suite':<10} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8} {'budget':>7}")
    for one in outcomes:
        numbers = f"{one.passed:>7} {one.failed + len(one.complaints):>7} {one.skipped:>8}"
        print(f"{one.suite:<10} {numbers} {one.seconds:>8.1f} {budgets[one.suite]:>7}")
        for complaint in one.complaints:
            print(f"{'':<10} {complaint}")
    print(f"{'':<10} {'':>7} {'':>7} {'':>8} {sum(one.seconds for one in outcomes):>8.1f}")


def main(arguments: Sequence[str]) -> int:
    """Run the named suites, or all of `make test`; exit code 1 when anything failed."""
    unknown = [name for name in arguments if name not in BUDGET_SECONDS]
    if unknown:
        print(f"No such suite: {', '.join(unknown)}. There are: {', '.join(BUDGET_SECONDS)}.", file=sys.stderr)
        return 2
    guardian.become_subreaper()
    outcomes = []
    for suite in arguments or BUDGET_SECONDS:
        print(f"\n=== {suite} (at most {BUDGET_SECONDS[suite]} s)", flush=True)
        outcomes.append(run_suite(suite, BUDGET_SECONDS[suite]))
    show(outcomes, BUDGET_SECONDS)
    failed = sum(one.failed + len(one.complaints) for one in outcomes)
    print(f"{sum(one.passed for one in outcomes)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
