"""Run one suite in its own pytest, below a process that adopts and ends the processes that the suite leaves."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import BinaryIO, NoReturn

from deploy.parts import guardian
from deploy.parts.layout import REPOSITORY
from tests import diary, volatile

MUTE_SECONDS = 300.0
LEFT_BEHIND_SECONDS = 60.0
"""How long a process may outlive its suite before it counts as left behind."""


@dataclass
class Outcome:
    """The result of one suite. `failures`: test -> reason; each complaint counts as one more failure."""

    suite: str
    seconds: float = 0.0
    processor_seconds: float = 0.0
    passed: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)

    @property
    def failed(self) -> int:
        return len(self.failures) + len(self.complaints)


def end_on_signals() -> None:
    """Let stop signals raise an exception once, so that `finally` blocks run."""

    def leave(number: int, _frame: FrameType | None) -> NoReturn:
        for each in guardian.FORWARDED:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number in guardian.FORWARDED:
        if signal.getsignal(number) != signal.SIG_IGN or number != signal.SIGHUP:  # SIGHUP is ignored below nohup
            signal.signal(number, leave)


def files_of(suite: str, results: Path) -> Path:
    """The path, without an ending, of this suite's files in `results`."""
    return results / suite.replace("/", "-")


def run_alone(suite: str, places: Sequence[str], mute_seconds: float, results: Path, runner: int) -> int:
    """Run one suite: folders or files. Write its outcome to `<suite>.json` in `results`, pytest's output to `.txt`.

    When the `runner` ends or a signal stops this process, all processes below it end at once.
    """
    end_on_signals()
    guardian.become_subreaper()
    guardian.die_with_parent(signal.SIGTERM, runner)
    files = files_of(suite, results)
    try:
        with files.with_suffix(".txt").open("wb") as output:
            outcome = _run(suite, places, mute_seconds, files.with_suffix(".diary"), output)
    finally:
        guardian.end_everything_below(0)
        volatile.sweep()
        if os.getppid() != runner:  # the runner was killed and removes nothing
            shutil.rmtree(results, ignore_errors=True)
    files.with_suffix(".json").write_text(json.dumps(asdict(outcome)), encoding="utf-8")
    return 0


def _run(suite: str, places: Sequence[str], mute_seconds: float, steps: Path, output: BinaryIO) -> Outcome:
    began = time.monotonic()
    outcome = Outcome(suite)
    command = [sys.executable, "-m", "pytest", *places, "-q", "-c", str(REPOSITORY / "pyproject.toml")]
    command += ["-p", "tests.diary", f"--diary={steps}"]
    process = subprocess.Popen(
        guardian.launch(command, signal.SIGKILL), cwd=REPOSITORY, process_group=0, stdout=output, stderr=output
    )
    mute = not _ends_by_itself(process, steps, mute_seconds)
    if mute:
        _end(process)
    else:
        outcome.complaints += _left_behind(min(LEFT_BEHIND_SECONDS, mute_seconds))
    entries = diary.read(steps)
    guardian.end_everything_below(0)
    _count(outcome, entries)
    outcome.complaints += _how_it_ended(outcome, entries, process.returncode, mute_seconds if mute else None)
    outcome.seconds = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome.processor_seconds = used.ru_utime + used.ru_stime
    return outcome


def _ends_by_itself(process: subprocess.Popen[bytes], steps: Path, mute_seconds: float) -> bool:
    """Wait for the end. False when no test began or ended for `mute_seconds`; the total time is not limited."""
    size, last_heard = 0, time.monotonic()
    while True:
        try:
            process.wait(mute_seconds / 100)
        except subprocess.TimeoutExpired:
            now_size = steps.stat().st_size if steps.exists() else 0
            if now_size != size:
                size, last_heard = now_size, time.monotonic()
            elif time.monotonic() - last_heard > mute_seconds:
                return False
        else:
            return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a pytest that hangs. On SIGABRT it writes the stack of each thread (faulthandler)."""
    process.send_signal(signal.SIGABRT)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _count(outcome: Outcome, entries: Sequence[diary.Entry]) -> None:
    """Count the tests. A test fails once if any phase fails; a test that ran at the end did not pass."""
    for entry in entries:
        if entry.outcome == "failed":
            outcome.failures.setdefault(entry.test, entry.message)
        elif entry.outcome == "skipped":
            outcome.skipped[entry.test] = entry.message
    for test in outcome.failures:
        outcome.skipped.pop(test, None)
    ended = {entry.test for entry in entries if entry.phase == "teardown"}
    outcome.passed = len(ended - outcome.failures.keys() - outcome.skipped.keys())


def _how_it_ended(
    outcome: Outcome, entries: Sequence[diary.Entry], code: int, mute_seconds: float | None
) -> tuple[str, ...]:
    """The complaints beside failed tests."""
    if mute_seconds is not None:
        return (f"mute for {_span(mute_seconds)} and ended {_where(entries)}",)
    if code < 0:
        return (f"pytest was ended by signal {-code} {_where(entries)}",)
    if not entries:
        return (f"no test ran, pytest ended with exit code {code}",)
    if code != 0 and outcome.failed == 0:
        return (f"pytest ended with exit code {code} {_where(entries)}",)
    return ()


def _where(entries: Sequence[diary.Entry]) -> str:
    if not entries:
        return "before its first test"
    last = entries[-1]
    phase = {"begin": "setup", "setup": "call", "progress": "call", "call": "teardown"}.get(last.phase)
    return f"after {last.test}" if phase is None else f"in {last.test} ({phase})"


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 60 else f"{seconds:g} s"


def _left_behind(patience_seconds: float) -> tuple[str, ...]:
    """The processes that the suite started and did not end."""
    deadline = time.monotonic() + patience_seconds
    while guardian.reap() and time.monotonic() < deadline:
        time.sleep(0.05)
    return tuple(f"left a process behind: {_command_line(pid)}" for pid in guardian.descendants(os.getpid()))


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:150]
    except OSError:
        return str(pid)
