"""One display: the pure state, the files and the link, put together on an asyncio loop.

The process is the machine here: `power_on` is a boot, with a new `boot_id` and the next `boot_seq`, and
whatever the process loses when it is killed is what a machine loses when its power fails. What survives
is in `state_dir`: `installation.json`, `journal.jsonl`, `spool.jsonl`.

All methods belong to the loop's thread; a test without a loop uses `SimulatedDisplay` (simulated.py).
"""

import asyncio
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.displays.client import contract
from deploy.displays.client.client import Answer, Client
from deploy.displays.client.contract import Command, Kind
from deploy.displays.client.credentials import Credentials
from deploy.displays.client.installation import next_boot
from deploy.displays.client.journal import Journal
from deploy.displays.client.link import Link
from deploy.displays.client.log_sender import LogSender
from deploy.displays.client.spool import Spool, SpooledLog
from deploy.displays.client.state import Act, DisplayState


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How a display acts by itself and on commands."""

    automatic: bool = True  # heartbeats and health by itself; else only when told
    interval_seconds: int = 30  # between heartbeats; 5 to 3,600 by the contract
    health_every: int = 2  # a health report with every n-th heartbeat
    answers_commands: bool = True  # false: commands arrive and nothing happens at all
    answer_delay_seconds: float = 0.0  # before a command is even looked at
    restart_seconds: float = 0.1  # how long the player takes to start
    restart_works: bool = True  # false: the player crashes again at once
    reboot_seconds: float = 0.2  # how long the machine is away
    capabilities: tuple[str, ...] = contract.ACTIONS


class Display(Client):
    """One display, off until `power_on`. Attributes that a test may set at any time: `behaviour`, `vitals`."""

    def __init__(self, credentials: Credentials, state_dir: Path, behaviour: Behaviour) -> None:
        super().__init__(credentials)
        self.behaviour = behaviour
        self.frozen = False  # connected, but silent and deaf to all but a reboot
        self.on = False
        self._state_dir = state_dir
        self._cycle: asyncio.Task[None] | None = None  # a reboot or shutdown, which outlives them
        self._unplugged = asyncio.Event()
        self._switching = asyncio.Lock()  # going down takes a while, and a boot waits for its end

    # --- power ---

    async def power_on(self) -> None:
        """Boot: count it, read what survived, settle what was cut short, connect. Nothing when it is on."""
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
        self.state = DisplayState(
            boot, str(uuid.uuid4()), self._journal.entries(), behaviour.capabilities, behaviour.interval_seconds
        )
        self.frozen, self.on, self._waiting = False, True, set[str]()
        self._link = Link(self.credentials, self, self._rng)
        self._carry_out(self.state.booted(self.now()))
        self._link.open()
        for work in (self._beat(), self._logs.send_in_order(), self._logs.watch_for_stalls()):
            self._spawn(work)

    async def power_off(self, reason: str) -> None:
        """Stop cleanly: `offline` is said, nothing is lost."""
        await self._stay_down(reason)

    async def cut_power(self) -> None:
        """Stop as a pulled plug does: nothing is said, and the broker's will speaks 20 s later."""
        await self._stay_down(None)

    async def lose_network(self) -> None:
        """Vanish from the network while the machine goes on."""
        await self._link.cut()
        self.state.disconnected(self.now())

    def find_network(self) -> None:
        """The network is back after `lose_network`."""
        if self.on:
            self._link.open()

    def drop_connection(self) -> None:
        """Lose the connection once; it comes back by itself."""
        self._link.drop()

    async def _stay_down(self, reason: str | None) -> None:
        self._unplugged.set()
        if self._cycle is not None:  # a reboot in progress: let it end without the boot
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

    # --- what it says ---

    def log(self, level: str, message: str, logger: str = "player", **context: Any) -> bool:
        """Number a log message, keep it in the spool and send it.

        False when it is off, the level is below the one in force, or the spool is full: then there is no number.
        """
        if not self.on or not self.state.is_logged(level, self.now()) or not self._spool.has_room():
            return False
        self._logs.keep(SpooledLog(level, self.state.log(message, logger, context, self.now())))
        return True

    def publish_raw(self, kind: Kind, body: dict[str, Any], level: str = "") -> Answer:
        """Send `body` as it is, without a stamp: for tests of what a plain or a broken display does."""
        return self._link.publish(kind, body, level)

    @property
    def is_up(self) -> bool:
        """Is it connected, subscribed and said to be online?"""
        return self.on and self._link.up

    @property
    def is_rebooting(self) -> bool:
        """Is it off, or going off, on a command that will bring it back by itself?"""
        return self._cycle is not None and not self._cycle.done()

    @property
    def spooled(self) -> int:
        """How many log messages wait for `logs_committed`."""
        return len(self._spool)

    def _speaks_by_itself(self) -> bool:
        return self.behaviour.automatic and not self.frozen

    # --- what it hears ---

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
        """A display that lets a command wait counts down the rest of its life: its clock may be wrong."""
        await asyncio.sleep(delay)
        self._waiting.discard(command.id)
        if expiry_seconds is not None and delay >= expiry_seconds:
            self._carry_out(self.state.refuse(command, "expired", self.now()))
        else:
            self._carry_out(self.state.on_command(command, self.now()))

    # --- what it does ---

    def _act(self, act: Act) -> None:
        if act.action == contract.RESTART_APP:
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
        self.state.process_status = "crashed" if failed else "running"
        self._carry_out(self.state.finished(command_id, self.now(), failed))
        if self.behaviour.automatic:
            self.heartbeat()

    async def _power_cycle(self, action: str) -> None:
        """Reboot or shut down. The outcome is told after the next boot: see `DisplayState.booted`."""
        reboots = action == contract.REBOOT_HOST
        await self._go_down("reboot" if reboots else "shutdown")
        if reboots:
            try:
                await asyncio.wait_for(self._unplugged.wait(), self.behaviour.reboot_seconds)
            except TimeoutError:
                await self.power_on()

    # --- what it does all the time ---

    async def _beat(self) -> None:
        beats = 0
        while True:
            await asyncio.sleep(self.behaviour.interval_seconds)
            if self.behaviour.automatic and self._link.up and not self.frozen:
                beats += 1
                self.heartbeat()
                if beats % self.behaviour.health_every == 0:
                    self.health()
