"""What can be wrong with a display, and what kinds of displays there are."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from deploy.displays.client import contract

NEVER: Final = "nothing"


@dataclass(frozen=True)
class Ailment:
    """What is wrong with a display.

    kind: `crashed` (the player died; heartbeats say so), `failed` (a service failed; heartbeats do not say so),
    `frozen` (connected, silent, deaf to all but a reboot), `deaf` (connected, silent, and commands meet nothing),
    `dead` (not even pings are answered: nobody can reach it).
    """

    kind: str
    cure: str = "restart"
    """`restart` (a reboot helps as well), `reboot`, or NEVER."""
    ends_after: float | None = None
    """Seconds after which it is over by itself."""
    again_after: float | None = None
    """Seconds after a cure at which it comes back."""


@dataclass(frozen=True)
class Nature:
    """What kind of device it is."""

    interval: int = 30
    boot_seconds: float = 40.0
    restart_seconds: float = 5.0
    answer_delay: float = 0.2
    clock_error: timedelta = timedelta()
    capabilities: tuple[str, ...] = contract.ACTIONS
