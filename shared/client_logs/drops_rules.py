"""Messages over a client's budget are counted in a line of its own log, one a minute."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

TOGETHER: Final = timedelta(minutes=1)  # one line counts the drops of one client in this time


@dataclass(frozen=True)
class DropRow:
    """The log line of a client that tells how many of its messages were dropped since `received_at`."""

    id: int
    received_at: datetime
    count: int


def still_counting(rows: Mapping[str, DropRow], now: datetime) -> dict[str, DropRow]:
    """The lines, by client, that still count what is dropped at `now`."""
    return {uuid: row for uuid, row in rows.items() if now < row.received_at + TOGETHER}
