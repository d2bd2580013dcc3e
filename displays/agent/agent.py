"""The agent: the client's side of the contract on a real machine."""

import asyncio
import contextlib
import time
from logging import WARNING
from typing import Any, Final

from displays.agent import bus, notify, status
from displays.agent.actions import ASKED, end_the_machine, restart_player
from displays.agent.asking import NotDone, ask
from displays.agent.disk import Disk, count_boot
from displays.agent.glass import Glass
from displays.agent.glass_rules import Player, Rhythm
from displays.agent.heal import Healer
from displays.agent.heal_rules import Step
from displays.agent.journald_reader import JournaldReader
from displays.agent.journald_rules import Segment
from displays.agent.journald_spool import JournaldSpool
from displays.agent.lock import alone
from displays.agent.machine import Machine, kernel_boot_id
from displays.agent.screen_rules import CEC
from displays.agent.screen_switch import ScreenSwitch
from displays.agent.settings import HEALTH_SECONDS, Places, Settings
from displays.agent.settle import under_way, until_known
from displays.agent.unit_rules import UnitFacts, has_failed, process_status
from displays.agent.vitals import clock_is_sure
from displays.client import contract
from displays.client.client import Answer, Client
from displays.client.credentials import Credentials
from displays.client.link import Link
from displays.client.log_sender import LogSender
from displays.client.look import LookKeeper
from displays.client.screen import ScreenKeeper
from displays.client.screenshots import Screenshots, can_send
from displays.client.seen import PAGE_FIELDS
from displays.client.spool import Pace
from displays.client.state import Act, DisplayState
from shared.structured_log import event, failure

BUS_AGAIN_SECONDS: Final = 10.0


class Agent(Client):
    """One run of the agent."""

    def __init__(self, places: Places, settings: Settings, credentials: Credentials) -> None:
        super().__init__(credentials)
        self._places, self._settings = places, settings
        self._machine = Machine(places, settings)
        self._switch = ScreenSwitch(places.root, places.helper, settings.screen)
        panel = self._switch.is_on if settings.screen == CEC else None
        self._glass = Glass(places.root, settings.devtools_port, panel, self._player, self._black_is_allowed)
        self._kept_look = LookKeeper(places.state / "look.json") if settings.devtools_port else None
        self._screen = ScreenKeeper(places.state / "screen.json", self._switch.switch)
        if settings.devtools_port and can_send(credentials):
            self._screenshots = Screenshots(credentials, self._glass.picture)
        self._failed: set[str] = set()  # units whose failure was reported
        self._heard_at: float | None = None  # when the service last took a heartbeat; monotonic seconds
        self._pace = Pace(per_second=0.2, burst=5.0)  # the limit of extra heartbeats and health reports
        self._authority_ends_at: str | None = None
        with contextlib.suppress(ValueError, OSError):  # a login with a bad authority: the link says so
            self._authority_ends_at = credentials.authority_ends_at()
        self._has_picture = False  # whether the glass gave a picture for the last health report
        self._bus_trouble = ""

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set, then publish `offline`. Raises AnotherAgent."""
        with alone(self._places.state):
            self._boot()
            await self._reader.begin()  # before the agent writes its first line
            await self._look_at_units()  # before the first heartbeat, which names the player's start
            self._spawn(self._settle())
            self._link.open()
            heal = self._places.state / "heal.json"
            healer = Healer(heal, self.credentials, lambda: self._link.up, self._help_itself, is_on=self._settings.heal)
            for work in (
                *(self._beat(), self._report_health(), self._watch_units(), self._give_life_signs(), healer.run()),
                *(self._keep_screen(), self._watch_helper()),
                *(self._reader.run(), self._reader.watch(), self._logs.send_in_order(), self._logs.watch_for_stalls()),
            ):
                self._spawn(work)
            notify.tell("READY=1")
            await stop.wait()
            notify.tell("STOPPING=1")
            await self._go_down("stopped")

    def _boot(self) -> None:
        boot = count_boot(self._places.state, kernel_boot_id(self._places))
        self._disk = Disk(self._places.state)
        self._journal = self._disk.journal
        spool = JournaldSpool(self._places.state / "logs.json")
        self._logs = LogSender(
            spool,
            lambda: self._link.up,
            lambda message: self._link.publish(contract.LOGS, message.body, message.level),
        )
        self.state = DisplayState(
            boot,
            f"not-started-{boot.boot_id[:8]}",
            self._journal.entries(),
            self._capabilities(),
            self._settings.heartbeat_seconds,
        )
        self.state.process_status = "unknown"
        self._reader = JournaldReader(spool, boot, self._settings.watched, self._log_level, self._log_is_numbered)
        self._spool = spool
        self._link = Link(self.credentials, self, self._rng)

    def _look_at_the_disk(self) -> None:
        self._disk.look()
        self._journal = self._disk.journal

    async def _go_down(self, reason: str) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._link.close(reason)
        self._spool.save()
        self._journal.close()

    async def _settle(self) -> None:
        """Settle the commands that an earlier start left open, as soon as their outcome is known."""
        left = set(self.state.journal)  # a screenshot may begin meanwhile
        actions = under_way(self.state.journal.values(), self.state.boot.boot_id)
        await until_known(actions, self._places.helper, self._look_at_units)
        self._carry_out(self.state.booted(self.now(), left))

    # --- units ---

    async def _look_at_units(self) -> UnitFacts:
        """Ask systemd for the states of all units. Returns that of the player."""
        try:
            for facts in await bus.look(self._settings.watched):
                self._unit_told(facts)
        except bus.BusFault as error:
            self._bus_trouble = str(error)
        return self._machine.player

    async def _watch_units(self) -> None:
        while True:
            try:
                await bus.watch(self._settings.watched, self._unit_told)
            except bus.BusFault as error:
                self._bus_trouble = str(error)
                event("bus_lost", "asking again after a pause", WARNING, why=self._bus_trouble)
            await asyncio.sleep(BUS_AGAIN_SECONDS)

    def _unit_told(self, facts: UnitFacts) -> None:
        self._bus_trouble = ""
        looping = self._machine.told(facts)
        if facts.name == self._settings.player:
            self._player_told(facts, looping=looping)
        if has_failed(facts, looping=looping):
            if facts.name not in self._failed:
                self._failed.add(facts.name)
                self.service_failed(facts.name, facts.result, facts.restarts)
        elif facts.active == "active" and facts.name in self._failed:
            self._failed.discard(facts.name)
            self.state.unit_works(facts.name)
        self._report_capabilities()
        self._write_status()

    def _report_capabilities(self) -> None:
        """Send a health report at once when the capabilities changed, within the pace of heartbeats."""
        if self.state.capabilities == (now := self._capabilities()):
            return
        self.state.capabilities = now
        if self._link.up and not self._pace.wait_seconds(time.monotonic()):
            self.health()

    def _capabilities(self) -> tuple[str, ...]:
        return self._machine.capabilities(
            journal_is_writable=self._disk.works, has_picture=self._has_picture, has_switch=not self._switch.trouble
        )

    def _player_told(self, facts: UnitFacts, *, looping: bool) -> None:
        """Send a heartbeat at once when the player's state changed. The pace limits this for a player that loops."""
        before = (self.state.app_instance, self.state.process_status)
        if facts.invocation and facts.invocation != self.state.app_instance:
            self.state.app_instance = facts.invocation
        self.state.process_status = process_status(facts, looping=looping, before=before[1])
        if before == (self.state.app_instance, self.state.process_status):
            return
        if self._link.up and not self._pace.wait_seconds(time.monotonic()):
            self.heartbeat()

    # --- what it says by itself ---

    def heartbeat(self, process_status: str | None = None) -> Answer:
        """Send a heartbeat, and note whether the service took it."""
        answer = super().heartbeat(process_status)
        answer.add_done_callback(self._heartbeat_answered)
        self._write_status()
        return answer

    def health(self, **vitals: Any) -> Answer:
        """Send a health report, and show in the status what it says."""
        answer = super().health(**vitals)
        self._write_status()
        return answer

    def _heartbeat_answered(self, answer: Answer) -> None:
        if not answer.cancelled() and answer.result() == 0:
            self._heard_at = time.monotonic()
            if self._screen is not None:
                self._screen.heard(self.now(), is_sure=self._clock_is_sure())
            self._write_status()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self.state.interval_seconds)
            if self._link.up:
                self.heartbeat()
            else:
                self._write_status()

    async def _report_health(self) -> None:
        """Look at disk and screen, and report: at once when the screen has another word, else each minute."""
        rhythm = Rhythm()
        while True:
            self._look_at_the_disk()
            word = await self._glass.health()
            if rhythm.is_due(word, time.monotonic()):
                await self._report_now(word)
            await asyncio.sleep(rhythm.pause)

    async def _report_now(self, word: str) -> None:
        seen = {"screen_health": word, "certificate_ends_at": self._authority_ends_at}
        self.vitals = await self._machine.report() | seen | self._glass.tell()
        pictures = self._screenshots
        self._has_picture = pictures is not None and await pictures.keep_taken(self._glass.small_picture)
        self.state.capabilities = self._capabilities()
        if self._link.up:
            self.health()

    async def _watch_helper(self) -> None:
        while True:
            if await self._machine.ask_helper(time.monotonic()):
                self._report_capabilities()
                self._write_status()
            await asyncio.sleep(HEALTH_SECONDS)

    async def _give_life_signs(self) -> None:
        while True:
            notify.tell("WATCHDOG=1")
            await asyncio.sleep(notify.watchdog_seconds())

    def _log_level(self) -> str:
        return self.state.log_level(self.now())

    def _log_is_numbered(self, segment: Segment, number: int) -> None:
        if segment.start == (self.state.boot.install_id, self.state.boot.boot_seq):
            self.state.logs_are_numbered_to(number)
        self._logs.wake()

    def on_down(self) -> None:
        """Note the loss, and show it in the status."""
        super().on_down()
        self._write_status()

    # --- what it does ---

    def _act(self, act: Act) -> None:
        if act.action == contract.SCREENSHOT:
            self._spawn(self._send_screenshot(act.command_id))
        elif act.action in contract.SCREEN_ACTIONS:
            self._spawn(self._switch_screen(act))
        elif act.action == contract.RESTART_APP:
            self._spawn(self._restart_app(act.command_id))
        else:
            self._spawn(self._end_the_machine(act))

    def _black_is_allowed(self) -> bool:
        return self._kept_look is not None and self._kept_look.order.black_is_allowed

    def _player(self) -> Player:
        facts = self._machine.player
        return Player(facts.invocation, facts.active == "active")

    def _clock_is_sure(self) -> bool:
        return clock_is_sure(self._places.root)

    async def _see_screen(self) -> None:
        word = await self._glass.health()
        others = {name: value for name, value in self.vitals.items() if name not in PAGE_FIELDS}
        self.vitals = others | {"screen_health": word} | self._glass.tell()

    async def _look_at_plan(self, *, has_news: bool = False) -> None:
        """Follow the plan while the screen can be switched."""
        if self.state.can_switch_screen:
            await super()._look_at_plan(has_news=has_news)

    async def _restart_app(self, command_id: str) -> None:
        failed = await restart_player(self._places.helper, self._machine, self.state.app_instance)
        if failed is not None:
            self._machine.doubt_helper()
        self._carry_out(self.state.finished(command_id, self.now(), failed))
        self.heartbeat()

    async def _end_the_machine(self, act: Act) -> None:
        """Publish `offline`, then reboot or power off. If the machine keeps running, report the failure."""
        await self._link.close(ASKED[act.action][1])
        failed = await end_the_machine(self._places.helper, act.action)
        self._machine.doubt_helper()
        self._carry_out(self.state.finished(act.command_id, self.now(), failed))
        self._link.open()

    async def _help_itself(self, step: Step) -> None:
        try:
            await ask(self._places.helper, "restart-network" if step is Step.RESTART_NETWORK else "reboot")
        except NotDone:
            self._machine.doubt_helper()
            failure("machine_not_helped", "The machine could not help itself.", step=step)

    def _write_status(self) -> None:
        status.write(self._places.status, self._known())

    def _screen_plan(self) -> str:
        """How the screen is meant to be, in words."""
        if self._switch.trouble or self._screen is None:
            return f"it cannot be switched: {self._switch.trouble}"
        why = self._screen.wish.why or "on: there are no hours and no order"
        return why + (f"; switching it failed: {self._screen.trouble}" if self._screen.trouble else "")

    def _known(self) -> dict[str, Any]:
        last = next(reversed(self.state.journal.values()), None)
        named = None if last is None else {"action": last.action, "state": last.state, "reason": last.reason}
        troubles = dict(self._machine.troubles)
        if self._bus_trouble:
            troubles["no_bus"] = self._bus_trouble
        if not self._disk.works:
            troubles["no_journal"] = "no journal of commands can be kept: the disk takes nothing"
        return {
            "uuid": self.credentials.uuid,
            "broker": f"{self.credentials.host}:{self.credentials.port}",
            "up": self._link.up,
            "why": self._link.trouble,
            "heard_at": self._heard_at,
            "player": self._settings.player,
            "has_player": self._settings.has_player,
            "units": self._machine.words(),
            "process_status": self.state.process_status,
            "capabilities": list(self.state.capabilities),
            "last_command": named,
            "screen": self.vitals.get("screen_health", "unknown"),
            "screen_trouble": self._glass.trouble,
            "screen_plan": self._screen_plan(),
            "logs_waiting": len(self._spool),
            "logs_trouble": self._reader.why_not,
            "troubles": troubles,
        }
