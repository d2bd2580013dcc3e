"""How the bridge stands: what its own thread leaves for the one that answers probes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bridge.counters import Histogram

LOOP_SILENT_SECONDS: Final = 60.0  # above what one batch may take on a database that hangs
CANARY_PERIODS_SECONDS: Final = 30.0  # three canaries


@dataclass(frozen=True)
class Snapshot:
    """How the bridge stood at the end of one turn of its loop; all times monotonic."""

    at: float
    epoch: int | None  # None: standing by
    is_connected: bool
    committed_at: float
    canary_at: float  # through the queue in which heartbeats wait
    round_trip_at: float  # a canary through the urgent session
    waiting: int  # messages not yet acknowledged
    counters: dict[str, int]
    dead_letters: Mapping[str, int] = field(default_factory=dict)  # by reason
    batch_seconds: Histogram = field(default_factory=Histogram)

    def faults(self, now: float) -> list[str]:
        """What is wrong with this process, in words."""
        if now - self.at > LOOP_SILENT_SECONDS:
            return ["the loop stands still"]
        if self.epoch is None:
            return []
        found = [] if self.is_connected else ["not connected to the broker"]
        if now - self.committed_at > CANARY_PERIODS_SECONDS:
            found.append("no batch is committed")
        if now - self.round_trip_at > CANARY_PERIODS_SECONDS:
            found.append("the canary makes no round trip")
        return found

    def lateness(self, now: float) -> list[str]:
        """Why what it hears may be old, in words. With much waiting, canaries expire in the bulk session's queue."""
        late = self.epoch is not None and now - self.canary_at > CANARY_PERIODS_SECONDS
        return ["heartbeats are late: their canary does not come back"] if late else []

    def body(self, now: float) -> dict[str, Any]:
        """What is answered."""
        return {
            "state": "standby" if self.epoch is None else "leading",
            "epoch": self.epoch,
            "faults": [*self.faults(now), *self.lateness(now)],
            "connected": self.is_connected,
            "waiting": self.waiting,
            "counters": self.counters,
        }


class Snapshots:
    """Where the bridge leaves its latest snapshot; assigning it is atomic."""

    latest: Snapshot | None = None
