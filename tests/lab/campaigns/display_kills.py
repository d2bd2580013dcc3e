"""Kill -9 of the agent between any two of its steps: commands in flight, lines being written, health being told.

Half of the kills come before a system call with an effect outside of the process (strace counts them), half at a random
time. A file on the machine counts the starts of its player: that is what happened, whatever was told.
"""

import random
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.lab.campaigns.display_lab import BACK_SECONDS, Lab
from tests.machines.displays.handling import AGENT
from tests.stack import eventually

CALLS: Final = {  # with an effect outside of the process, and the most of them that a restart of the player takes
    "fsync": 5,
    "write": 12,
    "sendto": 16,
    "recvfrom": 16,
    "sendmsg": 4,
    "rename": 8,
    "openat": 12,
    "close": 12,
    "connect": 2,
}
STEP_SECONDS: Final = 4.0  # for the call to come
RANDOM_SECONDS: Final = 1.5


@dataclass
class Kills:
    """Kills of the agent on one machine."""

    lab: Lab
    chance: random.Random
    say: Callable[[str], None]
    at_a_step: int = 0
    done: int = 0
    effects: int = 0  # starts of the player that were told as successes
    unsettled: list[str] = field(default_factory=list)

    def run(self, kills: int) -> None:
        """Until so many kills are done."""
        first = self.lab.starts()
        while self.done < kills:
            self._one()
            if self.done % 10 == 0:
                self.say(f"{self.lab.display.uuid[:8]}: {self.done}/{kills} kills, {dict(self.lab.outcomes)}")
        eventually(self.lab.is_up, "the agent", BACK_SECONDS)
        if self.lab.starts() - first != self.effects:
            self.lab.wrong.append(f"{self.lab.starts() - first} starts of the player, {self.effects} were told")

    def _one(self) -> None:
        """One command with a kill on its way, and in some rounds another kill of the next agent."""
        eventually(self.lab.is_up, "the agent", BACK_SECONDS)
        before, strace = self.lab.starts(), self._step()
        sent = self.lab.ask("restart_app")
        self._kill(strace)
        if self.chance.random() < 0.25:
            time.sleep(self.chance.uniform(0, RANDOM_SECONDS))
            self._kill(None)
        told = self.lab.ended(sent)["state"]
        eventually(self.lab.is_up, "the agent", BACK_SECONDS)
        happened = self.lab.starts() - before
        self.effects += told == "succeeded"
        if happened != (told == "succeeded"):
            self.lab.wrong.append(f"{sent} {told}, and the player was started {happened} times")

    def _step(self) -> "subprocess.Popen[bytes] | None":
        """In half of the rounds: something that kills the present agent before a step of what comes."""
        agent = self.lab.agent()
        if self.chance.random() < 0.5 or not agent:
            return None
        call = self.chance.choice(list(CALLS))
        inject = f"inject={call}:signal=KILL:when={self.chance.randint(1, CALLS[call])}"
        quiet = ("-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject)
        strace = subprocess.Popen(["strace", *quiet, "-p", str(agent)], stderr=subprocess.DEVNULL)
        eventually(lambda: strace.poll() is not None or _is_traced(agent), "strace")
        return strace

    def _kill(self, strace: "subprocess.Popen[bytes] | None") -> None:
        self.done += 1
        if strace is None:
            time.sleep(self.chance.uniform(0, RANDOM_SECONDS))
            self.lab.there.kill(AGENT)
            return
        try:
            strace.wait(STEP_SECONDS)
            self.at_a_step += 1
        except subprocess.TimeoutExpired:  # the call did not come
            strace.terminate()
            strace.wait()
            self.lab.there.kill(AGENT)


def _is_traced(pid: int) -> bool:
    try:
        return "TracerPid:\t0\n" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return True
