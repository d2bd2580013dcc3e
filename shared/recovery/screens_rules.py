"""What recovery does about a failing screen, and when too many fail at once to act on any."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.clients.screens_rules import WORDS
from shared.recovery.breakers.rules import TOGETHER, Silence, opens
from shared.vocabulary import RecoveryState, ScreenHealthStatus

LOOK_AROUND: Final = timedelta(seconds=60)
"""Wait so long after a screen failed: the other screens with the same cause have reported by then."""


def how(screen: ScreenHealthStatus | None) -> str:
    """How a screen fails, in words, without a full stop."""
    return f"The screen {WORDS[screen] if screen is not None else 'fails'}"


def of_screen(screen: ScreenHealthStatus) -> tuple[RecoveryState, str]:
    """What recovery does about a failing screen when it has no evidence to act on, and why."""
    if screen is ScreenHealthStatus.DISCONNECTED:
        why = "No command mends that: somebody has to look at its cable and its power."
        return RecoveryState.NOT_RECOVERED, f"{how(screen)}. {why}"
    if screen is ScreenHealthStatus.OFF:
        why = "No command is sent: somebody has to switch it on, or plan the time in which it is off."
        return RecoveryState.NOT_RECOVERED, f"{how(screen)}, and nobody planned that. {why}"
    return (
        RecoveryState.VERIFYING,
        f"{how(screen)}; recovery waits for two new reports before it sends anything.",
    )


@dataclass(frozen=True, slots=True)
class FailingScreen:
    """A screen that another start of the player may mend."""

    site: str | None
    failed_at: datetime


@dataclass(frozen=True, slots=True)
class FailingScreens:
    """How many screens of the fleet or of a site fail."""

    telling: int
    """Displays that are heard and tell how their screen is."""
    failing: int
    at_once: int
    """The most that failed within five minutes."""

    @property
    def are_too_many(self) -> bool:
        """Whether so many at once must be the fault of the playlist, the power or ourselves: then recovery waits.

        The limits are those for silent displays.
        """
        return opens(Silence(self.telling, self.failing, self.at_once))


def counted(telling: int, failing: Sequence[FailingScreen]) -> FailingScreens:
    """The numbers of these failing screens."""
    moments = sorted(one.failed_at for one in failing)
    first = most = 0
    for last, moment in enumerate(moments, 1):
        while moment - moments[first] > TOGETHER:
            first += 1
        most = max(most, last - first)
    return FailingScreens(telling, len(moments), most)


def why(site: str | None, found: FailingScreens) -> str:
    """Why the breaker of the fleet's, or of this site's, screens is open, in words."""
    share = f"{found.failing:,} of {found.telling:,} screens"
    whose = share if site is None else f"At {site}, {share}"
    there = "" if site is None else " there"
    return (
        f"{whose} are black or frozen: so many at once come from what they were given to show, or from the power."
        f" No player{there} is restarted for its screen until fewer are, or an operator releases the breaker."
    )
