"""The demo fleet as a process, enrolled at the real API and connected to the real broker."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from sqlalchemy import Engine
from werkzeug.serving import make_server

from deploy.parts.broker import RunningBroker
from deploy.parts.layout import REPOSITORY
from displays.client.credentials import Credentials
from displays.simulated.behaviours import Role as Display
from displays.simulated.behaviours import cast
from displays.simulated.enrolment import Enroller, EnrolmentRefused
from functions.api.app import create_app
from functions.api.services import Services
from shared import config
from shared.access import operations as access
from shared.postgres import door
from shared.vocabulary import Role

FLEET = cast(3, 1, 5)


@pytest.fixture(scope="module")
def admin_token(engine: Engine) -> str:
    with door.transaction(engine) as connection:
        return access.issue_token(connection, door.database_now(connection), "demo", Role.ADMIN, "tests", None)[1]


@pytest.fixture(scope="module")
def api_url(engine: Engine, database_url: str, broker: RunningBroker) -> Iterator[str]:
    environ = {"DATABASE_URL": database_url, "DISPLAYS_MQTT_URL": broker.broker.displays_url}
    app = create_app(Services(config.load(environ), engine))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def enroller(api_url: str, admin_token: str, tmp_path: Path) -> Iterator[Enroller]:
    opened = Enroller(api_url, admin_token, tmp_path / "demo", None)
    yield opened
    opened.close()


def client(api_url: str, token: str, display: Display) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}"}
    answer = requests.get(f"{api_url}/api/clients/{display.uuid}", headers=headers, timeout=60)
    answer.raise_for_status()
    body: dict[str, Any] = answer.json()
    return body


def until(condition: Callable[[], Any], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_a_display_is_enrolled_once_with_its_name_and_place(
    enroller: Enroller, api_url: str, admin_token: str, tmp_path: Path
) -> None:
    first = enroller.credentials_for(FLEET[0])
    again = enroller.credentials_for(FLEET[0])

    assert first == again
    assert first.username == FLEET[0].uuid
    stored = client(api_url, admin_token, FLEET[0])
    assert (stored["name"], stored["site"]) == (FLEET[0].name, FLEET[0].site)
    assert sorted(stored["tags"]) == sorted(FLEET[0].tags)
    assert (tmp_path / "demo").stat().st_mode & 0o777 == 0o700


def test_a_login_for_a_database_that_has_forgotten_it_is_replaced(enroller: Enroller, tmp_path: Path) -> None:
    stranger = cast(1, 99, 5)[0]
    stale = Credentials(stranger.uuid, stranger.uuid, "from another life", "127.0.0.1", 1, False, None, "signage")
    path = tmp_path / "demo" / stranger.uuid / "credentials.json"
    path.parent.mkdir(parents=True)
    stale.save(path)

    assert enroller.credentials_for(stranger).password != "from another life"


def test_a_damaged_login_file_is_replaced(enroller: Enroller, tmp_path: Path) -> None:
    before = enroller.credentials_for(FLEET[0])
    (tmp_path / "demo" / FLEET[0].uuid / "credentials.json").write_bytes(b'{"uuid": ')

    assert enroller.credentials_for(FLEET[0]).password != before.password


def test_a_caller_who_may_not_enrol_is_told_what_the_service_says(api_url: str, tmp_path: Path) -> None:
    enroller = Enroller(api_url, "not-a-token", tmp_path / "demo", None)

    with pytest.raises(EnrolmentRefused, match="401"):
        enroller.credentials_for(FLEET[0])
    enroller.close()


@contextmanager
def fleet_process(api_url: str, admin_token: str, state: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the fleet as `make run DEMO=1` starts it; end it by SIGTERM."""
    settings = {
        "LOCAL_STATE_DIR": str(state),
        "SIGNAGE_API_URL": api_url,
        "SIGNAGE_ADMIN_TOKEN": admin_token,
        "DEMO_DISPLAYS": str(len(FLEET)),
        "DEMO_HEARTBEAT_SECONDS": "5",
    }
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [sys.executable, "-m", "displays.simulated"], cwd=REPOSITORY, env=os.environ | settings, stderr=lines
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def events(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def logins(state: Path) -> dict[str, str]:
    stored = [Credentials.load(path) for path in state.glob("demo/*/credentials.json")]
    return {credentials.username: credentials.password for credentials in stored}


def boots(state: Path) -> list[int]:
    return sorted(json.loads(path.read_bytes())["boot_seq"] for path in state.glob("demo/*/installation.json"))


def test_the_fleet_enrols_connects_as_soon_as_it_may_and_reuses_its_logins(
    api_url: str, admin_token: str, broker: RunningBroker, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with fleet_process(api_url, admin_token, tmp_path, log):
        until(lambda: any(line["event"] == "fleet_started" for line in events(log)))
        until(lambda: any(line["event"] == "connect_retry" for line in events(log)))
        before = logins(tmp_path)
        broker.set_displays(before)
        until(lambda: online(broker) >= set(before))

    assert set(before) == {display.uuid for display in FLEET}
    refusals = [line["why"] for line in events(log) if line["event"] == "connect_retry"]
    assert all("Not authorized" in why for why in refusals)
    assert online(broker).isdisjoint(before)  # SIGTERM: every display has published offline

    with fleet_process(api_url, admin_token, tmp_path, log):
        until(lambda: online(broker) >= set(before))

    assert logins(tmp_path) == before
    assert boots(tmp_path) == [2, 2, 2]


def online(broker: RunningBroker) -> set[str]:
    """Return the displays whose retained presence is online, read with the bridge's login."""
    command = [
        "mosquitto_sub", "-V", "5", "-h", "127.0.0.1", "-p", str(broker.broker.services_port),
        "-u", "bridge", "-P", broker.passwords["bridge"], "-t", "signage/+/presence", "-W", "1", "-F", "%t %p",
    ]  # fmt: skip
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    states = {line.split(" ", 1)[0].split("/")[1]: json.loads(line.split(" ", 1)[1])["state"] for line in lines}
    return {identity for identity, state in states.items() if state == "online"}
