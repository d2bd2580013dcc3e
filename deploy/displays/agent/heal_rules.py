"""Decide how a machine without a connection helps itself: it restarts its network, then reboots, a few times a day."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

ALONE_SECONDS: Final = 15 * 60.0
REBOOTS_A_DAY: Final = 3


class Step(StrEnum):
    """The step to take now."""

    NOTHING = "nothing"
    RESTART_NETWORK = "restart_network"
    REBOOT = "reboot"


@dataclass(frozen=True, slots=True)
class Budget:
    """How many reboots were done on a day of the machine's clock; stored on the disk."""

    day: str = ""
    reboots: int = 0

    def spent(self, day: str) -> "Budget":
        """The budget after one more reboot."""
        return Budget(max(day, self.day), self.used(day) + 1)

    def used(self, day: str) -> int:
        """The reboots of that day. A later day begins at 0. An earlier day (the clock went back) counts as the same."""
        return self.reboots if day <= self.day else 0


@dataclass(frozen=True, slots=True)
class Ladder:
    """When the broker or the gateway answered last, and when the network was restarted since. Monotonic seconds."""

    heard_at: float
    network_restarted_at: float | None = None

    def heard(self, now: float) -> "Ladder":
        """The ladder after the broker or the gateway answered: reset."""
        return Ladder(now)

    def restarted(self, now: float) -> "Ladder":
        return replace(self, network_restarted_at=now)


def next_step(ladder: Ladder, budget: Budget, day: str, now: float) -> Step:
    """The step to take when neither broker nor gateway answers at `now`."""
    if now - ladder.heard_at < ALONE_SECONDS:
        return Step.NOTHING
    if ladder.network_restarted_at is None:
        return Step.RESTART_NETWORK
    if now - ladder.network_restarted_at < ALONE_SECONDS or budget.used(day) >= REBOOTS_A_DAY:
        return Step.NOTHING
    return Step.REBOOT
