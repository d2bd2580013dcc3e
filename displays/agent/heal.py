"""Help a machine that nothing answers, neither broker nor gateway: see `heal_rules.py`."""

import asyncio
import contextlib
import json
import socket
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, datetime
from logging import WARNING
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from displays.agent.heal_rules import Budget, Ladder, Step, next_step
from displays.client import durable
from displays.client.credentials import Credentials
from shared.structured_log import event

LOOK_SECONDS: Final = 30.0
ANSWER_SECONDS: Final = 10.0  # for each address

Carry = Callable[[Step], Awaitable[None]]


class Healer:
    """Checks the connection, unless the owner wants it off.

    `is_up` tells whether the broker answers; `carry` restarts the network or reboots.
    """

    def __init__(
        self, path: Path, login: Credentials, is_up: Callable[[], bool], carry: Carry, *, is_on: bool = True
    ) -> None:
        self._path, self._login, self._is_up, self._carry, self._is_on = path, login, is_up, carry, is_on
        self._ladder = Ladder(0.0)

    async def run(self) -> None:
        """Check for ever."""
        loop = asyncio.get_running_loop()
        self._ladder = Ladder(loop.time())
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.look(loop.time(), datetime.now(UTC).date().isoformat())

    async def look(self, now: float, day: str) -> None:
        """Help the machine if nothing answers. `now` is monotonic seconds, `day` is of the machine's clock."""
        if not self._is_on:
            return
        if self._is_up() or await something_answers(self._login):
            self.heard(now, day)
        else:
            await self.help_itself(now, day)

    def heard(self, now: float, day: str) -> None:
        """Begin from the start, because something answers. Times are as for `look`."""
        self._ladder = self._ladder.heard(now)
        before = load(self._path)
        if (budget := before.heard(day)) != before:
            with contextlib.suppress(OSError):  # it is tried again at the next look
                save(self._path, budget)

    async def help_itself(self, now: float, day: str) -> None:
        """Take the next step, because nothing answers. Times are as for `look`."""
        budget = load(self._path)
        step = next_step(self._ladder, budget, day, now)
        if step is Step.NOTHING:
            return
        if step is Step.REBOOT:
            try:
                save(self._path, budget.spent(day))
            except OSError:
                return  # a reboot that cannot be counted is not done
        event("machine_alone", "Neither broker nor gateway answers: the machine helps itself.", WARNING, step=step)
        self._ladder = self._ladder.restarted(now)  # a refused reboot must not be retried at once
        await self._carry(step)


def load(path: Path) -> Budget:
    """Read the budget; a missing or damaged file counts as a day without reboots."""
    try:
        found = json.loads(path.read_bytes())
        return Budget(str(found["day"]), int(found["reboots"]))
    except (OSError, ValueError, TypeError, KeyError):
        return Budget()


def save(path: Path, budget: Budget) -> None:
    """Write the budget. Raises OSError: then the machine must not reboot."""
    durable.replace_file(path, json.dumps(asdict(budget)).encode())


async def something_answers(login: Credentials) -> bool:
    """Whether the gateway or the broker answers. Then the network works, and neither it nor the machine is at fault."""
    return await gateway_answers(login) or await _answers(login.host, login.port)


async def gateway_answers(login: Credentials) -> bool:
    """Whether somebody answers at the service's address, trusted or not, with whatever."""
    parts = urlsplit(login.url)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return False
    return bool(parts.hostname) and await _answers(str(parts.hostname), port)


async def _answers(host: str, port: int) -> bool:
    """Whether one of the host's addresses takes a connection, or refuses it from another machine than this one."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError, ValueError):  # ValueError: no such name, by Python's rules for names
        for family, kind, protocol, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as connection, contextlib.suppress(OSError):
                connection.setblocking(False)
                try:
                    await asyncio.wait_for(loop.sock_connect(connection, address), ANSWER_SECONDS)
                except ConnectionRefusedError:
                    if str(address[0]).startswith("127.") or address[0] == "::1":
                        continue
                return True
    return False
