"""Run a real server for the length of a block of code. Tests start Postgres and the broker with it."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from deploy.parts import guardian
from deploy.parts.probes import Probe


class DidNotStart(Exception):
    """The program ended, or did not answer in time; the message has the last lines of its output."""


@contextmanager
def running(
    command: Sequence[str],
    ready: Probe,
    log: Path,
    *,
    stop_signal: signal.Signals = signal.SIGTERM,
    user: str | None = None,
    ready_seconds: float = 120.0,
    environment: dict[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start `command`, wait until it is ready, and stop it at the end of the block.

    It dies with the thread that entered the block. Its output goes to `log`.

    Raises:
        DidNotStart: with the last lines of `log`.
    """
    with log.open("ab") as output:
        process = subprocess.Popen(
            guardian.launch(command, stop_signal, user),
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            process_group=0,
        )
    try:
        _wait_until_ready(process, ready, log, ready_seconds)
        yield process
    finally:
        stop(process, stop_signal)


def _wait_until_ready(process: subprocess.Popen[bytes], ready: Probe, log: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
            raise DidNotStart(f"{process.args!r} did not start:\n" + "\n".join(lines))
        time.sleep(0.02)


def stop(process: subprocess.Popen[bytes], stop_signal: signal.Signals, seconds: float = 60.0) -> None:
    """Ask the process to stop; after `seconds` kill it. The rest of its process group is always killed."""
    if process.poll() is None:
        guardian.send(process.pid, stop_signal)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    guardian.send_group(process.pid, signal.SIGKILL)
