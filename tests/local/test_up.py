"""`make run` as a whole: every component for real. tests/machines/test_users.py starts it as another user."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deploy.local.stack import Stack
from deploy.parts import guardian
from deploy.parts.broker_launch import CRASHES
from deploy.parts.components import PORTS
from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import wait_until
from shared.config import load
from tests.local.modes import mode
from tests.namespaces import unwatched
from tests.stack import free_ports

START_SECONDS = 600
STOP_SECONDS = 240
COMPONENTS = {
    "postgres",
    "broker",
    "task-queue",
    "converter",
    "api",
    "convert-worker",
    "scheduler-tick",
    "bridge",
    "broker-accounts",
    "ticker",
    "gateway",
}


@dataclass
class Place:
    """A state directory and ports of its own, and the command that works on them."""

    folder: Path
    environment: dict[str, str]
    python: tuple[str, ...] = (sys.executable,)
    process: subprocess.Popen[bytes] | None = None

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def up(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command that ends by itself."""
        return subprocess.run(
            [*self.python, "-m", "deploy.local.up", *arguments],
            check=False,
            cwd=REPOSITORY,
            env={**self.environment, **more},
            capture_output=True,
            text=True,
        )

    @contextmanager
    def running(self) -> Iterator[subprocess.Popen[bytes]]:
        """Run the whole stack and return once it is ready; at the end stop it, and kill it if it does not stop."""
        log = self.folder / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*self.python, "-m", "deploy.local.up", "run"],
                cwd=REPOSITORY,
                env=self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            said = re.compile("  first sign-in .*\n")  # the last line that it prints once everything is ready
            wait_until(lambda: said.search(log.read_text()) is not None or process.poll() is not None, START_SECONDS)
            assert process.poll() is None, log.read_text()
            yield process
        finally:
            tree = processes_of(process)
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            finally:
                for pid in alive(tree):
                    guardian.send(pid, signal.SIGKILL)

    def stack_env(self) -> dict[str, str]:
        lines = shlex.split((self.state / "stack.env").read_text())
        return dict(line.split("=", 1) for line in lines)

    def get(self, path: str, token: str | None = None) -> tuple[int, Any]:
        return self.call("GET", path, token)

    def call(self, method: str, path: str, token: str | None = None) -> tuple[int, Any]:
        """Return the status and the JSON body of a call through the gateway."""
        values = self.stack_env()
        request = urllib.request.Request(values["SIGNAGE_API_URL"] + path, method=method)
        request.add_header("Authorization", f"Bearer {token or values['SIGNAGE_ADMIN_TOKEN']}")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())


def processes_of(stack: subprocess.Popen[bytes]) -> set[int]:
    """Return the guardian and every process below it."""
    return {stack.pid, *guardian.descendants(stack.pid)}


def alive(pids: set[int]) -> set[int]:
    """Return which of these processes still run, except zombies."""
    return {pid for pid in pids if _state(pid) not in {"", "Z", "X"}}


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def place_in(folder: Path, python: Sequence[str] = (sys.executable,)) -> Place:
    ports = {name: str(port) for name, port in zip(PORTS, free_ports(len(PORTS)), strict=True)}
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "CONVERTER_URL"}}
    return Place(folder, {**kept, **ports, "LOCAL_STATE_DIR": str(folder / "state")}, tuple(python))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A running stack that the tests below read and do not change."""
    made = place_in(tmp_path_factory.mktemp("stack"))
    with made.running() as process:
        made.process = process
        yield made


def test_every_component_gets_ready_and_says_so(place: Place) -> None:
    said = (place.folder / "log").read_text()

    ready = {line.split()[1] for line in said.splitlines() if line.startswith("  ✓ ")}
    assert ready >= COMPONENTS | {"migrations", "first-admin"}
    assert f"dashboard      http://{LOOPBACK}:{place.environment['GATEWAY_PORT']}/" in said
    assert "first sign-in  admin / " in said
    assert said.index("for scripts") < said.index("first sign-in")
    status = place.up("status")
    assert status.returncode == 0
    assert f"dashboard        http://{LOOPBACK}:{place.environment['GATEWAY_PORT']}/" in status.stdout
    [told] = [line for line in status.stdout.splitlines() if "first sign-in" in line]
    password = Path(told.rpartition(" is the first line of ")[2]).read_text().splitlines()[0]
    assert f"first sign-in  admin / {password}" in said


def test_a_crash_of_the_broker_is_told_by_the_status(place: Place) -> None:
    noted = place.state / "data" / "mosquitto" / CRASHES
    assert "the broker crashed" not in place.up("status").stdout

    noted.write_text(f"{time.time() - 5}\n{time.time()}\n")  # as the launcher of the next broker does

    try:
        assert "  ! the broker crashed 2x, last 20" in place.up("status").stdout
    finally:
        noted.unlink()


def test_the_file_for_scripts_is_private_and_opens_the_api(place: Place) -> None:
    values = place.stack_env()

    assert mode(place.state / "stack.env") == 0o600
    assert mode(place.state) == mode(place.state / "secrets") == 0o700
    assert {mode(path) for path in (place.state / "secrets").iterdir()} == {0o600}
    assert set(values) == {
        *("SIGNAGE_API_URL", "SIGNAGE_ADMIN_TOKEN", "SIGNAGE_SIGN_IN_USER", "SIGNAGE_SIGN_IN_PASSWORD"),
        *("SIGNAGE_MQTT_URL", "DATABASE_URL", "QUEUE_URL", "CONVERTER_URL", "MEDIA_ROOT"),
    }
    assert place.get("/api/clients")[0] == 200
    assert place.get("/api/clients", token="sgn_00000000_wrong_00000000")[0] == 401


def test_everything_is_ready_by_its_own_word(place: Place) -> None:
    wait_until(lambda: place.get("/api/health/ready")[0] == 200, START_SECONDS)


def test_everything_listens_on_loopback_only(place: Place) -> None:
    assert place.process is not None
    sockets = {what for pid in processes_of(place.process) for what in _open_files(pid)}
    listening = [
        fields[1].rpartition(":")[0]
        for table in ("tcp", "tcp6")
        for fields in (line.split() for line in Path("/proc/net", table).read_text().splitlines()[1:])
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets
    ]

    assert len(listening) >= len(set(PORTS) - {"BROKER_LOGINS_PORT"})
    assert set(listening) <= {"0100007F", "0000000000000000FFFF00000100007F"}  # 127.0.0.1, also as IPv6 writes it


def test_no_connection_to_postgres_is_left_to_itself(place: Place) -> None:
    """Both ends of each component's connections have keepalives: one whose peer vanished keeps its locks for hours."""
    wait_until(lambda: not unwatched(int(place.environment["POSTGRES_PORT"])), 60)


def _open_files(pid: int) -> Iterator[str]:
    """The targets of its open file descriptors."""
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                yield str(link.readlink())


def test_a_second_start_says_that_one_runs_already(place: Place) -> None:
    again = place.up("run")

    assert again.returncode == 1
    assert "is running already" in again.stderr
    assert place.environment["GATEWAY_PORT"] in again.stderr


def test_ports_in_use_are_named(place: Place, tmp_path: Path) -> None:
    other = Place(tmp_path, {**place.environment, "LOCAL_STATE_DIR": str(tmp_path / "state")})

    refused = other.up("run")

    assert refused.returncode == 1
    assert f"GATEWAY_PORT={place.environment['GATEWAY_PORT']}" in refused.stderr


def test_sourcing_the_file_for_scripts_does_not_change_the_next_start(place: Place) -> None:
    values = place.stack_env()

    stack = Stack({**place.environment, **values})

    assert stack.cluster is not None
    assert stack.own_converter
    assert stack.database_url == values["DATABASE_URL"]


@pytest.mark.parametrize(
    ("given", "recovers"),
    [
        ({}, False),
        ({"DEMO": "0"}, False),
        ({"DEMO": "1"}, True),
        ({"DEMO": "1", "CRASH_RECOVERY_ENABLED": "false"}, False),
        ({"CRASH_RECOVERY_ENABLED": "true"}, True),
    ],
)
def test_the_demo_recovers_what_crashes_unless_told_not_to(
    given: dict[str, str], recovers: bool, tmp_path: Path
) -> None:
    stack = Stack({"LOCAL_STATE_DIR": str(tmp_path / "state"), **given})
    stack.layout.prepare()

    assert load(stack.environment())["CRASH_RECOVERY_ENABLED"] is recovers
    assert stack.config["CRASH_RECOVERY_ENABLED"] is recovers


def test_the_secret_at_the_sign_in_service_is_given_to_the_api_function_alone(tmp_path: Path) -> None:
    given = {"LOCAL_STATE_DIR": str(tmp_path / "state"), "SSO_CLIENT_SECRET": "of a client"}
    stack = Stack({**given, "DATABASE_URL": "postgresql://signage@127.0.0.1:9/signage"})
    stack.layout.prepare()

    told = {
        service.name
        for service in (*stack.foundation(), *stack.middle(), *stack.front())
        if "of a client" in (service.environment or {}).values()
    }

    assert told == {"api"}


def test_nothing_stays_after_a_kill_and_the_next_start_has_all_the_data(place: Place) -> None:
    """The last test of the shared stack. At the next start only conversions are unavailable."""
    assert place.process is not None
    display = str(uuid.uuid4())
    assert place.call("POST", f"/api/clients/{display}/enrolment")[0] == 201
    code_until = place.get(f"/api/clients/{display}")[1]["code_until"]
    first, tree = place.stack_env(), processes_of(place.process)
    (runner,) = [pid for pid, parent in guardian.parents().items() if parent == place.process.pid]

    os.kill(runner, signal.SIGKILL)

    assert place.process.wait(STOP_SECONDS) == 128 + signal.SIGKILL
    assert alive(tree) == set()
    assert place.up("status").returncode == 3
    without_a_sandbox(place)
    with place.running() as process:
        assert place.stack_env() == first
        assert place.get(f"/api/clients/{display}")[1]["code_until"] == code_until is not None
        tree = processes_of(process)
        refused = place.up("reset")
        stopped = place.up("stop")

        assert process.wait(STOP_SECONDS) == 0
        assert alive(tree) == set()
    said = (place.folder / "log").read_text()
    assert "presentations are not converted on this machine" in said
    assert "no namespaces here" in said
    assert "CONVERTER_ALLOW_UNSANDBOXED=1" in said
    assert (refused.returncode, stopped.returncode) == (1, 0)
    assert "Nothing was deleted" in refused.stdout
    assert place.up("reset", FORCE="1").returncode == 0
    assert not place.state.exists()


def without_a_sandbox(place: Place) -> None:
    """From now on start it as in a container that may not create namespaces."""
    broken = place.folder / "bin" / "bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'no namespaces here' >&2; exit 1\n")
    broken.chmod(0o755)
    place.environment["PATH"] = f"{broken.parent}:{place.environment['PATH']}"
