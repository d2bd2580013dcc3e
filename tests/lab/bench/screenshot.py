"""The time from the click to the picture in Chromium, on a whole stack with a simulated display."""

import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, sync_playwright

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.people import session_of
from tests.lab.bench.report import Row
from tests.stack import enrolled, eventually, running_stack

CLICKS: Final = 40
NEWEST: Final = (
    "() => [...document.querySelectorAll('aside img:not(.thumb)')].find(i => i.complete && i.naturalWidth)?.src"
)
ANOTHER: Final = f"before => {{ const src = ({NEWEST})(); return src && src !== before; }}"


def measure(folder: Path) -> list[Row]:
    """Measure the third slowest of forty: the 95th percentile."""
    with running_stack(folder / "stack", DEMO="") as stack, sync_playwright() as driver:
        api, identity = stack.api(), str(uuid.uuid4())
        with SimulatedDisplay(replace(enrolled(api, identity), url=api.url), folder / "display") as display:
            display.heartbeat("running")
            display.health()
            eventually(lambda: api.get(f"/api/clients/{identity}").get("capabilities"), "what it can do")
            chromium = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            known = stack.environment
            session = session_of(stack, known["SIGNAGE_SIGN_IN_USER"], known["SIGNAGE_SIGN_IN_PASSWORD"])
            page = chromium.new_context(storage_state=session).new_page()
            page.goto(f"{stack.url}/?d={identity}")
            took = sorted(_one(page) for _ in range(CLICKS))
            chromium.close()
    return [Row("screenshot: click -> picture, p95", took[int(0.95 * CLICKS) - 1], "ms", 5_000, at_most=True)]


def _one(page: Page) -> float:
    """Click. Returns the milliseconds until another picture is drawn."""
    button = page.get_by_role("button", name="Take a screenshot")
    button.click(trial=True)  # wait until the button is enabled
    before, began = page.evaluate(NEWEST), time.monotonic()
    button.click()
    page.wait_for_function(ANOTHER, arg=before, timeout=60_000)
    return 1000 * (time.monotonic() - began)
