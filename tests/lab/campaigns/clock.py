"""The clock of bridge or Postgres leaps by an hour or a day while displays talk: no line is lost, no display stale.

libfaketime shifts a process's time of day; its monotonic clock continues.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import libfaketime  # type: ignore[import-untyped]  # it has no stubs

from tests.lab.campaigns.fleet import Fleet, fleet
from tests.lab.campaigns.ledger import Ledger
from tests.lab.campaigns.machine import Component, Machine, machine, rows
from tests.lab.campaigns.verdict import come_to_rest, judge, judge_states, until_committed, until_connected

LIBRARY: Final = Path(libfaketime.__file__).parent / "vendor/libfaketime/src/libfaketime.so.1"
LEAPS: Final = {"+1h": 3600, "-1h": -3600, "+1d": 86_400, "-1d": -86_400, "+0": 0}  # in seconds
CLOSE_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    displays: int = 50
    lines: int = 50  # lines of each display after each leap
    seconds: float = 8.0  # between two leaps: above the period of the sweep
    seed: int = 1


class Clock:
    """The time of day of one component, which can be shifted while it runs."""

    def __init__(self, component: Component, file: Path) -> None:
        """Prepare the component, before its start."""
        self._file = file
        self._component = component
        self.shift("+0")
        component.environment |= {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DISABLE_SHM": "1",
        }

    def off_by(self) -> float:
        """By how many seconds this clock differs from the real time."""
        code = (sys.executable, "-c", "import time; print(time.time())")
        environment = {**os.environ, **self._component.environment}
        said = subprocess.run(code, check=True, capture_output=True, text=True, env=environment).stdout
        return float(said) - time.time()

    def shift(self, by: str) -> None:
        """Shift the clock by this."""
        draft = self._file.with_suffix(".new")
        draft.write_text(by + "\n")
        draft.chmod(0o644)
        draft.replace(self._file)


def run(plan: Plan, folder: Path) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger("clock", plan.seed, {"displays": plan.displays})
    began = time.monotonic()
    clocks: dict[str, Clock] = {}
    folder.chmod(0o755)  # Postgres is another user

    def shiftable(name: str) -> Callable[[Component], None]:
        return lambda component: clocks.__setitem__(name, Clock(component, folder / f"{name}.clock"))

    with machine(folder, bridge=False, before_database=shiftable("postgres")) as service:
        shiftable("bridge")(service.bridge)
        service.bridge.start()
        service.bridge.wait_until_ready()
        with fleet(service, plan.displays, plan.seed) as displays:
            until_connected(displays)
            bridge = service.bridge.process
            leapt = [_leap(plan, service, displays, clocks, (name, leap)) for name in clocks for leap in LEAPS]
            ledger.experiments["the clocks did leap"] = all(leapt)
            come_to_rest(service, displays)
            ledger.conditions["the same bridge runs"] = service.bridge.process is bridge
        judge(ledger, service, displays)
        judge_states(ledger, service)
    ledger.counted["leaps"] = len(clocks) * len(LEAPS)
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _leap(plan: Plan, service: Machine, displays: Fleet, clocks: dict[str, Clock], what: tuple[str, str]) -> bool:
    """Leap, and wait until all lines of the time are committed. Returns whether the clock was shifted as demanded."""
    name, leap = what
    clocks[name].shift(leap)
    displays.log(plan.lines)
    time.sleep(plan.seconds)
    until_committed(displays)
    off = _off_by_of_postgres(service) if name == "postgres" else clocks[name].off_by()
    return abs(off - LEAPS[leap]) < CLOSE_SECONDS


def _off_by_of_postgres(service: Machine) -> float:
    engine = service.engine()
    try:
        return float(rows(engine, "SELECT extract(epoch FROM clock_timestamp())")[0][0]) - time.time()
    finally:
        engine.dispose()
