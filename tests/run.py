"""`make test`: every suite in a pytest of its own, each within its budget of seconds, two suites at a time.

A suite fails when a test fails, when it has no tests, when it takes longer than its budget (it is
ended then), and when it leaves a process behind. The last line is `N passed, N failed`.

Each suite runs below a process of its own that adopts whatever it leaves behind. One waits a lot where another
reckons a lot, so two at a time take less than one after another; more of them only disturb each other. All together
end within 15 minutes.
"""

import compileall
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree as ET

from deploy.local import guardian
from deploy.local.layout import REPOSITORY

BUDGET_SECONDS = {
    "browser": 340,
    "faults": 155,
    "deploy": 25,
    "simulation": 65,
    "tick": 50,
    "worker": 285,
    "local": 275,
    "bridge": 165,
    "api": 135,
    "stores": 170,
    "journeys": 140,
    "rules": 30,
}
"""Each suite in the order in which they are begun: two run beside each other, and whichever is through takes the next.
So `browser` and `worker`, which keep more than one core busy each, run one after the other, and `stores`, which keeps
one busy, beside `journeys`, which mostly waits. `faults` and `simulation` are shares of `make campaign`."""
BESIDE_EACH_OTHER = 2
IN_ALL_SECONDS = 900
PRODUCT = ("bridge", "deploy", "functions", "migrations", "shared")


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


def run_alone(suite: str, budget: float, result: Path) -> int:
    """Run one suite below this process, which then knows what it left behind; its outcome goes to `result` as JSON."""
    guardian.become_subreaper()
    result.write_text(json.dumps(asdict(run_suite(suite, budget))), encoding="utf-8")
    return 0


def run_all(suites: Sequence[str], in_all: float) -> list[Outcome]:
    """Run the suites, some beside each other; none goes on beyond what is left of `in_all` seconds."""
    deadline = time.monotonic() + in_all
    pool = ThreadPoolExecutor(BESIDE_EACH_OTHER)
    try:
        with tempfile.TemporaryDirectory(prefix="signage-suites-") as folder:
            results = Path(folder)
            return list(pool.map(lambda suite: _below_its_own(suite, deadline, results / suite), suites))
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C, which the suites have heard themselves, none is begun


def _below_its_own(suite: str, deadline: float, result: Path) -> Outcome:
    """A suite in a process of its own; one that died counts as a failure."""
    budget = min(BUDGET_SECONDS[suite], deadline - time.monotonic())
    if budget <= 0:
        return Outcome(suite, 0.0, complaints=("no time was left for it",))
    subprocess.run(
        [sys.executable, "-m", "tests.run", "--alone", suite, str(budget), result], cwd=REPOSITORY, check=False
    )
    if not result.exists():
        return Outcome(suite, 0.0, complaints=("its runner died",))
    return Outcome(**json.loads(result.read_text(encoding="utf-8")))


def _compile() -> None:
    """The product's modules, once: where no bytecode is written each process of a test would spend on it a quarter of
    its start.
    """
    for package in PRODUCT:
        compileall.compile_dir(REPOSITORY / package, quiet=1)


def main(arguments: Sequence[str]) -> int:
    """Run the named suites, or all of `make test`; exit code 1 when anything failed."""
    if arguments[:1] == ["--alone"]:
        suite, budget, result = arguments[1:]
        return run_alone(suite, float(budget), Path(result))
    unknown = [name for name in arguments if name not in BUDGET_SECONDS]
    if unknown:
        print(f"No such suite: {', '.join(unknown)}. There are: {', '.join(BUDGET_SECONDS)}.", file=sys.stderr)
        return 2
    began = time.monotonic()
    _compile()
    outcomes = run_all([suite for suite in BUDGET_SECONDS if suite in (arguments or BUDGET_SECONDS)], IN_ALL_SECONDS)
    show(outcomes)
    print(f"{'':<10} {'':>7} {'':>7} {'':>8} {time.monotonic() - began:>8.1f}")
    failed = sum(one.failed + len(one.complaints) for one in outcomes)
    print(f"{sum(one.passed for one in outcomes)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
