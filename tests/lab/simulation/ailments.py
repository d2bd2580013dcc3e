"""The faults of displays, and the kinds of displays."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from displays.client import contract

NEVER: Final = "nothing"
GLASS: Final = {"black": "black", "still": "frozen"}
"""Ailments that only the screen shows -> the screen's state in health reports."""


@dataclass(frozen=True)
class Ailment:
    """A fault of a display.

    kind: `crashed` (the player died; heartbeats report it), `failed` (a service failed; heartbeats do not report it),
    `frozen` (connected, silent, obeys only a reboot), `deaf` (connected, silent, ignores commands), `dead` (does not
    even answer pings, so nothing reaches it), `black` and `still` (the player reports that it runs, but the screen is
    black or never changes).
    """

    kind: str
    cure: str = "restart"
    """The cure: `restart` (a reboot helps too), `reboot`, or NEVER."""
    ends_after: float | None = None
    """Seconds after which it ends by itself."""
    again_after: float | None = None
    """Seconds after a cure until it comes back."""


@dataclass(frozen=True)
class Nature:
    """The properties of a kind of device."""

    interval: int = 30
    boot_seconds: float = 40.0
    restart_seconds: float = 5.0
    answer_delay: float = 0.2
    clock_error: timedelta = timedelta()
    capabilities: tuple[str, ...] = (*contract.ACTIONS, *contract.SCREEN_ACTIONS)
