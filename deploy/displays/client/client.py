"""What a display says, hears and writes before it acts, whatever machine it is.

A subclass owns the machine: it sets `state`, `_journal`, `_link` and `_logs` when it boots, carries out an action in
`_act`, and may hold a command back in `_on_command`. All methods belong to the event loop's thread.
"""

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime
from logging import ERROR
from typing import Any

from deploy.displays.client import contract
from deploy.displays.client.contract import Command
from deploy.displays.client.credentials import Credentials
from deploy.displays.client.journal import Journal
from deploy.displays.client.link import Link
from deploy.displays.client.log_sender import LogSender
from deploy.displays.client.state import Act, DisplayState, Effect, Send, Write
from shared.structured_log import event, failure

Answer = asyncio.Future[int | None]  # reason code of the PUBACK, or None when there was none


class Client(ABC):
    """One display's side of the contract."""

    state: DisplayState  # of the current boot
    _journal: Journal
    _link: Link
    _logs: LogSender

    def __init__(self, credentials: Credentials) -> None:
        self.credentials = credentials
        self.vitals: dict[str, Any] = {}  # what health adds: percentages, versions, address, ...
        self._rng = random.Random(credentials.uuid)  # noqa: S311 - jitter, not a secret
        self._tasks: set[asyncio.Task[None]] = set()  # end with the power
        self._was_up = False  # in this boot

    @abstractmethod
    def _act(self, act: Act) -> None:
        """Begin an action. `state.finished` gets its outcome later."""

    def _speaks_by_itself(self) -> bool:
        """Does it say something when it has connected?"""
        return True

    # --- what it says ---

    def heartbeat(self, process_status: str | None = None) -> Answer:
        """Send a heartbeat, with a new process status if one is given."""
        if process_status is not None:
            self.state.process_status = process_status
        self._link.send_kept_again()
        return self._link.publish(contract.HEARTBEAT, self.state.heartbeat(self.now()))

    def health(self, **vitals: Any) -> Answer:
        """Send a health report: `self.vitals` and, above them, `vitals`."""
        return self._link.publish(contract.HEALTH, self.state.health(self.vitals | vitals, self.now()))

    def service_failed(self, unit: str, result: str = "exit-code", restarts: int = 0) -> Answer:
        """Tell that a unit failed; health repeats it until the player is started anew."""
        body = self.state.service_failed(unit, result, restarts, self.now())
        return self._link.publish(contract.SERVICE_FAILED, body)

    def now(self) -> datetime:
        return datetime.now(UTC)

    # --- what it hears (the link calls these) ---

    def on_up(self) -> None:
        """Connected: what was sent before may be lost, so the logs begin again with the oldest."""
        self.state.reconnect_count += self._was_up
        self._was_up = True
        self._logs.start_again()
        if self._speaks_by_itself():
            self.heartbeat()
            self.health()

    def on_down(self) -> None:
        """The connection was lost without our wish."""
        self.state.disconnected(self.now())

    def on_message(self, name: str, payload: bytes, expiry_seconds: int | None) -> None:
        """A live message from the service. Raises BadMessage."""
        if name == contract.COMMANDS:
            self._on_command(contract.parse_command(payload), expiry_seconds)
        elif name == contract.LOGS_COMMITTED:
            mark = contract.parse_logs_committed(payload)
            if self.state.is_mine(mark):
                self._logs.committed(mark)
        elif name == contract.LOG_LEVEL:
            self.state.on_log_level(contract.parse_log_level(payload), self.now())

    def _on_command(self, command: Command, _expiry_seconds: int | None) -> None:
        self._carry_out(self.state.on_command(command, self.now()))

    # --- what it does ---

    def _carry_out(self, effects: Sequence[Effect]) -> None:
        """Each effect in its order. When the disk refuses a journal entry, nothing after it happens."""
        try:
            for effect in effects:
                match effect:
                    case Write(entry):
                        self._journal.write(entry)
                    case Send(kind, body):
                        self._link.publish(kind, body)
                    case Act():
                        event("command_begun", "command begun", client_uuid=self.credentials.uuid, action=effect.action)
                        self._act(effect)
        except OSError:
            failure("journal_failed", "a command was dropped: no journal", client_uuid=self.credentials.uuid)
            self.state.journal_is(self._journal.entries())

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()):
            event("display_fault", "a part of the display stopped", ERROR, why=repr(fault))
