"""A watched browser page: every error in it fails the test, unless the test expected it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Page

from shared.words.compiler.labels import FILES
from tests.stack import Stack, eventually

API: Final = re.compile(r"^https?://[^/]+/api/")

FLEET: Final = re.compile(r"^Fleet$|screens? (is|are) fine$")
"""The heading of the fleet page, of an empty fleet and of one with displays."""
"""The page's requests of the service. The page's own modules are below /lib/api/ too."""
SAID_OF_AN_ANSWER: Final = re.compile(r"Failed to load resource(?:: the server responded with a status of (\d+))?")
"""What Chromium prints for each error answer. Playwright's own events of answers cost a twentieth of a page."""
FOLLOW = """(address) => {
  history.pushState(null, '', address);
  dispatchEvent(new PopStateEvent('popstate', { state: null }));
}"""
WORDS = """async ([name, facts]) => {
  const [file, ...path] = name.split('.');
  const [words, { wordsLoaded }] = await Promise.all([import(`/lib/words/${file}.js`), import('/lib/language.js')]);
  await wordsLoaded();
  const found = path.reduce((of, key) => of[key], words);
  return typeof found === 'function' ? found(...facts) : found;
}"""


@dataclass
class WatchedPage:
    """A page, the stack that it shows, and the errors in it so far."""

    page: Page
    stack: Stack
    allowed: list[tuple[int, str]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    reused: bool = False
    """Whether another test uses its tab afterwards."""
    clock_changed: bool = False

    def __post_init__(self) -> None:
        """Subscribe to the page's events before the first address is opened."""
        self.page.on("console", self._on_console)
        self.page.on("pageerror", self._on_error)

    def end(self) -> None:
        """The test has ended: without its handlers the page meets answers that it did not expect."""
        self.page.remove_listener("console", self._on_console)
        self.page.remove_listener("pageerror", self._on_error)

    def asked(self) -> list[str]:
        """Return a list to which the address of each request is added from now on; no other test reuses this tab."""
        addresses: list[str] = []
        self.page.on("request", lambda request: addresses.append(request.url))
        self.reused = False
        return addresses

    def expect_answer(self, status: int, path: str) -> None:
        """From now on an answer with this status at an address that matches `path` is no error."""
        self.allowed.append((status, path))

    def open(self, address: str = "/") -> Page:
        """Open an address of the dashboard."""
        self.page.goto(self.stack.url + address)
        return self.page

    def sign_in(self, address: str = "/") -> Page:
        """Open an address and sign in as the first admin, as a person does."""
        self.open(address)
        self.fill_sign_in(self.stack.environment["SIGNAGE_SIGN_IN_PASSWORD"])
        self.page.get_by_role("button", name=self.words("frame.frameWords.signOut")).wait_for()
        return self.page

    def fill_sign_in(self, password: str) -> None:
        """Fill and send the sign-in form."""
        self.page.get_by_label(self.words("session.sessionWords.user")).fill(
            self.stack.environment["SIGNAGE_SIGN_IN_USER"]
        )
        self.page.get_by_label(self.words("session.sessionWords.password")).fill(password)
        self.press("session.sessionWords.go")

    def words(self, name: str, *facts: object) -> str:
        """Return a label in the page's language by its name: its module, then its names, joined by dots."""
        module, names = name.split(".", 1)
        found: str = self.page.evaluate(WORDS, [f"{FILES.get(module, module)}.{names}", facts])
        return found

    def press(self, name: str) -> None:
        """Press the first button that has these words in the page's language; `…` may follow the name."""
        words = self.words(name.removesuffix("…")) + "…" * name.endswith("…")
        self.page.get_by_role("button", name=words, exact=True).first.click()

    def change_clock(self, time: datetime | None = None) -> None:
        """From now on the test controls this browser's clock; it cannot be undone."""
        self.page.clock.install(time=time)
        self.clock_changed = True

    def stop_clock(self) -> None:
        """Stop the clock that `change_clock` took over, a second from now."""
        if not self._pauses(1):
            assert self._pauses(30), "the machine came to it when that moment was over"

    def _pauses(self, seconds: float) -> bool:
        """Whether the clock could be stopped so many seconds from now; False if that time passed meanwhile."""
        try:
            self.page.clock.pause_at(self.page.evaluate("Date.now()") / 1000 + seconds)
        except Error:
            return False
        return True

    def look_again(self) -> None:
        """Do what returning to the tab does: the page requests everything now, not at the next period."""
        self.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    def look_until(self, shown: Callable[[], bool], what: str) -> None:
        """Let the page request everything again until it shows what only the service can bring about."""

        def look() -> bool:
            self.look_again()
            return shown()

        eventually(look, what)

    def follow(self, address: str) -> None:
        """Go to another address as a link within the page does, without loading the page again."""
        self.page.evaluate(FOLLOW, address)

    def check(self) -> None:
        """Fail with every error so far."""
        assert self.complaints == [], self.complaints

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type not in {"error", "warning"}:
            return
        answer = SAID_OF_AN_ANSWER.match(message.text)
        if answer is None:
            self.complaints.append(f"console {message.type}: {message.text}")
        elif answer[1] is not None:
            self._judge(int(answer[1]), message.location["url"])

    def _judge(self, status: int, address: str) -> None:
        if not any(status == expected and re.search(path, address) for expected, path in self.allowed):
            self.complaints.append(f"{status} {address}")

    def _on_error(self, error: Error) -> None:
        self.complaints.append(f"page error: {error}")


def does_not_scroll_sideways(page: Page) -> bool:
    """Whether the whole page fits the window's width."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def watched(context: BrowserContext, stack: Stack) -> WatchedPage:
    """Return a new page of this context."""
    return WatchedPage(context.new_page(), stack)
