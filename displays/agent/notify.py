"""Send notifications to systemd, as a service of Type=notify must. Without systemd they do nothing."""

import os
import socket
from typing import Final

FALLBACK_SECONDS: Final = 20.0


def tell(text: str) -> None:
    """Send `READY=1`, `WATCHDOG=1`, `STATUS=...` or `STOPPING=1`."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as door:
        try:
            door.connect("\0" + address[1:] if address.startswith("@") else address)
            door.send(text.encode())
        except OSError:
            return  # the next life sign follows soon


def watchdog_seconds() -> float:
    """The interval of life signs: half of the unit's WatchdogSec."""
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    return int(microseconds) / 2e6 if microseconds.isdecimal() else FALLBACK_SECONDS
