"""Facts of the overview about the fleet as a whole, computed from rows and times. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.vocabulary import ClientStatus

LATE_TICKS = 3  # the scheduler counts as late when its tick is this many periods overdue


@dataclass(frozen=True)
class OverviewCursor:
    """The position of a reader of the overview: it has seen all changes before transaction `xid` of `epoch`.

    `circumstances` is a digest of the facts that recovery considers and that no client's row holds: breakers,
    the quiet times that are on, and whether the bridge listens. When it changes, what recovery does about the
    unwell clients may have changed.
    """

    epoch: str
    xid: int
    circumstances: str = ""

    def __str__(self) -> str:
        return f"{self.epoch}-{self.xid}" + (f"-{self.circumstances}" if self.circumstances else "")


def parse_cursor(text: str) -> OverviewCursor | None:
    """Parse a cursor; None if the text is not one."""
    epoch, dash, rest = text.partition("-")
    xid, _, circumstances = rest.partition("-")
    if not dash or not epoch or not xid.isascii() or not xid.isdigit() or len(xid) > 20:
        return None
    return OverviewCursor(epoch, int(xid), circumstances)


def can_continue(asked: OverviewCursor | None, here: OverviewCursor) -> bool:
    """Whether the changes since `asked` can be sent; not if it is of another epoch or lies in the future."""
    return asked is not None and asked.epoch == here.epoch and asked.xid <= here.xid


def counts(by_status: Iterable[tuple[str, int, int]], failing_screens: int, over_limits: int) -> dict[str, int]:
    """The number of clients in each status, in total, with a failed service, a failing screen, or a passed limit.

    `by_status` holds (status, its clients, its clients with a failed service).
    """
    listed = list(by_status)
    found = {status: count for status, count, _ in listed}
    of_each = {status.value: found.get(status.value, 0) for status in ClientStatus}
    total, failed = sum(found.values()), sum(failed for _, _, failed in listed)
    ill = {"service_failed": failed, "screen_failed": failing_screens, "limit_passed": over_limits}
    return {**of_each, "total": total, **ill}


def is_scheduler_late(last_tick_at: datetime | None, now: datetime, period: timedelta) -> bool:
    """Whether the scheduler is late: its last tick was more than three periods ago, or there was none."""
    return last_tick_at is None or now - last_tick_at > LATE_TICKS * period


def why_crashed(process_status: str, silent_for: timedelta) -> str:
    """Why a client is in the list of crashed clients, in words."""
    if process_status == "crashed":
        return "The display says that its player has crashed."
    minutes = int(silent_for.total_seconds() // 60)
    return f"No heartbeat for {minutes} minutes." if minutes >= 2 else "No heartbeat for more than a minute."
