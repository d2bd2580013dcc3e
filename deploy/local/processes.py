"""The runner of services. It starts them in waves, restarts dead ones, and stops all in reverse order.

A wave starts when the one before it is ready. This is a small asyncio program, because honcho stops all services when
one dies, and circus and supervisor leave orphans at kill -9. The runner is a subreaper: it becomes the parent of the
orphans of a dead service and kills them, so that a killed postmaster's backends cannot block the next start.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from deploy.local.console import Console
from deploy.parts import guardian
from deploy.parts.layout import write_file
from deploy.parts.service import Service

BACKOFF_FIRST_SECONDS: Final = 0.5
BACKOFF_MAX_SECONDS: Final = 10.0
HEALTHY_AFTER_SECONDS: Final = 3.0  # a service that was ready and lived this long did not fail at its start
PROBE_EVERY_SECONDS: Final = 0.05


class StartFailed(Exception):
    """A service did not start; the message says which and why."""


@dataclass(frozen=True)
class Child:
    """One process of a service; `exited` gets its exit code, negative for a signal."""

    process: subprocess.Popen[bytes]
    exited: asyncio.Future[int]

    @property
    def ended(self) -> bool:
        return self.exited.done()


@dataclass
class Life:
    """A service and its present state: starting, ready, waiting or stopped."""

    service: Service
    child: Child
    state: str = "starting"
    restarts: int = 0
    since: float = field(default_factory=time.time)  # epoch seconds of the last change of state
    task: asyncio.Task[None] | None = None

    def describe(self) -> dict[str, Any]:
        """The service's state as JSON values, for `status`."""
        return {
            "name": self.service.name,
            "state": self.state,
            "pid": None if self.child.ended else self.child.process.pid,
            "restarts": self.restarts,
            "since": self.since,
            "address": self.service.address,
        }


class _Lines(asyncio.Protocol):
    """Splits a service's output into lines for the console."""

    def __init__(self, name: str, console: Console) -> None:
        self._name, self._console, self._rest = name, console, b""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > 65_536:
            lines, self._rest = [*lines, self._rest], b""
        for line in lines:
            self._console.log(self._name, line.decode("utf-8", "replace").rstrip("\r"))

    def connection_lost(self, _error: Exception | None) -> None:
        if self._rest:
            self._console.log(self._name, self._rest.decode("utf-8", "replace"))


class Runner:
    """Keeps services running until `stop`. One per process, in its main thread."""

    def __init__(self, console: Console, changed: Callable[[list[dict[str, Any]]], None]) -> None:
        """`changed` gets every service's description whenever one of them changes."""
        self._console = console
        self._changed = changed
        self._waves: list[list[Life]] = []
        self._children: dict[int, Child] = {}
        self.stopping = asyncio.Event()
        guardian.become_subreaper()
        asyncio.get_running_loop().add_signal_handler(signal.SIGCHLD, self._reap)

    async def start(self, *services: Service) -> None:
        """Start these at once and return when each is ready.

        Raises:
            StartFailed: one of them ended or was not ready in time; the others keep running.
        """
        wave = [Life(service, self._spawn(service)) for service in services]
        self._waves.append(wave)
        await asyncio.gather(*(self._bring_up(life) for life in wave))

    async def run_once(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> int:
        """Run a program to its end. Returns its exit code; its output goes to the console."""
        service = Service(name, tuple(command), _never, environment)
        wave = [Life(service, self._spawn(service))]
        self._waves.append(wave)
        code = await wave[0].child.exited
        if not self.stopping.is_set():
            self._waves.remove(wave)
        return code

    async def stop(self) -> None:
        """Stop every wave, the last one first. When it returns, no process of the stack is left."""
        self.stopping.set()
        while self._waves:
            await asyncio.gather(*(self._put_down(life) for life in self._waves[-1]))
            self._waves.pop()
        await asyncio.to_thread(guardian.end_everything_below, 0.0)

    def kill(self) -> None:
        """Kill every process at once, for a second Ctrl-C."""
        for pid in guardian.descendants(os.getpid()):
            guardian.send(pid, signal.SIGKILL)

    async def _bring_up(self, life: Life) -> None:
        began = time.monotonic()
        if not await self._becomes_ready(life):
            raise StartFailed(self._why_not(life))
        place = f"  {life.service.address}" if life.service.address else ""
        self._console.say(f"  ✓ {life.service.name:<17} {time.monotonic() - began:5.1f} s{place}")
        life.task = asyncio.create_task(self._keep(life))

    def _why_not(self, life: Life) -> str:
        if self.stopping.is_set():
            return f"{life.service.name} was still starting when the stack was told to stop."
        if life.child.ended:
            how = f"ended with {_words(life.child.exited.result())} before it was ready"
        else:
            how = f"was not ready within {life.service.ready_seconds:.0f} s"
        return f"{life.service.name} {how}; its own lines above say more."

    async def _keep(self, life: Life) -> None:
        """Keep a service running: wait until it ends, wait for the back-off, start it again."""
        failures = 0
        while not self.stopping.is_set():
            began = time.monotonic()
            code = await life.child.exited
            if self.stopping.is_set():
                return
            healthy = life.state == "ready" and time.monotonic() - began >= HEALTHY_AFTER_SECONDS
            failures = 1 if healthy else failures + 1
            await self._wait_before_restart(life, code, backoff_seconds(failures))
            if not self.stopping.is_set():
                await self._restart(life)

    async def _wait_before_restart(self, life: Life, code: int, seconds: float) -> None:
        self._console.say(f"  ! {life.service.name} ended with {_words(code)}; it starts again in {seconds:.1f} s")
        self._note(life, "waiting")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), seconds)

    async def _restart(self, life: Life) -> None:
        life.restarts += 1
        life.child = self._spawn(life.service)
        self._note(life, "starting")
        if await self._becomes_ready(life):
            self._console.say(f"  ✓ {life.service.name} is back")
        elif not self.stopping.is_set() and not life.child.ended:
            guardian.send_group(life.child.process.pid, signal.SIGKILL)

    def _spawn(self, service: Service) -> Child:
        reading, writing = os.pipe()
        process = subprocess.Popen(
            guardian.launch(service.command, service.stop_signal, service.user),
            env=service.environment,
            cwd=service.folder,
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            process_group=0,
        )
        os.close(writing)
        loop = asyncio.get_running_loop()
        child = self._children[process.pid] = Child(process, loop.create_future())
        loop.create_task(self._read(service.name, reading))  # noqa: RUF006 - ends at once
        if service.pid_file is not None:
            write_file(service.pid_file, f"{process.pid}\n")
        return child

    async def _read(self, name: str, descriptor: int) -> None:
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: _Lines(name, self._console), os.fdopen(descriptor, "rb", 0)
        )

    async def _becomes_ready(self, life: Life) -> bool:
        """Probe the service until it is ready. False when it ends, the runner stops, or the timeout is over."""
        deadline = time.monotonic() + life.service.ready_seconds
        while time.monotonic() < deadline and not self.stopping.is_set() and not life.child.ended:
            if await asyncio.to_thread(life.service.ready):
                await asyncio.wait([life.child.exited], timeout=life.service.settle_seconds)
                if not life.child.ended:
                    self._note(life, "ready")
                    return True
            await asyncio.sleep(PROBE_EVERY_SECONDS)
        return False

    async def _put_down(self, life: Life) -> None:
        """Send a service its stop signal; after its timeout kill its process group."""
        if not life.child.ended:
            guardian.send(life.child.process.pid, life.service.stop_signal)
            await asyncio.wait([life.child.exited], timeout=life.service.stop_seconds)
        if not life.child.ended:
            self._console.say(f"  ! {life.service.name} did not stop in time and was killed")
            guardian.send_group(life.child.process.pid, signal.SIGKILL)
            await life.child.exited
        if life.task is not None:
            await life.task
        self._note(life, "stopped")

    def _note(self, life: Life, state: str) -> None:
        life.state, life.since = state, time.time()
        if life.child.ended and life.service.pid_file is not None:
            life.service.pid_file.unlink(missing_ok=True)
        self._changed([one.describe() for wave in self._waves for one in wave])

    def _reap(self) -> None:
        """Reap the children that have ended. A service's group is killed first, while its id cannot be reused."""
        for pid, child in list(self._children.items()):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                guardian.send_group(pid, signal.SIGKILL)
                del self._children[pid]
                child.process.returncode = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                child.exited.set_result(child.process.returncode)
        self._end_orphans()

    def _end_orphans(self) -> None:
        """Kill the children that are no services: orphans of a dead service, such as a postmaster's backends."""
        this = os.getpid()
        for pid, parent in guardian.parents().items():
            if parent == this and pid not in self._children:
                guardian.send(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)


def backoff_seconds(failures: int) -> float:
    """The back-off before the next start, after `failures` (1 or more) failed starts in a row."""
    return float(min(BACKOFF_MAX_SECONDS, BACKOFF_FIRST_SECONDS * 2 ** min(failures - 1, 10)))


def _words(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _never() -> bool:
    return False
