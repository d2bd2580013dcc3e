"""Switch the screen through the helper, and see whether it is so."""

import asyncio
import shutil
from pathlib import Path
from typing import Final

from displays.agent.asking import NotDone, ask
from displays.agent.connectors import signal
from displays.agent.screen_rules import CEC, PROGRAMS

SHOWS_SECONDS: Final = 20.0  # a television takes its time
LOOK_SECONDS: Final = 0.5
DID_NOT_SWITCH: Final = "screen_did_not_switch"
DOES_NOT_SAY: Final = "screen_does_not_say"


class ScreenSwitch:
    """The screen of this machine. `means` is the owner's, of `screen_rules.PROGRAMS`; empty: none."""

    def __init__(self, root: Path, helper: Path, means: str) -> None:
        self._root, self._helper, self._means = root, helper, means

    @property
    def trouble(self) -> str:
        """Why the screen cannot be switched, for people; empty when it can."""
        if not self._means:
            return "no means is named: screen = x11, wayland or cec in display.conf"
        if shutil.which(PROGRAMS[self._means]) is None:
            return f"{PROGRAMS[self._means]} is not installed"
        if not self._helper.exists():
            return "the helper is not there"
        if self._means != CEC and not signal(self._root).known:
            return "the kernel shows no video connector, so nobody could see whether the screen is on"
        return ""

    async def is_on(self) -> bool | None:
        """Whether the screen is on; None when nobody can see it."""
        if self._means != CEC:
            seen = signal(self._root)
            return seen.lit > 0 if seen.connected else None
        try:
            await ask(self._helper, "screen state")
        except NotDone as error:
            return False if str(error) == "off" else None
        return True

    async def switch(self, is_on: bool) -> str | None:
        """Switch it, and wait until it is so. Returns why it is not, or None."""
        shown: bool | None = None
        try:
            await ask(self._helper, f"screen {'on' if is_on else 'off'}")
            async with asyncio.timeout(SHOWS_SECONDS):
                while (shown := await self.is_on()) is not is_on:  # noqa: ASYNC110 - the kernel is asked each time
                    await asyncio.sleep(LOOK_SECONDS)
        except NotDone as error:
            return str(error)[:500]
        except TimeoutError:
            return DOES_NOT_SAY if shown is None else DID_NOT_SWITCH
        return None
