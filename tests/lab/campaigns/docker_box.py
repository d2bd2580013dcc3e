"""A box of deploy/docker on the engine of this machine, made and handled by the very lines of the guides."""

import contextlib
import os
import re
import resource
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import urllib3

from deploy.parts.layout import LOOPBACK, REPOSITORY
from tests.deploy.confined import COMPOSE, DOCKER, copied
from tests.stack import free_ports

HOST: Final = "signage.example.com"  # as the guides call it
UNIT_TRIES: Final = 3
OPEN_FILES: Final = COMPOSE["services"]["broker"]["ulimits"]["nofile"]
STAY: Final = {name for name, one in COMPOSE["services"].items() if one.get("restart") == "unless-stopped"}
INSIDE: Final = {name for name in STAY if COMPOSE["services"][name].get("network_mode") == "service:net"}
CONNECT: Final = b"\x10\x10\x00\x04MQTT\x05\x02\x00\x0a\x00\x00\x03box"
CONNACK: Final = b"\x20"
DESCRIBED: Final = '{{index .Config.Labels "com.docker.compose.service"}} {{.State.Pid}} {{.State.StartedAt}}'


class Life(NamedTuple):
    """A container that runs."""

    pid: int
    started: str


def block(guide: str, words: str) -> str:
    """The guide's shell block that holds `words`."""
    text = (REPOSITORY / "docs" / guide).read_text(encoding="utf-8")
    return next(str(lines) for lines in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if words in lines)


def set_up_lines() -> str:
    """What deploying.md says of a box with Docker, without its unit: that needs systemd."""
    lines = block("deploying.md", "docker compose run --rm setup").splitlines()
    return "\n".join(line for line in lines if "systemctl" not in line and "/etc/systemd" not in line)


def backup_lines() -> list[str]:
    """What operating.md says for Docker: database, media, secrets."""
    text = (REPOSITORY / "docs" / "operating.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:database|media|secrets) \|.*\| `([^`]+)` \|$", text, re.MULTILINE)
    return [str(row) for row in rows]


def restore_lines() -> str:
    """What operating.md says for Docker."""
    return block("operating.md", "# Docker\n").partition("# Docker\n")[2]


def unit(word: str) -> str:
    """What the boot unit says of `word`."""
    found = re.search(rf"^{word}=(.*)$", (DOCKER / "signage-box.service").read_text(encoding="utf-8"), re.MULTILINE)
    assert found, word
    return found[1].replace("/usr/bin/docker", "docker")


@dataclass(frozen=True)
class Box:
    """A copy of what the box is made of, with a project, an image and two ports of its own."""

    folder: Path
    project: str
    gateway: int
    broker: int

    @property
    def docker(self) -> Path:
        """The copy of deploy/docker."""
        return self.folder / "deploy" / "docker"

    def run(self, lines: str, place: Path | None = None) -> str:
        """The output of a guide's lines. Raises RuntimeError with what they said when one of them fails."""
        names = {"signage_media": f"{self.project}_media", "/backup": f"{self.folder}/backup", "…": f"{self.folder}/ca"}
        for theirs, ours in names.items():
            lines = lines.replace(theirs, ours)
        own = {"COMPOSE_PROJECT_NAME": self.project, "COMPOSE_FILE": "compose.yaml:own.yaml", "COMPOSE_ANSI": "never"}
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", lines],
            check=False,
            cwd=place or self.docker,
            env={**os.environ, **own, "SIGNAGE_IMAGE": self.project},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"{lines}\nended with {done.returncode}:\n{done.stderr[-3000:]}")
        return done.stdout

    def prepare(self) -> None:
        """Copy what the lines work on, without anybody's secrets, and make a certificate as deploying.md does."""
        kept = shutil.ignore_patterns("node_modules", "__pycache__", "secrets", "certificates", "ca", ".env")
        for name in {*copied(), "deploy/docker", "deploy/local", ".dockerignore"}:
            source, target = REPOSITORY / name, self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=kept, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # deploying.md: lower it where the engine may not raise it
        files = OPEN_FILES if most == resource.RLIM_INFINITY else min(most, OPEN_FILES)
        ports = f'["{LOOPBACK}:{self.gateway}:8443", "{LOOPBACK}:{self.broker}:8883"]'
        own = f"services:\n  net: {{ports: !override {ports}}}\n  broker: {{ulimits: {{nofile: {files}}}}}\n"
        (self.docker / "own.yaml").write_text(own, encoding="utf-8")
        for name in ("ca", "backup"):
            (self.folder / name).mkdir(mode=0o700)
        self.run(block("deploying.md", "openssl req -x509"), self.folder / "ca")

    def boot(self) -> int:
        """Run what the unit runs, again as the unit does; how often it took."""
        for tries in range(1, UNIT_TRIES + 1):
            with contextlib.suppress(RuntimeError):
                self.run(unit("ExecStart"))
                return tries
            time.sleep(float(unit("RestartSec")))
        return UNIT_TRIES + 1

    def lives(self) -> dict[str, Life]:
        """Its containers that run and are to stay, by their services."""
        ids = f"docker ps --quiet --filter label=com.docker.compose.project={self.project}"
        told = self.run(f"{ids} | xargs --no-run-if-empty docker inspect --format '{DESCRIBED}'").splitlines()
        return {name: Life(int(pid), started) for name, pid, started in map(str.split, told) if name in STAY}

    def is_whole(self, gone: set[str]) -> bool:
        """Does every service run, none of them since one of these starts, and all in the network of the doors?"""
        try:
            lives = self.lives()
            if set(lives) != STAY or gone & {life.started for life in lives.values()}:
                return False
            networks = {Path(f"/proc/{lives[name].pid}/ns/net").stat().st_ino for name in {*INSIDE, "net"}}
        except (OSError, RuntimeError):  # one is just ending, or the engine is away
            return False
        return len(networks) == 1

    def is_open(self) -> bool:
        """Is the service ready, and do both doors let a peer in that trusts the CA?"""
        request = f"GET /api/health/ready HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode()
        return self._answer(self.gateway, request, b"HTTP/1.1 200") and self._answer(self.broker, CONNECT, CONNACK)

    def _answer(self, port: int, said: bytes, expected: bytes) -> bool:
        trust = ssl.create_default_context(cafile=self.folder / "ca" / "ca.pem")
        try:
            with (
                socket.create_connection((LOOPBACK, port), 2) as plain,
                trust.wrap_socket(plain, server_hostname=HOST) as door,
            ):
                door.sendall(said)
                return door.recv(len(expected)) == expected
        except OSError:
            return False

    def ask(self, method: str, path: str, file: bytes | None = None) -> urllib3.BaseHTTPResponse:
        """The API's answer to the admin's token, through the door."""
        token = (self.docker / "secrets" / "admin_token").read_text(encoding="utf-8").strip()
        ca = str(self.folder / "ca" / "ca.pem")
        door = urllib3.HTTPSConnectionPool(LOOPBACK, self.gateway, server_hostname=HOST, ca_certs=ca, timeout=30)
        fields = {"file": ("picture.png", file)} if file else None
        headers = {"Host": HOST, "Authorization": f"Bearer {token}"}
        return door.request(method, path, headers=headers, fields=fields, retries=False)


@contextlib.contextmanager
def box_of_its_own(folder: Path) -> Iterator[Box]:
    """A box that is gone with its image and its volumes when the block ends."""
    box = Box(folder, f"signage-campaign-{os.getpid()}", *free_ports(2))
    box.prepare()
    try:
        yield box
    finally:
        (box.docker / ".env").touch()
        box.run("BOX_HOST=. docker compose --profile setup down --volumes; docker image rm $SIGNAGE_IMAGE || true")
