"""Every view and dialog in German and Japanese, on phones and desktops, dark and light.

No word is English, nothing is too wide, no rule of accessibility is broken.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import IN_FEW_PROCESSES, WITHOUT_A_WINDOW, launched, uuid_of
from tests.browser.languages import (
    LOOKS,
    SIGN_OUT,
    TWO_LINES,
    busy_display,
    english_on,
    highest_name_of_a_setting,
    language_of,
    options_of,
    walk,
)
from tests.browser.people import SessionState, session_of
from tests.browser.pictured_states import DIALOGS, dialog
from tests.browser.test_every_page import violations
from tests.browser.watched import WatchedPage, does_not_scroll_sideways
from tests.browser.windows import PATIENCE_MS, Windows
from tests.lab.campaigns.ledger import Ledger, tell
from tests.stack import Stack, running_stack

LANGUAGES: Final = ("de", "ja")


@dataclass(frozen=True)
class Plan:
    """How many of the looks and of the dialogs."""

    looks: int = len(LOOKS)
    dialogs: int = len(DIALOGS)
    seed: int = 1


@dataclass
class Reader:
    """A person who reads the pages of a stack, and what they found."""

    stack: Stack
    windows: Windows
    session: SessionState
    uuid: str
    """Of the display whose panel they open."""
    seen: int = 0
    english: list[str] = field(default_factory=list)
    wide: list[str] = field(default_factory=list)
    high: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def views(self, look: str) -> None:
        """Read every tab and every view in this look."""
        options = options_of(look)
        for page in self._opened(look, **options):
            language = options["locale"][:2]
            page.open()
            page.page.get_by_role("button", name=SIGN_OUT[language]).wait_for()
            for address in walk(page, self.uuid):
                self._judge(page, language, f"{address} in {look}")
            if options["viewport"]["width"] < 400 and highest_name_of_a_setting(page.page) > TWO_LINES:
                self.high.append(look)

    def dialogs(self, language: str, count: int) -> None:
        """Read so many dialogs in this language."""
        for page in self._opened(language, locale=language):
            for name, (address, *buttons) in islice(DIALOGS.items(), count):
                dialog(page, address.format(uuid=self.uuid), buttons)
                self._judge(page, language, f"dialog {name} in {language}")
                page.page.keyboard.press("Escape")
                expect(page.page.get_by_role("dialog")).to_have_count(0)

    def _opened(self, what: str, **options: Any) -> Iterator[WatchedPage]:
        page = self.windows.open(self.stack, {"storage_state": self.session, **options})
        yield page
        self.windows.close(page)
        self.complaints += [f"{what}: {said}" for said in page.complaints]

    def _judge(self, page: WatchedPage, language: str, where: str) -> None:
        self.seen += 1
        found = english_on(page.page)
        self.english += [f"{where}: {text}" for text in found]
        if language_of(page.page) != language:
            self.english.append(f"{where}: {language_of(page.page)}")
        if not does_not_scroll_sideways(page.page):
            self.wide.append(where)
        self.broken += [f"{where}: {rule}" for rule in violations(page.page)]


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign on a stack of its own: what tests write into theirs is English. Returns its ledger."""
    ledger = Ledger("words", plan.seed, {"looks": plan.looks, "dialogs": plan.dialogs})
    began = time.monotonic()
    expect.set_options(timeout=PATIENCE_MS)
    folder.chmod(0o755)  # Postgres and the broker are other users
    with (
        running_stack(folder / "stack", TICK_SECONDS="3", DEMO="") as stack,
        busy_display(stack.api(), folder / "display") as display,
        sync_playwright() as playwright,
        launched(playwright, WITHOUT_A_WINDOW, *IN_FEW_PROCESSES) as chromium,
    ):
        user, password = (stack.environment[f"SIGNAGE_SIGN_IN_{what}"] for what in ("USER", "PASSWORD"))
        reader = Reader(stack, Windows(chromium), session_of(stack, user, password), uuid_of(display))
        for look in islice(LOOKS, plan.looks):
            reader.views(look)
            say(f"words: every view, {look}")
        for language in LANGUAGES:
            reader.dialogs(language, plan.dialogs)
            say(f"words: {plan.dialogs} dialogs, {language}")
    for found in (reader.english, reader.wide, reader.high, reader.broken, reader.complaints):
        for one in found:
            say(f"words: {one}")
    ledger.counted = {"pages": reader.seen}
    ledger.conditions = {
        "every text is in the reader's language": not reader.english,
        "nothing scrolls sideways": not reader.wide,
        "no name of a setting takes more than two lines on a phone": not reader.high,
        "no rule of accessibility is broken": not reader.broken,
        "no page has an error": not reader.complaints,
    }
    ledger.seconds = time.monotonic() - began
    return ledger
