"""A box of deploy/docker on this machine's engine, set up and operated with the commands of the guides."""

import contextlib
import os
import re
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import urllib3

from deploy.parts.layout import LOOPBACK, REPOSITORY
from tests.deploy.confined import COMPOSE, DOCKER, copied
from tests.lab.campaigns.guides import block
from tests.lab.campaigns.two_doors import TwoDoors
from tests.stack import free_ports

UNIT_TRIES: Final = 3
OPEN_FILES: Final = COMPOSE["services"]["broker"]["ulimits"]["nofile"]
STAY: Final = {name for name, one in COMPOSE["services"].items() if one.get("restart") == "unless-stopped"}
INSIDE: Final = {name for name in STAY if COMPOSE["services"][name].get("network_mode") == "service:net"}
DESCRIBED: Final = '{{index .Config.Labels "com.docker.compose.service"}} {{.State.Pid}} {{.State.StartedAt}}'


class Life(NamedTuple):
    """A running container."""

    pid: int
    started: str


def set_up_lines() -> str:
    """The commands of deploying.md for a box with Docker that is built from a checkout, in its order."""
    settings, *start = block("deploying.md", "printf 'BOX_HOST=").splitlines(keepends=True)
    certificate = block("deploying.md", "install -d certificates ca").splitlines(keepends=True)[:-1]
    return "".join([settings, *certificate, block("deploying.md", "docker compose build"), *start])


def unit(word: str) -> str:
    """The value of `word` in the boot unit."""
    found = re.search(rf"^{word}=(.*)$", (DOCKER / "signage-box.service").read_text(encoding="utf-8"), re.MULTILINE)
    assert found, word
    return found[1].replace("/usr/bin/docker", "docker")


@dataclass(frozen=True)
class Box:
    """A copy of the files of a box, with its own project, image and ports."""

    folder: Path
    project: str
    gateway: int
    broker: int

    @property
    def docker(self) -> Path:
        """The copy of deploy/docker."""
        return self.folder / "deploy" / "docker"

    def run(self, lines: str, place: Path | None = None) -> str:
        """Run a guide's commands. Returns their output. Raises RuntimeError with it if one fails."""
        names = {"signage_media": f"{self.project}_media", "/backup": f"{self.folder}/backup", "…": f"{self.folder}/ca"}
        for theirs, ours in names.items():
            lines = lines.replace(theirs, ours)
        own = {
            "COMPOSE_PROJECT_NAME": self.project,
            "COMPOSE_FILE": "compose.yaml:build.yaml:own.yaml",
            "COMPOSE_ANSI": "never",
        }
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
        """Copy the files that the commands need, without secrets, and make a certificate as in deploying.md."""
        kept = shutil.ignore_patterns("node_modules", "__pycache__", "secrets", "certificates", "ca", "signage.env")
        for name in {*copied(), "deploy/docker", "deploy/local", ".dockerignore"}:
            source, target = REPOSITORY / name, self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True, ignore=kept, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # as deploying.md advises if the engine may not raise it
        files = OPEN_FILES if most == resource.RLIM_INFINITY else min(most, OPEN_FILES)
        ports = f'["{LOOPBACK}:{self.gateway}:8443", "{LOOPBACK}:{self.broker}:8883"]'
        own = f"services:\n  net: {{ports: !override {ports}}}\n  broker: {{ulimits: {{nofile: {files}}}}}\n"
        (self.docker / "own.yaml").write_text(own, encoding="utf-8")
        for name in ("ca", "backup"):
            (self.folder / name).mkdir(mode=0o700)
        self.run(block("deploying.md", "openssl req -x509"), self.folder / "ca")

    def boot(self) -> int:
        """Run the unit's command, with retries like the unit's. Returns how many tries it took."""
        for tries in range(1, UNIT_TRIES + 1):
            with contextlib.suppress(RuntimeError):
                self.run(unit("ExecStart"))
                return tries
            time.sleep(float(unit("RestartSec")))
        return UNIT_TRIES + 1

    def lives(self) -> dict[str, Life]:
        """Service -> its running container, without those that end by themselves."""
        ids = f"docker ps --quiet --filter label=com.docker.compose.project={self.project}"
        told = self.run(f"{ids} | xargs --no-run-if-empty docker inspect --format '{DESCRIBED}'").splitlines()
        return {name: Life(int(pid), started) for name, pid, started in map(str.split, told) if name in STAY}

    def is_whole(self, gone: set[str]) -> bool:
        """Whether every service runs, in another start than those in `gone`, and in the network of the doors."""
        try:
            lives = self.lives()
            if set(lives) != STAY or gone & {life.started for life in lives.values()}:
                return False
            networks = {Path(f"/proc/{lives[name].pid}/ns/net").stat().st_ino for name in {*INSIDE, "net"}}
        except (OSError, RuntimeError):  # a container is ending, or the engine does not answer
            return False
        return len(networks) == 1

    @property
    def doors(self) -> TwoDoors:
        """The doors on loopback."""
        return TwoDoors(LOOPBACK, self.gateway, self.broker, self.folder / "ca" / "ca.pem")

    def ask(self, method: str, path: str, file: bytes | None = None) -> urllib3.BaseHTTPResponse:
        """Call the API through the door with the admin's token. Returns the answer."""
        token = (self.docker / "secrets" / "admin_token").read_text(encoding="utf-8").strip()
        return self.doors.ask(token, method, path, file)


@contextlib.contextmanager
def box_of_its_own(folder: Path) -> Iterator[Box]:
    """A box, removed after the block with its image and volumes."""
    box = Box(folder, f"signage-campaign-{os.getpid()}", *free_ports(2))
    box.prepare()
    try:
        yield box
    finally:
        box.run("docker compose down --volumes; docker image rm $SIGNAGE_IMAGE || true")
