"""A Debian for the campaign on the agent: what happened on it, beside what the service was told."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from deploy.parts import guardian
from tests.lab.campaigns.display_network import OwnNetwork, own_network
from tests.lab.campaigns.whole import Whole
from tests.machines.displays.bare import machine
from tests.machines.displays.conftest import Installed, install
from tests.machines.displays.handling import AGENT, configure, with_drop_in, without_drop_in
from tests.machines.displays.lines import WRITER, WRITTEN, lines_lost_and_twice, stored_lines, writer
from tests.nspawn import Machine
from tests.stack import Stack, eventually

PLAYER: Final = "kiosk.service"
STATUS: Final = "/run/signage-display/status.json"
STARTS: Final = "root/starts"
BACK_SECONDS: Final = 180.0
COUNTS_ITS_STARTS: Final = "[Service]\nExecStartPre=/bin/sh -c 'echo begun >>/root/starts'\n"
SOON_AGAIN: Final = "[Service]\nRestartSec=100ms\n"
CONFIGURATION: Final = f"player = {PLAYER}\nunits = {WRITER}\nheartbeat_seconds = 5\n"


@dataclass
class Lab:
    """One machine with the agent, installed by the one line."""

    display: Installed
    whole: Whole
    network: OwnNetwork
    outcomes: Counter[str] = field(default_factory=Counter)  # of its commands
    wrong: list[str] = field(default_factory=list)  # what must not be

    @property
    def there(self) -> Machine:
        return self.display.machine

    def starts(self) -> int:
        """How often the player was started."""
        return (self.there.root / STARTS).read_text(encoding="ascii").count("begun")

    def is_up(self) -> bool:
        """Does the present agent say that it is connected and that the service took a heartbeat?"""
        said = self.there.try_to("cat", STATUS).stdout
        try:
            known = json.loads(said)
        except ValueError:
            return False
        return bool(known["up"]) and known["heard_at"] is not None

    def agent(self) -> int:
        """The agent's process as this machine numbers it; 0 without one."""
        runner = self.there.runner
        for pid in guardian.descendants(runner.pid) if runner else ():
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[-3:] == [b"/usr/bin/signage-display", b"run", b""]:
                return pid
        return 0

    def ask(self, action: str) -> str:
        """Send a command as soon as the service accepts one. Returns its id."""
        body = {"action": action, "reason": "campaign", "override_lockout": True}
        path = f"/api/clients/{self.display.uuid}/commands"
        eventually(lambda: self.display.may(action), f"leave for {action}", BACK_SECONDS)
        eventually(self.display.names_its_player, "a heartbeat of the player's present start", BACK_SECONDS)
        return str(self.display.api.post(path, body, expected=202)["id"])

    def ended(self, command: str) -> dict[str, Any]:
        """The command with its outcome."""
        over = eventually(lambda: self.display.over(command), "the end of the command", 2 * BACK_SECONDS)
        self.outcomes[str(over["state"])] += 1
        return over

    def lines_lost_and_twice(self) -> tuple[int, int, int]:
        """Stop the writer; how many lines journald has, how many are not stored, and how many are stored twice."""
        self.there.run("systemctl", "stop", WRITER)
        return lines_lost_and_twice(self.there.run(*WRITTEN), lambda: stored_lines(self.whole, self.display.uuid))

    def asked_of_the_helper(self, boot: str = "--boot") -> str:
        """What the helper was asked for in that boot."""
        return self.there.run(
            "journalctl", "--unit=signage-display-helper.service", boot, "--output=cat", "--quiet", "--no-pager"
        )


@contextmanager
def lab(folder: Path, release: str, stack: Stack) -> Iterator[tuple[Lab, float]]:
    """A machine with the agent, and the seconds from the one line to "running" on the page."""
    ports = [int(stack.ports[name]) for name in ("GATEWAY_PORT", "MQTT_DISPLAYS_PORT")]
    with own_network(ports) as network, machine(folder, release, network.name) as there:
        began = time.monotonic()
        display = install(there, stack.api())
        eventually(display.runs, "the display", BACK_SECONDS)
        yield Lab(display, Whole(stack), network), round(time.monotonic() - began, 1)


def prepare(made: Lab) -> None:
    """Let the player's starts be counted, let a second unit write lines, and let a killed agent come back at once."""
    there = made.there
    there.run("sh", "-c", f": >/{STARTS}")
    with_drop_in(there, PLAYER, COUNTS_ITS_STARTS)
    (there.root / f"etc/systemd/system/{WRITER}").write_text(writer(0.1), encoding="ascii")
    with_drop_in(there, AGENT, SOON_AGAIN)
    configure(there, CONFIGURATION)
    there.run("systemctl", "enable", "--quiet", "--now", WRITER)
    eventually(made.is_up, "the display", BACK_SECONDS)


def undo(made: Lab) -> None:
    """What `prepare` did."""
    there = made.there
    there.run("systemctl", "disable", "--quiet", "--now", WRITER)
    (there.root / f"etc/systemd/system/{WRITER}").unlink()
    for unit in (PLAYER, AGENT):
        without_drop_in(there, unit)
    configure(there, f"player = {PLAYER}\n")
