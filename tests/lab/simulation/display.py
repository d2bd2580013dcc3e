"""One display of a history: its power, its disk, and its real faults. Only the judge may ask for these.

The reference client's `DisplayState` decides what it sends and how it handles commands, effect by effect.
"""

import random
import uuid as uuids
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from displays.client import contract
from displays.client.spool import SpooledLog
from displays.client.state import Act, Boot, DisplayState, Effect, Send, Write, keep_last
from tests.lab.simulation.agenda import BEGINNING, Agenda
from tests.lab.simulation.ailments import GLASS, Ailment, Nature
from tests.lab.simulation.broker import SimulatedBroker
from tests.lab.simulation.conduct import SOUND, Conduct
from tests.lab.simulation.disk import Disk
from tests.lab.simulation.wire import Wire

if TYPE_CHECKING:
    from tests.lab.simulation.log_ledger import LogLedger

HEALTH_EVERY: Final = 4  # heartbeats, but at least every two minutes: the contract demands "each minute or so"
HEALTH_SECONDS: Final = 120
RESEND: Final = (30.0, 600.0)
"""Seconds without progress after which the spool is sent again: at first, and at most (as in LogSender)."""


class Display:
    """A display, off until `power_on`."""

    def __init__(
        self,
        uuid: str,
        broker: SimulatedBroker,
        agenda: Agenda,
        dice: random.Random,
        nature: Nature,
        acted: Callable[["Display", str, str], None],
    ) -> None:
        """`acted(display, action, command_id)` is called when the display begins to carry out a command."""
        self.uuid, self.nature = uuid, nature
        self.ailment: Ailment | None = None
        self.ill_since = 0.0
        self.last_ill_at: float | None = None  # end of its last fault
        self.last_ill_kind: str | None = None
        self.acknowledged_at: float | None = None  # when an operator acknowledged its failed service
        self.is_on = False
        self.is_meant_off = False  # shut down on purpose
        self.booted_at = 0.0
        self.up_since = 0.0  # its present or last connection
        self.has_network = True
        self.screen = "ok"  # the state of cable and switch, which no command changes
        self.screen_since = 0.0  # when cable, switch or plan last changed
        self.off_by: str | None = None  # whose plan it is that its screen is off; its disk keeps that
        self.fuse: int | None = None  # its power is cut after this many more effects
        self.conduct: Conduct = SOUND
        self.ledger: LogLedger | None = None  # the ledger of its log lines; None: it does not log
        self.state: DisplayState
        self._broker, self._agenda, self._dice, self._acted = broker, agenda, dice, acted
        self.disk = Disk(self._new_id())
        self.at_boot = self.disk  # the disk before it counted its present or last boot
        self.image: Disk | None = None  # the disk at each boot, if a write filter protects it
        self.went_back_at: float | None = None  # when it last booted with counters that it had already used
        self.dark_since: float | None = None  # since when it has no power or network
        self.lit_at = 0.0  # when it last had both again
        self._wire: Wire
        self._life = 0  # counts boots and ends, so that a timer of an earlier boot does nothing

    # --- the truth, for the judge ---

    @property
    def is_ill(self) -> bool:
        """Whether it has a fault that a restart or reboot is meant to cure."""
        return self.ailment is not None or self.screen == "black"

    @property
    def is_reachable(self) -> bool:
        """Whether a command would reach it now."""
        return self.is_on and self.has_network and self._wire.up

    @property
    def is_acknowledged(self) -> bool:
        """Whether a person has acknowledged the failure, so that repeating it does not raise it again."""
        return self.acknowledged_at is not None and self.acknowledged_at >= self.ill_since

    # --- what happens to it ---

    def power_on(self) -> None:
        """Boot: first count it on the disk; then settle interrupted commands by their effect."""
        if self.is_on:
            return
        self.is_on, self.is_meant_off, self.booted_at = True, False, self._agenda.now
        if self.has_network:
            self.dark_since, self.lit_at = None, self._agenda.now
        self._life += 1
        if self.image is not None:
            self._change_disk(self.image.copy())
            self.went_back_at = self._agenda.now
        self.at_boot = self.disk.copy()
        self.disk.boot_seq += 1
        boot = Boot(self.disk.install_id, self.disk.boot_seq, self._new_id())
        nature = self.nature
        entries = list(self.disk.journal.values())
        self.state = DisplayState(boot, self._new_id(), entries, nature.capabilities, nature.interval)
        self._wire = Wire(self.uuid, self._broker, self._agenda, self._dice, self)
        self._wire.has_network = self.has_network
        self._player_started("reboot")
        self._carry_out(self.state.booted(self._now()))
        if self.is_on:  # its power may have been cut in between
            self._wire.open()
            self._beat(self._life, 0)
            if self.ledger is not None:
                self._watch_spool(self._life, RESEND[0], len(self.disk.spool))

    def cut_power(self) -> None:
        """Cut its power."""
        self._go_off(None)

    def switch_off(self, reason: str) -> None:
        """A person switches it off properly, on purpose."""
        self.is_meant_off = True
        self._go_off(reason)

    def reimage(self) -> Disk:
        """Write a new image to its disk (no journal, another installation), and boot. Returns the old disk."""
        self._go_off("reimage")
        old = self.disk
        self._change_disk(Disk(self._new_id()))
        self._is_as_new()
        self._agenda.after(self.nature.boot_seconds, self.power_on)
        return old

    def put_disk(self, disk: Disk) -> None:
        """Cut its power, and boot from a copy of an earlier disk."""
        self.cut_power()
        self._change_disk(disk.copy())
        self.went_back_at = self._agenda.now + self.nature.boot_seconds
        self._is_as_new()
        if self.ledger is not None:
            self.ledger.repeats.add(self.uuid)
        self._agenda.after(self.nature.boot_seconds, self.power_on)

    def _change_disk(self, disk: Disk) -> None:
        """Change the disk. Lines that were only on the old disk no longer wait."""
        if self.ledger is not None:
            kept = {line.body["message"] for line in disk.spool}
            self.ledger.taken_out.update({line.body["message"] for line in self.disk.spool} - kept)
        self.disk = disk

    def _is_as_new(self) -> None:
        if self.ailment is not None:
            self.last_ill_at, self.last_ill_kind, self.ailment = self._agenda.now, self.ailment.kind, None

    def freeze_disk(self) -> None:
        """From now on each boot restores the disk."""
        self.image = self.at_boot.copy()
        if self.ledger is not None:
            self.ledger.repeats.add(self.uuid)

    def lose_network(self) -> None:
        """Cut its network; the display itself is well."""
        self.has_network = False
        self.dark_since = self._agenda.now if self.dark_since is None else self.dark_since
        if self.is_on:
            self._wire.lose_network()

    def find_network(self) -> None:
        """Restore its network."""
        self.has_network = True
        if self.is_on:
            self.dark_since, self.lit_at = None, self._agenda.now
            self._wire.find_network()

    def flap(self) -> None:
        """Break its connection once."""
        if self.is_on:
            self._wire.reset()

    def show(self, screen: str) -> None:
        """Change what it reports of its screen: cable, switch, a brief picture; `ok`: the player's picture is seen."""
        if self.screen == "black":
            self.last_ill_at, self.last_ill_kind = self._agenda.now, "black"
        self.screen, self.screen_since = screen, self._agenda.now

    def plan(self, off_by: str | None) -> None:
        """Switch the screen off by a command or by hours, or (None) on, and report that."""
        self.off_by, self.screen_since = off_by, self._agenda.now
        if self.is_on and not self._is_silent:
            self._report()

    def stop_player(self) -> None:
        """A person stops the player on purpose."""
        if self.is_on and self.ailment is None:
            self.state.process_status = "stopped"
            self._heartbeat()

    def start_player(self) -> None:
        """A person starts the player again."""
        if self.is_on and self.ailment is None and self.state.process_status == "stopped":
            self._start_player("person")

    def ail(self, ailment: Ailment) -> None:
        """Give it a fault, unless it already has one or does not run."""
        if not self.is_on or self.ailment is not None or self.state.process_status == "stopped":
            return
        self.ailment, self.ill_since = ailment, self._agenda.now
        self._show_ailment()
        if ailment.ends_after is not None:
            self._agenda.after(ailment.ends_after, lambda: self._ends_by_itself(ailment))

    # --- illness ---

    def _show_ailment(self) -> None:
        kind = self.ailment.kind if self.ailment is not None else ""
        if kind == "crashed":
            self.state.process_status = "crashed"
            self._heartbeat()
        elif kind == "failed":
            body = self.state.service_failed("player.service", "exit-code", 5, self._now())
            self._wire.publish(contract.SERVICE_FAILED, body)
        elif kind == "dead":
            self._wire.hush()

    def _ends_by_itself(self, ailment: Ailment) -> None:
        if self.ailment is ailment and self.is_on:
            if ailment.kind in {"crashed", "failed"}:
                self._start_player("person")
            else:
                self._well()

    def _well(self) -> None:
        """End the fault; it may come back."""
        ailment, self.ailment = self.ailment, None
        self.last_ill_at = self._agenda.now
        self.last_ill_kind = None if ailment is None else ailment.kind
        if ailment is not None and ailment.again_after is not None:
            self._agenda.after(ailment.again_after, lambda: self.ail(ailment))

    def _player_started(self, how: str) -> bool:
        """Start the player by `restart`, `reboot` or a `person`. Returns whether it runs."""
        ailment = self.ailment
        if ailment is not None and (how == "person" or ailment.cure in {how, "restart"}):
            self._well()
        elif ailment is not None and ailment.kind == "dead" and how == "reboot":
            self._agenda.after(0.0, self._show_ailment)
        elif ailment is not None:
            self._show_ailment_soon(ailment)
        return self.ailment is None

    def _show_ailment_soon(self, ailment: Ailment) -> None:
        self._agenda.after(1.0, lambda: self._show_ailment() if self.ailment is ailment and self.is_on else None)

    def _start_player(self, how: str) -> None:
        self.state.app_started(self._new_id())
        self._player_started(how)
        self._heartbeat()

    # --- messages that it sends ---

    def _beat(self, life: int, number: int) -> None:
        if life != self._life:
            return
        if number:
            self._heartbeat()
            if number % min(HEALTH_EVERY, max(1, HEALTH_SECONDS // self.nature.interval)) == 0 and not self._is_silent:
                self._report()
        self._agenda.after(self.nature.interval, lambda: self._beat(life, number + 1))

    def _report(self) -> None:
        self.state.screen_off_by = self.off_by
        self._wire.publish(contract.HEALTH, self.state.health({"screen_health": self._glass}, self._now()))

    @property
    def _glass(self) -> str:
        kind = self.ailment.kind if self.ailment is not None else ""
        if self.off_by is not None and self.screen != "disconnected":
            return "off"
        return self.screen if self.screen != "ok" else GLASS.get(kind, "ok")

    @property
    def _is_silent(self) -> bool:
        return self.ailment is not None and self.ailment.kind in {"frozen", "deaf", "dead"}

    def _heartbeat(self) -> None:
        if self.is_on and not self._is_silent:
            self._wire.send_kept_again()
            self._wire.publish(contract.HEARTBEAT, self.state.heartbeat(self._now()))

    def log(self) -> None:
        """Write a log line, if it can, and keep it on the disk until the service has committed it."""
        if self.ledger is None or not self.is_on or self._is_silent:
            return
        body = self.state.log(self.ledger.new(self.uuid), "player", {}, self._now())
        self.disk.spool.append(SpooledLog("error", body))
        self._wire.send_log(self.disk.spool[-1])

    def _send_spool(self) -> None:
        if not self._is_silent:
            for line in self.disk.spool:
                self._wire.send_log(line)

    def _watch_spool(self, life: int, pause: float, waiting: int) -> None:
        """Send the spool again after each pause without progress; the pauses grow."""
        if life != self._life:
            return
        spool = self.disk.spool
        if not spool or len(spool) < waiting:
            pause = RESEND[0]
        else:
            self._send_spool()
            pause = min(2 * pause, RESEND[1])
        self._agenda.after(pause, lambda: self._watch_spool(life, pause, len(self.disk.spool)))

    def on_up(self) -> None:
        """Connected."""
        self.up_since = self._agenda.now
        self._heartbeat()
        if not self._is_silent:
            self._report()
        if self.ledger is not None:
            self._send_spool()

    def as_sent(self, name: str, payload: bytes) -> bytes | None:
        """The payload that it really sends on the topic of this name; None: nothing."""
        spoils = self.conduct.spoils.get(name)
        return payload if spoils is None else spoils(payload)

    # --- messages that it receives ---

    def on_message(self, name: str, payload: bytes) -> None:
        """Handle a command; delays count from its arrival."""
        if name == contract.COMMANDS:
            command, life = contract.parse_command(payload), self._life
            self._agenda.after(self.nature.answer_delay, lambda: self._obey(command, life))
        elif name == contract.LOGS_COMMITTED and self.ledger is not None and not self._is_silent:
            mark = contract.parse_logs_committed(payload)
            self.ledger.told(line.body["message"] for line in self.disk.spool if line.is_covered_by(mark))
            self.disk.spool = [line for line in self.disk.spool if not line.is_covered_by(mark)]

    def _obey(self, command: contract.Command, life: int) -> None:
        kind = self.ailment.kind if self.ailment is not None else ""
        is_deaf = kind in {"deaf", "dead"} or (kind == "frozen" and command.action != contract.REBOOT_HOST)
        if life == self._life and self.is_on and not is_deaf:
            now = self._now()
            rejected = self.state.refuse(command, "not_now", now) if self.conduct.rejects else []
            self._carry_out(rejected or self.state.on_command(command, now))

    def _carry_out(self, effects: Sequence[Effect]) -> None:
        """Carry out one effect after the other, until the power is cut."""
        for effect in effects:
            if self.fuse is not None:
                self.fuse -= 1
                if self.fuse < 0:
                    self.fuse = None
                    self.cut_power()
                    self._agenda.after(self.nature.boot_seconds, self.power_on)
                    return
            match effect:
                case Write(entry):
                    self.disk.journal = keep_last([*self.disk.journal.values(), entry])
                case Send(kind, body):
                    self._wire.publish(kind, body)
                case Act(action, command_id):
                    self._acted(self, action, command_id)
                    self._act(action, command_id)

    def _act(self, action: str, command_id: str) -> None:
        if action == contract.RESTART_APP:
            self.state.process_status = "starting"
            self._heartbeat()
            life = self._life
            self._agenda.after(self.nature.restart_seconds, lambda: self._restarted(command_id, life))
            return
        if action in contract.SCREEN_ACTIONS:
            self.plan("command" if action == contract.SCREEN_OFF else None)
            self._carry_out(self.state.finished(command_id, self._now()))
            return
        reboots = action == contract.REBOOT_HOST
        self.is_meant_off = not reboots
        self._go_off("reboot" if reboots else "shutdown")
        if reboots:
            self._agenda.after(self.nature.boot_seconds, self.power_on)

    def _restarted(self, command_id: str, life: int) -> None:
        if life != self._life or not self.is_on:
            return
        self.state.app_started(self._new_id())
        runs = self._player_started("restart") or (self.ailment is not None and self.ailment.kind in GLASS)
        if not runs and self.ailment is not None and self.ailment.kind == "crashed":
            self.state.process_status = "crashed"
        self._carry_out(self.state.finished(command_id, self._now(), None if runs else "app_did_not_start"))
        self._heartbeat()

    def _go_off(self, reason: str | None) -> None:
        if not self.is_on:
            return
        self.is_on = False
        self.dark_since = self._agenda.now if self.dark_since is None else self.dark_since
        self._life += 1
        if reason is None:
            self._wire.vanish()
        else:
            self._wire.close(reason)

    def _new_id(self) -> str:
        return str(uuids.UUID(int=self._dice.getrandbits(128), version=4))

    def _now(self) -> datetime:
        return BEGINNING + timedelta(seconds=self._agenda.now) + self.nature.clock_error
