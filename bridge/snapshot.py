"""How the bridge stands: what its own thread leaves for the one that answers probes."""

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from bridge.counters import Counters, Histogram, Tally
from bridge.lanes import Lanes
from bridge.link import Link

LOOP_SILENT_SECONDS: Final = 45.0  # above what one batch may take on a database that hangs
CANARY_PERIODS_SECONDS: Final = 30.0  # three canaries


@dataclass
class Progress:
    """When the bridge last got on with its work, by the monotonic clock; it has not yet in the beginning."""

    committed_at: float = -math.inf  # a batch of either session
    bulk_at: float = -math.inf  # a batch of the bulk session, or there was nothing to write
    canary_at: float = -math.inf  # through the queue in which heartbeats wait
    round_trip_at: float = -math.inf  # a canary through the urgent session

    def committed(self, now: float, canary_heard: float | None, *, is_urgent: bool) -> None:
        """A batch is committed; `canary_heard` is when a canary of this bridge in it came."""
        self.committed_at = now
        if not is_urgent:
            self.bulk_at = now
        if canary_heard is not None:
            if is_urgent:
                self.round_trip_at = canary_heard
            else:
                self.canary_at = canary_heard


@dataclass(frozen=True)
class Snapshot:
    """How the bridge stood at the end of one turn of its loop; times as in Progress."""

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
    link: Link = field(default_factory=Link)

    @classmethod
    def taken(
        cls, epoch: int | None, broker: Lanes | None, progress: Progress, counters: Counters, tally: Tally, link: Link
    ) -> "Snapshot":
        """Now, with copies of what goes on changing."""
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
        """What is wrong with this process, in words."""
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
        """Why what it hears may be old, in words. With much waiting, canaries expire in the bulk session's queue."""
        late = self.epoch is not None and now - self.canary_at > CANARY_PERIODS_SECONDS
        return ["heartbeats are late: their canary does not come back"] if late else []

    def body(self, now: float) -> dict[str, Any]:
        """What is answered."""
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
