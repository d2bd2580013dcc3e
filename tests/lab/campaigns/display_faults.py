"""What else happens to a display: power cuts, a disk image put back, a bad disk, no network, an agent that hangs."""

import random
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.lab.campaigns.display_lab import BACK_SECONDS, PLAYER, Lab
from tests.machines.displays.handling import AGENT, SMALL_DISK, SPOILS, STATE
from tests.stack import eventually

CUT_SECONDS: Final = 2.0
HUNG_SECONDS: Final = 120.0  # the longest wait for systemd, whose limit is 60
IMAGE: Final = ("var", "etc")  # what a running machine writes
NO_COMMANDS: Final = "commands  none can be carried out"


@dataclass
class Faults:
    """On one machine, one after another. Each method leaves it well."""

    lab: Lab
    chance: random.Random
    say: Callable[[str], None]
    seconds_without_network: float = 60.0

    def cut_power(self, action: str) -> None:
        """At a random moment of a command. In the boot after that the helper may be asked for nothing."""
        there, before = self.lab.there, self.lab.starts()
        sent = self.lab.ask(action)
        time.sleep(self.chance.uniform(0, CUT_SECONDS))
        there.cut_power()
        there.boot()
        over = self.lab.ended(sent)
        eventually(self.lab.display.runs, "the display", BACK_SECONDS)
        again = [word for word in ("restart kiosk", "'reboot'") if word in self.lab.asked_of_the_helper()]
        happened = self.lab.starts() - before > 1 + bool(again)  # one start is the boot's own
        if again or (happened and over["state"] != "succeeded"):
            self.lab.wrong.append(f"{sent}, {action} and a power cut: {over['state']}, and then {again}")
        eventually(self.lab.is_up, "the agent", BACK_SECONDS)
        self.say(f"power cut in {action}: {over['state']}")

    def reboot(self) -> None:
        """By a command."""
        before = self.lab.there.boot_id()
        over = self.lab.ended(self.lab.ask("reboot_host"))
        self.lab.there.wait_until_booted()
        if over["state"] != "succeeded" or self.lab.there.boot_id() == before:
            self.lab.wrong.append(f"a reboot {over['state']}")
        eventually(self.lab.display.runs, "the display", BACK_SECONDS)

    def put_an_image_back(self) -> None:
        """The disk of some minutes ago: the counter of boots goes back."""
        there, kept = self.lab.there, self.lab.there.root.parent / "image"
        there.cut_power()
        kept.mkdir()
        _copy(there.root, kept)
        self._boot()
        for _ in range(2):
            there.run("systemctl", "restart", AGENT)
            eventually(self.lab.is_up, "the agent", BACK_SECONDS)
        there.cut_power()
        for name in IMAGE:
            shutil.rmtree(there.root / name, ignore_errors=True)
        _copy(kept, there.root)
        shutil.rmtree(kept)
        self._boot()
        self._expect("restart_app", "after an image was put back")
        self.say("an image was put back")

    def spoil_the_disk(self, how: str) -> None:
        """Full or read-only: no command is accepted, the display lives on and says why."""
        there = self.lab.there
        there.run("systemctl", "stop", AGENT)
        there.run("sh", "-c", f"{SMALL_DISK} && {SPOILS[how]}")
        there.run("systemctl", "start", AGENT)
        eventually(self.lab.is_up, f"the agent on a {how} disk", BACK_SECONDS)
        said = eventually(lambda: self._said("no journal of commands can be kept"), "the word", BACK_SECONDS)
        if NO_COMMANDS not in said:
            self.lab.wrong.append(f"a {how} disk, and it offers commands: {said}")
        there.run("systemctl", "stop", AGENT)
        there.run("umount", STATE)
        there.run("systemctl", "start", AGENT)
        self._expect("restart_app", f"after a {how} disk")
        self.say(f"a {how} disk")

    def _said(self, word: str) -> str:
        said = self.lab.display.status()
        return said if word in said else ""

    def take_the_network_away(self) -> None:
        """For a while, with a command on its way."""
        self.lab.network.take_away()
        before = self.lab.starts()
        sent = self.lab.ask("restart_app")
        time.sleep(self.seconds_without_network)
        self.lab.network.bring_back()
        over = self.lab.ended(sent)
        eventually(self.lab.is_up, "the agent", BACK_SECONDS)
        if (over["state"] == "succeeded") != (self.lab.starts() - before == 1):
            self.lab.wrong.append(f"without a network a restart {over['state']}")
        self._expect("restart_app", "with the network again")
        self.say(f"{self.seconds_without_network:.0f} s without a network: {over['state']}")

    def boot_without_network(self) -> None:
        there = self.lab.there
        there.cut_power()
        self.lab.network.take_away()
        there.boot()
        eventually(lambda: there.shown(AGENT, "ActiveState") == "active", "the agent", BACK_SECONDS)
        self.lab.network.bring_back()
        self._expect("restart_app", "after a boot without a network")
        self.say("a boot without a network")

    def hang(self) -> float:
        """SIGSTOP of the agent. Returns the seconds until another one is heard."""
        there = self.lab.there
        eventually(self.lab.is_up, "the agent", BACK_SECONDS)
        before = there.shown(AGENT, "MainPID")
        there.run("systemctl", "kill", "--signal=STOP", "--kill-whom=main", AGENT)
        began = time.monotonic()
        eventually(lambda: there.shown(AGENT, "MainPID") not in {"0", before}, "another agent", HUNG_SECONDS)
        eventually(self.lab.is_up, "the agent", BACK_SECONDS)
        took = round(time.monotonic() - began, 1)
        self.say(f"an agent that hung was replaced within {took} s")
        return took

    def _boot(self) -> None:
        self.lab.there.boot()
        eventually(self.lab.display.runs, "the display", BACK_SECONDS)
        eventually(self.lab.is_up, "the agent", BACK_SECONDS)

    def _expect(self, action: str, when: str) -> None:
        """A command works, once."""
        eventually(self.lab.display.runs, f"the display {when}", BACK_SECONDS)
        before = self.lab.there.shown(PLAYER, "InvocationID")
        over = self.lab.ended(self.lab.ask(action))
        if over["state"] != "succeeded" or self.lab.there.shown(PLAYER, "InvocationID") == before:
            self.lab.wrong.append(f"{when} {action} {over['state']} ({over.get('reason')})")


def _copy(one: object, other: object) -> None:
    for name in IMAGE:
        subprocess.run(["cp", "-a", "--parents", name, str(other)], check=True, cwd=str(one))
