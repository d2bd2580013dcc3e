"""Start the whole stack, like `make run`, on free ports with its own state directory."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import requests

from deploy.parts.components import PORTS
from deploy.parts.layout import REPOSITORY, Layout, read_stack_env, write_file
from deploy.parts.probes import free_port
from displays.client.credentials import Credentials
from displays.simulated.display import Behaviour
from displays.simulated.simulated import SimulatedDisplay
from tests import migrated

T = TypeVar("T")
START_SECONDS = 600.0
STOP_SECONDS = 60.0


@dataclass(frozen=True)
class Stack:
    """A running stack: the settings of its stack.env, its ports by name, and the runner's process."""

    environment: Mapping[str, str]
    ports: Mapping[str, str]
    runner: subprocess.Popen[bytes]
    state: Path
    output: Path

    @property
    def url(self) -> str:
        return self.environment["SIGNAGE_API_URL"]

    def api(self, token: str | None = None) -> "Api":
        """A caller with this token; default: the admin's."""
        return Api(self.url, token or self.environment["SIGNAGE_ADMIN_TOKEN"])


@dataclass(frozen=True)
class Api:
    """A script that calls the API. Each call must get the expected status."""

    url: str
    token: str
    ca: str | bool = True
    """A file with the authority that it trusts, where that is none of the system's."""

    def call(self, method: str, path: str, expected: int = 200, **options: Any) -> requests.Response:
        """Call once. Fails with the answer's text for another status than `expected`."""
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        answer = requests.request(method, self.url + path, headers=headers, timeout=60, verify=self.ca, **options)
        assert answer.status_code == expected, f"{method} {path}: {answer.status_code} {answer.text[:1000]}"
        return answer

    def get(self, path: str, expected: int = 200, **options: Any) -> Any:
        return self.call("GET", path, expected, **options).json()

    def post(self, path: str, body: Any = None, expected: int = 200, **options: Any) -> Any:
        return self.call("POST", path, expected, json=body, **options).json()


def eventually(look: Callable[[], T | None], what: str, seconds: float = 60.0) -> T:
    """Call `look` repeatedly until its result is truthy, and return that result.

    The longer it waits, the less often it looks: a call of the API takes 20 ms of a core. Raises AssertionError with
    `what` after `seconds`.
    """
    began = time.monotonic()
    while True:
        if found := look():
            return found
        waited = time.monotonic() - began
        if waited > seconds:
            raise AssertionError(f"{what} did not come within {seconds:.0f} s; last seen: {found!r}")
        time.sleep(min(0.05 + waited / 10, 0.5))


@contextmanager
def running_stack(state: Path, **settings: str) -> Iterator[Stack]:
    """A stack with these settings. Afterwards SIGINT (Ctrl-C) stops it and all its processes."""
    ports = {
        name: str(port) for name, port in zip([*PORTS, "BRIDGE_HEALTH_PORT"], free_ports(len(PORTS) + 1), strict=True)
    }
    ports |= {name: settings[name] for name in ports.keys() & settings.keys()}
    given = {**os.environ, **ports, "LOCAL_STATE_DIR": str(state), **settings}
    for foreign in ("DATABASE_URL", "CONVERTER_URL", "MEDIA_ROOT", "DEMO"):
        if foreign not in settings:
            given.pop(foreign, None)
    if "DATABASE_URL" not in settings:
        _begin_with_the_migrated_database(Layout(state))
    output = state.with_name(f"{state.name}-output.txt")
    with output.open("ab") as written:
        runner = subprocess.Popen(
            [sys.executable, "-m", "deploy.local.up", "run"], cwd=REPOSITORY, env=given, stdout=written, stderr=written
        )
    try:
        wait_until_ready(runner, state / "stack.env", output)
        yield Stack(read_stack_env(state / "stack.env"), ports, runner, state, output)
    finally:
        stop(runner, output)


def _begin_with_the_migrated_database(layout: Layout) -> None:
    """Copy a migrated database, because making one takes ten processor seconds. tests/local/test_up.py makes one."""
    if layout.lock.exists():
        return
    layout.prepare()
    layout.lock.touch(mode=0o600)
    cluster = migrated.copied(layout.data)
    write_file(layout.secrets / "postgres_superuser_password", cluster.superuser_password + "\n")


def wait_until_ready(runner: subprocess.Popen[bytes], stack_env: Path, output: Path) -> None:
    """Wait until the gateway says that every part is ready."""

    def ready() -> bool:
        assert runner.poll() is None, f"the runner ended with {runner.returncode}:\n{tail(output)}"
        if not stack_env.exists():
            return False
        url = read_stack_env(stack_env)["SIGNAGE_API_URL"]
        try:
            return requests.get(url + "/api/health/ready", timeout=60).status_code == 200
        except requests.RequestException:
            return False

    try:
        eventually(ready, "the stack", START_SECONDS)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{tail(output)}") from None


def stop(runner: subprocess.Popen[bytes], output: Path) -> None:
    """Send SIGINT (Ctrl-C), then kill the process if it does not end."""
    if runner.poll() is None:
        runner.send_signal(signal.SIGINT)
    try:
        runner.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        runner.kill()
        raise AssertionError(f"the stack did not stop within {STOP_SECONDS:.0f} s:\n{tail(output)}") from None


def free_ports(count: int) -> list[int]:
    """Different ports of the loopback without a listener now."""
    found: set[int] = set()
    while len(found) < count:
        found.add(free_port())
    return sorted(found)


def tail(output: Path, lines: int = 60) -> str:
    """The last lines of the stack's output."""
    return "\n".join(output.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def enrol(api: Api, uuid: str, state: Path, behaviour: Behaviour | None = None) -> SimulatedDisplay:
    """An enrolled display; off until `connect`."""
    return SimulatedDisplay(enrolled(api, uuid), state, behaviour)


def enrolled(api: Api, uuid: str) -> Credentials:
    """Enrol a display; waits while too many others enrol. Returns its login."""
    code = api.post(f"/api/clients/{uuid}/enrolment", expected=201)["code"]

    def judged() -> list[requests.Response]:
        answer = requests.post(f"{api.url}/api/enroll", json={"code": code}, timeout=60)
        return [] if answer.status_code in {429, 503} else [answer]

    [answer] = eventually(judged, "the answer to a code")
    assert answer.status_code == 201, answer.text
    return Credentials.from_enrolment(answer.json())
