"""A whole box, each service confined as in compose.yaml, used from outside through its two doors only."""

import http.client
import json
import secrets
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from deploy.local import postgres
from deploy.parts.components import PORTS
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import accepts, http_answers, wait_until
from deploy.parts.short_lived import running
from shared.outside import tls
from tests.deploy.certificates import Authority
from tests.deploy.confined import Containers
from tests.deploy.conftest import HOST
from tests.deploy.test_box import connect_by_tls
from tests.stack import START_SECONDS, free_ports

# All but the converter and its worker.
OURS = ("broker-accounts", "task-queue", "api", "scheduler-tick", "ticker", "bridge")
SERVICES = ("broker", *OURS, "browsers-door", "gateway")
FIELDS = {"time", "severity", "message"}


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """A CA that only this test trusts."""
    return Authority(tmp_path)


@pytest.fixture
def own_database_url(postgres_server: postgres.Cluster, database_url: str) -> Iterator[str]:
    """Return the module's database URL with a login whose password box mode accepts."""
    role, password = "whole_box", secrets.token_urlsafe(24)
    with postgres.superuser(postgres_server) as connection:
        connection.run(f"CREATE ROLE {role} LOGIN CREATEROLE PASSWORD '{password}' IN ROLE {postgres.OWNER}")
    yield postgres_server.url(database_url.rpartition("/")[2], role, password)
    with postgres.superuser(postgres_server) as connection:
        connection.run(f"ALTER ROLE {role} NOLOGIN")


@dataclass(frozen=True)
class Running:
    """A running box: its ports by the variables that set them, and its secrets."""

    ports: Mapping[str, int]
    secrets: Path


@pytest.fixture
def containers(authority: Authority, tmp_path: Path) -> Containers:
    """What docs/deploying.md tells people to create before the first start."""
    made = Containers(tmp_path / "docker", {"BOX_HOST": HOST, "DISPLAYS_CA_FILE": "/etc/signage/ca/ca.pem"})
    made.prepare()
    for file, name in zip(authority.sign(HOST), ("certificate.pem", "key.pem"), strict=True):
        copy(file, made.folder / "certificates" / name)
    copy(authority.ca_file, made.folder / "ca" / "ca.pem")
    return made


@pytest.fixture
def box(own_database_url: str, containers: Containers, tmp_path: Path) -> Iterator[Running]:
    """Set up, migrate and run a box with a Postgres that is not the box's own."""
    ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
    changed = {name: str(port) for name, port in ports.items()}
    changed |= {"BOX_LISTEN": LOOPBACK, "TICK_SECONDS": "1"}
    made = Running(ports, containers.folder / "secrets")
    with ExitStack() as stack:
        for once in ("setup", "migrations", "first-admin"):
            subprocess.run(containers.command(once, changed | {"DATABASE_URL": own_database_url}), check=True)
        for name in SERVICES:  # all at the same time: each waits for what it needs
            command = containers.command(name, changed)
            stack.enter_context(running(command, lambda: True, tmp_path / f"{name}.log"))
        wait_until(accepts(ports["GATEWAY_PORT"]), START_SECONDS)
        wait_until(http_answers(ports["BRIDGE_HEALTH_PORT"], "/readyz", 200), START_SECONDS)
        yield made


def ask(
    box: Running, authority: Authority, method: str, path: str, token: str = "", body: Any = None
) -> tuple[int, Any]:
    """Return the gateway's answer to a program that trusts the box's CA."""
    context = tls.trusting(authority.ca_file.read_text(encoding="ascii"))
    connection = http.client.HTTPSConnection(LOOPBACK, box.ports["GATEWAY_PORT"], timeout=60, context=context)
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
    """Return everything that a process of ours logged, with its server and libraries: each line is a JSON object."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert lines, log.name
    return lines


@pytest.mark.slow
def test_a_box_is_ready_and_a_display_enrols_and_connects_by_its_doors(
    box: Running, authority: Authority, tmp_path: Path
) -> None:
    token = (box.secrets / "admin_token").read_text(encoding="utf-8").strip()
    display = str(uuid.uuid4())
    wait_until(lambda: ask(box, authority, "GET", "/api/health/ready")[0] == 200, START_SECONDS)

    assert ask(box, authority, "GET", "/api/clients")[0] == 401
    made, code = ask(box, authority, "POST", f"/api/clients/{display}/enrolment", token, {})
    enrolled, login = ask(box, authority, "POST", "/api/enroll", body={"code": code["code"]})

    assert (made, enrolled) == (201, 201)
    mqtt = login["mqtt"]
    assert (mqtt["host"], mqtt["port"], mqtt["tls"]) == (HOST, box.ports["MQTT_DISPLAYS_PORT"], True)
    handed_over = tls.trusting(mqtt["ca_pem"])
    who = (handed_over, login["username"], login["password"])
    wait_until(lambda: connect_by_tls(mqtt["port"], *who) == 0, START_SECONDS)
    assert connect_by_tls(box.ports["GATEWAY_PORT"], *who, "/mqtt") == 0, "a display that is only a browser"
    assert [line for name in OURS for line in logged(tmp_path / f"{name}.log") if not set(line) >= FIELDS] == []
