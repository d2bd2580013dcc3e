"""How often a display is asked to send heartbeats: seldom while it is well, usually while anything is open or doubtful.

A display that declares INTERVAL takes the wish, and names the interval that it follows in its heartbeats. Only that
confirmed interval counts when its silence is judged.
"""

import json
from datetime import timedelta
from typing import Final

from msgspec import Struct

INTERVAL: Final = "heartbeat_interval"
"""The capability of a display that takes wishes."""
USUAL_SECONDS: Final = 30  # of a display that names no interval, and that nobody asked for another one
LASTS_SECONDS: Final = 86_400  # how long a wish holds when nothing ends it before
SETTLED: Final = timedelta(minutes=2)  # so long it must have been connected and well before it is calm
OVERDUE: Final = timedelta(seconds=45)  # beyond its interval: then a heartbeat was lost, and it is asked for one
LOSS_TAKES: Final = timedelta(seconds=70)
"""The longest time from a display's last packet until its will: 1.5 keepalives of 30 s, the will's delay of 20 s, and
5 s of the broker."""


class Calm(Struct, frozen=True):
    """What is asked of displays that are well, and of how large a fleet."""

    seconds: int
    """The interval of heartbeats that they are asked for."""
    fleet: int
    """So many connected displays must take that before any is asked.

    Among fewer, silent displays that speak often could seem to be few: no breaker opens.
    """


CALM: Final = Calm(seconds=120, fleet=20)


def message(seconds: int) -> bytes:
    """The wish for this interval."""
    return json.dumps({"v": 1, "interval_seconds": seconds, "until": LASTS_SECONDS}, separators=(",", ":")).encode()
