"""The state of the machine: its units, its troubles, and the vitals of a health report."""

import asyncio
import time
from collections.abc import Mapping
from logging import WARNING
from typing import Any, Final

from displays.agent import vitals
from displays.agent.asking import NotDone, ask
from displays.agent.card import Card
from displays.agent.settings import Places, Settings
from displays.agent.unit_rules import Loop, UnitFacts, in_words
from displays.client import contract
from shared.structured_log import event

HELPER_ASK_SECONDS: Final = 3600.0  # a helper that answers is asked again after this time, as each question starts it


class Machine:
    """The machine's state. Called from the event loop; slow work runs on a thread."""

    def __init__(self, places: Places, settings: Settings) -> None:
        self.settings = settings
        self.facts: dict[str, UnitFacts] = {unit: UnitFacts(unit) for unit in settings.watched}
        self.troubles: dict[str, str] = {}  # code of a trouble -> its description
        self.changed = asyncio.Event()  # set when a unit changed
        self.helper_trouble = ""  # why the root helper carries out nothing
        self._places = places
        self._loops: dict[str, Loop] = {unit: Loop() for unit in settings.watched}
        self._cpu: vitals.CpuTimes | None = None
        self._card = Card(places.state / "card.page")
        self._helper_asked_at = -HELPER_ASK_SECONDS
        self._version: tuple[str, str | None] = ("", None)  # the player's invocation, and its version

    @property
    def player(self) -> UnitFacts:
        return self.facts[self.settings.player]

    def told(self, facts: UnitFacts) -> bool:
        """Take over a unit's new state from systemd. Returns whether the unit is in a restart loop."""
        self.facts[facts.name] = facts
        loop = self._loops[facts.name]
        loop.seen(facts, time.monotonic())
        self.changed.set()
        return loop.is_on(time.monotonic())

    def words(self) -> dict[str, str]:
        """Each unit's state in words, by name."""
        now = time.monotonic()
        return {name: in_words(facts, looping=self._loops[name].is_on(now)) for name, facts in self.facts.items()}

    def capabilities(
        self, *, journal_is_writable: bool, has_picture: bool = False, has_switch: bool = False
    ) -> tuple[str, ...]:
        """The commands that this machine can carry out: none without a journal, only pictures without the helper.

        Without a player it cannot do restart_app.
        """
        if not journal_is_writable:
            return ()
        pictures = (contract.SCREENSHOT,) if has_picture else ()
        if self.helper_trouble or not self._places.helper.exists():
            return pictures
        can_restart = self.settings.has_player and not self.player.is_missing
        screen = contract.SCREEN_ACTIONS if has_switch else ()
        return (*(contract.ACTIONS if can_restart else contract.ACTIONS[1:]), *pictures, *screen)

    async def ask_helper(self, now: float) -> bool:
        """Find out whether the root helper answers. Returns whether that has changed. `now` is in monotonic seconds."""
        before, trouble, path = self.helper_trouble, "", self._places.helper
        seems_well = not before and vitals.listens(self._places.root, path)
        if seems_well and now - self._helper_asked_at < HELPER_ASK_SECONDS:
            return False
        try:
            await ask(path, "ping")
        except NotDone as error:
            trouble = str(error)
        self._helper_asked_at, self.helper_trouble = now, trouble
        return bool(before) != bool(trouble)

    def doubt_helper(self) -> None:
        """Ask the root helper at the next look: something that it was asked for was not done."""
        self._helper_asked_at = -HELPER_ASK_SECONDS

    async def report(self) -> dict[str, Any]:
        """The vitals for a health report. The log gets a line when a trouble begins and when it ends."""
        return await asyncio.to_thread(self._report)

    def _report(self) -> dict[str, Any]:
        root, state = self._places.root, self._places.state
        before, self._cpu = self._cpu, vitals.cpu_times(root)
        self._card.look(time.monotonic(), time.time())
        self._tell_troubles(
            vitals.troubles(root, state) | self._missing_units() | self._dead_helper() | self._lying_card()
        )
        return {
            "cpu_percent": vitals.cpu_percent(before, self._cpu),
            "app_version": self._app_version(),
            "disk_lies": self._card.lies,
            **vitals.report(root, state),
        }

    def _dead_helper(self) -> dict[str, str]:
        said = f"no command can be carried out: {self.helper_trouble}"
        return {"no_helper": said} if self.helper_trouble else {}

    def _lying_card(self) -> dict[str, str]:
        said = "the disk does not give back what it took, and will soon fail: replace it"
        return {"disk_lies": said} if self._card.lies else {}

    def _missing_units(self) -> dict[str, str]:
        """A trouble for each watched unit that systemd cannot load."""
        missing = [facts for facts in self.facts.values() if facts.is_missing]
        return {f"no_unit {facts.name}": f"{facts.name}: {in_words(facts, looping=False)}" for facts in missing}

    def _app_version(self) -> str | None:
        """The player's version, read once for each start of the player."""
        invocation = self.player.invocation
        if self._version[0] != invocation or not invocation:
            said = vitals.app_version(self.settings.app_version_file, self.settings.app_version_command)
            self._version = (invocation, said)
        return self._version[1]

    def _tell_troubles(self, found: Mapping[str, str]) -> None:
        before, self.troubles = self.troubles, dict(found)
        for word in found.keys() - before.keys():
            event("machine_trouble", f"Trouble: {found[word]}.", WARNING, trouble=word)
        for word in before.keys() - found.keys():
            event("machine_trouble_over", f"Over: {before[word]}.", trouble=word)


def kernel_boot_id(places: Places) -> str:
    """The kernel's id of this boot."""
    return (places.root / "proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
