"""Faults of the screen, on real Chromium and on connectors as the kernel shows them; and hours in which it is well.

Each fault falls at a random moment between two of the agent's looks. The wait until the next look is counted, not
waited for; the look itself is the agent's own and is measured. A look at a screen that is well is one of the 2,880 of a
day, however soon it follows the one before.
"""

import asyncio
import math
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from displays.agent.glass import Glass
from displays.agent.glass_rules import LOOK_SECONDS
from displays.client.contract import BAD_SCREENS
from tests.displays.pages import MOVING, STILL, chromium, renderers
from tests.stack import eventually

EXPECTED: Final = {
    "black": "black",
    "frozen": "frozen",
    "crashed tab": "frozen",
    "script that hangs": "frozen",
    "white": "white",
    "error page": "error_page",
    "browser that hangs": "hung",
    "disconnected": "disconnected",
    "off": "off",
}
TOLD_SECONDS: Final = 90.0
LOOKS_A_DAY: Final = 86_400 / LOOK_SECONDS
WELL_LOOKS: Final = 2  # after each fault
OBEDIENT: Final = """<script>
function become(word) {
  if (word === "script that hangs") setTimeout(() => { for (;;); }, 10);
  document.getElementById("cover")?.remove();
  if (word === "error page") location = "http://127.0.0.1:1/";
  if (word === "black" || word === "white") document.body.insertAdjacentHTML("beforeend",
    `<div id=cover style='position:fixed;inset:0;background:${word};z-index:9'></div>`);
  document.title = word;
}
setInterval(() => {
  const order = document.createElement("script");
  order.src = "order.js?" + Math.random();
  order.onload = order.onerror = () => order.remove();
  document.head.append(order);
}, 200);
</script>"""
CONTENTS: Final = {
    "still": STILL,
    "moving": MOVING,
    "white on black": '<body style="background:#000;color:#fff;font:4vw sans-serif"><h1>Menu</h1><p>Soup 4<p>Fish 9',
    "fades through black": """<body style="background:#000">
<div id="d" style="position:fixed;inset:0;background:#06c"></div>
<script>setInterval(()=>{d.style.opacity=Date.now()%10000<700?0:1},50)</script>""",
}


@dataclass
class Seen:
    """What was seen of all screens."""

    told: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in EXPECTED})
    missed: Counter[str] = field(default_factory=Counter)
    well: Counter[str] = field(default_factory=Counter)  # looks at screens that are well, by content
    alarms: Counter[str] = field(default_factory=Counter)  # of these a word for a failure, by content and word
    unknown: int = 0

    @property
    def faults(self) -> int:
        return sum(map(len, self.told.values())) + self.missed.total()

    @property
    def recall(self) -> float:
        return 1 - self.missed.total() / max(1, self.faults)

    @property
    def days(self) -> float:
        """The display-days of screens that are well."""
        return self.well.total() / LOOKS_A_DAY

    @property
    def alarms_at_most(self) -> float:
        """In 1,000 display-days, with 95 percent confidence (Poisson); for no alarm the rule of three."""
        alarms = self.alarms.total()
        return 1000 * (alarms + 1.645 * math.sqrt(alarms) + 3.0) / max(self.days, 1e-9)


@dataclass
class Screen:
    """One Chromium with its content, and the agent's eye on it."""

    folder: Path
    content: str
    seen: Seen
    chance: random.Random
    pid: int = 0
    port: int = 0
    glass: Glass = field(init=False)

    @contextmanager
    def on(self) -> Iterator[None]:
        """A new start of the player."""
        folder = self.folder / str(time.monotonic_ns())
        folder.mkdir(parents=True)
        self._connect("connected", "On")
        with chromium(folder, CONTENTS[self.content] + OBEDIENT) as (browser, port):
            self.pid, self.port, self.order = browser.pid, port, folder / "order.js"
            self.glass = Glass(self.folder, port)
            eventually(lambda: self.look() == "ok", "the page")
            yield

    def look(self) -> str:
        return asyncio.run(self.glass.health())

    def be_well(self, looks: int) -> None:
        """Look so many times at a screen that is well."""
        for _ in range(looks):
            word = self.look()
            self.seen.well[self.content] += 1
            if word in BAD_SCREENS:
                self.seen.alarms[f"{self.content}: {word}"] += 1
            self.seen.unknown += word not in {"ok", *BAD_SCREENS}

    def fail(self, kind: str) -> None:
        """Let the screen fail, and see when the agent would tell."""
        waited = self.chance.uniform(0, LOOK_SECONDS)
        self.begin(kind)
        for _ in range(2):
            began = time.monotonic()
            if self.look() == EXPECTED[kind]:
                self.seen.told[kind].append(waited + time.monotonic() - began)
                break
            waited += LOOK_SECONDS
        else:
            self.seen.missed[kind] += 1
        self.end(kind)

    def begin(self, kind: str) -> None:
        """Let it fail. A connector is this screen's own, not one of a machine."""
        if kind in {"disconnected", "off"}:
            self._connect("disconnected" if kind == "disconnected" else "connected", "Off")
        elif kind in {"frozen", "crashed tab"}:
            self._signal(signal.SIGSTOP if kind == "frozen" else signal.SIGKILL)
        elif kind == "browser that hangs":
            os.killpg(self.pid, signal.SIGSTOP)
        else:
            self.order.write_text(f"become({kind!r})", encoding="ascii")
        time.sleep(1.0)

    def end(self, kind: str) -> None:
        """Let it be well again; after a crash or a hang only another start of the player helps."""
        self._connect("connected", "On")
        if kind == "frozen":
            self._signal(signal.SIGCONT)
        elif kind == "browser that hangs":
            os.killpg(self.pid, signal.SIGCONT)
        elif kind in {"black", "white"}:
            self.order.write_text("become('well')", encoding="ascii")
            time.sleep(1.0)

    def _signal(self, number: signal.Signals) -> None:
        for pid in renderers(self.pid):
            os.kill(pid, number)

    def _connect(self, status: str, dpms: str) -> None:
        connector = self.folder / "sys/class/drm/card0-HDMI-A-1"
        connector.mkdir(parents=True, exist_ok=True)
        (connector / "status").write_text(status + "\n", encoding="ascii")
        (connector / "dpms").write_text(dpms + "\n", encoding="ascii")


def watch(folder: Path, faults: int, looks: int, screens: int, seed: int, say: Callable[[str], None]) -> Seen:
    """So many faults and looks, on so many screens at once."""
    seen, kinds = Seen(), list(EXPECTED) * -(-faults // len(EXPECTED))
    random.Random(seed).shuffle(kinds)
    shares = [kinds[:faults][number::screens] for number in range(screens)]

    def one(number: int) -> None:
        content = list(CONTENTS)[number % len(CONTENTS)]
        screen = Screen(folder / f"screen{number}", content, seen, random.Random(f"{seed} {number}"))
        _see(screen, shares[number], looks // screens, say)

    with ThreadPoolExecutor(screens) as pool:
        list(pool.map(one, range(screens)))
    return seen


def _see(screen: Screen, kinds: list[str], looks: int, say: Callable[[str], None]) -> None:
    with ExitStack() as player:
        player.enter_context(screen.on())
        for kind in kinds:
            screen.fail(kind)
            if kind in {
                "crashed tab",
                "script that hangs",
                "error page",
            }:  # what recovery does: another start of the player
                player.close()
                player.enter_context(screen.on())
            screen.be_well(WELL_LOOKS)
            if screen.seen.faults % 20 == 0:
                say(f"{screen.seen.faults} faults of screens, missed {screen.seen.missed.total()}")
        screen.be_well(max(0, looks - WELL_LOOKS * len(kinds)))
