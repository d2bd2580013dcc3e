"""A display for the command machine: the reference client's decisions, and a record of what the device really did."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from displays.client import contract
from displays.client.state import Act, Boot, DisplayState, Effect, JournalEntry, Send, Write
from shared.commands.rules import Ack
from shared.vocabulary import CommandAction, CommandState


@dataclass(frozen=True)
class Message:
    """A command as the broker holds it: delivered any number of times until it expires."""

    payload: bytes
    until: datetime


class Display:
    """A display. Its disk survives a power cut, and its messages may arrive at any time, more than once."""

    def __init__(self, uuid: str, send_picture: Callable[[str], str | None]) -> None:
        """`send_picture` returns why the service refuses the picture for a command; None if it stores the picture."""
        self.uuid = uuid
        self.send_picture = send_picture
        self.boots = self.starts = 1
        self.is_on = True
        self.disk: list[JournalEntry] = []
        self.said: list[Ack] = []
        self.received: set[str] = set()
        self.attempts: Counter[str] = Counter()
        self.effects: Counter[str] = Counter()
        self.journals_lost = 0
        self.refusals: Counter[str] = Counter()
        self.state = self._fresh()

    @property
    def boot_id(self) -> str:
        return f"boot-{self.boots}"

    @property
    def app_instance(self) -> str:
        return f"start-{self.starts}"

    def take(self, message: Message, now: datetime, how: str, cut: int | None) -> None:
        """Receive a message, unless it expired or the display is off. `cut`: power is lost before that effect."""
        if now >= message.until or not self.is_on:
            return
        command = contract.parse_command(message.payload)
        self.received.add(command.id)
        self._carry_out(self.state.on_command(command, now), now, how, cut)

    def lose_journal(self) -> None:
        """Lose all commands, on the disk and in memory."""
        self.disk = []
        self.state.journal = {}
        self.journals_lost += 1

    def start_machine(self, now: datetime) -> None:
        """Boot, which settles the commands that the end of the last boot interrupted."""
        self.boots += 1
        self.starts += 1
        self.is_on = True
        self.state = self._fresh()
        self._carry_out(self.state.booted(now), now, "works", None)

    def last_command(self, now: datetime) -> list[Ack]:
        """The ACK that the heartbeat repeats."""
        last = self.state.heartbeat(now)["last_command"]
        return [] if last is None else [Ack(self.uuid, last["id"], CommandState(last["state"]))]

    def _fresh(self) -> DisplayState:
        boot = Boot("install", self.boots, self.boot_id)
        return DisplayState(boot, self.app_instance, self.disk, contract.ALL_ACTIONS)

    def _carry_out(self, effects: Sequence[Effect], now: datetime, how: str, cut: int | None) -> None:
        for number, effect in enumerate(effects):
            if number == cut:
                self.start_machine(now)
                return
            if isinstance(effect, Write):
                self.disk.append(effect.entry)
            elif isinstance(effect, Send):
                self._say(effect)
            else:
                self._act(effect, now, how)

    def _say(self, effect: Send) -> None:
        body = effect.body
        self.said.append(Ack(self.uuid, body["id"], CommandState(body["state"]), body["reason"]))
        if body["reason"] is not None:
            self.refusals[body["reason"]] += 1

    def _act(self, act: Act, now: datetime, how: str) -> None:
        self.attempts[act.command_id] += 1
        if how == "hangs":
            return
        if how == "fails":
            self._carry_out(self.state.finished(act.command_id, now, "no_player"), now, how, None)
            return
        self.effects[act.command_id] += 1
        if act.action == CommandAction.REBOOT_HOST:
            self.start_machine(now)
        elif act.action == CommandAction.SHUTDOWN_HOST:
            self.is_on = False
        elif act.action == CommandAction.SCREENSHOT:
            refused = self.send_picture(act.command_id)
            self._carry_out(self.state.finished(act.command_id, now, refused), now, how, None)
        else:
            self.starts += 1
            self.state.app_instance = self.app_instance
            self._carry_out(self.state.finished(act.command_id, now), now, how, None)
