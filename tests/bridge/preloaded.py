"""The bridge as its own process without imports, which take most of the processor time of a start.

A server of `multiprocessing` imports the bridge once and forks. The fork runs `python -m bridge.main`, with its own
environment and output; signals, exit codes and `kill -9` work as for any process.
"""

import multiprocessing
import os
import runpy
import signal
import sys
from collections.abc import Mapping
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from subprocess import TimeoutExpired

PROGRAM = "bridge.main"


class Forked:
    """The process, with the used part of the interface of `subprocess.Popen`."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        """Start it with its output in `log`."""
        self._process = _server().Process(target=_run, args=(dict(environment), str(log)), daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise TimeoutExpired(PROGRAM, timeout or 0)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@cache
def _server() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PROGRAM, __name__])
    return context


def _run(environment: Mapping[str, str], log: str) -> None:
    """Run the bridge in the new process."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.close(output)
    os.environ.clear()
    os.environ.update(environment)
    sys.modules.pop(PROGRAM, None)  # it will be __main__
    sys.argv = [PROGRAM]
    runpy.run_module(PROGRAM, run_name="__main__", alter_sys=True)
