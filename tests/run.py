"""`make test`: every suite in its own pytest, several at a time, but for two that have a command of their own.

A suite fails when a test fails, when it has no tests, and when it leaves a process behind. Its time is no verdict: the
runner prints seconds and processor seconds beside the usual ones. It ends only a suite in which no test begins or ends
for five minutes, and prints where the suite was. The last line is `N passed, N failed`; the lines above it repeat each
failure.

Some suites mostly wait, others keep a core busy. So the next suite begins whenever the running ones usually leave half
a core. When this process ends in any way, all processes that it started end, too.
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
from typing import Final, NamedTuple

from deploy.parts import guardian
from deploy.parts.layout import REPOSITORY
from tests import volatile
from tests.suite import MUTE_SECONDS, Outcome, end_on_signals, files_of, run_alone


class Usual(NamedTuple):
    """What a suite usually takes on a machine of two cores."""

    processor_seconds: int
    cores: float
    """Its share while it runs: 0.3 for a suite that mostly waits, above 1 for one with busy servers."""


USUAL: Final = {
    "browser": Usual(390, 0.5),
    "bridge": Usual(60, 0.15),
    "journeys": Usual(90, 0.3),
    "neighbours": Usual(25, 0.3),
    "generators": Usual(120, 0.6),
    "local": Usual(95, 0.25),
    "displays": Usual(50, 0.2),
    "machines": Usual(350, 0.3),
    "faults": Usual(38, 0.2),
    "worker": Usual(65, 0.3),
    "stores": Usual(130, 0.55),
    "api": Usual(125, 0.55),
    "tick": Usual(56, 0.45),
    "simulation": Usual(35, 0.5),
    "deploy": Usual(30, 0.55),
    "rules": Usual(30, 0.65),
}
UNKNOWN: Final = Usual(0, 1.0)
IN_TWO: Final = ("browser", "stores", "api")
"""Each half of these suites runs as a suite of its own: no suite alone decides when a run ends."""
LEFT_OUT: Final = {
    "machines": "it needs root. Run it with: sudo make machines",
    "generators": "it gets generators of clients from their registries. Run it with: make generators",
    "neighbours": "it is of programs beside a fleet. Run it with: make neighbours",
}
"""Suite -> why `make test` does not run it."""
HALF_A_CORE: Final = 0.5
STOP_SECONDS = 0.7
PRODUCT = ("bridge", "deploy", "displays", "extensions", "functions", "migrations", "shared")


def suites_in(folder: Path) -> dict[str, list[Path]]:
    """Each folder that has tests, or the files of each half of it; those that usually last longest come first."""
    suites: dict[str, list[Path]] = {}
    for place in sorted({test.parent for test in folder.glob("*/test_*.py")}, key=_usual_length, reverse=True):
        if place.name in IN_TWO:
            suites |= {f"{place.name}/{number}": half for number, half in enumerate(_halves(place), 1) if half}
        else:
            suites[place.name] = [place]
    return suites


def _usual_length(folder: Path) -> float:
    usual = usually(folder.name)
    return usual.processor_seconds / usual.cores


def _halves(folder: Path) -> tuple[list[Path], list[Path]]:
    """The test files in two lists of about the same size."""
    halves: tuple[list[Path], list[Path]] = ([], [])
    weights = [0, 0]
    for path in sorted(folder.glob("test_*.py"), key=lambda path: (-path.stat().st_size, path)):
        lighter = weights.index(min(weights))
        halves[lighter].append(path)
        weights[lighter] += path.stat().st_size
    return halves


def usually(suite: str) -> Usual:
    """What this suite, or this half of one, usually takes."""
    name, is_half, _ = suite.partition("/")
    usual = USUAL.get(name, UNKNOWN)
    return usual._replace(processor_seconds=usual.processor_seconds // 2) if is_half else usual


def chosen(suites: Mapping[str, list[Path]], names: Sequence[str]) -> dict[str, list[Path]]:
    """The suites of these names, both halves of each; without a name all but LEFT_OUT."""
    return {
        suite: places
        for suite, places in suites.items()
        if (suite.partition("/")[0] in names if names else suite not in LEFT_OUT)
    }


def may_begin(running: Iterable[str], cores: int) -> bool:
    """Whether the running suites usually leave half a core."""
    return sum(usually(suite).cores for suite in running) <= cores - HALF_A_CORE


def run_all(suites: Mapping[str, list[Path]], mute_seconds: float) -> list[Outcome]:
    """Run the suites, and print when each begins and ends.

    After an error or a signal all processes below this one are ended.
    """
    waiting, running, outcomes = list(suites), dict[int, str](), list[Outcome]()
    cores = len(os.sched_getaffinity(0))
    with (
        tempfile.TemporaryDirectory(prefix="signage-suites-") as folder,
        tempfile.TemporaryDirectory(prefix="signage-pg-", dir=volatile.folder()) as kept,
    ):
        results = Path(folder)
        Path(kept).chmod(0o711)  # Postgres may run as another user
        os.environ[volatile.KEPT] = kept
        try:
            while waiting or running:
                while waiting and may_begin(running.values(), cores):
                    suite = waiting.pop(0)
                    say(f"{suite} begins")
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


def _start(suite: str, places: Sequence[Path], mute_seconds: float, results: Path) -> int:
    """Start a process for the suite and return its id. It has its own session, so Ctrl-C reaches only this process."""
    command = [sys.executable, "-m", "tests.run", "--alone", suite, str(mute_seconds), str(results), str(os.getpid())]
    return os.posix_spawn(sys.executable, [*command, *map(str, places)], os.environ, setsid=True)


def _outcome(suite: str, results: Path) -> Outcome:
    """The outcome from the suite's process; without one it failed. Prints pytest's output after failures."""
    written, output = (files_of(suite, results).with_suffix(end) for end in (".json", ".txt"))
    if written.exists():
        outcome = Outcome(**json.loads(written.read_text(encoding="utf-8")))
    else:
        outcome = Outcome(suite, complaints=["its runner died"])
    if outcome.failed and output.exists():
        print(f"\n=== {suite}\n{output.read_text(encoding='utf-8', errors='replace')}")
    say(
        f"{suite} ends: {outcome.passed} passed, {outcome.failed} failed, {outcome.seconds:.0f} s, "
        f"{outcome.processor_seconds:.0f} processor seconds (usually {usually(suite).processor_seconds})"
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


def show(outcomes: Sequence[Outcome], seconds: float) -> None:
    """Print the table of suites, how busy the cores were, and each failure again."""
    print(
        f"\n{'suite':<12} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8} {'processor':>10} {'usually':>8} "
        f"{'cores':>6}"
    )
    for one in outcomes:
        numbers = f"{one.passed:>7} {one.failed:>7} {len(one.skipped):>8} {one.seconds:>8.0f}"
        times = f"{one.processor_seconds:>10.0f} {usually(one.suite).processor_seconds:>8}"
        print(f"{one.suite:<12} {numbers} {times} {one.processor_seconds / max(one.seconds, 1):>6.2f}")
    used, cores = sum(one.processor_seconds for one in outcomes), len(os.sched_getaffinity(0))
    busy = used / max(seconds, 1)
    print(f"\n{seconds:.0f} s, {used:.0f} processor seconds: {busy:.2f} of {cores} cores were busy")
    for one in outcomes:
        for test, reason in one.skipped.items():
            print(f"\nskipped in {one.suite}: {test}\n{textwrap.indent(reason, '    ')}")
    for one in outcomes:
        for complaint in one.complaints:
            print(f"\nFAILED {one.suite}: {complaint}")
        for test, message in one.failures.items():
            print(f"\nFAILED in {one.suite}: {test}\n{textwrap.indent(message, '    ')}")


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
        suite, mute_seconds, results, runner, *places = given[1:]
        return run_alone(suite, places, float(mute_seconds), Path(results), int(runner))
    arguments = _arguments(given)
    suites = suites_in(arguments.folder)
    names = {suite.partition("/")[0] for suite in suites}
    if unknown := set(arguments.suites) - names:
        print(f"No such suite: {', '.join(sorted(unknown))}. There are: {', '.join(sorted(names))}.", file=sys.stderr)
        return 2
    end_on_signals()
    guardian.become_subreaper()
    if arguments.with_parent:
        guardian.die_with_parent(signal.SIGTERM, os.getppid())
    began = time.monotonic()
    _compile()
    outcomes = run_all(chosen(suites, arguments.suites), arguments.mute_seconds)
    show(outcomes, time.monotonic() - began)
    if not arguments.suites:
        for suite in sorted({*LEFT_OUT} & names):
            print(f"{suite} is left out: {LEFT_OUT[suite]}")
    print(f"\n{sum(one.passed for one in outcomes)} passed, {sum(one.failed for one in outcomes)} failed")
    return 1 if any(one.failed for one in outcomes) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
