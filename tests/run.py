"""`make test`: every suite in its own pytest, two suites at a time.

A suite fails when a test fails, when it has no tests, and when it leaves a process behind. Its time is no verdict: the
runner prints seconds and processor seconds beside the usual ones. It ends only a suite in which no test begins or ends
for five minutes, and prints where the suite was. The last line is `N passed, N failed`; the lines above it repeat each
failure.

Two suites at a time are faster than one, because some suites mostly wait; more than two disturb each other. When this
process ends in any way, all processes that it started end, too.
"""

import argparse
import compileall
import json
import os
import signal
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from deploy.parts import guardian
from deploy.parts.layout import REPOSITORY
from tests import volatile
from tests.suite import MUTE_SECONDS, Outcome, end_on_signals, run_alone

USUAL_PROCESSOR_SECONDS = {
    "browser": 320,
    "faults": 62,
    "deploy": 34,
    "simulation": 35,
    "tick": 58,
    "displays": 216,
    "worker": 113,
    "local": 130,
    "bridge": 130,
    "api": 125,
    "stores": 149,
    "journeys": 70,
    "rules": 21,
}
"""The usual processor seconds of each suite on a machine of two cores, in the order of the starts. When a suite ends,
the next one starts. So `browser` and `worker`, which each use more than one core, do not run together. Only printed."""
BESIDE_EACH_OTHER = 2
STOP_SECONDS = 0.7
PRODUCT = ("bridge", "deploy", "functions", "migrations", "shared")


def suites_in(folder: Path) -> dict[str, Path]:
    """Each folder that has tests, in the order of `USUAL_PROCESSOR_SECONDS`; then those without a usual time."""
    found = {place.parent.name: place.parent for place in sorted(folder.glob("*/test_*.py"))}
    usual = [name for name in USUAL_PROCESSOR_SECONDS if name in found]
    return {name: found[name] for name in [*usual, *(found.keys() - usual)]}


def run_all(suites: Mapping[str, Path], mute_seconds: float) -> list[Outcome]:
    """Run the suites, two at a time, and print when each begins and ends.

    After an error or a signal all processes below this one are ended.
    """
    waiting, running, outcomes = list(suites), dict[int, str](), list[Outcome]()
    with (
        tempfile.TemporaryDirectory(prefix="signage-suites-") as folder,
        tempfile.TemporaryDirectory(prefix="signage-pg-", dir=volatile.folder()) as kept,
    ):
        results = Path(folder)
        Path(kept).chmod(0o711)  # Postgres may run as another user
        os.environ[volatile.KEPT] = kept
        try:
            while waiting or running:
                while waiting and len(running) < BESIDE_EACH_OTHER:
                    suite = waiting.pop(0)
                    say(f"{suite} begins{usually(suite)}")
                    running[_start(suite, suites[suite], mute_seconds, results)] = suite
                pid, _status = os.waitpid(-1, 0)
                if pid in running:
                    outcomes.append(_outcome(running.pop(pid), results))
                    _end_orphans(running.keys())
        finally:
            for pid in running:
                guardian.send(pid, signal.SIGTERM)
            guardian.end_everything_below(STOP_SECONDS)
    return outcomes


def _start(suite: str, folder: Path, mute_seconds: float, results: Path) -> int:
    """Start a process for the suite and return its id. It has its own session, so Ctrl-C reaches only this process."""
    command = [sys.executable, "-m", "tests.run", "--alone", suite, str(folder), str(mute_seconds), str(results)]
    return os.posix_spawn(sys.executable, [*command, str(os.getpid())], os.environ, setsid=True)


def _outcome(suite: str, results: Path) -> Outcome:
    """The outcome from the suite's process; without one it failed. Prints pytest's output after failures."""
    written, output = results / f"{suite}.json", results / f"{suite}.txt"
    if written.exists():
        outcome = Outcome(**json.loads(written.read_text(encoding="utf-8")))
    else:
        outcome = Outcome(suite, complaints=["its runner died"])
    if outcome.failed and output.exists():
        print(f"\n=== {suite}\n{output.read_text(encoding='utf-8', errors='replace')}")
    say(
        f"{suite} ends: {outcome.passed} passed, {outcome.failed} failed, {outcome.seconds:.0f} s, "
        f"{outcome.processor_seconds:.0f} processor seconds{usually(suite)}"
    )
    return outcome


def _end_orphans(running: Iterable[int]) -> None:
    """End processes that this process has adopted because a suite's process was killed."""
    while orphans := {pid for pid, parent in guardian.parents().items() if parent == os.getpid()} - set(running):
        for pid in orphans:
            for each in (pid, *guardian.descendants(pid)):
                guardian.send(each, signal.SIGKILL)
            os.waitpid(pid, 0)


def say(line: str) -> None:
    """Print a line with the time of day."""
    print(f"{datetime.now().astimezone():%H:%M:%S} {line}", flush=True)


def usually(suite: str) -> str:
    usual = USUAL_PROCESSOR_SECONDS.get(suite)
    return "" if usual is None else f" (usually {usual})"


def show(outcomes: Sequence[Outcome], seconds: float) -> None:
    """Print the table of suites, each failure again, then `N passed, N failed`."""
    print(f"\n{'suite':<12} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8} {'processor':>10} {'usually':>8}")
    for one in outcomes:
        numbers = f"{one.passed:>7} {one.failed:>7} {len(one.skipped):>8} {one.seconds:>8.0f}"
        usual = USUAL_PROCESSOR_SECONDS.get(one.suite, "")
        print(f"{one.suite:<12} {numbers} {one.processor_seconds:>10.0f} {usual:>8}")
    processor_seconds = sum(one.processor_seconds for one in outcomes)
    print(f"{'':<12} {'':>7} {'':>7} {'':>8} {seconds:>8.0f} {processor_seconds:>10.0f}")
    for one in outcomes:
        for test, reason in one.skipped.items():
            print(f"\nskipped in {one.suite}: {test}\n{textwrap.indent(reason, '    ')}")
    for one in outcomes:
        for complaint in one.complaints:
            print(f"\nFAILED {one.suite}: {complaint}")
        for test, message in one.failures.items():
            print(f"\nFAILED in {one.suite}: {test}\n{textwrap.indent(message, '    ')}")
    print(f"\n{sum(one.passed for one in outcomes)} passed, {sum(one.failed for one in outcomes)} failed")


def _compile() -> None:
    """Compile the product's modules once. Otherwise compiling takes a quarter of each process's start in tests."""
    for package in PRODUCT:
        compileall.compile_dir(REPOSITORY / package, quiet=1)


def _arguments(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.run", description="Run every suite, or some.")
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    parser.add_argument("--folder", type=Path, default=REPOSITORY / "tests", help="where the suites are")
    parser.add_argument("--mute-seconds", type=float, default=MUTE_SECONDS, help="until a mute suite is ended")
    parser.add_argument("--with-parent", action="store_true", help="stop when the caller (make) ends")
    return parser.parse_args(given)


def main(given: Sequence[str]) -> int:
    """Run the given suites, or all of `make test`. Returns exit code 1 after a failure."""
    if given[:1] == ["--alone"]:
        suite, folder, mute_seconds, results, runner = given[1:]
        return run_alone(suite, Path(folder), float(mute_seconds), Path(results), int(runner))
    arguments = _arguments(given)
    suites = suites_in(arguments.folder)
    if unknown := set(arguments.suites) - set(suites):
        print(f"No such suite: {', '.join(sorted(unknown))}. There are: {', '.join(suites)}.", file=sys.stderr)
        return 2
    end_on_signals()
    guardian.become_subreaper()
    if arguments.with_parent:
        guardian.die_with_parent(signal.SIGTERM, os.getppid())
    began = time.monotonic()
    _compile()
    chosen = {name: place for name, place in suites.items() if name in (arguments.suites or suites)}
    outcomes = run_all(chosen, arguments.mute_seconds)
    show(outcomes, time.monotonic() - began)
    return 1 if any(one.failed for one in outcomes) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
