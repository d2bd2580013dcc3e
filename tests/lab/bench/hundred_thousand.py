"""100,000 displays at 1,000 sites on the page: bytes and time of the overview, time until the page can be used.

python -m tests.lab.bench.hundred_thousand
"""

import gzip
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import requests
from playwright.sync_api import Page, sync_playwright

from shared.postgres.door import engine_for
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.huge_fleet import DISPLAYS_OF_A_SITE, fill
from tests.browser.people import session_of
from tests.lab.bench.report import HEADER, Row, median
from tests.stack import Stack, running_stack

SITES: Final = 1_000
OPENINGS: Final = 5
GZIP_LEVEL: Final = 5  # the gateway's
SETTINGS: Final = {"TICK_SECONDS": "60", "DEMO": ""}
CHANGE: Final = "UPDATE clients SET tags = ARRAY['x'] WHERE right(hostname, 3) = '500' AND length(hostname) = 9"


def measure(folder: Path) -> list[Row]:
    """Measure on a stack of its own."""
    with running_stack(folder / "stack", **SETTINGS) as stack, sync_playwright() as playwright:
        engine = engine_for(stack.environment["DATABASE_URL"], "bench")
        fill(engine, SITES)
        whole, delta = _overview(stack), None
        with engine.begin() as connection:
            changed = connection.exec_driver_sql(CHANGE).rowcount
        delta = _overview(stack, json.loads(whole[1])["cursor"])
        engine.dispose()
        user, password = (stack.environment[f"SIGNAGE_SIGN_IN_{what}"] for what in ("USER", "PASSWORD"))
        session = session_of(stack, user, password)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        usable, opened = [], []
        for _ in range(OPENINGS):
            context = browser.new_context(storage_state=session, viewport={"width": 1360, "height": 900})
            page = context.new_page()
            usable.append(_until_usable(page, stack.url))
            opened.append(_open_a_place(page))
            context.close()
        browser.close()
    name = f"{SITES * DISPLAYS_OF_A_SITE:,} displays"
    return [
        Row(f"{name}: overview, gzip", _kb(whole[1]), "KB", 20, at_most=True),
        Row(f"{name}: overview", whole[0], "ms", 500, at_most=True),
        Row(f"{name}: {changed} changes, gzip", _kb(delta[1]), "KB", 8, at_most=True),
        Row(f"{name}: {changed} changes", delta[0], "ms", 100, at_most=True),
        Row(f"{name}: page usable", median(usable), "ms", 2000, at_most=True),
        Row(f"{name}: open a place", median(opened), "ms", 2000, at_most=True),
    ]


def _overview(stack: Stack, since: str | None = None) -> tuple[float, bytes]:
    """Milliseconds of the page's request, the median, and its answer."""
    query = {"format": "packed", "most": "10000", **({"since": since} if since else {})}
    token = {"Authorization": f"Bearer {stack.environment['SIGNAGE_ADMIN_TOKEN']}"}
    took: list[float] = []
    with requests.Session() as session:
        for _ in range(OPENINGS):
            began = time.monotonic()
            answer = session.get(f"{stack.url}/api/monitoring/overview", params=query, headers=token, timeout=60)
            took.append((time.monotonic() - began) * 1000)
            answer.raise_for_status()
    return median(took), answer.content


def _kb(answer: bytes) -> float:
    return len(gzip.compress(answer, GZIP_LEVEL)) / 1000


def _until_usable(page: Page, url: str) -> float:
    """Milliseconds from the start of loading until a place in trouble and the first display in trouble are shown."""
    page.goto(url, wait_until="commit")
    page.locator(".attention-row").first.wait_for()
    page.locator(".shop").first.wait_for()
    page.locator("tbody tr[aria-rowindex='2']").wait_for()
    return _now(page)


def _open_a_place(page: Page) -> float:
    """Milliseconds from the click on a place until its displays are listed."""
    began = _now(page)
    page.locator(".shop").nth(1).click()
    page.locator("table[aria-rowcount='101']").wait_for()
    return _now(page) - began


def _now(page: Page) -> float:
    found: Any = page.evaluate("performance.now()")
    return float(found)


def main() -> int:
    """Measure and print. Returns 1 if a limit was missed."""
    with tempfile.TemporaryDirectory(prefix="signage-bench-") as folder:
        rows = measure(Path(folder))
    print(HEADER)
    for row in rows:
        print(row.line())
    return 0 if all(row.passed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
