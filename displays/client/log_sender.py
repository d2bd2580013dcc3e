"""Send the spool in order, within the service's budget for one display, and again after a loss or a stall."""

import asyncio
from collections.abc import Callable
from typing import Any, Final, NoReturn, Protocol

from displays.client.contract import LogsCommitted
from displays.client.spool import Pace, SpooledLog

RESEND_SECONDS: Final = 30.0  # time without a commit after which the spool is sent again
RESEND_MAX_SECONDS: Final = 600.0  # this time doubles up to here while nothing is committed


class Numbered(Protocol):
    """A spool: numbered messages, kept until they are committed. `Spool` describes each method."""

    def __len__(self) -> int: ...
    def append(self, message: SpooledLog) -> None: ...
    def has_unsent(self) -> bool: ...
    def next(self) -> SpooledLog | None: ...
    def rewind(self) -> None: ...
    def commit(self, mark: LogsCommitted) -> int: ...


class LogSender:
    """The two loops between a spool and a link; run both as tasks while the display is on.

    `may_send` says whether the link is up and the display awake; `send` publishes one message.
    """

    def __init__(self, spool: Numbered, may_send: Callable[[], bool], send: Callable[[SpooledLog], Any]) -> None:
        self._spool = spool
        self._may_send = may_send
        self._send = send
        self._waiting = asyncio.Event()
        self._committed = 0  # messages that the service has taken over

    def keep(self, message: SpooledLog) -> None:
        """Spool a message that has just been numbered. It is sent in its turn."""
        self._spool.append(message)
        self._waiting.set()

    def wake(self) -> None:
        """Look into the spool: it has new messages."""
        self._waiting.set()

    def start_again(self) -> None:
        """Send all messages again, the oldest first: sent messages may be lost."""
        self._spool.rewind()
        self._waiting.set()

    def committed(self, mark: LogsCommitted) -> None:
        """The service has committed all messages of that boot up to the mark."""
        self._committed += self._spool.commit(mark)

    async def send_in_order(self) -> NoReturn:
        """Send the spool as fast as the service's budget for one display allows."""
        pace, loop = Pace(), asyncio.get_running_loop()
        while True:
            await self._waiting.wait()
            self._waiting.clear()
            while self._may_send() and self._spool.has_unsent():
                if wait := pace.wait_seconds(loop.time()):
                    await asyncio.sleep(wait)
                elif message := self._spool.next():
                    self._send(message)

    async def watch_for_stalls(self) -> NoReturn:
        """Send the spool again after each pause without a commit; the pauses grow."""
        pause = RESEND_SECONDS
        while True:
            committed = self._committed
            await asyncio.sleep(pause)
            if self._committed != committed or not len(self._spool):
                pause = RESEND_SECONDS
            else:
                pause = min(pause * 2, RESEND_MAX_SECONDS)
                self.start_again()
