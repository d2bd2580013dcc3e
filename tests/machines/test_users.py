"""What root hands to a user without power, and what an ordinary user can start."""

import http.client
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local import postgres
from deploy.parts import gateway as nginx
from deploy.parts import guardian
from deploy.parts.gateway import Gateway
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port, wait_until
from tests.local.test_up import place_in, processes_of
from tests.machines.people import as_ordinary_user, ordinary_python, process_owner
from tests.worker import decks
from tests.worker.harness import converter
from tests.worker.test_converter import pages_of


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder for an ordinary user, outside of pytest's folder, which each session closes to other users."""
    with tempfile.TemporaryDirectory(prefix="signage-nobody-") as folder:
        yield Path(folder)


@pytest.mark.parametrize("namespaces", ["0", "1"])
def test_a_program_with_a_user_has_no_power_of_root(namespaces: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_USER_NAMESPACES", namespaces)
    command = ["cat", "/proc/self/status"]

    launched = guardian.launch(command, signal.SIGTERM, postgres.system_user())
    said = subprocess.run(launched, check=True, capture_output=True, text=True).stdout

    status = dict(line.split(":\t", 1) for line in said.splitlines() if ":\t" in line)
    read_and_search = f"{1 << 2:016x}"  # CAP_DAC_READ_SEARCH, to reach its own files below root's folders
    assert "0" not in status["Uid"].split()
    assert status["CapEff"] == ("0" * 16 if namespaces == "1" else read_and_search)


def test_without_user_namespaces_root_hands_postgres_to_a_system_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_USER_NAMESPACES", "0")

    with postgres.throw_away() as cluster, postgres.superuser(cluster) as connection:
        connection.run("CREATE TABLE written AS SELECT 1 AS one")
        assert process_owner(cluster.data / "postmaster.pid") == postgres.system_user()


def test_without_user_namespaces_root_hands_the_gateway_to_a_system_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_USER_NAMESPACES", "0")
    dashboard = tmp_path / "dashboard"
    dashboard.mkdir()
    (dashboard / "index.html").write_text("<!doctype html>")
    gateway = Gateway(tmp_path / "run", free_port(), free_port(), dashboard=dashboard)

    with nginx.serve(gateway, tmp_path / "log") as server:
        owner = Path(f"/proc/{server.pid}").owner()
        connection = http.client.HTTPConnection(LOOPBACK, gateway.port, timeout=60)
        connection.request("GET", "/")
        status = connection.getresponse().status
        connection.close()

    assert status == 200
    assert owner == nginx.system_user()


def test_an_ordinary_user_can_start_postgres() -> None:
    program = (
        "from deploy.local import postgres\n"
        "with postgres.throw_away() as cluster, postgres.superuser(cluster) as connection:\n"
        "    print(connection.run('SELECT 6 * 7'))\n"
    )

    said = subprocess.run(as_ordinary_user([sys.executable, "-c", program]), check=True, capture_output=True, text=True)

    assert said.stdout == "[[42]]\n"


def test_an_ordinary_user_can_start_the_converter(home: Path, tmp_path: Path) -> None:
    decks.make_pptx(tmp_path / "deck.pptx", 4, hidden=1)

    with converter(home / "state", python=ordinary_python(home)) as running:
        wait_until(lambda: bool(running.offices()), 60)
        pid = running.offices().pop()
        assert Path(f"/proc/{pid}").stat().st_uid != 0
        assert pages_of(running.convert(tmp_path / "deck.pptx")) == 3


def test_an_ordinary_user_can_start_everything(home: Path) -> None:
    place = place_in(home, ordinary_python(home))

    with place.running() as process:
        owners = {Path(f"/proc/{pid}").owner() for pid in processes_of(process)}

        assert place.get("/api/clients")[0] == 200
        assert owners == {"nobody"}
