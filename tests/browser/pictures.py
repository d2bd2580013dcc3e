"""The README's pictures and one of every view: a demo fleet, looked at in Chromium. `make screenshots` runs it.

    python -m tests.browser.pictures [FOLDER]

Without a folder it writes the README's two into docs/pictures; with one, every view, dialog and state there: light,
dark and narrow, in English, German and Japanese.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, expect, sync_playwright

from deploy.parts.layout import REPOSITORY
from tests.browser import pictured_states
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.people import session_of
from tests.browser.watched import watched
from tests.browser.windows import PATIENCE_MS
from tests.stack import Api, Stack, eventually, running_stack

README_PICTURES: Final = REPOSITORY / "docs" / "pictures"
DEMO: Final = {
    "DEMO": "1",
    "DEMO_DISPLAYS": "40",
    "DEMO_HEARTBEAT_SECONDS": "5",
    "CRASH_RECOVERY_ENABLED": "true",
    "TICK_SECONDS": "5",
}
WIDE: Final = {"width": 1360, "height": 850}
NARROW: Final = {"width": 390, "height": 844}
LOOKS: Final[dict[str, dict[str, Any]]] = {
    "light": {"viewport": WIDE, "color_scheme": "light"},
    "dark": {"viewport": WIDE, "color_scheme": "dark"},
    "narrow": {"viewport": NARROW, "color_scheme": "light"},
    "de-wide": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light", "locale": "de-DE"},
    "de-narrow": {"viewport": NARROW, "color_scheme": "dark", "locale": "de-DE"},
    "ja-middle": {"viewport": {"width": 1024, "height": 768}, "color_scheme": "light", "locale": "ja-JP"},
    "ja-narrow": {"viewport": NARROW, "color_scheme": "light", "locale": "ja-JP"},
}
TABS: Final = ("about", "logs", "commands", "health", "events")
SOMETHING_IS_WRONG_SECONDS: Final = 240.0


def main(arguments: list[str]) -> None:
    """Take the pictures."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_stack(Path(folder) / "state", **DEMO) as stack,
        browser() as chromium,
    ):
        interesting = wait_for_something_to_look_at(stack.api())
        if arguments:
            take_all(chromium, stack, Path(arguments[0]), interesting)
        else:
            take_for_the_readme(chromium, stack, interesting)


@contextmanager
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


def wait_for_something_to_look_at(api: Api) -> str:
    """Wait until a display has crashed and recovered and a service has failed elsewhere; return the display's uuid."""

    def found() -> str | None:
        commands = [
            client for client in api.get("/api/clients", params={"limit": 100})["items"] if client["lockout_until"]
        ]
        failed = api.get("/api/clients/service_failed")["items"]
        return commands[0]["uuid"] if commands and failed else None

    return eventually(found, "a recovered display and a failed service", SOMETHING_IS_WRONG_SECONDS)


def until_a_crash(page: Page) -> None:
    """Wait until a display on the page is crashed."""
    crashed = page.locator(".attention .status-crashed").first
    expect(crashed).to_be_visible(timeout=SOMETHING_IS_WRONG_SECONDS * 1000)


def take_for_the_readme(chromium: Browser, stack: Stack, interesting: str) -> None:
    """Take the README's pictures: the fleet, and one display with its timeline."""
    README_PICTURES.mkdir(exist_ok=True)
    shoot(chromium, stack, LOOKS["light"], "/", README_PICTURES / "fleet.png", until_a_crash)
    shoot(chromium, stack, LOOKS["dark"], f"/?d={interesting}&tab=events", README_PICTURES / "display.png", to_the_tabs)


def to_the_tabs(page: Page) -> None:
    """Scroll the panel so that the open tab's content fills it."""
    page.get_by_role("tablist").evaluate("tabs => tabs.scrollIntoView()")


def take_all(chromium: Browser, stack: Stack, folder: Path, interesting: str) -> None:
    """Take a picture of every view and every state in every look."""
    folder.mkdir(parents=True, exist_ok=True)
    views = {"fleet": "/", "logs": "/?v=logs", "conversions": "/?v=conversions", "settings": "/?v=settings"}
    views |= {
        "incidents": "/?v=incidents",
        "quiet": "/?v=quiet",
        "availability": "/?v=availability",
        "batches": "/?v=batches",
        "wall": "/?v=wall",
        "log-of-one": f"/?v=logs&c={interesting}",
    }
    tabs = {
        f"display-{tab}": f"/?d={interesting}&tab={tab}" for tab in ("about", "logs", "commands", "health", "events")
    }
    secrets = stack.environment
    session = session_of(stack, secrets["SIGNAGE_SIGN_IN_USER"], secrets["SIGNAGE_SIGN_IN_PASSWORD"])
    looks = {look: {**options, "storage_state": session} for look, options in LOOKS.items()}
    for look, options in looks.items():
        for name, address in views.items():
            shoot(chromium, stack, options, address, folder / f"{name}-{look}.png", whole=True)
        for name, address in tabs.items():
            shoot(chromium, stack, options, address, folder / f"{name}-{look}.png", to_the_tabs)
    pictured_states.take(chromium, stack, looks, folder, interesting)


def shoot(
    chromium: Browser,
    stack: Stack,
    options: dict[str, Any],
    address: str,
    target: Path,
    prepare: Callable[[Page], None] | None = None,
    whole: bool = False,
) -> None:
    """Take one picture of one address after everything on it has loaded; fail on any complaint of the page.

    `whole`: of the whole page, not of the window.
    """
    context = chromium.new_context(**options)
    page = watched(context, stack)
    if "storage_state" not in options:
        page.sign_in()
    shown = page.open(address)
    shown.get_by_role("heading", level=1).first.wait_for()
    shown.wait_for_load_state("networkidle")
    expect(shown.locator("[aria-busy=true]:visible")).to_have_count(0)
    if prepare:
        prepare(shown)
    shown.screenshot(path=target, full_page=whole)
    context.close()
    page.check()
    print(target)


if __name__ == "__main__":
    main(sys.argv[1:])
