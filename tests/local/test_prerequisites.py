"""What `make` does on a machine where a prerequisite is missing."""

import os
import subprocess
from pathlib import Path

import pytest

from deploy.local import prerequisites
from deploy.local.prerequisites import Need
from deploy.parts.layout import REPOSITORY

ABSENT = Need("a-package-that-is-not-there", "a purpose", lambda: False, instead="SOME_URL")
PRESENT = Need("coreutils", "the rest", lambda: True)


@pytest.fixture
def one_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(prerequisites.PURPOSES, "run", (ABSENT, PRESENT))


def test_this_machine_has_what_the_tests_need() -> None:
    assert prerequisites.missing("test") == []


def test_packages_for_what_only_root_can_do_are_needed_by_machines_alone() -> None:
    needed = {name: {need.package for need in needs} for name, needs in prerequisites.PURPOSES.items()}
    for_root = {"debootstrap", "systemd-container", "qemu-system-x86", "iproute2", "nftables"}

    assert for_root <= needed["machines"]
    assert needed["test"] <= needed["machines"]
    assert not for_root & needed["test"]


@pytest.mark.usefixtures("one_missing")
def test_who_may_not_install_is_told_the_exact_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prerequisites, "installer", lambda: None)

    code = prerequisites.ensure("run")

    said = capsys.readouterr().err
    assert code == 2
    assert "sudo apt-get update && sudo apt-get install --no-install-recommends a-package-that-is-not-there\n" in said
    assert "coreutils" not in said
    assert "SOME_URL=..." in said


@pytest.mark.usefixtures("one_missing")
def test_a_service_that_runs_elsewhere_needs_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_URL", "http://192.0.2.1")

    assert prerequisites.ensure("run") == 0


@pytest.mark.usefixtures("one_missing")
def test_who_may_install_does_and_what_then_still_misses_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[list[str], list[str]]] = []
    monkeypatch.setattr(prerequisites, "installer", lambda: ["sudo", "-n"])
    monkeypatch.setattr(prerequisites, "install", lambda names, prefix: asked.append((list(names), prefix)))

    code = prerequisites.ensure("run")

    assert asked == [(["a-package-that-is-not-there"], ["sudo", "-n"])]
    assert code == 2
    assert "still missing" in capsys.readouterr().err


def test_an_ordinary_user_without_sudo_may_not_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "apt-get").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert prerequisites.installer() is None


def test_sudo_that_asks_for_a_password_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "apt-get").touch(mode=0o755)
    (tmp_path / "sudo").write_text('#!/bin/sh\n[ "$1" = -n ] && exit 1\n')
    (tmp_path / "sudo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert prerequisites.installer() is None

    (tmp_path / "sudo").write_text("#!/bin/sh\nexit 0\n")
    assert prerequisites.installer() == ["sudo", "-n"]


def test_it_runs_on_a_bare_python_without_our_packages() -> None:
    script = REPOSITORY / "deploy" / "local" / "prerequisites.py"

    said = subprocess.run(["/usr/bin/python3", "-I", script], check=True, capture_output=True, text=True).stdout

    assert "mosquitto" in said
    assert "postgresql" in said
