"""Sends the spool: in order, within the service's budget for one display, again after a loss or a stall."""

import asyncio
from collections.abc import Callable
from typing import Any, Final, NoReturn, Protocol

from deploy.displays.client.contract import LogsCommitted
from deploy.displays.client.spool import Pace, SpooledLog

RESEND_SECONDS: Final = 30.0  # a pause without progress after which the spool is sent again
RESEND_MAX_SECONDS: Final = 600.0  # it doubles up to here while nobody commits anything


class Numbered(Protocol):
    """Numbered messages that are kept until they are committed: see `Spool` for the meaning of each."""

    def __len__(self) -> int: ...
    def append(self, message: SpooledLog) -> None: ...
    def has_unsent(self) -> bool: ...
    def next(self) -> SpooledLog | None: ...
    def rewind(self) -> None: ...
    def commit(self, mark: LogsCommitted) -> int: ...


class LogSender:
    """The two loops between a spool and a link; run both as tasks for as long as the power is on.

    `may_send` says whether the link is up and the display awake; `send` publishes one message.
    """

    def __init__(self, spool: Numbered, may_send: Callable[[], bool], send: Callable[[SpooledLog], Any]) -> None:
        self._spool = spool
        self._may_send = may_send
        self._send = send
        self._waiting = asyncio.Event()
        self._committed = 0  # messages that the service has taken over

    def keep(self, message: SpooledLog) -> None:
        """Spool a message that has just been numbered; it goes out when its turn comes."""
        self._spool.append(message)
        self._waiting.set()

    def wake(self) -> None:
        """The spool has something new."""
        self._waiting.set()

    def start_again(self) -> None:
        """What was sent may be lost: begin again with the oldest."""
        self._spool.rewind()
        self._waiting.set()

    def committed(self, mark: LogsCommitted) -> None:
        """The service has everything of that boot up to the mark."""
        self._committed += self._spool.commit(mark)

    async def send_in_order(self) -> NoReturn:
        """Hand out the spool as fast as the service's budget for one display allows."""
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
        """Send the rest again after each pause in which nothing was committed; the pauses grow."""
        pause = RESEND_SECONDS
        while True:
            committed = self._committed
            await asyncio.sleep(pause)
            if self._committed != committed or not len(self._spool):
                pause = RESEND_SECONDS
            else:
                pause = min(pause * 2, RESEND_MAX_SECONDS)
                self.start_again()
