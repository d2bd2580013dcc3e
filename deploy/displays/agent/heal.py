"""Help a machine that reaches neither broker nor gateway: see `heal_rules.py`."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, datetime
from logging import WARNING
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from deploy.displays.agent.heal_rules import Budget, Ladder, Step, next_step
from deploy.displays.client import durable
from deploy.displays.client.credentials import Credentials
from shared.structured_log import event

LOOK_SECONDS: Final = 30.0
GATEWAY_SECONDS: Final = 10.0

Carry = Callable[[Step], Awaitable[None]]


class Healer:
    """Checks the connection. `is_up` tells whether the broker answers; `carry` restarts the network or reboots."""

    def __init__(self, path: Path, login: Credentials, is_up: Callable[[], bool], carry: Carry) -> None:
        self._path, self._login, self._is_up, self._carry = path, login, is_up, carry
        self._ladder = Ladder(0.0)

    async def run(self) -> None:
        """Check for ever."""
        loop = asyncio.get_running_loop()
        self._ladder = Ladder(loop.time())
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._is_up() or await gateway_answers(self._login):
                self._ladder = self._ladder.heard(loop.time())
            else:
                await self.help_itself(loop.time(), datetime.now(UTC).date().isoformat())

    async def help_itself(self, now: float, day: str) -> None:
        """Take the next step, because neither answers. `now` is monotonic seconds, `day` is of the machine's clock."""
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


async def gateway_answers(login: Credentials) -> bool:
    """Whether an HTTP server answers at the service's address."""
    parts = urlsplit(login.url)
    if not parts.hostname:
        return False
    context = login.trust() if parts.scheme == "https" else None
    port = parts.port or (443 if context else 80)
    question = f"HEAD / HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n"
    try:
        async with asyncio.timeout(GATEWAY_SECONDS):
            reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=context)
            try:
                writer.write(question.encode("ascii", "replace"))
                return (await reader.read(5)) == b"HTTP/"
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
    except (OSError, TimeoutError, ValueError):
        return False
