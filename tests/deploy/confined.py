"""The containers of compose.yaml without Docker: each command runs in bubblewrap, as compose.yaml and image define it.

It has a read-only root file system, the image's files, the service's volumes, secrets and variables, no capabilities,
and the image's user. It does not test the image's own Debian, limits, networks and restarts.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from deploy.parts.layout import REPOSITORY

DOCKER: Final = REPOSITORY / "deploy" / "docker"
COMPOSE: Final[dict[str, Any]] = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))
VARIABLE: Final = re.compile(r"\$\{([A-Z_]+)(?::([-?])([^{}]*))?\}")
USER: Final = "10001"
LINKS: Final = ("bin", "sbin", "lib", "lib64")
OF_DEBIAN: Final = (
    "/usr",
    *(f"/etc/{name}" for name in ("ssl", "nginx", "passwd", "group", "ld.so.cache", "mime.types")),
)
MADE_IN_THE_IMAGE: Final = ("/var/lib/signage/run", "/var/lib/signage/data/mosquitto", "/server/media", "/etc/signage")
OF_THE_IMAGE: Final = {  # its ENV
    "MALLOC_ARENA_MAX": "2",
    "PATH": f"{sys.prefix}/bin:/usr/bin:/usr/sbin",
    "PYTHONPATH": "/app",
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "THREADS": "64",
    "XDG_RUNTIME_DIR": "/tmp",
}


@dataclass(frozen=True)
class Containers:
    """A folder in place of the one with compose.yaml and of Docker's volumes, and the content of signage.env."""

    folder: Path
    variables: Mapping[str, str]

    def prepare(self) -> None:
        """Make the folders as Docker does: beside compose.yaml, and from the image."""
        beside = {volume.split(":")[0] for one in COMPOSE["services"].values() for volume in one.get("volumes", ())}
        for name in {
            *(name for name in beside if name.startswith(".")),
            "volumes/run",
            "volumes/data/mosquitto",
            "volumes/media",
        }:
            (self.folder / name).mkdir(parents=True, mode=0o700, exist_ok=True)

    def command(self, name: str, changed: Mapping[str, str]) -> list[str]:
        """The command of this service; `changed`: variables that differ from compose.yaml."""
        service = COMPOSE["services"][name]
        environment = {**OF_THE_IMAGE, **self.environment(name), **changed}
        variables = [part for key, value in environment.items() for part in ("--setenv", key, value)]
        alone = ["bwrap", "--die-with-parent", "--clearenv", "--unshare-user", "--uid", USER, "--gid", USER]
        everything = [*_system(), *self._given(service), "--remount-ro", "/", "--chdir", "/app"]
        return [*alone, "--cap-drop", "ALL", *everything, *variables, "--", *service["command"]]

    def environment(self, name: str) -> dict[str, str]:
        """What compose adds to the image's environment: all of signage.env, then the service's own variables."""
        service = COMPOSE["services"][name]
        given = self.variables if service.get("env_file") == [{"path": "signage.env", "required": False}] else {}
        return {**given, **{key: self.filled_in(value) for key, value in service["environment"].items()}}

    def filled_in(self, text: str) -> str:
        """`text` with compose's variables replaced."""
        return VARIABLE.sub(lambda found: self.variables.get(found[1]) or (found[3] if found[2] == "-" else ""), text)

    def _given(self, service: Mapping[str, Any]) -> list[str]:
        """The mounts of its volumes."""
        found: list[str] = []
        for volume in service.get("volumes", ()):
            source, target, *mode = volume.split(":")
            place = self.folder / source if source.startswith(".") else self.folder / "volumes" / source
            found += ["--ro-bind" if mode == ["ro"] else "--bind", str(place), target]
        return found


def _system() -> list[str]:
    """The mounts of Debian's programs, Python with its packages, and the image's part of the repository."""
    found = [part for path in OF_DEBIAN for part in ("--ro-bind-try", path, path)]
    found += [part for name in LINKS for part in ("--symlink", f"usr/{name}", f"/{name}")]
    found += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    for path in {sys.prefix, sys.base_prefix} - {"/usr"}:
        found += ["--ro-bind", path, path]
    for path in copied("app", "box"):
        found += ["--ro-bind", str(REPOSITORY / path), f"/app/{path}"]
    found += [part for folder in MADE_IN_THE_IMAGE for part in ("--dir", folder)]
    return [*found, "--perms", "0700", "--dir", "/var/lib/signage/secrets"]


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, each as its word and the rest; continued lines are joined."""
    text = re.sub(r"\\\n", " ", (DOCKER / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], line.partition(" ")[2]) for line in lines]


def copied(*stages: str) -> set[str]:
    """The paths that these stages of the Dockerfile copy from the repository; without a stage, those of all."""
    found, stage = set(), ""
    for word, rest in instructions():
        if word == "FROM":
            stage = rest.split(" AS ")[1]
        elif word == "COPY" and "--from" not in rest and (stage in stages or not stages):
            found.update(rest.split()[:-1])
    return found
