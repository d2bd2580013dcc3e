"""The package of the agent, as it is built here. tests/machines/displays/test_installer.py installs it."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.parts import display_package as package
from deploy.parts.layout import REPOSITORY
from shared.version import version


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
    ours = {name for name in python if name.split("/")[0] not in package.VENDORED}
    assert {name.split("/")[0] for name in ours} == {"displays", "shared"}
    assert {name for name in ours if name.startswith("shared/")} == {
        *("shared/__init__.py", "shared/structured_log.py"),
        *("shared/outside/__init__.py", "shared/outside/tls.py"),
    }
    assert {"paho/mqtt/client.py", "jeepney/io/asyncio.py"} <= python - ours
    assert not {name for name in python if "simulated" in name or "conformance" in name or "tests" in name}
    assert "root/root" in listed.splitlines()[0]


def test_a_module_that_no_display_has_stops_the_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "displays" / "agent"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text("import sqlalchemy\n")
    monkeypatch.setattr(package, "REPOSITORY", tmp_path)
    monkeypatch.setattr(package, "AGENT", folder)

    with pytest.raises(package.Unbuildable, match="sqlalchemy"):
        package.modules()


def test_the_command_names_the_file_by_its_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert package.main([str(tmp_path)]) == 0

    made = tmp_path / f"signage-display_{version()}_all.deb"
    assert capsys.readouterr().out.strip() == str(made)
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    assert f"{digest}  {made.name}" in (tmp_path / "SHA256SUMS").read_text().splitlines()


SPARES = """
import sys
from displays.agent.__main__ import spare_memory
spare_memory()
assert "localhost".encode("idna") == b"localhost"
from displays.agent import glass, heal, journald_reader, machine
from displays.client import client, link, screenshots
heavy = {"unicodedata", "stringprep", "http.client", "email", "argparse"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
assert "b\\u00fccher.example".encode("idna") == b"xn--bcher-kva.example"
"""


def test_the_agent_loads_no_module_that_hardly_a_display_needs() -> None:
    """Its memory has a limit of 30 MB on Debian 13; these take 2 MB. A host's name beyond ASCII still works."""
    done = subprocess.run([sys.executable, "-c", SPARES], check=False, capture_output=True, text=True, cwd=REPOSITORY)

    assert done.returncode == 0, done.stderr
