"""A whole box, each service started as systemd and Docker start it, used from outside by its two doors alone."""

import http.client
import json
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
from deploy.local.probes import Probe, accepts, http_answers, wait_until
from deploy.local.short_lived import running
from tests.deploy.certificates import Authority
from tests.deploy.conftest import HOST
from tests.deploy.test_box import become, connect_by_tls

SERVICES = {  # all but the converter, and the port at which each is there
    "broker": "MQTT_DISPLAYS_PORT",
    "task-queue": "TASK_QUEUE_PORT",
    "api": "API_PORT",
    "convert-worker": "CONVERT_WORKER_PORT",
    "scheduler-tick": "SCHEDULER_TICK_PORT",
    "broker-accounts": "",
    "ticker": "",
    "bridge": "BRIDGE_HEALTH_PORT",
    "gateway": "GATEWAY_PORT",
}


def is_there(box: Box, name: str, port: str) -> Probe:
    if name == "bridge":
        return http_answers(box.ports[port], "/readyz", 200)
    return accepts(box.ports[port]) if port else lambda: True


@pytest.fixture
def box(environ: dict[str, str], authority: Authority, tmp_path: Path) -> Iterator[Box]:
    """Set up, migrated and running, with a Postgres that is not the box's own."""
    told = {**environ, "DISPLAYS_CA_FILE": str(authority.ca_file), "TICK_SECONDS": "1", "PYTHONPATH": str(REPOSITORY)}
    with postgres.throw_away() as cluster, ExitStack() as stack:
        made = Box(told)
        set_up(made, postgres.ensure_database(cluster, "owner-of-the-database"))
        for once in ("migrations", "first-admin"):
            subprocess.run(become(once), env={**told, "PATH": "/usr/bin:/bin"}, cwd=REPOSITORY, check=True)
        for name, port in SERVICES.items():
            log, user = tmp_path / f"{name}.log", mosquitto.system_user()
            stack.enter_context(running(become(name), is_there(made, name, port), log, user=user, environment=told))
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


@pytest.mark.slow
def test_a_box_is_ready_and_a_display_enrols_and_connects_by_its_doors(box: Box, authority: Authority) -> None:
    token = (box.layout.secrets / "admin_token").read_text(encoding="utf-8").strip()
    display = str(uuid.uuid4())
    wait_until(lambda: ask(box, authority, "GET", "/api/health/ready")[0] == 200, 30)

    assert ask(box, authority, "GET", "/api/clients")[0] == 401
    made, code = ask(box, authority, "POST", f"/api/clients/{display}/enrolment", token, {})
    enrolled, login = ask(box, authority, "POST", "/api/enroll", body={"code": code["code"]})

    assert (made, enrolled) == (201, 201)
    mqtt = login["mqtt"]
    assert (mqtt["host"], mqtt["port"], mqtt["tls"]) == (HOST, box.ports["MQTT_DISPLAYS_PORT"], True)
    handed_over = ssl.create_default_context(cadata=mqtt["ca_pem"])
    wait_until(lambda: connect_by_tls(mqtt["port"], handed_over, login["username"], login["password"]) == 0, 10)
