"""What the overview says of the fleet as a whole, from rows and times."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.vocabulary import ClientStatus

LATE_TICKS = 3  # a tick this many periods overdue is news (30-commands-and-recovery: "more than 3 periods late")


@dataclass(frozen=True)
class OverviewCursor:
    """Where a reader of the overview stands: everything before transaction `xid` of `epoch` it has seen.

    `circumstances` stands for what recovery judges every client by and no client's row holds: breakers, exclusions,
    maintenance windows, whether we listen. Where it is another one now, recovery says something else of the unwell.
    """

    epoch: str
    xid: int
    circumstances: str = ""

    def __str__(self) -> str:
        return f"{self.epoch}-{self.xid}" + (f"-{self.circumstances}" if self.circumstances else "")


def parse_cursor(text: str) -> OverviewCursor | None:
    """The cursor that this text stands for, or None when it is none of ours."""
    epoch, dash, rest = text.partition("-")
    xid, _, circumstances = rest.partition("-")
    if not dash or not epoch or not xid.isascii() or not xid.isdigit() or len(xid) > 20:
        return None
    return OverviewCursor(epoch, int(xid), circumstances)


def can_continue(asked: OverviewCursor | None, here: OverviewCursor) -> bool:
    """Whether changes since `asked` are known; otherwise (other database life, future) the whole is sent."""
    return asked is not None and asked.epoch == here.epoch and asked.xid <= here.xid


def counts(by_status: Iterable[tuple[str, int, int]]) -> dict[str, int]:
    """How many clients stand in each shown state, in total, and with a failed service.

    `by_status` holds (state, its clients, its clients with a failed service).
    """
    listed = list(by_status)
    found = {status: count for status, count, _ in listed}
    of_each = {status.value: found.get(status.value, 0) for status in ClientStatus}
    total, failed = sum(found.values()), sum(ill for _, _, ill in listed)
    return {**of_each, "total": total, "service_failed": failed}


def is_scheduler_late(last_tick_at: datetime | None, now: datetime, period: timedelta) -> bool:
    """Whether the tick is missing: never seen, or more than three periods ago."""
    return last_tick_at is None or now - last_tick_at > LATE_TICKS * period


def why_crashed(process_status: str, silent_for: timedelta) -> str:
    """In words, why a client stands in the list of crashed ones."""
    if process_status == "crashed":
        return "The display says that its player has crashed."
    minutes = int(silent_for.total_seconds() // 60)
    return f"No heartbeat for {minutes} minutes." if minutes >= 2 else "No heartbeat for more than a minute."
