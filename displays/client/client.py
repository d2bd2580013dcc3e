"""A display's client without the machine: it sends reports, receives commands, and writes the journal.

A subclass owns the machine: it sets `state`, `_journal`, `_link` and `_logs` when it boots, carries out an action in
`_act`, and may delay a command in `_on_command`. Only the event loop's thread may call the methods.
"""

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime
from logging import ERROR
from typing import TYPE_CHECKING, Any

from displays.client import contract
from displays.client.contract import BadMessage, Command
from displays.client.credentials import Credentials
from displays.client.journal import Journal
from displays.client.link import Link
from displays.client.log_sender import LogSender
from displays.client.screen import LOOK_SECONDS, ScreenKeeper
from displays.client.state import Act, DisplayState, Effect, JournalEntry, Send, Write
from shared.structured_log import event, failure

if TYPE_CHECKING:
    from displays.client.look import LookKeeper
    from displays.client.screenshots import Screenshots

Answer = asyncio.Future[int | None]  # reason code of the PUBACK, or None when there was none


class UnwrittenEntry(Exception):
    """The disk refused this entry of the journal."""

    def __init__(self, entry: JournalEntry) -> None:
        super().__init__(entry.id)
        self.entry = entry


class Client(ABC):
    """One display's side of the contract."""

    state: DisplayState  # of the current boot
    _journal: Journal
    _link: Link
    _logs: LogSender

    def __init__(self, credentials: Credentials) -> None:
        self.credentials = credentials
        self.vitals: dict[str, Any] = {}  # further fields of health reports: percentages, versions, address, ...
        self._rng = random.Random(credentials.uuid)  # noqa: S311 - jitter, not a secret
        self._tasks: set[asyncio.Task[None]] = set()  # they end when the display is switched off
        self._was_up = False  # whether it was connected in this boot
        self._screenshots: Screenshots | None = None  # None when the display cannot send pictures
        self._screen: ScreenKeeper | None = None  # None when it cannot switch its screen
        self._kept_look: LookKeeper | None = None  # None when it does not see its screen
        self._ills: set[str] = set()  # parts whose failure was sent and lasts

    @abstractmethod
    def _act(self, act: Act) -> None:
        """Begin an action. `state.finished` gets its outcome later."""

    def _clock_is_sure(self) -> bool:
        """Whether the machine knows no reason to doubt its clock."""
        return True

    async def _see_screen(self) -> None:
        """Look at the screen, so that the next health report says how it is now."""
        return

    def _speaks_by_itself(self) -> bool:
        """Whether it sends a heartbeat and a health report when it has connected."""
        return True

    # --- what it says ---

    def heartbeat(self, process_status: str | None = None) -> Answer:
        """Send a heartbeat, with a new process status if one is given."""
        if process_status is not None:
            self.state.process_status = process_status
        self._note_ill("player", self.state.process_status == "crashed")
        self._link.send_kept_again()
        return self._link.publish(contract.HEARTBEAT, self.state.heartbeat(self.now()))

    def health(self, **vitals: Any) -> Answer:
        """Send a health report: `self.vitals` and, above them, `vitals`."""
        self.state.disk_writable = self._journal.works()
        if self._screen is not None:
            self.state.hours_version, self.state.screen_off_by = self._screen.kept_version, self._screen.off_by
        self.state.look_version = None if self._kept_look is None else self._kept_look.kept_version
        told = self.state.health(self.vitals | vitals, self.now())
        self._note_ill("screen", told["screen_health"] in contract.BAD_SCREENS)
        return self._link.publish(contract.HEALTH, told)

    def service_failed(self, unit: str, result: str = "exit-code", restarts: int = 0) -> Answer:
        """Report that a unit failed; health reports repeat it until the player is started again."""
        body = self.state.service_failed(unit, result, restarts, self.now())
        self._offer_pictures()
        return self._link.publish(contract.SERVICE_FAILED, body)

    def now(self) -> datetime:
        return datetime.now(UTC)

    # --- what it hears (the link calls these) ---

    def on_up(self) -> None:
        """The link is connected. Logs that were sent before may be lost: send them again from the oldest."""
        self.state.reconnect_count += self._was_up
        self.state.connected()
        self._was_up = True
        self._logs.start_again()
        if self._speaks_by_itself():
            self.heartbeat()
            self.health()

    def on_down(self) -> None:
        """The connection was lost, and we did not close it."""
        self.state.disconnected(self.now())

    def on_message(self, name: str, payload: bytes, expiry_seconds: int | None) -> None:
        """A live message from the service. Raises BadMessage; then health reports say what is not taken."""
        try:
            self._take(name, payload, expiry_seconds)
        except BadMessage as error:
            self.state.order_refused(name, error.reason, self.now())
            raise
        self.state.order_taken(name)
        if name == contract.LOOK and self._kept_look is not None:
            self.health()

    def _take(self, name: str, payload: bytes, expiry_seconds: int | None) -> None:
        if name == contract.COMMANDS:
            self._on_command(contract.parse_command(payload), expiry_seconds)
        elif name == contract.LOGS_COMMITTED:
            mark = contract.parse_logs_committed(payload)
            if self.state.is_mine(mark):
                self._logs.committed(mark)
        elif name == contract.LOG_LEVEL:
            self.state.on_log_level(contract.parse_log_level(payload), self.now())
        elif name == contract.HOURS and self._screen is not None:
            self._screen.take(contract.parse_hours(payload))
            self._spawn(self._look_at_plan(has_news=True))
        elif name == contract.LOOK and self._kept_look is not None:
            self._kept_look.take(contract.parse_look(payload))
        elif name in {contract.HOURS, contract.LOOK}:
            raise BadMessage(f"{name}: this display cannot do that", "not_capable")

    def _on_command(self, command: Command, _expiry_seconds: int | None) -> None:
        self._carry_out(self.state.on_command(command, self.now()))

    # --- what it does ---

    def _carry_out(self, effects: Sequence[Effect]) -> None:
        """Carry out the effects in their order. If a journal entry cannot be written, refuse what has not begun."""
        try:
            for effect in effects:
                match effect:
                    case Write(entry):
                        self._write(entry)
                    case Send(kind, body):
                        self._link.publish(kind, body)
                    case Act():
                        event("command_begun", "command begun", client_uuid=self.credentials.uuid, action=effect.action)
                        self._act(effect)
        except UnwrittenEntry as unwritten:
            failure("journal_failed", "a command was refused: no journal", client_uuid=self.credentials.uuid)
            self.state.journal_is(self._journal.entries())
            self._carry_out(self.state.unwritten(unwritten.entry, self.now()))

    def _write(self, entry: JournalEntry) -> None:
        try:
            self._journal.write(entry)
        except OSError as error:
            raise UnwrittenEntry(entry) from error

    def _note_ill(self, part: str, is_ill: bool) -> None:
        """Remember whether this part has failed; when a failure begins, offer the pictures before it."""
        if is_ill and part not in self._ills:
            self._ills.add(part)
            self._offer_pictures()
        elif not is_ill:
            self._ills.discard(part)

    def _offer_pictures(self) -> None:
        if self._screenshots is not None:
            self._spawn(self._screenshots.offer())

    async def _send_screenshot(self, command_id: str) -> None:
        """Send a picture, then finish the command: it succeeded when the service has stored the picture."""
        failed = await self._screenshots.answer(command_id) if self._screenshots else "not_capable"
        self._carry_out(self.state.finished(command_id, self.now(), failed))

    async def _switch_screen(self, act: Act) -> None:
        """Switch the screen, report how it is, and finish the command: the report is its proof."""
        failed: str | None = "not_capable"
        if self._screen is not None:
            is_on = act.action == contract.SCREEN_ON
            failed = await self._screen.obey(self.now(), is_on=is_on, is_sure=self._clock_is_sure())
            await self._see_screen()
            self.health()
        self._carry_out(self.state.finished(act.command_id, self.now(), failed))

    async def _look_at_plan(self, *, has_news: bool = False) -> None:
        """Switch the screen if its plan wants that now. Send a health report if it was switched, or there is news."""
        if self._screen is not None:
            switched = await self._screen.look(self.now(), is_sure=self._clock_is_sure())
            if switched:
                await self._see_screen()
            if (switched or has_news) and self._link.up:
                self.health()

    async def _keep_screen(self) -> None:
        while True:
            await self._look_at_plan()
            await asyncio.sleep(LOOK_SECONDS)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()):
            event("display_fault", "a part of the display stopped", ERROR, why=repr(fault))
