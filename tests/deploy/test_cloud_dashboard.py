"""The dashboard's container in the cloud: nginx alone, with plain HTTP behind a load balancer."""

import http.client
import subprocess
import sys
from pathlib import Path

from deploy.parts.gateway import system_user
from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import accepts, free_port
from deploy.parts.short_lived import running

PROGRAM = (sys.executable, "-m", "deploy.box.dashboard")


def ask(port: int, address: str, host: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(address, port, timeout=60)
    try:
        connection.request("GET", "/", headers={"Host": host})
        answer = connection.getresponse()
        answer.read()
        return answer
    finally:
        connection.close()


def test_it_serves_its_name_alone_at_every_address_and_leaves_tls_to_the_balancer(tmp_path: Path) -> None:
    port = free_port()
    environment = {"DASHBOARD_HOST": "signage.test", "PORT": str(port), "PYTHONPATH": str(REPOSITORY)}

    with running(PROGRAM, accepts(port), tmp_path / "log", user=system_user(), environment=environment):
        page = ask(port, "127.0.0.2", "signage.test")  # another address of this machine
        foreign = ask(port, LOOPBACK, "elsewhere.test")

    assert page.status == 200
    assert "script-src 'self'" in str(page.headers["Content-Security-Policy"])
    assert "Strict-Transport-Security" not in page.headers
    assert foreign.status == 421


def test_without_a_name_it_does_not_start() -> None:
    environment = {"PATH": "/usr/bin:/usr/sbin", "PYTHONPATH": str(REPOSITORY)}

    ended = subprocess.run(PROGRAM, env=environment, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr[:26]) == (2, "DASHBOARD_HOST is not set ")
