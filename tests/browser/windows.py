"""Browsers that tests reuse, each with its tab: emptied before each test, and never one whose clock a test has changed.

A tab that has shown the dashboard before shows it again for little of the processor time: its process runs, and it has
the page's files and their compiled programs in memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

from tests.browser.people import SessionState
from tests.browser.watched import WatchedPage
from tests.stack import Stack

PATIENCE_MS: Final = 120_000  # how long a locator or an expectation may take; it costs nothing while all is well
MIDDAY: Final = f"Etc/GMT{datetime.now(UTC).hour - 12:+d}"
"""The zone in which it is midday now (its sign is the wrong way round, as in all of `Etc/`): the pages show the clock
time of today's moments and the day of others', and no test may depend on the hour at which it runs."""
USUAL_SIZE: Final = ViewportSize(width=1360, height=900)
SIGNED_OUT: Final[SessionState] = {"cookies": [], "origins": []}
MEDIA: Final = {"media": "null", "color_scheme": "light", "reduced_motion": "reduce", "forced_colors": "none"}
"""No animation unless a test asks for it: a turning symbol is drawn sixty times a second. "null" means on a screen."""
OF_ONE_PAGE: Final = MEDIA.keys() | {"viewport", "storage_state"}
"""The options that any reused browser can take."""
OF_A_BROWSER: Final = frozenset({"locale", "timezone_id"})
"""The options that a reused browser keeps; with any further option a new browser is started."""
SMALL_FILE: Final = "/icon.svg"
BEGIN_WITH = """(items) => {
  sessionStorage.clear();
  localStorage.clear();
  for (const { name, value } of items) localStorage.setItem(name, value);
}"""

Kind = tuple[tuple[str, str], ...]


@dataclass
class Windows:
    """The browsers of one Chromium that no test is using."""

    chromium: Browser
    free: dict[Kind, list[BrowserContext]] = field(default_factory=dict)
    kinds: dict[BrowserContext, Kind] = field(default_factory=dict)
    """Of each browser that can be reused, what it keeps."""

    def open(self, stack: Stack, options: Mapping[str, Any]) -> WatchedPage:
        """Return a watched page in a browser of its own: no cookie, storage or permission but those of `options`."""
        if options.keys() <= OF_ONE_PAGE | OF_A_BROWSER:
            return WatchedPage(self._page(stack, options), stack, reused=True)
        return WatchedPage(self._new(**options).new_page(), stack)

    def close(self, watched: WatchedPage) -> None:
        """Keep the browser with this tab for reuse, or close it if it cannot be reused."""
        context = watched.page.context
        watched.end()
        for page in context.pages:
            page.unroute_all(behavior="wait")  # a page that closes under a test's handler may never be closed
        if not watched.reused or watched.clock_changed:
            context.close()
            self.kinds.pop(context, None)
            return
        for tab in context.pages[1:]:
            tab.close()
        context.clear_permissions()
        watched.page.mouse.move(0, 0)  # over nothing
        watched.page.goto(watched.stack.url + SMALL_FILE)
        self.free.setdefault(self.kinds[context], []).append(context)

    def _page(self, stack: Stack, options: Mapping[str, Any]) -> Page:
        kind = tuple(sorted((name, value) for name, value in options.items() if name in OF_A_BROWSER))
        free = self.free.get(kind)
        context = free.pop() if free else self._with_a_tab(kind)
        begin_with(context, stack, options.get("storage_state", SIGNED_OUT))
        [page] = context.pages
        page.set_viewport_size(options.get("viewport", USUAL_SIZE))
        page.emulate_media(**{name: options.get(name, usual) for name, usual in MEDIA.items()})
        return page

    def _with_a_tab(self, kind: Kind) -> BrowserContext:
        context = self._new(**dict(kind))
        context.new_page()
        self.kinds[context] = kind
        return context

    def _new(self, **options: Any) -> BrowserContext:
        usual = {"viewport": USUAL_SIZE, "timezone_id": MIDDAY, "locale": "en-US", "reduced_motion": "reduce"}
        context = self.chromium.new_context(**{**usual, **options})
        context.set_default_timeout(PATIENCE_MS)
        return context


def begin_with(context: BrowserContext, stack: Stack, state: SessionState) -> None:
    """Replace what this browser has stored of the stack. Playwright's `set_storage_state` empties its cache, too."""
    [page] = context.pages
    if not page.url.startswith(f"{stack.url}/"):
        page.goto(stack.url + SMALL_FILE)
    context.clear_cookies()
    cookies: list[Any] = list(state.get("cookies", []))
    context.add_cookies(cookies)
    page.evaluate(BEGIN_WITH, [item for origin in state.get("origins", []) for item in origin["localStorage"]])


@dataclass
class Opened:
    """The pages of one test. What they show must not be deleted before they are closed."""

    windows: Windows
    pages: list[WatchedPage] = field(default_factory=list)
    open: list[WatchedPage] = field(default_factory=list)

    def page(self, stack: Stack, options: Mapping[str, Any]) -> WatchedPage:
        """Open one more page, in a browser of its own."""
        made = self.windows.open(stack, options)
        self.pages.append(made)
        self.open.append(made)
        return made

    def close(self) -> None:
        """Close the pages that are still open."""
        while self.open:
            self.windows.close(self.open.pop())

    def check(self) -> None:
        """Fail with every error in any of them."""
        for page in self.pages:
            page.check()
