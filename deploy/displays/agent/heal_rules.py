"""When a machine that reaches nobody helps itself: the network first, then a reboot, and few of them. Pure."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

ALONE_SECONDS: Final = 15 * 60.0
REBOOTS_A_DAY: Final = 3


class Step(StrEnum):
    """What to do now."""

    NOTHING = "nothing"
    RESTART_NETWORK = "restart_network"
    REBOOT = "reboot"


@dataclass(frozen=True, slots=True)
class Budget:
    """How many reboots were spent on which day of the machine's own clock; it stands on the disk."""

    day: str = ""
    reboots: int = 0

    def spent(self, day: str) -> "Budget":
        """One reboot more."""
        return Budget(max(day, self.day), self.used(day) + 1)

    def used(self, day: str) -> int:
        """Reboots of that day. Another day begins at none, unless the clock went back: then the day goes on."""
        return self.reboots if day <= self.day else 0


@dataclass(frozen=True, slots=True)
class Ladder:
    """Since when nobody answers, and whether the network was restarted since. Times are monotonic seconds."""

    heard_at: float
    network_restarted_at: float | None = None

    def heard(self, now: float) -> "Ladder":
        """The broker or the gateway answered: everything begins anew."""
        return Ladder(now)

    def restarted(self, now: float) -> "Ladder":
        return replace(self, network_restarted_at=now)


def next_step(ladder: Ladder, budget: Budget, day: str, now: float) -> Step:
    """Nobody answered at `now`: what to do about it."""
    if now - ladder.heard_at < ALONE_SECONDS:
        return Step.NOTHING
    if ladder.network_restarted_at is None:
        return Step.RESTART_NETWORK
    if now - ladder.network_restarted_at < ALONE_SECONDS or budget.used(day) >= REBOOTS_A_DAY:
        return Step.NOTHING
    return Step.REBOOT
