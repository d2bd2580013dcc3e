"""The runner keeps services running, and leaves no process behind however it ends."""

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from deploy.local.processes import backoff_seconds
from deploy.parts import guardian
from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import wait_until

TAG = "SIGNAGE_TEST_RUN"

# Ready immediately, then waits; records its end.
PLAIN = """
import pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
def end(*_):
    with (folder / "ended").open("a") as file:
        file.write("{name} ")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
(folder / "{name}.ready").touch()
while True:
    time.sleep(60)
"""

# Starts a grandchild in its own session that ignores SIGTERM, as soffice and Postgres backends may do.
WITH_DAEMON = """
import os, pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
if os.fork() == 0:
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    (folder / "daemon.part").write_text(str(os.getpid()))
    (folder / "daemon.part").rename(folder / "daemon")
    while True:
        time.sleep(60)
os.wait()
while not (folder / "daemon").exists():
    time.sleep(0.01)
(folder / "{name}.ready").touch()
while True:
    time.sleep(60)
"""


def program(name: str, text: str = PLAIN) -> dict[str, Any]:
    return {"name": name, "program": text.replace("{name}", name)}


class Running:
    """A runner under test, and every process that it started."""

    def __init__(self, folder: Path, tag: str, guardian_process: subprocess.Popen[bytes]) -> None:
        self.folder, self._tag, self.guardian = folder, tag, guardian_process

    def processes(self) -> set[int]:
        """Return every process that carries this run's mark in its environment, except zombies."""
        mark = f"{TAG}={self._tag}".encode()
        return {pid for pid in guardian.parents() if mark in _environment(pid).split(b"\0")}

    @property
    def runner(self) -> int:
        """Return the process id of the runner below the guardian."""
        return int((self.folder / "all.ready").read_text())

    def pid_of(self, service: str) -> int:
        return int((self.folder / f"{service}.pid").read_text())

    def life_of(self, service: str) -> dict[str, Any]:
        lives = json.loads((self.folder / "status.json").read_text())
        found: dict[str, Any] = next(life for life in lives if life["name"] == service)
        return found

    def gone_within(self, seconds: float) -> None:
        wait_until(lambda: not self.processes(), seconds)


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


@contextmanager
def running(folder: Path, *waves: list[dict[str, Any]], ready: str = "all.ready", **popen: Any) -> Iterator[Running]:
    """Start a runner with these waves; at the end kill every remaining process."""
    tag = uuid.uuid4().hex
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.local.runner_program", str(folder), json.dumps(waves)],
        cwd=REPOSITORY,
        env={**os.environ, TAG: tag},
        start_new_session=True,
        **popen,
    )
    started = Running(folder, tag, process)
    try:
        wait_until(lambda: (folder / ready).exists() or process.poll() is not None, 60)
        yield started
    finally:
        wait_until(lambda: _all_killed(started), 60)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _all_killed(started: Running) -> bool:
    """Kill every remaining process; repeat while the runner, alive a moment longer, restarts one."""
    left = started.processes()
    for pid in left:
        guardian.send(pid, signal.SIGKILL)
    return not left


def test_a_wave_starts_only_when_the_one_before_it_is_ready(tmp_path: Path) -> None:
    slow = program("slow", "import time\ntime.sleep(0.5)\n" + PLAIN)
    look = "import os, sys\nopen(sys.argv[1] + '/seen', 'w').write(str(os.listdir(sys.argv[1])))\n"
    witness = program("witness", look + PLAIN)

    with running(tmp_path, [slow], [witness]):
        assert "slow.ready" in (tmp_path / "seen").read_text()


def test_ctrl_c_stops_in_reverse_order_and_leaves_nothing(tmp_path: Path) -> None:
    waves = [program("first")], [program("second", WITH_DAEMON), program("third")], [program("fourth")]

    with running(tmp_path, *waves) as stack:
        assert len(stack.processes()) == 7  # guardian, runner, four services, one daemon
        os.killpg(stack.guardian.pid, signal.SIGINT)  # as a terminal does

        assert stack.guardian.wait(60) == 0
        assert stack.processes() == set()

    ended = (tmp_path / "ended").read_text().split()
    assert ended.index("fourth") < ended.index("third") < ended.index("first")


def test_a_killed_runner_takes_everything_with_it(tmp_path: Path) -> None:
    with running(tmp_path, [program("plain"), program("daemon", WITH_DAEMON)]) as stack:
        os.kill(stack.runner, signal.SIGKILL)

        stack.gone_within(60)
        assert stack.guardian.wait(60) == 128 + signal.SIGKILL


def test_a_killed_guardian_makes_the_runner_stop_in_order(tmp_path: Path) -> None:
    with running(tmp_path, [program("plain"), program("daemon", WITH_DAEMON)]) as stack:
        stack.guardian.kill()

        stack.gone_within(60)
    assert (tmp_path / "ended").read_text() == "plain "


def test_when_both_are_killed_at_once_the_kernel_ends_the_services(tmp_path: Path) -> None:
    with running(tmp_path, [program("one")], [program("two")]) as stack:
        runner = stack.runner
        os.kill(runner, signal.SIGSTOP)  # so that it cannot stop in order
        stack.guardian.kill()
        os.kill(runner, signal.SIGKILL)

        stack.gone_within(60)
    assert sorted((tmp_path / "ended").read_text().split()) == ["one", "two"]


def test_a_service_that_ignores_its_signal_is_killed(tmp_path: Path) -> None:
    deaf = program("deaf", "import signal\n" + PLAIN.replace("SIGTERM, end", "SIGTERM, signal.SIG_IGN"))
    deaf["stop_seconds"] = 1.0

    with running(tmp_path, [deaf]) as stack:
        stack.guardian.terminate()

        assert stack.guardian.wait(60) == 0
        assert stack.processes() == set()


def test_a_killed_service_is_started_again_and_its_orphans_are_ended(tmp_path: Path) -> None:
    with running(tmp_path, [program("daemon", WITH_DAEMON)]) as stack:
        old, orphan = stack.pid_of("daemon"), int((tmp_path / "daemon").read_text())
        (tmp_path / "daemon").unlink()
        os.kill(old, signal.SIGKILL)

        wait_until(lambda: stack.life_of("daemon")["restarts"] == 1 and stack.life_of("daemon")["state"] == "ready", 60)

        assert stack.pid_of("daemon") not in {old, orphan}
        assert orphan not in stack.processes()
        assert stack.life_of("daemon")["pid"] == stack.pid_of("daemon")


def test_a_service_that_keeps_dying_is_started_less_and_less_often(tmp_path: Path) -> None:
    noted = "with (folder / 'starts').open('a') as file: file.write(f'{time.monotonic()} ')"
    dying = program("dying", PLAIN.replace("while True:\n    time.sleep(60)", f"{noted}\ntime.sleep(0.2)"))
    starts = tmp_path / "starts"

    with running(tmp_path, [dying]):
        wait_until(lambda: starts.exists() and len(starts.read_text().split()) >= 4, 60)

    times = [float(at) for at in starts.read_text().split()]
    waits = [later - sooner for sooner, later in pairwise(times)]
    assert [wait > least for wait, least in zip(waits, (0.5, 1.0, 2.0), strict=False)] == [True, True, True]


@pytest.mark.parametrize(("failures", "seconds"), [(1, 0.5), (2, 1.0), (3, 2.0), (5, 8.0), (6, 10.0), (999, 10.0)])
def test_the_wait_doubles_up_to_ten_seconds(failures: int, seconds: float) -> None:
    assert backoff_seconds(failures) == seconds


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (program("broken", "raise SystemExit(7)"), "broken ended with exit code 7 before it was ready"),
        ({**program("sleepy", "import time; time.sleep(60)"), "ready_seconds": 0.5}, "sleepy was not ready within"),
    ],
)
def test_a_failed_start_is_said_in_words_and_leaves_nothing(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    with running(tmp_path, [program("good")], [given], stdout=subprocess.PIPE) as stack:
        said, _ = stack.guardian.communicate(timeout=60)

        assert stack.guardian.returncode == 1
        assert words in said.decode()
        assert stack.processes() == set()


def test_output_that_nobody_reads_stops_nothing(tmp_path: Path) -> None:
    loud = program("loud", "for _ in range(30_000): print('x' * 300)\n" + PLAIN)

    with running(tmp_path, [loud], stdout=subprocess.PIPE) as stack:  # a pipe that is never read
        assert (tmp_path / "all.ready").exists()
        stack.guardian.terminate()

        assert stack.guardian.wait(60) == 0
