"""The bridge as its own process without imports, which take most of the processor time of a start.

A server of `multiprocessing` imports the bridge once and forks. The fork does what `python -m bridge.main` does, with
its own environment and output; signals, exit codes and `kill -9` work as for any process.

A test may change constants of the product in the bridges that it starts, above all times of waiting.
"""

import importlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path
from subprocess import TimeoutExpired
from typing import NoReturn

from tests.constants import Constants, replace_constants

PROGRAM = "bridge.main"


class Forked:
    """The process, with the used part of the interface of `subprocess.Popen`."""

    def __init__(self, environment: Mapping[str, str], log: Path, constants: Constants | None = None) -> None:
        """Start it with its output in `log`."""
        given = (dict(environment), str(log), dict(constants or {}))
        self._process = _server().Process(target=_run_forked, args=given, daemon=True)
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


def _run_forked(environment: Mapping[str, str], log: str, constants: Constants) -> None:
    """Run the bridge in the new process."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.close(output)
    os.environ.clear()
    os.environ.update(environment)
    run(constants)


def run(constants: Constants) -> NoReturn:
    """Run the bridge in this process with these constants, and exit with its code."""
    replace_constants(constants)
    sys.argv = [PROGRAM]
    sys.exit(importlib.import_module(PROGRAM).main())
