"""The package of the agent, as it is built here and as somebody downloads it."""

import hashlib
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.parts import display_package as package
from deploy.parts import gateway as nginx
from deploy.parts.config_file import Certificate, Listener
from deploy.parts.gateway import Gateway
from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import accepts, free_port
from deploy.parts.short_lived import running
from shared.version import version
from tests.deploy.certificates import Authority
from tests.machines import Machine
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

    made = tmp_path / f"signage-display_{version()}_all.deb"
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


# --- a service whose CA is not a public one ---


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@contextmanager
def gateway(stack: Stack, folder: Path, authority: Authority, ca_file: Path) -> Iterator[str]:
    """A gateway before the stack's API with this authority's certificate, which offers `ca_file`; its address."""
    certificate = Certificate(*authority.sign("signage.test"))
    made = Gateway(folder, free_port(), int(stack.ports["API_PORT"]), ca_file=ca_file)
    nginx.prepare(made, Listener(tls=certificate))
    certificate.key.chmod(0o644)
    there = accepts(made.port)
    with running(nginx.command(made), there, folder / "log", stop_signal=nginx.STOP_SIGNAL, user=nginx.system_user()):
        yield f"https://127.0.0.1:{made.port}"


def line_for(url: str, ca_file: Path, code: str) -> str:
    """What *Connect a display* shows where the gateway offers this CA: tests/browser/test_fleet.py."""
    digest = hashlib.sha256(ca_file.read_bytes()).hexdigest()
    return (
        f'c=$(mktemp) && curl -fsSko $c {url}/display/ca.pem && echo "{digest}  $c" | sha256sum -c --quiet'
        f" && curl -fsS --cacert $c {url}/display/install.sh | sh -s -- {url} {code} --ca $c"
    )


def test_the_one_line_connects_a_display_to_a_service_whose_ca_is_not_public(
    bare: Machine, stack: Stack, authority: Authority, tmp_path: Path
) -> None:
    identity = str(uuid.uuid4())
    code = stack.api().post(f"/api/clients/{identity}/enrolment", expected=201)["code"]

    with gateway(stack, tmp_path / "run", authority, authority.ca_file) as url:
        sums = bare.run("curl", "-fsS", "--insecure", f"{url}/display/SHA256SUMS")
        assert bare.try_to("sh", "-c", f"curl -fsS {url}/display/install.sh").returncode == 60
        said = bare.run("sh", "-c", line_for(url, authority.ca_file, code))
        doctor = bare.try_to("signage-display", "doctor").stdout

    assert f"{hashlib.sha256(authority.ca_file.read_bytes()).hexdigest()}  ca.pem" in sums.splitlines()
    assert "; heard " in said
    assert f"gateway: {url} answers" in doctor


@pytest.mark.parametrize("spoiled", ["the CA", "the certificate"])
def test_whoever_stands_in_between_installs_nothing(
    bare: Machine, stack: Stack, authority: Authority, tmp_path: Path, spoiled: str
) -> None:
    (tmp_path / "stranger").mkdir()
    stranger = Authority(tmp_path / "stranger")
    offered = stranger if spoiled == "the CA" else authority

    with gateway(stack, tmp_path / "run", stranger, offered.ca_file) as url:
        done = bare.try_to("bash", "-o", "pipefail", "-c", line_for(url, authority.ca_file, "CODE"))

    codes, said = ((1,), "FAILED") if spoiled == "the CA" else ((35, 60), "curl: (")  # two ways to refuse a signature
    assert done.returncode in codes
    assert said in done.stdout + done.stderr
    assert "Enrolled" not in done.stdout


SPARES = """
import sys
from deploy.displays.agent.__main__ import spare_memory
spare_memory()
assert "localhost".encode("idna") == b"localhost"
from deploy.displays.agent import glass, heal, journald_reader, machine
from deploy.displays.client import client, link, screenshots
heavy = {"unicodedata", "stringprep", "http.client", "email", "argparse"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
assert "b\\u00fccher.example".encode("idna") == b"xn--bcher-kva.example"
"""


def test_the_agent_loads_no_module_that_hardly_a_display_needs() -> None:
    """Its memory has a limit of 30 MB on Debian 13; these take 2 MB. A host's name beyond ASCII still works."""
    done = subprocess.run([sys.executable, "-c", SPARES], check=False, capture_output=True, text=True, cwd=REPOSITORY)

    assert done.returncode == 0, done.stderr
