"""What the bridge counts: in the database beside its status, and for /metrics."""

import bisect
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Final

from bridge.batch import Outcome

BATCH_SECONDS_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass
class Counters:
    """What this bridge has done since it leads."""

    received: int = 0
    stored: int = 0
    dead_letters: int = 0
    bad_fields: int = 0
    duplicate_logs: int = 0
    missing_logs: int = 0  # numbers that were given up
    unknown_acks: int = 0
    dropped: int = 0  # QoS 0 messages for which there was no room
    dropped_logs: int = 0  # plain log messages over their client's budget: lost
    deferred_logs: int = 0  # numbered ones over it: their display sends them again
    batches: int = 0

    def with_outcome(self, outcome: Outcome, received: int) -> "Counters":
        """The counters once this batch is committed."""
        return replace(
            self,
            received=self.received + received,
            stored=self.stored + outcome.stored,
            dead_letters=self.dead_letters + len(outcome.refused),
            bad_fields=self.bad_fields + outcome.bad_fields,
            duplicate_logs=self.duplicate_logs + outcome.duplicates,
            missing_logs=self.missing_logs + outcome.given_up,
            unknown_acks=self.unknown_acks + outcome.unknown_acks,
            dropped_logs=self.dropped_logs + outcome.dropped_logs,
            deferred_logs=self.deferred_logs + outcome.deferred_logs,
            batches=self.batches + 1,
        )


@dataclass
class Durations:
    """How long batches took, as a histogram in seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BATCH_SECONDS_BOUNDS) + 1))
    total_seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """One more batch."""
        self.counts[bisect.bisect_left(BATCH_SECONDS_BOUNDS, seconds)] += 1
        self.total_seconds += seconds

    def shown(self) -> "Histogram":
        """As it stands now, for another thread to read."""
        return Histogram(tuple(accumulate(self.counts)), self.total_seconds)


@dataclass(frozen=True)
class Histogram:
    """`up_to` holds how many batches took at most each of BATCH_SECONDS_BOUNDS, and last how many there were."""

    up_to: tuple[int, ...] = (0,) * (len(BATCH_SECONDS_BOUNDS) + 1)
    total_seconds: float = 0.0


@dataclass
class Tally:
    """What only /metrics tells, since this process began to lead."""

    dead_letters: Counter[str] = field(default_factory=Counter)  # by reason
    batch_seconds: Durations = field(default_factory=Durations)

    def committed(self, outcome: Outcome, seconds: float) -> None:
        """A batch is committed; it took so long."""
        self.dead_letters.update(refused.reason.value for refused in outcome.refused)
        self.batch_seconds.add(seconds)
