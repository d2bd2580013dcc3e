"""A box gets and renews its certificate from a real ACME authority, and its gateway takes it up without a gap.

certbot, the authority (pebble) and nginx run in namespaces of their own, so that the name of the box leads to them.
systemd's part is a script: it sends nginx the signal of the unit's ExecReload. `make campaign ONLY=box` has a real one.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from deploy.parts import gateway as nginx
from deploy.parts.config_file import Certificate, Listener
from deploy.parts.gateway import Gateway
from deploy.parts.layout import REPOSITORY
from tests.deploy.certificates import Authority
from tests.stack import eventually

HOST: Final = "signage.test"
PORT: Final = 8443
SECONDS: Final = 120.0
DAYS_GOOD: Final = 10
OWN: Final = """
set -e
ip link set lo up
for folder in /etc/letsencrypt /var/lib /var/log; do mount -t tmpfs tmpfs $folder; done
mount --bind "$1" /etc/hosts
echo ready
exec sleep infinity
"""
TALK: Final = f"""
import socket, ssl, sys
from cryptography import x509
context = ssl._create_unverified_context()
def opened():
    return context.wrap_socket(socket.create_connection(("{HOST}", {PORT})), server_hostname="{HOST}")
def number(made):
    return x509.load_der_x509_certificate(made.getpeercert(True)).serial_number
def ended(made):
    made.sendall(b"Host: {HOST}\\r\\n\\r\\n")
    return made.makefile("rb").readline().split()[1].decode()
def begun():
    made = opened()
    made.sendall(b"GET / HTTP/1.1\\r\\n")
    return made
sys.stdin.readline()
first = begun()
print(number(first), "begun", flush=True)
sys.stdin.readline()
print(number(first), ended(first), flush=True)
while sys.stdin.readline():
    made = begun()
    print(number(made), ended(made), flush=True)
"""
"""A caller that goes a step on with each line: it begins a request, ends it, and then asks anew each time."""
SYSTEMCTL: Final = """#!/bin/sh
echo "$@" >>"$ASKED"
[ "$1" != try-reload-or-restart ] || [ ! -e "$NGINX_PID" ] || kill -HUP "$(cat "$NGINX_PID")"
"""
REFUSES: Final = "#!/bin/sh\nexit 1\n"
DATE: Final = """#!/bin/sh
[ "$*" = +%s ] || exec /usr/bin/date "$@"
exec /usr/bin/date -d "+{days} days" +%s
"""


@dataclass(frozen=True)
class Box:
    """A box's gateway and its authority, in namespaces of their own."""

    folder: Path
    holder: int
    environment: dict[str, str]

    def inside(self, *command: str) -> list[str]:
        """The command line that runs this command in the namespaces."""
        return ["nsenter", f"--target={self.holder}", "--net", "--mount", *command]

    def renew(self) -> int:
        """Run what the timer runs. Returns its exit code."""
        return self._run("renew.sh", self.environment)

    def bring(self) -> int:
        """Bring the certificate that certbot has to the doors. Returns the exit code."""
        return self._run("renewed.sh", {**self.environment, "RENEWED_LINEAGE": f"/etc/letsencrypt/live/{HOST}"})

    def _run(self, script: str, environment: dict[str, str]) -> int:
        command = self.inside(str(REPOSITORY / "deploy" / "box" / script))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
        print(done.stdout, done.stderr)
        return done.returncode

    def asked(self) -> list[str]:
        """What systemd was asked for since the last call."""
        file = Path(self.environ("ASKED"))
        said = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return said

    def let_days_pass(self, days: int) -> None:
        """Let the scripts see a clock that is ahead. certbot itself would renew at each run: it knows 30 days only."""
        file = self.folder / "bin" / "date"
        file.write_text(DATE.format(days=days))
        file.chmod(0o755)

    def let_systemd(self, script: str) -> None:
        """Replace systemd by this script."""
        file = self.folder / "bin" / "systemctl"
        file.write_text(script)
        file.chmod(0o755)

    def environ(self, name: str) -> str:
        return self.environment[name]

    @property
    def certificate(self) -> bytes:
        return (self.folder / "certificates" / "certificate.pem").read_bytes()


@contextmanager
def started(command: Sequence[str], **options: object) -> Iterator[subprocess.Popen[str]]:
    """A process that ends with the block."""
    with subprocess.Popen(command, text=True, **options) as made:  # type: ignore[call-overload]
        try:
            yield made
        finally:
            made.terminate()  # nginx then ends its workers, too


def told(caller: subprocess.Popen[str]) -> tuple[str, str]:
    """Let the caller go a step on. Returns the number of the certificate that it saw, and the status of the answer."""
    assert caller.stdin is not None
    assert caller.stdout is not None
    caller.stdin.write("go on\n")
    caller.stdin.flush()
    number, status = caller.stdout.readline().split()
    return number, status


@pytest.fixture
def box(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Box]:
    """A box whose authority gives certificates of DAYS_GOOD, or of as many days as the test says."""
    seconds = getattr(request, "param", DAYS_GOOD) * 86_400
    for name in ("certificates", "bin", "acme"):
        (tmp_path / name).mkdir()
    hosts = tmp_path / "hosts"
    hosts.write_text(f"127.0.0.1 localhost {HOST}\n")
    authority = Authority(tmp_path / "acme")
    own = authority.sign("localhost")
    pebble = tmp_path / "acme" / "pebble.json"
    settings = {"listenAddress": "127.0.0.1:14000", "managementListenAddress": "127.0.0.1:15000", "httpPort": 80}
    files = {"certificate": str(own[0]), "privateKey": str(own[1])}
    pebble.write_text(json.dumps({"pebble": {**settings, **files, "certificateValidityPeriod": seconds}}))
    environment = {
        "PATH": f"{tmp_path / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin",
        "BOX_HOST": HOST,
        "BOX_ACME_EMAIL": "operator@example.com",
        "BOX_ACME_SERVER": "https://localhost:14000/dir",
        "REQUESTS_CA_BUNDLE": str(authority.ca_file),
        "SIGNAGE_CERTIFICATES": str(tmp_path / "certificates"),
        "SIGNAGE_GROUP": "root",
        "ASKED": str(tmp_path / "asked"),
        "NGINX_PID": str(tmp_path / "run" / "nginx" / "nginx.pid"),
    }
    with ExitStack() as until:
        begin = ["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c", OWN, "own", str(hosts)]
        holder = until.enter_context(started(begin, stdout=subprocess.PIPE))
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        made = Box(tmp_path, holder.pid, environment)
        made.let_systemd(SYSTEMCTL)
        log = until.enter_context((tmp_path / "acme" / "log").open("w"))
        quick = {"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0", "PATH": environment["PATH"]}
        until.enter_context(
            started(made.inside("pebble", "-config", str(pebble)), env=quick, stdout=log, stderr=subprocess.STDOUT)
        )
        eventually(lambda: "ACME directory available" in (tmp_path / "acme" / "log").read_text(), "pebble", SECONDS)
        yield made


@contextmanager
def gateway(box: Box) -> Iterator[None]:
    """The box's gateway, with the certificate that the authority gave."""
    files = box.folder / "certificates"
    made = Gateway(box.folder / "run", PORT, 9)
    nginx.prepare(made, Listener("127.0.0.1", Certificate(files / "certificate.pem", files / "key.pem"), (HOST,)))
    with started(box.inside(*nginx.command(made))) as process:
        pid = Path(box.environ("NGINX_PID"))
        eventually(pid.exists, "nginx", SECONDS)
        assert process.poll() is None
        yield


def test_a_certificate_comes_and_is_renewed_while_a_request_is_answered(box: Box) -> None:
    assert box.renew() == 0
    assert box.asked() == ["try-reload-or-restart signage-gateway.service", "try-restart signage-broker.service"]
    first = box.certificate
    box.let_days_pass(DAYS_GOOD)
    with (
        gateway(box),
        started(box.inside(sys.executable, "-c", TALK), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as caller,
    ):
        box.let_systemd(REFUSES)
        assert box.renew() != 0  # the doors do not have it yet
        assert box.certificate != first
        box.let_systemd(SYSTEMCTL)
        number, _ = told(caller)

        assert box.bring() == 0

        shown, answers = number, {told(caller)[1]}
        while shown == number:
            shown, answer = told(caller)
            answers.add(answer)
        assert answers == {"200"}


@pytest.mark.parametrize(
    ("box", "kept_after", "renewed_after"), [(6, 2, 4), (28, 13, 15), (90, 59, 61)], indirect=["box"]
)
def test_it_is_renewed_by_the_share_of_its_lifetime_that_is_left(box: Box, kept_after: int, renewed_after: int) -> None:
    assert box.renew() == 0
    first = box.certificate

    box.let_days_pass(kept_after)
    assert (box.renew(), box.certificate == first) == (0, True)

    box.let_days_pass(renewed_after)
    assert (box.renew(), box.certificate == first) == (0, False)


def test_nothing_happens_without_an_address_or_anything_new(box: Box) -> None:
    box.environment["BOX_ACME_EMAIL"] = ""
    assert box.renew() == 0
    assert not (box.folder / "certificates" / "certificate.pem").exists()
    box.environment["BOX_ACME_EMAIL"] = "operator@example.com"
    assert box.renew() == 0
    kept, _ = box.certificate, box.asked()

    assert box.bring() == 0

    assert (box.asked(), box.certificate) == ([], kept)


def test_a_run_that_ended_half_way_is_ended_by_the_next(box: Box) -> None:
    box.let_systemd(REFUSES)
    assert box.renew() != 0
    box.let_systemd(SYSTEMCTL)

    assert box.bring() == 0

    assert "try-restart signage-broker.service" in box.asked()
    assert box.bring() == 0
    assert box.asked() == []
