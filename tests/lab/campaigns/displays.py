"""The display agent on Debian 12 and 13, from the one line that installs it to what it costs while nothing happens.

Machines of systemd-nspawn for all that needs a systemd, emulated ones for what needs a kernel and a disk, a journald in
namespaces for the lives of a journal, and Chromium for the glass. Each machine has a network of its own; all traffic
stays on loopback.
"""

import asyncio
import os
import random
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from displays.agent.journald_rules import MISSING
from displays.conformance.checklist import failed, printed
from tests.displays.journal_lives import FORGETS, GOES_BACK, LIVES, lived
from tests.lab.campaigns import display_glass as glass
from tests.lab.campaigns import display_idle as idle
from tests.lab.campaigns.display_faults import Faults
from tests.lab.campaigns.display_kernel import Kernel, everything, kernel
from tests.lab.campaigns.display_kills import Kills
from tests.lab.campaigns.display_lab import Lab, lab, prepare
from tests.lab.campaigns.display_screen import told_after
from tests.lab.campaigns.ledger import Ledger, tell
from tests.machines.displays.handling import connect_to, exercised
from tests.stack import Stack, eventually, running_stack

PROGRAMS: Final = (
    *("systemd-nspawn", "debootstrap", "qemu-system-x86_64", "debugfs", "ip", "strace", "chromium-headless-shell"),
)
RELEASES: Final = ("bookworm", "trixie")
MOST_RSS_MEGABYTES: Final = 30.0
INSTALL_SECONDS: Final = 180.0
HUNG_SECONDS: Final = 90.0
LOST: Final = ("no line of journald is lost", "no line is stored twice")


@dataclass(frozen=True)
class Plan:
    """How much."""

    kills: int = 1000
    machines_of_each: int = 2
    power_cuts: int = 20  # of each Debian under systemd-nspawn
    hard_cuts: int = 3  # of each Debian under QEMU
    faults: int = 1000  # of screens
    looks: int = 20_000  # at screens that are well
    screens: int = 8
    lives: int = 20  # of a journal, of each kind
    idle_minutes: float = 10.0
    releases: Sequence[str] = RELEASES
    seed: int = 1


def is_possible() -> bool:
    """Can this machine make and boot others, and trace their processes?"""
    return os.geteuid() == 0 and all(map(shutil.which, PROGRAMS))


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """The campaign's ledger."""
    ledger = Ledger("displays", plan.seed, {"kills": plan.kills, "faults_of_screens": plan.faults})
    began = time.monotonic()
    campaign = Campaign(plan, ledger, say)
    with running_stack(folder / "stack", TICK_SECONDS="1", DEMO="") as stack:
        campaign.on_machines(stack, folder)
    campaign.on_journals(folder / "journals")
    campaign.on_screens(folder / "screens")
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


@dataclass
class Campaign:
    """What is done, and what it showed."""

    plan: Plan
    ledger: Ledger
    say: Callable[[str], None]
    labs: dict[str, list[Lab]] = field(default_factory=dict)  # by release

    def on_machines(self, stack: Stack, folder: Path) -> None:
        """Everything but the glass."""
        with ExitStack() as running:
            for release in self.plan.releases:
                self._install(running, release, stack, folder)
            self._lose_and_kill(stack, folder)
            self._be_idle()

    def _install(self, running: ExitStack, release: str, stack: Stack, folder: Path) -> None:
        for number in range(self.plan.machines_of_each):
            made, seconds = running.enter_context(lab(folder / f"{release}{number}", release, stack))
            self.labs.setdefault(release, []).append(made)
            self.say(f"{release}: running after {seconds} s")
            self.ledger.counted |= {f"from_the_line_to_running_{release}_seconds": seconds}
            self.ledger.limits[f"{release}: from the one line to running within three minutes"] = (
                seconds <= INSTALL_SECONDS
            )

    def _lose_and_kill(self, stack: Stack, folder: Path) -> None:
        """On all machines at once."""
        with ExitStack() as off, ThreadPoolExecutor() as pool:  # the machines end after all work on them
            kernels = {
                release: off.enter_context(
                    kernel(folder / f"{release}-kernel", release, stack, self.plan.seed, self.say)
                )
                for release in (self.plan.releases if self.plan.hard_cuts else ())
            }
            emulated = [pool.submit(self._attempt, one.wrong, self._emulate, one) for one in kernels.values()]
            works = [
                pool.submit(self._attempt, made.wrong, self._one_machine, release, number, made, stack, folder)
                for release, labs in self.labs.items()
                for number, made in enumerate(labs)
            ]
            for work in (*works, *emulated):
                work.result()
        self._judge_machines()
        for release, one in kernels.items():
            self._judge_kernel(release, one)

    def _attempt(self, wrong: list[str], work: Callable[..., None], *given: object) -> None:
        """Let one machine fail without the others."""
        try:
            work(*given)
        except (AssertionError, OSError, subprocess.SubprocessError, pytest.fail.Exception) as error:
            wrong.append(f"{work.__name__}: {error}")
            self.say(f"FAILED {wrong[-1]}")

    def _one_machine(self, release: str, number: int, made: Lab, stack: Stack, folder: Path) -> None:
        chance = random.Random(f"{self.plan.seed} {release} {number}")
        if number == 0:
            self._check_the_contract(release, made, int(stack.ports["MQTT_DISPLAYS_PORT"]))
        if number == self.plan.machines_of_each - 1:
            self._see_the_glass(release, made, folder / f"{release}-screens", chance)
        prepare(made)
        kills = Kills(made, chance, self.say)
        kills.run(-(-self.plan.kills // (len(self.plan.releases) * self.plan.machines_of_each)))
        self._count(kills_done=kills.done, kills_at_a_step=kills.at_a_step)
        if number == 0:
            self._faults(release, Faults(made, chance, self.say))
        self._lines(made, LOST)
        if number == 0:
            Faults(made, chance, self.say).put_an_image_back()
            self._lines(made, LOST[:1])

    def _check_the_contract(self, release: str, made: Lab, broker: int) -> None:
        lines = asyncio.run(exercised(made.display, broker, made.network.open))
        connect_to(made.there, broker)
        eventually(made.display.runs, "the display", 120)
        broken = failed(lines)
        if broken:
            self.say("\n".join(printed(lines)))
        self.ledger.conditions[f"{release}: every rule of the contract is kept"] = not broken
        self.ledger.counted |= {"rules_of_the_contract": len(lines)}

    def _see_the_glass(self, release: str, made: Lab, folder: Path, chance: random.Random) -> None:
        slowest = max(told_after(made, folder, chance, self.say))
        self.ledger.counted |= {f"fault_of_a_screen_on_the_page_{release}_seconds": slowest}
        self.ledger.limits[f"{release}: a fault of each kind is on the page within 90 s"] = (
            slowest <= glass.TOLD_SECONDS
        )

    def _faults(self, release: str, faults: Faults) -> None:
        for number in range(self.plan.power_cuts):
            faults.cut_power("reboot_host" if number % 3 == 2 else "restart_app")
        self._count(power_cuts=self.plan.power_cuts)
        faults.reboot()
        for how in ("full", "read-only"):
            faults.spoil_the_disk(how)
        faults.take_the_network_away()
        faults.boot_without_network()
        took = faults.hang()
        self.ledger.counted |= {f"hung_agent_replaced_{release}_seconds": took}
        self.ledger.limits[f"{release}: another agent within {HUNG_SECONDS:.0f} s of one that hangs"] = (
            took <= HUNG_SECONDS
        )

    def _lines(self, made: Lab, judged: Sequence[str]) -> None:
        written, lost, twice = made.lines_lost_and_twice()
        self._count(lines=written)
        for name, count in zip(judged, (lost, twice), strict=False):
            if count:
                made.wrong.append(f"{name}: {count} of {written}")
        made.there.run("systemctl", "start", "writer.service")

    def _emulate(self, one: Kernel) -> None:
        everything(one, self.plan.hard_cuts)

    def _judge_machines(self) -> None:
        for release, labs in self.labs.items():
            wrong = [text for one in labs for text in one.wrong]
            for text in wrong:
                self.say(f"{release}: {text}")
            said = f"{release}: nothing is done twice, told falsely or lost, and each fault is survived"
            self.ledger.conditions[said] = not wrong
        outcomes = sum((one.outcomes for labs in self.labs.values() for one in labs), Counter[str]())
        self._count(**{f"commands_{state}": count for state, count in outcomes.items()})

    def _judge_kernel(self, release: str, one: Kernel) -> None:
        for text in one.wrong:
            self.say(f"{release}, on a kernel: {text}")
        self._count(power_cuts_of_a_kernel=one.cuts)
        said = f"{release} on a kernel of its own: clock of 1970, power cuts, disk, network, hang, image put back"
        self.ledger.conditions[said] = not one.wrong

    def _be_idle(self) -> None:
        """What the agent costs meanwhile, on a machine of each Debian. One that has failed may be off."""
        well = {release: labs[0] for release, labs in self.labs.items() if not labs[0].wrong}
        for made in well.values():
            idle.be_idle(made)
        time.sleep(idle.SETTLE_SECONDS)
        with ThreadPoolExecutor() as pool:
            costs = list(pool.map(lambda made: idle.measure(made, self.plan.idle_minutes), well.values()))
        for release, cost in zip(well, costs, strict=True):
            self.ledger.counted |= {
                f"{release}_rss_megabytes": round(cost.rss_megabytes, 1),
                f"{release}_with_journalctl_megabytes": round(cost.with_journalctl_megabytes, 1),
                "idle_minutes": cost.minutes,
                f"{release}_idle_writes": cost.writes,
                f"{release}_idle_bytes_written": cost.written_bytes,
            }
            small = cost.rss_megabytes <= MOST_RSS_MEGABYTES
            self.ledger.conditions[f"{release}: at most {MOST_RSS_MEGABYTES:.0f} MB of memory"] = small
            self.ledger.conditions[f"{release}: at most one write a minute while idle"] = cost.writes_a_minute <= 1

    def on_journals(self, folder: Path) -> None:
        """The lives of a journal, each with other chances."""
        seeds = range(self.plan.seed, self.plan.seed + self.plan.lives)
        lives = [(life, seed) for life in LIVES for seed in seeds]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [text for text in pool.map(lambda one: self._live(folder, *one), lives) if text]
        for text in wrong:
            self.say(f"FAILED {text}")
        self._count(lives_of_a_journal=len(lives))
        self.ledger.conditions["in no life of a journal a line is lost, told falsely or stored twice"] = not wrong

    def _live(self, folder: Path, life: str, seed: int) -> str:
        """What is wrong after this life. A state that goes back, or was lost, may bring lines twice, with a word."""
        place = folder / f"{life}{seed}"
        place.mkdir(parents=True)
        try:
            judged = lived(place, life, seed)
        except AssertionError as error:
            return f"{life} {seed}: {error}"
        finally:
            shutil.rmtree(place, ignore_errors=True)
        allowed = MISSING if life in FORGETS else None
        other = [] if life in GOES_BACK else [*judged["twice"], *(one for one in judged["words"] if one != allowed)]
        return f"{life} {seed}: {judged}" if judged["lost"] or other else ""

    def on_screens(self, folder: Path) -> None:
        """The glass."""
        seen = glass.watch(folder, self.plan.faults, self.plan.looks, self.plan.screens, self.plan.seed, self.say)
        told = sorted(seconds for times in seen.told.values() for seconds in times)
        for name, count in seen.alarms.items():
            self.say(f"false alarm, {name}: {count}")
        self.ledger.counted |= {
            **{f"{kind} missed".replace(" ", "_"): count for kind, count in seen.missed.items()},
            "screens_recall_percent": round(100 * seen.recall, 2),
            "screens_told_slowest_seconds": round(told[-1], 1) if told else 0,
            "looks_at_screens_that_are_well": seen.well.total(),
            "display-days_of_these": round(seen.days, 2),
            "looks_without_a_word": seen.unknown,
            "false_alarms": seen.alarms.total(),
            "false_alarms_in_1000_display-days_at_most_(95_%)": round(seen.alarms_at_most, 1),
        }
        self.ledger.conditions["of the screens' faults 99 % are told"] = seen.faults > 0 and seen.recall >= 0.99
        self.ledger.conditions["no false alarm was seen"] = seen.well.total() > 0 and not seen.alarms
        self.ledger.limits["each within 90 s"] = bool(told) and told[-1] <= glass.TOLD_SECONDS

    def _count(self, **counts: int) -> None:
        for name, count in counts.items():
            self.ledger.counted[name] = self.ledger.counted.get(name, 0) + count
