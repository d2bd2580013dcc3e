"""One display: pure state, files and connection on an asyncio loop.

The process simulates the machine: `power_on` is a boot, with a new `boot_id` and the next `boot_seq`. A killed process
loses the same data as a machine without power. `state_dir` survives: `installation.json`, `journal.jsonl`,
`spool.jsonl`, `screen.json`, `look.json`.

All methods belong to the loop's thread; a test without a loop uses `SimulatedDisplay` (simulated.py).
"""

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from displays.client import contract
from displays.client.client import Answer, Client
from displays.client.contract import Command, Kind
from displays.client.credentials import Credentials
from displays.client.installation import next_boot
from displays.client.journal import Journal
from displays.client.link import Link
from displays.client.log_sender import LogSender
from displays.client.look import LookKeeper
from displays.client.screen import ScreenKeeper
from displays.client.screenshots import Screenshots, can_send
from displays.client.spool import Spool, SpooledLog
from displays.client.state import Act, DisplayState
from displays.simulated.picture import draw


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How a display behaves by itself and on commands."""

    automatic: bool = True  # sends heartbeats and health by itself; False: only on call
    interval_seconds: int = 30  # seconds between heartbeats; the contract allows 5 to 3,600
    health_every: int = 2  # a health report with every n-th heartbeat
    answers_commands: bool = True  # False: it ignores commands
    answer_delay_seconds: float = 0.0  # before it handles a command
    restart_seconds: float = 0.1  # start of the player
    restart_works: bool = True  # False: the player crashes again at once
    reboot_seconds: float = 0.2  # time without the machine
    capabilities: tuple[str, ...] = (*contract.ACTIONS, *contract.SCREEN_ACTIONS)


class Display(Client):
    """One display, off until `power_on`. A test may set `behaviour` and `vitals` at any time."""

    def __init__(self, credentials: Credentials, state_dir: Path, behaviour: Behaviour) -> None:
        super().__init__(credentials)
        self.behaviour = behaviour
        self.name = credentials.uuid[:8]  # on its screen
        self.frozen = False  # connected, but sends nothing and handles only a reboot
        self.screen = "ok"  # what it shows; another start of the player mends it
        self.is_lit = True  # whether the screen is switched on
        self.on = False
        self._state_dir = state_dir
        self._cycle: asyncio.Task[None] | None = None  # a reboot or shutdown, which runs longer than the other tasks
        self._unplugged = asyncio.Event()
        self._switching = asyncio.Lock()  # a boot waits for the end of a shutdown
        if can_send(credentials):
            self._screenshots = Screenshots(credentials, self._take_picture)

    # --- power ---

    async def power_on(self) -> None:
        """Boot: raise boot_seq, read the files, settle interrupted commands, connect. Nothing when it is on."""
        async with self._switching:
            if not self.on:
                self._boot()

    def _boot(self) -> None:
        self._state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        boot = next_boot(self._state_dir / "installation.json", str(uuid.uuid4()))
        self._journal = Journal(self._state_dir / "journal.jsonl")
        self._spool = Spool(self._state_dir / "spool.jsonl")
        self._logs = LogSender(
            self._spool,
            lambda: self._link.up and not self.frozen,
            lambda message: self._link.publish(contract.LOGS, message.body, message.level),
        )
        self._was_up = False  # in this boot
        behaviour = self.behaviour
        able = (*behaviour.capabilities, contract.SCREENSHOT) if self._screenshots else behaviour.capabilities
        self.state = DisplayState(boot, str(uuid.uuid4()), self._journal.entries(), able, behaviour.interval_seconds)
        self.frozen, self.on, self._waiting = False, True, set[str]()
        self.screen, self.is_lit = "ok", True
        if self.state.can_switch_screen:
            self._screen = ScreenKeeper(self._state_dir / "screen.json", self._light)
        self._kept_look = LookKeeper(self._state_dir / "look.json")
        self._link = Link(self.credentials, self, self._rng)
        self._carry_out(self.state.booted(self.now()))
        self._link.open()
        sending = (self._logs.send_in_order(), self._logs.watch_for_stalls())
        for work in (self._beat(), self._keep_screen(), *sending):
            self._spawn(work)

    async def power_off(self, reason: str) -> None:
        """Stop cleanly with presence `offline`; no data is lost."""
        await self._stay_down(reason)

    async def cut_power(self) -> None:
        """Stop like a pulled plug: without a message; the broker publishes the will 20 s later."""
        await self._stay_down(None)

    async def lose_network(self) -> None:
        """Cut the network; the machine continues."""
        await self._link.cut()
        self.state.disconnected(self.now())

    def find_network(self) -> None:
        """Restore the network after `lose_network`."""
        if self.on:
            self._link.open()

    def drop_connection(self) -> None:
        """Cut the connection once; the client reconnects by itself."""
        self._link.drop()

    async def _stay_down(self, reason: str | None) -> None:
        self._unplugged.set()
        if self._cycle is not None:  # a reboot in progress: it ends without the boot
            await self._cycle
            self._cycle = None
        await self._go_down(reason)
        self._unplugged.clear()

    async def _go_down(self, reason: str | None) -> None:
        async with self._switching:
            if not self.on:
                return
            self.on = False
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await (self._link.cut() if reason is None else self._link.close(reason))
            self._journal.close()
            self._spool.close()

    # --- messages and pictures of the display ---

    def heartbeat(self, process_status: str | None = None) -> Answer:
        """Keep a picture of the screen, then send a heartbeat."""
        if self._screenshots is not None:
            self._screenshots.keep(self._look())
        answer = super().heartbeat(process_status)
        answer.add_done_callback(self._heartbeat_answered)
        return answer

    def _heartbeat_answered(self, answer: Answer) -> None:
        if self._screen is not None and not answer.cancelled() and answer.result() == 0:
            self._screen.heard(self.now(), is_sure=self._clock_is_sure())

    async def _light(self, is_on: bool) -> None:
        self.is_lit = is_on

    def _look(self) -> Callable[[], bytes]:
        """A function that draws what the screen shows now."""
        state = self.screen if self.screen in contract.BAD_SCREENS else self.state.process_status
        return partial(draw, self.name, f"{self.now():%Y-%m-%d %H:%M:%S} UTC", state)

    async def _take_picture(self) -> bytes:
        return self._look()()

    def log(self, level: str, message: str, logger: str = "player", **context: Any) -> bool:
        """Number a log message, add it to the spool and send it.

        False without a number: the display is off, the level is below the present one, or the spool is full.
        """
        if not self.on or not self.state.is_logged(level, self.now()) or not self._spool.has_room():
            return False
        self._logs.keep(SpooledLog(level, self.state.log(message, logger, context, self.now())))
        return True

    def health(self, **vitals: Any) -> Answer:
        """Send a health report with the state of the screen; `vitals` overrides it."""
        screen = self.screen if self.is_lit else "off"
        return super().health(**{"screen_health": screen, **self.vitals, **vitals})

    def publish_raw(self, kind: Kind, body: dict[str, Any], level: str = "") -> Answer:
        """Send `body` unchanged, without a stamp: for tests of simple or broken displays."""
        return self._link.publish(kind, body, level)

    @property
    def is_up(self) -> bool:
        """Whether it is connected, subscribed and has sent presence online."""
        return self.on and self._link.up

    @property
    def is_rebooting(self) -> bool:
        """Whether a command's reboot is in progress."""
        return self._cycle is not None and not self._cycle.done()

    @property
    def spooled(self) -> int:
        """How many log messages wait for `logs_committed`."""
        return len(self._spool)

    def _speaks_by_itself(self) -> bool:
        return self.behaviour.automatic and not self.frozen

    # --- commands ---

    def _on_command(self, command: Command, expiry_seconds: int | None) -> None:
        behaviour = self.behaviour
        deaf = self.frozen and command.action != contract.REBOOT_HOST
        if deaf or not behaviour.answers_commands or command.id in self._waiting:
            return
        if not behaviour.answer_delay_seconds:
            self._carry_out(self.state.on_command(command, self.now()))
            return
        self._waiting.add(command.id)
        self._spawn(self._obey_late(command, behaviour.answer_delay_seconds, expiry_seconds))

    async def _obey_late(self, command: Command, delay: float, expiry_seconds: int | None) -> None:
        """Handle a command after a delay. It counts down the message expiry, because its clock may be wrong."""
        await asyncio.sleep(delay)
        self._waiting.discard(command.id)
        if expiry_seconds is not None and delay >= expiry_seconds:
            self._carry_out(self.state.refuse(command, "expired", self.now()))
        else:
            self._carry_out(self.state.on_command(command, self.now()))

    # --- actions ---

    def _act(self, act: Act) -> None:
        if act.action == contract.SCREENSHOT:
            self._spawn(self._send_screenshot(act.command_id))
        elif act.action in contract.SCREEN_ACTIONS:
            self._spawn(self._switch_screen(act))
        elif act.action == contract.RESTART_APP:
            self._spawn(self._restart_app(act.command_id))
        else:
            self._cycle = asyncio.get_running_loop().create_task(self._power_cycle(act.action))

    async def _restart_app(self, command_id: str) -> None:
        self.state.process_status = "starting"
        if self.behaviour.automatic:
            self.heartbeat()
        await asyncio.sleep(self.behaviour.restart_seconds)
        failed = None if self.behaviour.restart_works else "app_did_not_start"
        self.state.app_started(str(uuid.uuid4()))
        self.screen = "ok"
        self.state.process_status = "crashed" if failed else "running"
        self._carry_out(self.state.finished(command_id, self.now(), failed))
        if self.behaviour.automatic:
            self.heartbeat()

    async def _power_cycle(self, action: str) -> None:
        """Reboot or shut down. The next boot sends the outcome: see `DisplayState.booted`."""
        reboots = action == contract.REBOOT_HOST
        await self._go_down("reboot" if reboots else "shutdown")
        if reboots:
            try:
                await asyncio.wait_for(self._unplugged.wait(), self.behaviour.reboot_seconds)
            except TimeoutError:
                await self.power_on()

    # --- periodic tasks ---

    async def _beat(self) -> None:
        beats = 0
        while True:
            await asyncio.sleep(self.behaviour.interval_seconds)
            if self.behaviour.automatic and self._link.up and not self.frozen:
                beats += 1
                self.heartbeat()
                if beats % self.behaviour.health_every == 0:
                    self.health()
