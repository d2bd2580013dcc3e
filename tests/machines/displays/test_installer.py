"""The installer of the agent, as somebody downloads it."""

import hashlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.parts import gateway as nginx
from deploy.parts.config_file import Certificate, Listener
from deploy.parts.gateway import Gateway
from deploy.parts.probes import accepts, free_port
from deploy.parts.short_lived import running
from tests.deploy.certificates import Authority
from tests.install_line import install_line
from tests.machines.displays.conftest import AS_ROOT
from tests.nspawn import Machine
from tests.stack import Stack


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
    """What *Connect a display* shows where the gateway offers this CA."""
    return AS_ROOT + install_line(url, code, hashlib.sha256(ca_file.read_bytes()).hexdigest())


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
