"""Carry out commands on the machine through its helper, and find out whether they succeeded."""

import asyncio
import contextlib
from pathlib import Path
from typing import Final

from displays.agent.asking import NotDone, Unanswered, ask
from displays.agent.machine import Machine
from displays.client import contract

RESTART_SECONDS: Final = 100.0  # the service gives up after 120
POWER_SECONDS: Final = 120.0  # after this time a reboot counts as failed
ASKED: Final = {contract.REBOOT_HOST: ("reboot", "reboot"), contract.SHUTDOWN_HOST: ("power-off", "shutdown")}
"""The verb of the helper for each end of the machine, and the reason in `offline`."""


async def restart_player(helper: Path, machine: Machine, before: str) -> str | None:
    """Restart the player, whose present start is `before`. Returns the reason if it failed.

    It succeeded when systemd shows a new active instance, whatever the helper says.
    """
    try:
        async with asyncio.timeout(RESTART_SECONDS):
            with contextlib.suppress(Unanswered):  # systemd tells whether it was done
                await ask(helper, f"restart {machine.settings.player}")
            while machine.player.active != "active" or machine.player.invocation in {"", before}:
                machine.changed.clear()
                await machine.changed.wait()
    except NotDone as error:
        return str(error)[:500]
    except TimeoutError:
        return "app_did_not_start"
    return None


async def end_the_machine(helper: Path, action: str) -> str:
    """Reboot or power off. Returns only if the machine keeps running: the reason."""
    try:
        with contextlib.suppress(Unanswered):  # a machine that goes down may stop the helper before it answers
            await ask(helper, ASKED[action][0])
        await asyncio.sleep(POWER_SECONDS)
    except NotDone as error:
        return str(error)[:500]
    return f"{action}_did_not_happen"
