"""Facts of the overview about the fleet as a whole, computed from rows and times. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from shared.vocabulary import ClientStatus

LAST_XID: Final = 2**64 - 1  # the largest transaction id of Postgres
TICK: Final = timedelta(minutes=1)  # period of the scheduler's ticks: the shortest of Cloud Scheduler
LATE_TICKS = 3  # the scheduler counts as late when its tick is this many periods overdue


class OverviewCursor(Struct, frozen=True):
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
    """Parse a cursor; None if the text is not one. An `xid` that Postgres cannot have becomes the last one."""
    epoch, dash, rest = text.partition("-")
    xid, _, circumstances = rest.partition("-")
    if not dash or not epoch or not xid.isascii() or not xid.isdigit() or len(xid) > 20:
        return None
    return OverviewCursor(epoch, min(int(xid), LAST_XID), circumstances)


def can_continue(asked: OverviewCursor | None, here: OverviewCursor) -> bool:
    """Whether the changes since `asked` can be sent; not if it is of another epoch or lies in the future."""
    return asked is not None and asked.epoch == here.epoch and asked.xid <= here.xid


class Counts(Struct, frozen=True):
    """How many clients have each shown status, a service or a screen that fails, and a passed limit."""

    of_each: Mapping[str, int]
    """Shown status -> its clients, without the statuses that no client has."""
    service_failed: int
    service_mended: int
    """Their failed service is mended, but not acknowledged."""
    screen_failed: int
    limit_passed: int

    @property
    def total(self) -> int:
        """All clients."""
        return sum(self.of_each.values())

    def by_name(self) -> dict[str, int]:
        """How many clients there are, in each status (0 too), and with each other trouble."""
        return {
            **{status.value: self.of_each.get(status.value, 0) for status in ClientStatus},
            "total": self.total,
            "service_failed": self.service_failed,
            "service_mended": self.service_mended,
            "screen_failed": self.screen_failed,
            "limit_passed": self.limit_passed,
        }


def is_scheduler_late(last_tick_at: datetime | None, now: datetime) -> bool:
    """Whether the scheduler is late: its last tick was more than three periods ago, or there was none."""
    return last_tick_at is None or now - last_tick_at > LATE_TICKS * TICK


def why_crashed(process_status: str, silent_for: timedelta) -> str:
    """Why a client is in the list of crashed clients, in words."""
    if process_status == "crashed":
        return "The display says that its player has crashed."
    minutes = int(silent_for.total_seconds() // 60)
    return f"No heartbeat for {minutes} minutes." if minutes >= 2 else "No heartbeat for more than a minute."
