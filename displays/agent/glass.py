"""Determine what the screen shows: the kernel reports cable and panel, Chromium reports the page."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from displays.agent import glass_rules
from displays.agent.connectors import signal
from displays.agent.devtools import Crashed, NoPage, NotThere, capture, look
from displays.agent.glass_rules import CRASH, NOTHING, STILL_MARK, Look, Player, Verdict
from displays.client import contract
from displays.client import seen as said
from displays.client.screenshots import NoPicture

KEPT_WIDTH: Final = 640
AGAIN_SECONDS: Final = 10.0  # then a second look decides: slides fade through black, and a busy machine draws late


Panel = Callable[[], Awaitable[bool | None]]


class Glass:
    """The screen, checked at each look. `port` is the port of Chromium's DevTools, 0 for none."""

    def __init__(
        self,
        root: Path,
        port: int,
        panel: Panel | None = None,
        player: Callable[[], Player] = Player,
        black_is_allowed: Callable[[], bool] = bool,
    ) -> None:
        """`panel` asks the screen itself whether it is on, where the kernel does not see it."""
        self._root, self._port, self._panel, self._player = root, port, panel, player
        self._black_is_allowed = black_is_allowed
        self.trouble = ""  # in words, for people
        self.has_page = False  # whether the last check found a page
        self._word = ""  # of the last check
        self._start: str | None = None  # the player's start at the last look
        self._answered: str | None = None  # the start in which DevTools answered last
        self._page_at = time.monotonic()  # when there was a page last, or the player started
        self._last: Look | None = None  # the last page with a picture
        self._stands_since = 0.0
        self._seen: Look | None = None  # by the last look
        self._changed: bool | None = None  # whether the picture changed since it was told last; None: only one was seen

    async def picture(self, widest: int = 1280) -> bytes:
        """A JPEG of the page. Raises NoPicture."""
        try:
            return await capture(self._port, contract.PICTURE_MAX_BYTES, widest)
        except Crashed:
            raise NoPicture(CRASH) from None
        except NotThere as error:
            raise NoPicture(str(error)) from None

    async def small_picture(self) -> bytes:
        """A small JPEG to keep in memory, if the last check found a page. Raises NoPicture."""
        if not self.has_page:
            raise NoPicture(self.trouble or "there is no page")
        return await self.picture(KEPT_WIDTH)

    async def health(self) -> str:
        """Check the screen. Returns its health in the contract's words."""
        self._word = await self._health()
        return self._word

    async def _health(self) -> str:
        seen = signal(self._root)
        self.trouble, self.has_page, self._seen = "", False, None
        if seen.known and not seen.connected:
            self.trouble = "no screen is connected"
            return "disconnected"
        if (seen.known and not seen.lit) or (self._panel is not None and await self._panel() is False):
            return "off"
        if not self._port:
            return "unknown"  # a signal alone does not show that there is a picture
        verdict, page = await self._look(None)
        if not verdict.is_sure and verdict.word != self._word:  # a fault that goes on is none of a moment
            await asyncio.sleep(AGAIN_SECONDS)
            verdict, _ = await self._look(page)
        self.trouble = verdict.why
        return verdict.word

    async def _look(self, before: Look | None) -> tuple[Verdict, Look | None]:
        """Look once. `before` is the page of the first of two looks."""
        now, player = time.monotonic(), self._player()
        if player.start != self._start:
            self._start, self._page_at = player.start, now
        try:
            page = await look(self._port)
        except NotThere as error:
            answers = isinstance(error, NoPage)
            verdict = glass_rules.without_page(player, self._answered, now - self._page_at, str(error), answers=answers)
            self._answered = player.start if answers else self._answered
            self.has_page = False
            self._seen = Look(NOTHING) if answers or verdict.word == "no_page" else None
            return verdict, None
        self._answered, self._page_at, self.has_page, self._seen = player.start, now, page.draws, page
        stood = self._stood(page, now)
        return glass_rules.of_the_page(page, before, stood, black_is_allowed=self._black_is_allowed()), page

    def _stood(self, page: Look, now: float) -> float:
        """For how many seconds the page's picture is the same."""
        if page.glimpse is None:
            return 0.0
        last, self._last = self._last, page
        if last is None or last.glimpse is None:
            self._stands_since = now
        elif last.address != page.address or page.glimpse.differs(last.glimpse):
            self._stands_since, self._changed = now, True
        elif self._changed is None:
            self._changed = False
        return now - self._stands_since

    def tell(self) -> dict[str, Any]:
        """The fields of a health report about what the last look saw; empty when it saw nothing."""
        page, changed, self._changed = self._seen, self._changed, None
        if page is None:
            return {}
        seen = page.glimpse
        if seen is None or (STILL_MARK in page.marks and not changed):  # a page that stands still by design
            changed = None
        picture, common = (None, None) if seen is None else (seen.hash(), seen.percent)
        return said.page(page.kind, page.address, page.title, picture, common, changed)
