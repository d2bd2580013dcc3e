"""How long a box took to recover, by fault."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from tests.lab.campaigns.ledger import Ledger

PATIENCE_SECONDS: Final = 240.0
LOOK_SECONDS: Final = 0.25


@dataclass
class Tally:
    """Fault -> seconds until the box had recovered; None if it did not."""

    say: Callable[[str], None]
    took: dict[str, list[float | None]] = field(default_factory=dict)

    def watch(self, what: str, began: float, is_back: Callable[[], bool]) -> bool:
        """Wait until the box has recovered. Returns whether it did."""
        seconds = None
        while seconds is None and time.monotonic() - began < PATIENCE_SECONDS:
            if is_back():
                seconds = round(time.monotonic() - began, 1)
            else:
                time.sleep(LOOK_SECONDS)
        self.took.setdefault(what, []).append(seconds)
        self.say(f"{what}: {seconds} s")
        return seconds is not None

    def judge(self, ledger: Ledger, most_seconds: Mapping[str, float]) -> None:
        """Add a condition and a limit for each kind of fault, by the beginnings of the faults' names."""
        for kind, most in most_seconds.items():
            took = [seconds for what, times in self.took.items() if what.startswith(kind) for seconds in times]
            back = [seconds for seconds in took if seconds is not None]
            if took:
                ledger.conditions[f"the box comes back after each {kind}"] = len(back) == len(took)
            if back:
                name = kind.replace(" ", "_")
                ledger.counted |= {f"{name}_median_seconds": round(median(back), 1)}
                ledger.counted |= {f"{name}_slowest_seconds": max(back)}
                ledger.limits[f"within {most:.0f} s of each {kind}"] = max(back) <= most
        ledger.counted |= {"times_in_pieces": sum(times.count(None) for times in self.took.values())}
