"""Ten thousand rows in Chromium: the time until they can be used, and the cost of typing, scrolling and changes.

The peer is the same page of the same stack with a single display.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

from shared.postgres.door import engine_for
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.fleets import inserted
from tests.browser.people import SessionState, session_of
from tests.lab.bench.report import Row, median
from tests.stack import Stack, running_stack

CLIENTS: Final = 10_000
CHANGES: Final = 80
SPREAD: Final = 30  # seconds between two heartbeats
OPENINGS: Final = 5
POLLS: Final = 360
POLLS_OF_ONE: Final = 40
# Limits as multiples of the time with a single display, where all but the first is one frame of 16.7 ms. Only ratios
# are judged, because times hold only on a machine that does nothing else.
RATIOS: Final = {
    "rows usable": 2.5,
    "a key in the search": 5,
    "scrolling by nine rows": 6,
    "a poll with 80 changes": 3,
}
WORDS: Final = ("4", "47", "471", "4711", "471", "47", "4", "w", "wa", "wall", "")
PRECISE: Final = ("--enable-precise-memory-info", "--js-flags=--expose-gc")

# Each script returns a list of milliseconds from the input to the next painted frame.
SIZE: Final = "performance.getEntriesByType('resource').find((one) => one.name.includes('/overview')).encodedBodySize"
PAINTED_AT: Final = "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"
PAINTED: Final = "const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));"
TYPE: Final = f"""async (words) => {{ {PAINTED}
  const field = document.querySelector('main input[type=search]');
  const took = [];
  for (const word of words) {{
    const from = performance.now();
    field.value = word;
    field.dispatchEvent(new InputEvent('input', {{ bubbles: true }}));
    await painted();
    took.push(performance.now() - from);
  }}
  return took; }}"""
SCROLL: Final = f"""async () => {{ {PAINTED}
  const took = [];
  for (let step = 0; step < 20; step++) {{
    const from = performance.now();
    scrollBy(0, 400);
    await painted();
    took.push(performance.now() - from);
  }}
  scrollTo(0, 0);
  return took; }}"""
# Handle answers of the API with this many changed rows as a poll does, without the network.
POLL: Final = f"""async ([rounds, changes]) => {{ {PAINTED}
  const whole = await (await fetch('/api/monitoring/overview?format=packed', {{ credentials: 'same-origin' }})).json();
  const {{ uuid, ...columns }} = whole.packed;
  const uuids = atob(uuid);
  const original = window.fetch;
  const took = [];
  for (let round = 0; round < rounds; round++) {{
    const from = (round * changes) % Math.max(1, columns.name.length - changes);
    const packed = {{ uuid: btoa(uuids.slice(16 * from, 16 * (from + changes))) }};
    for (const name in columns) {{
      const {{ words, places }} = columns[name];
      const part = (words ? places : columns[name]).slice(from, from + changes);
      packed[name] = words ? {{ words, places: part }} : part;
    }}
    packed.mqtt_reconnect_count.fill(round);
    const text = JSON.stringify({{ ...whole, full: false, gone: [], packed }});
    let done;
    const read = new Promise((resolve) => (done = resolve));
    window.fetch = (address, ...rest) => {{
      if (!String(address).includes('/overview')) return original(address, ...rest);
      const answer = new Response(text, {{ headers: {{ 'Content-Type': 'application/json' }} }});
      answer.text = async () => {{ done(performance.now()); return text; }};
      return Promise.resolve(answer);
    }};
    document.dispatchEvent(new Event('visibilitychange'));
    const began = await read;
    await painted();
    took.push(performance.now() - began);
  }}
  window.fetch = original;
  return took; }}"""


def measure(folder: Path) -> list[Row]:
    """Measure by the page's own clock, in turns with the same page for a single display."""
    with running_stack(folder / "stack", TICK_SECONDS="60", DEMO="") as stack, chromium() as browser:
        user, password = (stack.environment[f"SIGNAGE_SIGN_IN_{what}"] for what in ("USER", "PASSWORD"))
        visit = Visit(browser, stack, session_of(stack, user, password))
        engine = engine_for(stack.environment["DATABASE_URL"], "bench")
        with inserted(engine, "Wall", 1):
            small = visit.measure(POLLS_OF_ONE)
        with inserted(engine, "Wall", CLIENTS, spread=SPREAD):
            large = visit.measure(POLLS)
        engine.dispose()
    times = [
        Row(f"dashboard of 10,000: {what}", large[what], "ms", limit, at_most=True, peer="with one", theirs=small[what])
        for what, limit in RATIOS.items()
    ]
    limits = {"snapshot, gzip": ("KB", 330), f"heap after {POLLS} polls": ("MB", 40), "elements": ("", 3000)}
    return times + [
        Row(f"dashboard of 10,000: {what}", large[key], unit, limit, at_most=True)
        for key, (what, (unit, limit)) in zip(("bytes", "heap", "nodes"), limits.items(), strict=True)
    ]


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *PRECISE])
        yield browser
        browser.close()


@dataclass(frozen=True)
class Visit:
    """A signed-in visitor of this stack."""

    browser: Browser
    stack: Stack
    session: SessionState

    def page(self) -> Page:
        """Open a new browser, and wait for the first rows."""
        page = self.browser.new_context(storage_state=self.session, viewport={"width": 1360, "height": 900}).new_page()
        page.goto(self.stack.url)
        page.locator("tbody tr[aria-rowindex='2']").wait_for()
        return page

    def measure(self, polls: int) -> dict[str, float]:
        """Measure milliseconds by the names of RATIOS, transferred KB, heap in MB, and nodes."""
        found = {"rows usable": median(self._opening() for _ in range(OPENINGS))}
        page = self.page()
        found["a key in the search"] = median(page.evaluate(TYPE, list(WORDS)))
        found["scrolling by nine rows"] = median(page.evaluate(SCROLL))
        found["a poll with 80 changes"] = median(page.evaluate(POLL, [polls, CHANGES]))
        page.evaluate("gc()")
        found["heap"] = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
        found["nodes"] = page.locator("*").count()
        found["bytes"] = page.evaluate(SIZE) / 1000
        page.context.close()
        return found

    def _opening(self) -> float:
        page = self.page()
        took: float = page.evaluate(PAINTED_AT)
        page.context.close()
        return took
