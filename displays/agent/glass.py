"""Determine what the screen shows: the kernel reports cable and panel, Chromium reports the page."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from displays.agent.connectors import signal
from displays.agent.devtools import Crashed, NotThere, Page, capture, look
from displays.client import contract
from displays.client.screenshots import NoPicture

KEPT_WIDTH: Final = 640
AGAIN_SECONDS: Final = 7.0  # then a second look decides: slides fade through black, and a busy machine draws late


Panel = Callable[[], Awaitable[bool | None]]


class Glass:
    """The screen, checked once for each health report. `port` is the port of Chromium's DevTools, 0 for none."""

    def __init__(self, root: Path, port: int, panel: Panel | None = None) -> None:
        """`panel` asks the screen itself whether it is on, where the kernel does not see it."""
        self._root, self._port, self._panel = root, port, panel
        self.trouble = ""  # in words, for people
        self.has_page = False  # whether the last check found a page

    async def picture(self, widest: int = 1280) -> bytes:
        """A JPEG of the page. Raises NoPicture."""
        try:
            return await capture(self._port, contract.PICTURE_MAX_BYTES, widest)
        except Crashed:
            raise NoPicture("the page of the player has crashed") from None
        except NotThere as error:
            raise NoPicture(str(error)) from None

    async def small_picture(self) -> bytes:
        """A small JPEG to keep in memory, if the last check found a page. Raises NoPicture."""
        if not self.has_page:
            raise NoPicture(self.trouble or "there is no page")
        return await self.picture(KEPT_WIDTH)

    async def health(self) -> str:
        """Check the screen. Returns its health in the contract's words."""
        seen = signal(self._root)
        self.trouble, self.has_page = "", False
        if seen.known and not seen.connected:
            self.trouble = "no screen is connected"
            return "disconnected"
        if (seen.known and not seen.lit) or (self._panel is not None and await self._panel() is False):
            return "off"
        if not self._port:
            return "unknown"  # a signal alone does not show that there is a picture
        try:
            page = await look(self._port)
            if not page.draws or _is_black(page):
                await asyncio.sleep(AGAIN_SECONDS)
                page = await look(self._port)
            self.has_page = page.draws
            return self._of_the_page(page)
        except Crashed:
            self.trouble = "the page of the player has crashed"
            return "frozen"
        except NotThere as error:
            self.trouble = str(error)
            return "unknown"

    def _of_the_page(self, page: Page) -> str:
        if not page.draws:
            self.trouble = "the page of the player draws no frame"
            return "frozen"
        if page.glimpse is None:
            return "unknown"
        if _is_black(page):
            self.trouble = "the page of the player is black"
            return "black"
        return "ok"


def _is_black(page: Page) -> bool:
    return page.glimpse is not None and page.glimpse.is_black
