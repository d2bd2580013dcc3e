"""How often a message is tried, and when it is given up."""

from datetime import datetime, timedelta
from typing import Final

FIRST_WAIT: Final = timedelta(seconds=15)
LONGEST_WAIT: Final = timedelta(hours=1)
GIVEN_UP_AFTER: Final = timedelta(hours=24)  # of a receiver that cannot be reached; then it is old news
LEASE: Final = timedelta(seconds=90)  # longer than a try may take: after it somebody else may send
FORGOTTEN_AFTER: Final = timedelta(seconds=60)  # overdue: its task was lost


def wait(attempts: int, asked: timedelta | None) -> timedelta:
    """How long to wait after this many tries: doubled each time, and not before the receiver asked for."""
    doubled = FIRST_WAIT * float(2) ** min(max(attempts, 1) - 1, 12)
    return min(max(doubled, asked or timedelta()), LONGEST_WAIT)


def is_given_up(created_at: datetime, now: datetime) -> bool:
    """Whether it has been tried for so long that it is failed."""
    return now - created_at >= GIVEN_UP_AFTER
