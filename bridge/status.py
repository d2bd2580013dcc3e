"""The bridge's state: its counters, and the snapshot that its thread leaves for the thread that answers probes."""

import bisect
import math
import time
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from bridge.lanes import BrokerLink, Lanes
from bridge.storing import BatchOutcome

BATCH_SECONDS_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Counters(Struct):
    """Counters of this bridge since it began to lead."""

    received: int = 0
    stored: int = 0
    dead_letters: int = 0
    bad_fields: int = 0
    duplicate_logs: int = 0
    missing_logs: int = 0  # numbered log messages that never came and were given up
    unknown_acks: int = 0
    dropped: int = 0  # QoS 0 messages for which there was no room
    dropped_logs: int = 0  # plain log messages over their client's budget: lost
    deferred_logs: int = 0  # numbered log messages over their client's budget: their display sends them again
    batches: int = 0

    def with_outcome(self, outcome: BatchOutcome, received: int) -> "Counters":
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


class Durations(Struct):
    """How long batches took, as a histogram in seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BATCH_SECONDS_BOUNDS) + 1))
    total_seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Add one batch."""
        self.counts[bisect.bisect_left(BATCH_SECONDS_BOUNDS, seconds)] += 1
        self.total_seconds += seconds

    def shown(self) -> "Histogram":
        """A copy for another thread to read."""
        return Histogram(tuple(accumulate(self.counts)), self.total_seconds)


class Histogram(Struct, frozen=True):
    """A histogram for Prometheus: `up_to` counts the batches up to each of BATCH_SECONDS_BOUNDS, then all batches."""

    up_to: tuple[int, ...] = (0,) * (len(BATCH_SECONDS_BOUNDS) + 1)
    total_seconds: float = 0.0


class Tally(Struct):
    """Counts that only /metrics shows, since this process began to lead."""

    dead_letters: Counter[str] = field(default_factory=Counter)  # by reason
    batch_seconds: Durations = field(default_factory=Durations)

    def committed(self, outcome: BatchOutcome, seconds: float) -> None:
        """Count a committed batch, and how long it took."""
        self.dead_letters.update(refused.reason.value for refused in outcome.refused)
        self.batch_seconds.add(seconds)


LOOP_SILENT_SECONDS: Final = 45.0  # longer than one batch may take on a database that hangs
CANARY_PERIODS_SECONDS: Final = 30.0  # three canaries


class BridgeProgress(Struct):
    """When the bridge last made each kind of progress, in monotonic seconds; minus infinity before the first time."""

    committed_at: float = -math.inf  # a batch of either session was committed
    bulk_at: float = -math.inf  # a bulk batch was committed, or no bulk message waited
    canary_at: float = -math.inf  # a canary came back through the bulk session, in which heartbeats wait
    round_trip_at: float = -math.inf  # a canary came back through the urgent session

    def committed(self, now: float, canary_heard: float | None, *, is_urgent: bool) -> None:
        """A batch is committed; `canary_heard` is when its canary of this bridge arrived, if it had one."""
        self.committed_at = now
        if not is_urgent:
            self.bulk_at = now
        if canary_heard is not None:
            if is_urgent:
                self.round_trip_at = canary_heard
            else:
                self.canary_at = canary_heard


class Snapshot(Struct, frozen=True):
    """How the bridge stood at the end of one turn of its loop; times as in BridgeProgress."""

    at: float
    epoch: int | None  # None: standing by
    is_connected: bool
    committed_at: float
    bulk_at: float
    canary_at: float
    round_trip_at: float
    waiting: int  # messages not yet acknowledged
    counters: dict[str, int]
    dead_letters: Mapping[str, int] = field(default_factory=dict)  # by reason
    batch_seconds: Histogram = field(default_factory=Histogram)
    link: BrokerLink = field(default_factory=BrokerLink)

    @classmethod
    def taken(
        cls,
        epoch: int | None,
        broker: Lanes | None,
        progress: BridgeProgress,
        counters: Counters,
        tally: Tally,
        link: BrokerLink,
    ) -> "Snapshot":
        """A snapshot of the current state, with copies of everything that can change."""
        return cls(
            at=time.monotonic(),
            epoch=epoch,
            is_connected=broker is not None and broker.is_open,
            **asdict(progress),
            waiting=broker.waiting if broker is not None else 0,
            counters=asdict(counters),
            dead_letters=dict(tally.dead_letters),
            batch_seconds=tally.batch_seconds.shown(),
            link=link,
        )

    def faults(self, now: float) -> list[str]:
        """The faults of this process at `now` (monotonic seconds), as texts for people."""
        if now - self.at > LOOP_SILENT_SECONDS:
            return ["the loop stands still"]
        if self.epoch is None:
            return [self.link.aside] if self.link.aside else []
        found = [] if self.is_connected else ["not connected to the broker"]
        if now - self.committed_at > CANARY_PERIODS_SECONDS:
            found.append("no batch is committed")
        elif now - self.bulk_at > CANARY_PERIODS_SECONDS:
            found.append("what displays report is not committed")
        if now - self.round_trip_at > CANARY_PERIODS_SECONDS:
            found.append("the canary makes no round trip")
        return found

    def lateness(self, now: float) -> list[str]:
        """Why heartbeats may be late, as texts for people. Behind a long queue canaries expire in the bulk session."""
        late = self.epoch is not None and now - self.canary_at > CANARY_PERIODS_SECONDS
        return ["heartbeats are late: their canary does not come back"] if late else []

    def body(self, now: float) -> dict[str, Any]:
        """The body of an answer to /healthz and /readyz."""
        return {
            "state": "standby" if self.epoch is None else "leading",
            "epoch": self.epoch,
            "faults": [*self.faults(now), *self.lateness(now), *self.link.faults()],
            "broker_lacks": [lack.words for lack in self.link.lacks],
            "broker_fault": self.link.fault,
            "connected": self.is_connected,
            "waiting": self.waiting,
            "counters": self.counters,
        }


class Snapshots:
    """Where the bridge leaves its latest snapshot; assigning it is atomic."""

    latest: Snapshot | None = None
