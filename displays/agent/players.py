"""Find what plays on this machine, and which lines of display.conf tell the agent of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from displays.agent.settings import UNIT

CHROMIUMS: Final = ("chromium", "chromium-browse", "chrome", "touchkio", "electron", "QtWebEngineProc")
OTHERS: Final = (
    "firefox",
    "firefox-esr",
    "cog",
    "WPEWebProcess",
    "epiphany",
    "mpv",
    "vlc",
    "kodi",
    "kodi.bin",
    "omxplayer",
)
"""Names of programs that show a playlist, as the kernel keeps them: 15 characters."""
PORT: Final = re.compile(rb"--remote-debugging-port[=\0](\d{1,5})(?:\0|$)")
OF_A_USER: Final = re.compile(r"user@\d+\.service")
CONTAINER: Final = re.compile(r"(docker|libpod|crio|cri-containerd)-[0-9a-f]+\.scope")
COMMAND_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Playing:
    """A program that plays."""

    program: str
    place: str  # its control group
    is_chromium: bool
    port: int  # of its DevTools; 0: none

    @property
    def unit(self) -> str:
        """The unit that can be restarted for it; empty if there is none."""
        return unit_of(self.place)

    @property
    def is_alone(self) -> bool:
        """Whether a restart of that unit restarts nothing else."""
        return bool(self.unit) and not OF_A_USER.fullmatch(self.unit) and self.unit != "docker.service"

    def advice(self) -> list[str]:
        """What the machine's owner may do, in sentences."""
        said = [f"{self.program} plays in {self.place}."]
        if not self.unit:
            said.append("It belongs to a person's session. Let a unit start it, and name that: player = kiosk.service")
        elif not self.is_alone:
            said.append(f"To restart it with all that runs beside it: player = {self.unit}")
        if self.port:
            said.append(f"To see its page: devtools_port = {self.port}")
        elif self.is_chromium:
            said.append(
                "To see its page, start it with --remote-debugging-port=9222 and a --user-data-dir of its own:"
                " devtools_port = 9222"
            )
        else:
            said.append("What it shows is not seen: it has no DevTools.")
        return said


def unit_of(place: str) -> str:
    """The system's unit of a control group such as /system.slice/kiosk.service; empty if there is none."""
    parts = place.strip("/").split("/")
    if any(CONTAINER.fullmatch(part) and part.startswith("docker") for part in parts):
        return "docker.service"
    services = [part for part in parts if part.endswith(".service") and UNIT.fullmatch(part)]
    return services[0] if services else ""


def playing(root: Path) -> Playing | None:
    """The first program that plays; one whose unit can be restarted alone goes first."""
    seen = sorted(_programs(root), key=lambda program: (not program.is_alone, not program.unit))
    return seen[0] if seen else None


def _programs(root: Path) -> Iterator[Playing]:
    for folder in sorted((root / "proc").glob("[0-9]*"), key=lambda folder: int(folder.name)):
        try:
            name = (folder / "comm").read_text(encoding="utf-8", errors="replace").strip()
            if name not in CHROMIUMS and name not in OTHERS:
                continue
            with (folder / "cmdline").open("rb") as file:
                command = file.read(COMMAND_BYTES)
            place = _place((folder / "cgroup").read_text(encoding="utf-8", errors="replace"))
        except OSError:  # it has ended
            continue
        if b"--type=" not in command:  # a process of Chromium's own
            port = PORT.search(command)
            yield Playing(name, place, name in CHROMIUMS, int(port[1]) if port else 0)


def _place(groups: str) -> str:
    """The control group that systemd gave it, in /proc/PID/cgroup."""
    for line in groups.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" or controllers == "name=systemd":
            return path
    return ""
