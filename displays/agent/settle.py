"""Wait until it is known what became of a command that was under way when the agent ended.

The helper answers one request after another. So its answer to a `ping` says that it has carried out what it was asked
for before, even by an agent that is gone.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Final

from displays.agent.asking import NotDone, ask
from displays.agent.unit_rules import UnitFacts
from displays.client import contract
from displays.client.state import JournalEntry

MOVING: Final = frozenset({"activating", "deactivating", "reloading"})
LOOK_SECONDS: Final = 1.0
MOVING_SECONDS: Final = 100.0  # the longest wait for a player between two states
GOING_DOWN_SECONDS: Final = 15.0  # logind lets programs delay the end of the machine by five seconds


def under_way(entries: Iterable[JournalEntry], boot_id: str) -> set[str]:
    """The actions that may have begun in this boot and whose outcome is not in the journal."""
    return {one.action for one in entries if one.state == "running" and one.boot_id == boot_id}


async def until_known(actions: set[str], helper: Path, look: Callable[[], Awaitable[UnitFacts]]) -> None:
    """Return when none of these actions is under way any more. `look` reads the state of the player from systemd."""
    if not actions & set(contract.ACTIONS):
        return
    with contextlib.suppress(NotDone):
        await ask(helper, "ping")
    if actions & {contract.REBOOT_HOST, contract.SHUTDOWN_HOST}:
        await asyncio.sleep(GOING_DOWN_SECONDS)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(MOVING_SECONDS):
            while (await look()).active in MOVING:  # noqa: ASYNC110 - systemd is asked each time
                await asyncio.sleep(LOOK_SECONDS)
