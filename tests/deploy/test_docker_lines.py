"""The conditions under which the guides' commands for a box with Docker work."""

import subprocess
from pathlib import Path

from deploy.parts.layout import REPOSITORY
from tests.deploy.confined import COMPOSE, DOCKER, copied
from tests.lab.campaigns.guides import backup_lines, restore_lines


def test_a_restore_waits_for_postgres_by_a_command_that_does() -> None:
    """`up --wait` fails for a container that ends, as `setup` does. `run` waits for what its service depends on."""
    [line] = [line for line in restore_lines("Docker").splitlines() if " docker compose run " in line]
    ran = line.split()[line.split().index("--rm") + 1]

    assert COMPOSE["services"][ran]["depends_on"]["postgres"] == {"condition": "service_healthy"}


def test_a_dump_is_closed_to_others_and_stays_out_of_the_checkout(tmp_path: Path) -> None:
    """Runs the guide's command, with a fake docker that dumps one word."""
    backup, checkout = tmp_path / "backup", tmp_path / "checkout"
    for folder in (backup, checkout):
        folder.mkdir()
    (tmp_path / "docker").write_text("#!/bin/sh\necho dumped\n", encoding="utf-8")
    (tmp_path / "docker").chmod(0o755)
    line = backup_lines("Docker")[0].replace("/backup", str(backup))

    subprocess.run(
        ["sh", "-c", f"umask 022; {line}"], check=True, cwd=checkout, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}
    )

    assert {file.name: oct(file.stat().st_mode & 0o777) for file in backup.iterdir()} == {"signage.dump": "0o600"}
    assert list(checkout.iterdir()) == []


def test_each_container_has_processes_of_its_own() -> None:
    """A container that joins another one's namespace may fail after a start of the engine, which uses any order."""
    assert [name for name, service in COMPOSE["services"].items() if "pid" in service] == []


def test_compose_fills_in_its_variables_from_the_one_file_of_settings() -> None:
    """It reads `.env`, and each container reads signage.env. In a folder without checkout only pins need that link."""
    assert (DOCKER / ".env").readlink() == Path("signage.env")


def test_a_build_asks_no_registry_for_a_frontend() -> None:
    comments = [line for line in (DOCKER / "Dockerfile").read_text(encoding="utf-8").splitlines() if line[:1] == "#"]

    assert [line for line in comments if "syntax" in line.partition("=")[0]] == []


def test_no_image_holds_tests() -> None:
    left_out = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    found = (folder for source in copied() for folder in (REPOSITORY / source).rglob("tests"))
    of_tests = {str(one.relative_to(REPOSITORY)) for one in found if "node_modules" not in one.parts}

    assert "dashboard/tests" in of_tests
    assert of_tests <= set(left_out)
