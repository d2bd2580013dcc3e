"""`make run MQTT_URL=…`: the stack on a broker that somebody else runs."""

import re
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from deploy.local.stack import Stack
from deploy.parts import broker as mosquitto
from deploy.parts.layout import LOOPBACK, PORTS, REPOSITORY, BadSetting, Layout, layout_from, read_stack_env
from deploy.parts.probes import free_port, http_answers, wait_until
from tests.stack import free_ports

THEIRS = {"MQTT_URL": "mqtt://127.0.0.1:5001", "DISPLAYS_MQTT_HOST": "broker.example.com", "DISPLAYS_MQTT_PORT": "5002"}
START_SECONDS = 600


def test_another_broker_takes_the_place_of_ours(tmp_path: Path) -> None:
    stack = Stack({**THEIRS, "LOCAL_STATE_DIR": str(tmp_path / "state"), "DISPLAYS_MQTT_TLS": "true"})
    stack.layout.prepare()
    stack.prepare()

    names = {one.name for wave in (stack.foundation(), stack.middle(), stack.front()) for one in wave}
    told = stack.environment()

    assert names & {"broker", "broker-accounts", "browsers-door"} == set()
    assert {"broker-logins", "bridge", "api", "postgres"} <= names
    assert {name: told[name] for name in THEIRS} == THEIRS
    assert told["DISPLAYS_MQTT_TLS"] == "true"
    assert stack.displays_url == "mqtts://broker.example.com:5002"
    assert not {"MQTT_DISPLAYS_PORT", "MQTT_SERVICES_PORT", "MQTT_BROWSERS_PORT"} & set(stack.used_ports())
    assert not stack.broker.configuration.exists()
    users = [line.partition(":")[0] for line in stack.broker.services_password_file.read_text().splitlines()]
    assert sorted(users) == ["api", "bridge", "bridge_urgent", "scheduler"]


def test_without_it_our_own_broker_is_started(tmp_path: Path) -> None:
    stack = Stack({"LOCAL_STATE_DIR": str(tmp_path / "state")})
    stack.layout.prepare()

    assert stack.foreign_broker == {}
    assert "BROKER_LOGINS_PORT" not in stack.used_ports()
    assert stack.environment()["MQTT_URL"] == stack.broker.services_url


@pytest.mark.parametrize("given", [["MQTT_URL"], ["DISPLAYS_MQTT_PORT"], ["MQTT_URL", "DISPLAYS_MQTT_HOST"]])
def test_half_of_it_is_refused_by_name(given: list[str], tmp_path: Path) -> None:
    stack = Stack({**{name: THEIRS[name] for name in given}, "LOCAL_STATE_DIR": str(tmp_path / "state")})
    stack.layout.prepare()

    with pytest.raises(BadSetting) as refused:
        stack.used_ports()

    assert str(refused.value).startswith(", ".join(name for name in THEIRS if name not in given))


def test_the_whole_stack_runs_on_a_broker_that_it_did_not_start() -> None:
    with tempfile.TemporaryDirectory(prefix="signage-foreign-") as folder:
        state = Path(folder) / "state"
        layout = layout_from({"LOCAL_STATE_DIR": str(state)})
        layout.prepare()
        layout.lock.touch()
        passwords = {user: layout.secret(f"mqtt_{user}_password") for user in mosquitto.SERVICES}
        theirs = Path(folder) / "theirs"
        place = mosquitto.Broker(theirs / "run", theirs / "data", free_port(), free_port())
        Path(folder).chmod(0o755)
        with mosquitto.serve(place, passwords, Path(folder) / "broker.log"):
            _run_and_stop(layout, place)


def _run_and_stop(layout: Layout, place: mosquitto.Broker) -> None:
    ports = {name: str(port) for name, port in zip(PORTS, free_ports(len(PORTS)), strict=True)}
    told = {
        "PATH": "/usr/bin:/usr/sbin:/bin",
        "LOCAL_STATE_DIR": str(layout.root),
        **ports,
        "MQTT_URL": place.services_url,
        "DISPLAYS_MQTT_HOST": LOOPBACK,
        "DISPLAYS_MQTT_PORT": str(place.displays_port),
    }
    log = layout.root.parent / f"log-{secrets.token_hex(3)}"
    with log.open("wb") as output:
        command = [sys.executable, "-m", "deploy.local.up", "run"]
        stack = subprocess.Popen(command, cwd=REPOSITORY, env=told, stdout=output, stderr=output)
    try:
        said = re.compile("  first sign-in .*\n")
        wait_until(lambda: said.search(log.read_text()) is not None or stack.poll() is not None, START_SECONDS)
        assert stack.poll() is None, log.read_text()
        assert http_answers(int(ports["BRIDGE_HEALTH_PORT"]), "/readyz", 200)()
        assert http_answers(int(ports["BROKER_LOGINS_PORT"]), "/readyz", 200)()
        assert read_stack_env(layout.stack_env)["SIGNAGE_MQTT_URL"] == place.displays_url
    finally:
        stack.terminate()
        stack.wait(120)
    assert stack.returncode == 0
