"""Messages over a client's budget are counted in a line of its own log, one line a minute. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

TOGETHER: Final = timedelta(minutes=1)  # the time for which one line counts a client's drops


class DropRow(Struct, frozen=True):
    """The log line that counts a client's dropped messages since `received_at`."""

    id: int
    received_at: datetime
    count: int


def still_counting(rows: Mapping[str, DropRow], now: datetime) -> dict[str, DropRow]:
    """The lines, by client, that still count at `now`."""
    return {uuid: row for uuid, row in rows.items() if now < row.received_at + TOGETHER}
