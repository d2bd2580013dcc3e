"""The campaign on the Docker box without an engine: the commands that it reads in the guides, and its messages."""

import pytest

from tests.lab.campaigns import docker
from tests.lab.campaigns.__main__ import main
from tests.lab.campaigns.docker_box import INSIDE, STAY, set_up_lines, unit
from tests.lab.campaigns.guides import backup_lines, restore_lines


def test_the_lines_of_the_guides_are_all_that_a_box_needs() -> None:
    set_up, backup, restore = set_up_lines(), backup_lines("Docker"), restore_lines("Docker")

    lines = [line.split("  #")[0].strip() for line in set_up.splitlines()]
    assert lines[0] == "printf 'BOX_HOST=signage.example.com\\n' > signage.env"
    assert lines[-4:-1] == [
        "echo COMPOSE_FILE=compose.yaml:build.yaml >> signage.env",
        *("docker compose build", "docker compose up --detach"),
    ]
    assert "systemctl" not in set_up + restore
    assert ["pg_dump" in backup[0], "signage_media:/from" in backup[1], "cp -a secrets" in backup[2]] == [True] * 3
    assert restore.startswith("# Docker\ndocker compose down")
    assert restore.rstrip().endswith("docker compose up --detach")
    assert "pg_restore" in restore


def test_what_the_unit_runs_is_run() -> None:
    assert unit("ExecStart") == "docker compose up --detach"
    assert float(unit("RestartSec")) == 10


def test_all_that_is_to_stay_is_killed_and_looked_for() -> None:
    assert {"net", "postgres", "broker", "gateway", "api", "gotenberg"} <= STAY
    assert {"net", "gotenberg"} == STAY - INSIDE


def test_without_an_engine_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")

    with pytest.raises(SystemExit):
        main(["docker"])

    assert docker.engine() is None
    assert "docker and trial where an engine answers" in capsys.readouterr().err
