"""`make test`: every suite in a pytest of its own, each within its budget of seconds, two suites at a time.

A suite fails when a test fails, when it has no tests, when it takes longer than its budget (it is
ended then), and when it leaves a process behind. The last line is `N passed, N failed`.

Two lanes run beside each other, each a process of its own that adopts whatever its suites leave behind: one mostly
for the parts by themselves, one mostly for the whole stack, which waits a lot. Each lane's budgets add up to 15
minutes at most.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree as ET

from deploy.local import guardian
from deploy.local.layout import REPOSITORY

# In this order. `faults` and `simulation` are shares of `make campaign`.
LANES = (
    {
        "rules": 30,
        "deploy": 25,
        "stores": 160,
        "bridge": 165,
        "worker": 285,
        "tick": 50,
        "faults": 145,
        "simulation": 40,
    },
    {"api": 105, "local": 250, "journeys": 115, "browser": 430},
)
BUDGET_SECONDS = {suite: seconds for lane in LANES for suite, seconds in lane.items()}


@dataclass
class Outcome:
    """What became of one suite. `complaints` beside failed tests; each counts as one failure."""

    suite: str
    seconds: float
    tests: int = 0
    failed: int = 0
    skipped: int = 0
    complaints: Sequence[str] = ()

    @property
    def passed(self) -> int:
        return self.tests - self.failed - self.skipped


def run_suite(suite: str, budget: float) -> Outcome:
    """Run one suite to its end or to the end of its budget, and print what it said in one piece."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="signage-tests-") as folder:
        report, output = Path(folder) / "report.xml", Path(folder) / "output.txt"
        command = [sys.executable, "-m", "pytest", f"tests/{suite}", "-q", f"--junit-xml={report}"]
        with output.open("wb") as written:
            code, complaints = _within(command, budget, written)
        outcome = Outcome(suite, time.monotonic() - began)
        if report.exists():
            _count(outcome, report)
        said = output.read_text(encoding="utf-8", errors="replace")
    complaints += _left_behind()
    if outcome.tests == 0:
        complaints += ("no test ran",)
    elif code != 0 and outcome.failed == 0 and not complaints:
        complaints += (f"pytest ended with exit code {code}",)
    outcome.complaints = complaints
    print(f"\n=== {suite} ({outcome.seconds:.0f} of {budget:.0f} s)\n{said}", end="", flush=True)
    return outcome


def _within(command: Sequence[str], budget: float, output: BinaryIO) -> tuple[int, tuple[str, ...]]:
    process = subprocess.Popen(command, cwd=REPOSITORY, process_group=0, stdout=output, stderr=output)
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


def show(outcomes: Sequence[Outcome]) -> None:
    """The table of suites."""
    print(f"\n{'suite':<10} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8} {'budget':>7}")
    for one in outcomes:
        numbers = f"{one.passed:>7} {one.failed + len(one.complaints):>7} {one.skipped:>8}"
        print(f"{one.suite:<10} {numbers} {one.seconds:>8.1f} {BUDGET_SECONDS[one.suite]:>7}")
        for complaint in one.complaints:
            print(f"{'':<10} {complaint}")


def run_lane(suites: Sequence[str], result: Path) -> int:
    """Run these suites one after another; what became of them goes to `result` as JSON."""
    guardian.become_subreaper()
    outcomes = [run_suite(suite, BUDGET_SECONDS[suite]) for suite in suites]
    result.write_text(json.dumps([asdict(one) for one in outcomes]), encoding="utf-8")
    return 0


def run_lanes(lanes: Sequence[Sequence[str]]) -> list[Outcome]:
    """Run the lanes beside each other; a lane that died counts as a failure of each of its suites."""
    with tempfile.TemporaryDirectory(prefix="signage-lanes-") as folder:
        results = [Path(folder) / f"lane{number}.json" for number in range(len(lanes))]
        running = [
            subprocess.Popen([sys.executable, "-m", "tests.run", "--lane", result, *suites], cwd=REPOSITORY)
            for result, suites in zip(results, lanes, strict=True)
        ]
        for lane in running:
            lane.wait()
        return [one for suites, result in zip(lanes, results, strict=True) for one in _outcomes(suites, result)]


def _outcomes(suites: Sequence[str], result: Path) -> list[Outcome]:
    if not result.exists():
        return [Outcome(suite, 0.0, complaints=("its lane died",)) for suite in suites]
    return [Outcome(**one) for one in json.loads(result.read_text(encoding="utf-8"))]


def main(arguments: Sequence[str]) -> int:
    """Run the named suites, or all of `make test`; exit code 1 when anything failed."""
    if arguments[:1] == ["--lane"]:
        return run_lane(arguments[2:], Path(arguments[1]))
    unknown = [name for name in arguments if name not in BUDGET_SECONDS]
    if unknown:
        print(f"No such suite: {', '.join(unknown)}. There are: {', '.join(BUDGET_SECONDS)}.", file=sys.stderr)
        return 2
    began = time.monotonic()
    wanted = arguments or list(BUDGET_SECONDS)
    outcomes = run_lanes([suites for lane in LANES if (suites := [name for name in lane if name in wanted])])
    show(outcomes)
    print(f"{'':<10} {'':>7} {'':>7} {'':>8} {time.monotonic() - began:>8.1f}")
    failed = sum(one.failed + len(one.complaints) for one in outcomes)
    print(f"{sum(one.passed for one in outcomes)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
