"""Decide how a machine without a connection helps itself: it restarts its network, then reboots, a few times a day."""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Final

ALONE_SECONDS: Final = 15 * 60.0
REBOOTS_A_DAY: Final = 3
EARLIEST_DAY: Final = "2026-01-01"  # a clock that shows an earlier day was never set


class Step(StrEnum):
    """The step to take now."""

    NOTHING = "nothing"
    RESTART_NETWORK = "restart_network"
    REBOOT = "reboot"


@dataclass(frozen=True, slots=True)
class Budget:
    """How many reboots were done on a day of the machine's clock, an ISO date; stored on the disk.

    That clock may be years wrong. Nobody waits for a stored day that lies further ahead than tomorrow. A clock that was
    never set begins no day.
    """

    day: str = ""
    reboots: int = 0

    def spent(self, day: str) -> "Budget":
        """The budget after one more reboot."""
        return Budget(self.day if self._covers(day) else day, self.used(day) + 1)

    def used(self, day: str) -> int:
        """The reboots of that day, with those of the day after: the clock may step back."""
        return self.reboots if self._covers(day) else 0

    def heard(self, day: str) -> "Budget":
        """The budget when something answers on that day: only reboots of the same day still count."""
        return self if self._covers(day) else Budget()

    def _covers(self, day: str) -> bool:
        tomorrow = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
        return self.day in {day, tomorrow} or day < EARLIEST_DAY <= self.day


@dataclass(frozen=True, slots=True)
class Ladder:
    """When something answered last, and when the network was restarted since. Monotonic seconds."""

    heard_at: float
    network_restarted_at: float | None = None

    def heard(self, now: float) -> "Ladder":
        """The ladder after something answered: reset."""
        return Ladder(now)

    def restarted(self, now: float) -> "Ladder":
        return replace(self, network_restarted_at=now)


def next_step(ladder: Ladder, budget: Budget, day: str, now: float) -> Step:
    """The step to take when nothing answers at `now`."""
    if now - ladder.heard_at < ALONE_SECONDS:
        return Step.NOTHING
    if ladder.network_restarted_at is None:
        return Step.RESTART_NETWORK
    if now - ladder.network_restarted_at < ALONE_SECONDS or budget.used(day) >= REBOOTS_A_DAY:
        return Step.NOTHING
    return Step.REBOOT
