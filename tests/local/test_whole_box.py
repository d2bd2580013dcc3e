"""A whole box, each service started as systemd and Docker start it, used from outside by its two doors alone."""

import http.client
import json
import secrets
import ssl
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from deploy.box.box import Box
from deploy.box.setup import set_up
from deploy.local import broker as mosquitto
from deploy.local import postgres
from deploy.local.layout import LOOPBACK, REPOSITORY
from deploy.local.probes import accepts, http_answers, wait_until
from deploy.local.short_lived import running
from tests.deploy.certificates import Authority
from tests.deploy.conftest import HOST, what_a_box_is_told
from tests.deploy.test_box import become, connect_by_tls

# All but the converter and its worker.
OURS = ("broker-accounts", "task-queue", "api", "scheduler-tick", "ticker", "bridge")
SERVICES = ("broker", *OURS, "gateway")
FIELDS = {"time", "severity", "message"}


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """A CA that nobody else trusts."""
    return Authority(tmp_path)


@pytest.fixture
def own_database_url(postgres_server: postgres.Cluster, database_url: str) -> Iterator[str]:
    """The module's database by a login with a password that box mode takes for one."""
    role, password = "whole_box", secrets.token_urlsafe(24)
    with postgres.superuser(postgres_server) as connection:
        connection.run(f"CREATE ROLE {role} LOGIN PASSWORD '{password}' IN ROLE {postgres.OWNER}")
    yield postgres_server.url(database_url.rpartition("/")[2], role, password)
    with postgres.superuser(postgres_server) as connection:
        connection.run(f"ALTER ROLE {role} NOLOGIN")


@pytest.fixture
def box(own_database_url: str, authority: Authority, tmp_path: Path) -> Iterator[Box]:
    """Set up, migrated and running, with a Postgres that is not the box's own."""
    told = {
        **what_a_box_is_told(authority, tmp_path),
        "DISPLAYS_CA_FILE": str(authority.ca_file),
        "TICK_SECONDS": "1",
        "PYTHONPATH": str(REPOSITORY),
    }
    made = Box(told)
    set_up(made, own_database_url)
    with ExitStack() as stack:
        for once in ("migrations", "first-admin"):
            subprocess.run(become(once), env={**told, "PATH": "/usr/bin:/bin"}, cwd=REPOSITORY, check=True)
        for name in SERVICES:  # at once, in no order: each waits for what it needs
            log, user = tmp_path / f"{name}.log", mosquitto.system_user()
            stack.enter_context(running(become(name), lambda: True, log, user=user, environment=told))
        wait_until(accepts(made.ports["GATEWAY_PORT"]), 30)
        wait_until(http_answers(made.ports["BRIDGE_HEALTH_PORT"], "/readyz", 200), 60)
        yield made


def ask(box: Box, authority: Authority, method: str, path: str, token: str = "", body: Any = None) -> tuple[int, Any]:
    """The gateway's answer to a program that trusts the box's CA."""
    context = ssl.create_default_context(cafile=authority.ca_file)
    connection = http.client.HTTPSConnection(LOOPBACK, box.ports["GATEWAY_PORT"], timeout=20, context=context)
    headers = {"Host": HOST, "Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def logged(log: Path) -> list[dict[str, Any]]:
    """What a process of ours said from its first line on, its server and libraries too: each line is a JSON object."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert lines, log.name
    return lines


@pytest.mark.slow
def test_a_box_is_ready_and_a_display_enrols_and_connects_by_its_doors(
    box: Box, authority: Authority, tmp_path: Path
) -> None:
    token = (box.layout.secrets / "admin_token").read_text(encoding="utf-8").strip()
    display = str(uuid.uuid4())
    wait_until(lambda: ask(box, authority, "GET", "/api/health/ready")[0] == 200, 60)

    assert ask(box, authority, "GET", "/api/clients")[0] == 401
    made, code = ask(box, authority, "POST", f"/api/clients/{display}/enrolment", token, {})
    enrolled, login = ask(box, authority, "POST", "/api/enroll", body={"code": code["code"]})

    assert (made, enrolled) == (201, 201)
    mqtt = login["mqtt"]
    assert (mqtt["host"], mqtt["port"], mqtt["tls"]) == (HOST, box.ports["MQTT_DISPLAYS_PORT"], True)
    handed_over = ssl.create_default_context(cadata=mqtt["ca_pem"])
    wait_until(lambda: connect_by_tls(mqtt["port"], handed_over, login["username"], login["password"]) == 0, 10)
    assert [line for name in OURS for line in logged(tmp_path / f"{name}.log") if not set(line) >= FIELDS] == []
