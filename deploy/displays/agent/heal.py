"""A machine that reaches neither broker nor gateway helps itself: see `heal_rules.py`."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, datetime
from logging import WARNING
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from deploy.displays.agent.heal_rules import Budget, Ladder, Step, next_step
from deploy.displays.client import durable
from shared.structured_log import event

LOOK_SECONDS: Final = 30.0
GATEWAY_SECONDS: Final = 10.0

Carry = Callable[[Step], Awaitable[None]]


class Healer:
    """`is_up` says whether the broker answers; `carry` restarts the network or reboots."""

    def __init__(self, path: Path, url: str, ca_pem: str | None, is_up: Callable[[], bool], carry: Carry) -> None:
        self._path, self._url, self._ca_pem, self._is_up, self._carry = path, url, ca_pem, is_up, carry
        self._ladder = Ladder(0.0)

    async def run(self) -> None:
        """For ever."""
        loop = asyncio.get_running_loop()
        self._ladder = Ladder(loop.time())
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._is_up() or await gateway_answers(self._url, self._ca_pem):
                self._ladder = self._ladder.heard(loop.time())
            else:
                await self.help_itself(loop.time(), datetime.now(UTC).date().isoformat())

    async def help_itself(self, now: float, day: str) -> None:
        """Nobody answers at `now`, monotonic seconds, on that day of the machine's clock."""
        budget = load(self._path)
        step = next_step(self._ladder, budget, day, now)
        if step is Step.NOTHING:
            return
        if step is Step.REBOOT:
            try:
                save(self._path, budget.spent(day))
            except OSError:
                return  # what cannot be counted is not done
        event("machine_alone", "Neither broker nor gateway answers: the machine helps itself.", WARNING, step=step)
        self._ladder = self._ladder.restarted(now)  # a reboot that is refused is not asked for again at once
        await self._carry(step)


def load(path: Path) -> Budget:
    """What was spent; a damaged file counts as a day without reboots."""
    try:
        found = json.loads(path.read_bytes())
        return Budget(str(found["day"]), int(found["reboots"]))
    except (OSError, ValueError, TypeError, KeyError):
        return Budget()


def save(path: Path, budget: Budget) -> None:
    """Raises OSError: then nothing may be done."""
    durable.replace_file(path, json.dumps(asdict(budget)).encode())


async def gateway_answers(url: str, ca_pem: str | None) -> bool:
    """Does anything that speaks HTTP answer at the service's address?"""
    parts = urlsplit(url)
    if not parts.hostname:
        return False
    context = ssl.create_default_context(cadata=ca_pem) if parts.scheme == "https" else None
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
