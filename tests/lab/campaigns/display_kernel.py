"""A display with a kernel and a disk of its own under QEMU: what systemd-nspawn cannot show.

Only what the machine has flushed survives a power cut; its disk is really full or read-only; its clock and its network
are its own. QEMU emulates the processor, so that nothing here says how quick the agent is.
"""

import json
import random
import shutil
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from tests.lab.campaigns.whole import Whole
from tests.machines.displays.conftest import Seen
from tests.machines.displays.kernels import Emulated, emulated
from tests.machines.displays.lines import stored_lines
from tests.stack import Stack, enrolled, eventually

Answer = TypeVar("Answer")
MINUTES: Final = 900.0  # an emulated machine is slow, the more so beside others
JOURNAL: Final = "/var/lib/signage-display/journal.jsonl"
CUT_SECONDS: Final = 8.0
AWAY_SECONDS: Final = 60.0
CLOCK: Final = "Trouble: the clock is not synchronised and may be wrong."
NO_COMMANDS: Final = "commands  none can be carried out"
ASKED: Final = "journalctl --boot --unit=signage-display-helper --output=cat --no-pager --quiet"
PLAYER: Final = "systemctl show --property=InvocationID --value kiosk.service"
FILL: Final = """\
fallocate -l $(($(df --output=avail -B1 / | tail -n 1) - 1000000)) /fill
cat /dev/zero >/fill.more 2>/dev/null
sync
"""


@dataclass
class Kernel:
    """One emulated display."""

    seen: Seen
    machine: Emulated
    whole: Whole
    chance: random.Random
    say: Callable[[str], None]
    wrong: list[str] = field(default_factory=list)
    cuts: int = 0
    line: int = 0

    def begin_in_1970(self) -> None:
        self._boot("-rtc", "base=1970-01-01")
        eventually(lambda: CLOCK in self.seen.logs(), "the word about the clock", MINUTES)
        self._works("with a clock of 1970")
        self._once_it_answers(self.machine.begin_to_write)

    def cut_power_in_a_restart(self) -> None:
        """At a random moment; nothing is carried out again."""
        sent = self._sent()
        time.sleep(self.chance.uniform(0, CUT_SECONDS))
        self.machine.cut_power()
        self.cuts += 1
        self._boot()
        over = self._ended(sent)
        if "restart kiosk" in self._run(ASKED):
            self.wrong.append(f"{sent} was carried out again after a power cut")
        self.say(f"power cut: {over['state']}")

    def cut_power_after_its_beginning(self) -> None:
        """Its disk says before the effect that it has begun, and no later boot begins it again."""
        sent = self._sent()
        before = self.seen.client()["boot_id"]
        eventually(lambda: self.seen.api.get(f"/api/commands/{sent}")["running_at"], "the beginning", MINUTES)
        self.machine.cut_power()
        self.cuts += 1
        if len(self._journal(sent)) < 2:
            self.wrong.append(f"of {sent} the disk has not both received and running")
        self._boot()
        over = self._ended(sent)
        self.machine.cut_power()
        if {one["boot_id"] for one in self._journal(sent)} != {before}:
            self.wrong.append(f"{sent} began in more than one boot")
        self._boot()
        self.say(f"power cut after the beginning: {over['state']}")

    def _journal(self, command: str) -> list[dict[str, Any]]:
        """What the disk of the machine, which is off, has of this command."""
        lines = map(json.loads, self.machine.file(JOURNAL).splitlines())
        return [one for one in lines if one["id"] == command]

    def put_an_image_back(self) -> None:
        """The disk as it was some commands ago."""
        kept = self.machine.disk.with_name("kept.img")
        self.machine.cut_power()
        shutil.copyfile(self.machine.disk, kept)
        for _ in range(2):
            self._boot()
            self._works("before an image is put back")
            self.machine.cut_power()
        kept.replace(self.machine.disk)
        self._boot()
        self._works("after an image was put back")

    def spoil_the_disk(self) -> None:
        """Full, then read-only: no command is offered, and the display goes on talking."""
        self._run(FILL)
        self._offers_nothing("a full disk")
        self._run("rm /fill /fill.more")
        self._works("after a full disk")
        self._run("echo u >/proc/sysrq-trigger; sleep 1")
        self._offers_nothing("a read-only disk")
        self.machine.cut_power()
        self._boot()
        self._works("after a read-only disk")

    def be_without_network(self) -> None:
        """For a while, and at a boot."""
        self._says()
        self.machine.plug_network(into=False)
        eventually(lambda: self.seen.client()["status"] == "stale", "silence without a network", MINUTES)
        time.sleep(AWAY_SECONDS)
        self.machine.plug_network(into=True)
        self._works("with the network again")
        before = self.seen.client()["boot_id"]
        self.machine.cut_power()
        self.machine.boot()
        self.machine.plug_network(into=False)
        eventually(self.machine.found_no_connection, "a boot without a network", MINUTES)
        time.sleep(AWAY_SECONDS)
        if self.seen.client()["boot_id"] != before:
            self.wrong.append("it was heard in a boot without a network")
        self.machine.plug_network(into=True)
        self._runs()
        self._works("after a boot without a network")

    def hang(self) -> None:
        """The whole machine, for a while."""
        assert self.machine.process is not None
        self.machine.process.send_signal(signal.SIGSTOP)
        time.sleep(AWAY_SECONDS)
        self.machine.process.send_signal(signal.SIGCONT)
        self._works("after the whole machine hung")

    def count_lines(self) -> None:
        """Of all its boots: none is lost, and none is stored twice."""
        stored = partial(stored_lines, self.whole, self.seen.uuid)
        written, lost, twice = self._once_it_answers(lambda: self.machine.lines_lost_and_twice(stored))
        if lost or twice or not written:
            self.wrong.append(f"of {written} lines {lost} are lost and {twice} are stored twice")
        self.say(f"{written} lines")

    def _run(self, lines: str) -> str:
        """What the shell says to these lines, which may run twice."""
        return self._once_it_answers(lambda: self.machine.run(lines))

    def _once_it_answers(self, ask: Callable[[], Answer]) -> Answer:
        """Ask until the machine's shell answers: it is slow, and for a moment there is none."""

        def answered() -> tuple[Answer] | None:
            try:
                return (ask(),)
            except OSError:
                return None

        return eventually(answered, "the shell", MINUTES)[0]

    def _boot(self, *options: str) -> None:
        self.machine.boot(*options)
        self._runs()

    def _runs(self) -> None:
        """It is heard in the boot that it is in."""

        def runs() -> bool:
            now = self.seen.runs()
            return now is not None and now["boot_id"] in self._run("cat /proc/sys/kernel/random/boot_id")

        eventually(runs, "the display", MINUTES)

    def _works(self, when: str) -> None:
        """A line of the player arrives, and the player is restarted once."""
        line = self._says()
        over = self._ended(self._sent())
        if over["state"] != "succeeded":
            self.wrong.append(f"{when} a restart {over['state']} ({over.get('reason')})")
        try:
            eventually(lambda: line in self.seen.logs(), f"a line {when}", MINUTES)
        except AssertionError as error:
            self.wrong.append(str(error))
        self.say(f"it works {when}")

    def _says(self) -> str:
        """The player writes another line."""
        self.line += 1
        line = f"line {self.line} of the player"
        self._run(f"echo {line} >>/run/kiosk")
        return line

    def _sent(self) -> str:
        player = self._run(PLAYER).strip()
        eventually(lambda: self.seen.client()["app_instance"] == player, "a heartbeat that names the player", MINUTES)
        eventually(lambda: self.seen.may("restart_app"), "leave for a restart", MINUTES)
        return self.seen.send("restart_app")

    def _ended(self, command: str) -> dict[str, Any]:
        return eventually(lambda: self.seen.over(command), "the end of the command", MINUTES)

    def _offers_nothing(self, when: str) -> None:
        eventually(lambda: not self.seen.may("restart_app"), f"no commands on {when}", MINUTES)
        if NO_COMMANDS not in self._run("signage-display status"):
            self.wrong.append(f"{when} is not named in the status")
        self.say(when)


@contextmanager
def kernel(folder: Path, release: str, stack: Stack, seed: int, say: Callable[[str], None]) -> Iterator[Kernel]:
    """An emulated display that is off, with an enrolled login."""
    api, name = stack.api(), str(uuid.uuid4())
    login = replace(enrolled(api, name), url=api.url)
    with emulated(folder, login, (int(stack.ports["GATEWAY_PORT"]), login.port), release) as machine:
        yield Kernel(Seen(api, name), machine, Whole(stack), random.Random(f"{seed} {release}"), say)


def everything(made: Kernel, cuts: int) -> None:
    """All of it, on one machine."""
    made.begin_in_1970()
    for _ in range(cuts):
        made.cut_power_in_a_restart()
    made.cut_power_after_its_beginning()
    made.put_an_image_back()
    made.spoil_the_disk()
    made.be_without_network()
    made.hang()
    made.count_lines()
