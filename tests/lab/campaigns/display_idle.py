"""What an agent costs while nothing happens: memory, and writes to the disk."""

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.parts import guardian
from tests.lab.campaigns.display_lab import BACK_SECONDS, PLAYER, Lab
from tests.machines.displays.handling import STATE, configure
from tests.machines.displays.lines import WRITER
from tests.stack import eventually

SETTLE_SECONDS: Final = 75.0  # until the last lines are committed and saved
LOOK_SECONDS: Final = 0.5


@dataclass(frozen=True)
class Cost:
    """Measured over some minutes."""

    minutes: float
    rss_megabytes: float
    with_journalctl_megabytes: float  # what they share is counted once
    writes: int  # moments at which a file of the agent had changed
    written_bytes: int  # to a disk, by the agent and its journalctl, as the kernel counts

    @property
    def writes_a_minute(self) -> float:
        return self.writes / self.minutes


def be_idle(lab: Lab) -> None:
    """The agent as it is shipped, with a player that says nothing."""
    lab.there.run("systemctl", "stop", WRITER)
    configure(lab.there, f"player = {PLAYER}\n")
    eventually(lab.is_up, "the agent", BACK_SECONDS)


def measure(lab: Lab, minutes: float) -> Cost:
    """What this agent costs. It has been idle for `SETTLE_SECONDS`."""
    agent = lab.agent()
    processes = [agent, *guardian.descendants(agent)]
    written, changes = sum(map(_written, processes)), 0
    before, end = _files(lab), time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        time.sleep(LOOK_SECONDS)
        now = _files(lab)
        changes += now != before
        before = now
    return Cost(
        minutes,
        _kilobytes(agent, "status", "VmRSS") / 1024,
        sum(_kilobytes(one, "smaps_rollup", "Pss") for one in processes) / 1024,
        changes,
        sum(map(_written, processes)) - written,
    )


def _files(lab: Lab) -> dict[str, tuple[int, int, int]]:
    """Each file of the agent's folder: its number, its time and its size."""
    found = {}
    for path in (lab.there.root / STATE[1:]).iterdir():
        stat = path.stat()
        found[path.name] = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
    return found


def _written(pid: int) -> int:
    return int(re.findall(r"^write_bytes: (\d+)", Path(f"/proc/{pid}/io").read_text(encoding="ascii"), re.MULTILINE)[0])


def _kilobytes(pid: int, file: str, name: str) -> int:
    return int(
        re.findall(rf"^{name}:\s+(\d+)", Path(f"/proc/{pid}/{file}").read_text(encoding="utf-8"), re.MULTILINE)[0]
    )
