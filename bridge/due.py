"""When each duty of the bridge is due next, by the monotonic clock."""

import itertools
import random
import time
from dataclasses import dataclass, field
from typing import Final

from bridge.leader import FIRST_BACK_OFF_SECONDS, LONGEST_BACK_OFF_SECONDS

CANARY_SECONDS: Final = 10.0
SWEEP_SECONDS: Final = 5.0
GAPS_SECONDS: Final = 3600.0


@dataclass
class Due:
    """Everything is due at once in the beginning."""

    connect: float = 0.0
    canary: float = 0.0
    sweep: float = 0.0
    gaps: float = 0.0
    connect_failures: int = 0
    canary_number: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def connect_later(self) -> None:
        """The connection failed: the next attempt comes later each time."""
        self.connect_failures += 1
        wait = min(FIRST_BACK_OFF_SECONDS * 2 ** min(self.connect_failures, 10), LONGEST_BACK_OFF_SECONDS)
        self.connect = time.monotonic() + wait * random.uniform(0.5, 1.0)  # noqa: S311 - jitter

    def connected(self) -> None:
        """The first canary flies."""
        self.canary = 0.0

    def steady(self) -> None:
        """The connection holds: its failure will be the first again."""
        self.connect_failures = 0

    def is_canary(self) -> bool:
        """Whether to send one now; the next is due a period later."""
        if time.monotonic() < self.canary:
            return False
        self.canary = time.monotonic() + CANARY_SECONDS
        return True

    @property
    def is_sweep(self) -> bool:
        """Whether to sweep now."""
        return time.monotonic() >= self.sweep

    def sweeps(self) -> None:
        """A sweep begins; the next is due a period later."""
        self.sweep = time.monotonic() + SWEEP_SECONDS

    @property
    def is_gaps(self) -> bool:
        """Whether to look for gaps in displays' logs now."""
        return time.monotonic() >= self.gaps

    def looks_for_gaps(self) -> None:
        """A look begins; the next is due a period later."""
        self.gaps = time.monotonic() + GAPS_SECONDS
