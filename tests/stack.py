"""The whole stack, started as `make run` starts it, on free ports with a state directory of its own."""

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

from deploy.displays.client.credentials import Credentials
from deploy.displays.simulated.display import Behaviour
from deploy.displays.simulated.simulated import SimulatedDisplay
from deploy.parts.layout import PORTS, REPOSITORY, Layout, read_stack_env, write_file
from deploy.parts.probes import free_port
from tests import migrated

T = TypeVar("T")
START_SECONDS = 600.0
STOP_SECONDS = 60.0


@dataclass(frozen=True)
class Stack:
    """A running stack: what its stack.env says, its ports by name, and the runner's process."""

    environment: Mapping[str, str]
    ports: Mapping[str, str]
    runner: subprocess.Popen[bytes]
    state: Path
    output: Path

    @property
    def url(self) -> str:
        return self.environment["SIGNAGE_API_URL"]

    def api(self, token: str | None = None) -> "Api":
        """A caller with this token, the admin's by default."""
        return Api(self.url, token or self.environment["SIGNAGE_ADMIN_TOKEN"])


@dataclass(frozen=True)
class Api:
    """A script that calls the API. Every call must be answered with the status it expects."""

    url: str
    token: str

    def call(self, method: str, path: str, expected: int = 200, **options: Any) -> requests.Response:
        """One call; fails with the answer's text when the status is another one."""
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        answer = requests.request(method, self.url + path, headers=headers, timeout=60, **options)
        assert answer.status_code == expected, f"{method} {path}: {answer.status_code} {answer.text[:1000]}"
        return answer

    def get(self, path: str, expected: int = 200, **options: Any) -> Any:
        return self.call("GET", path, expected, **options).json()

    def post(self, path: str, body: Any = None, expected: int = 200, **options: Any) -> Any:
        return self.call("POST", path, expected, json=body, **options).json()


def eventually(look: Callable[[], T | None], what: str, seconds: float = 60.0) -> T:
    """What `look` answers once it is truthy; asked again and again until then.

    Raises AssertionError naming `what` when it does not come in time.
    """
    deadline = time.monotonic() + seconds
    while True:
        if found := look():
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come within {seconds:.0f} s; last seen: {found!r}")
        time.sleep(0.1)


@contextmanager
def running_stack(state: Path, **settings: str) -> Iterator[Stack]:
    """A stack with these settings; stopped by SIGINT, as Ctrl-C does, and every process of it gone afterwards."""
    ports = {
        name: str(port) for name, port in zip([*PORTS, "BRIDGE_HEALTH_PORT"], free_ports(len(PORTS) + 1), strict=True)
    }
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
    """As if it had run before: to make and to migrate one takes ten processor seconds. tests/local/test_up.py does."""
    if layout.lock.exists():
        return
    layout.prepare()
    layout.lock.touch(mode=0o600)
    cluster = migrated.copied(layout.data)
    write_file(layout.secrets / "postgres_superuser_password", cluster.superuser_password + "\n")


def wait_until_ready(runner: subprocess.Popen[bytes], stack_env: Path, output: Path) -> None:
    """Returns when the gateway answers that every part is ready."""

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
    """Ctrl-C, and a kill where that does not help."""
    if runner.poll() is None:
        runner.send_signal(signal.SIGINT)
    try:
        runner.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        runner.kill()
        raise AssertionError(f"the stack did not stop within {STOP_SECONDS:.0f} s:\n{tail(output)}") from None


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that nothing listens on now, all different."""
    found: set[int] = set()
    while len(found) < count:
        found.add(free_port())
    return sorted(found)


def tail(output: Path, lines: int = 60) -> str:
    """The last lines that the stack wrote."""
    return "\n".join(output.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def enrol(api: Api, uuid: str, state: Path, behaviour: Behaviour | None = None) -> SimulatedDisplay:
    """A display that an admin enrolled and that redeemed its code; off until it connects."""
    return SimulatedDisplay(enrolled(api, uuid), state, behaviour)


def enrolled(api: Api, uuid: str) -> Credentials:
    """What a display is given that an admin enrols and that redeems its code."""
    code = api.post(f"/api/clients/{uuid}/enrolment", expected=201)["code"]
    answer = requests.post(f"{api.url}/api/enroll", json={"code": code}, timeout=60)
    assert answer.status_code == 201, answer.text
    return Credentials.from_enrolment(answer.json())
