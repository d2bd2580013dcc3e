"""The package of the agent, as it is built here and as somebody downloads it."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from deploy.parts import display_package as package
from tests.displays.machines import Machine
from tests.stack import Stack


def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    package.build(tmp_path / "one")
    os.utime(package.AGENT / "agent.py")  # as another checkout would have it
    package.build(tmp_path / "two")

    first, second = ((tmp_path / name / "signage-display.deb").read_bytes() for name in ("one", "two"))
    assert hashlib.sha256(first).hexdigest() == hashlib.sha256(second).hexdigest()
    assert (tmp_path / "one" / "install.sh").read_bytes() == (tmp_path / "two" / "install.sh").read_bytes()


def test_it_carries_what_the_agent_imports_and_nothing_else(tmp_path: Path) -> None:
    package.build(tmp_path)

    listed = subprocess.run(
        ["dpkg-deb", "--contents", str(tmp_path / "signage-display.deb")], check=True, capture_output=True, text=True
    ).stdout
    files = {line.split()[5].removeprefix("./") for line in listed.splitlines() if not line.endswith("/")}
    python = {name.removeprefix(f"{package.LIBRARY}/") for name in files if name.endswith(".py")}
    ours = {name for name in python if not name.startswith("paho/")}
    assert {name.split("/")[0] for name in ours} == {"deploy", "shared"}
    assert {name for name in ours if name.startswith("shared/")} == {"shared/__init__.py", "shared/structured_log.py"}
    assert not {name for name in ours if "simulated" in name or "conformance" in name}
    assert "root/root" in listed.splitlines()[0]


def test_a_module_that_no_display_has_stops_the_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "deploy" / "displays" / "agent"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text("import sqlalchemy\n")
    monkeypatch.setattr(package, "REPOSITORY", tmp_path)
    monkeypatch.setattr(package, "AGENT", folder)

    with pytest.raises(package.Unbuildable, match="sqlalchemy"):
        package.modules()


def test_the_command_names_the_file_by_its_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert package.main([str(tmp_path)]) == 0

    made = tmp_path / f"signage-display_{package.version()}_all.deb"
    assert capsys.readouterr().out.strip() == str(made)
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    assert f"{digest}  {made.name}" in (tmp_path / "SHA256SUMS").read_text().splitlines()


def test_an_installer_installs_no_other_package_than_its_own(bare: Machine, stack: Stack) -> None:
    url = stack.api().url
    spoil = 'sed \'s/^    echo "[0-9a-f]*/    echo "' + "0" * 64 + "/'"

    done = bare.try_to("sh", "-c", f"curl -fsS {url}/display/install.sh | {spoil} | sh -s -- {url} CODE")

    assert done.returncode == 1
    assert "the package is not the one this installer is for" in done.stderr


def test_an_installer_that_was_cut_off_does_nothing(bare: Machine, stack: Stack) -> None:
    url = stack.api().url

    done = bare.try_to("sh", "-c", f"curl -fsS {url}/display/install.sh | head -n -1 | sh -s -- {url} CODE")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_code_that_is_refused_leaves_the_agent_off_and_says_why(bare: Machine, stack: Stack) -> None:
    url = stack.api().url

    done = bare.try_to("sh", "-c", f"curl -fsS {url}/display/install.sh | sh -s -- {url} WRONG-CODE")

    assert done.returncode == 1
    assert "signage-display: The service refuses the code:" in done.stderr
    assert bare.shown("signage-display.service", "ActiveState") == "inactive"
