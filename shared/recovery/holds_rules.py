"""What an operator may say to recovery."""

from datetime import datetime

from shared.errors import Refused


def check_until(until: datetime | None, now: datetime) -> None:
    """Raises Refused where a hold would be over before it began."""
    if until is not None and until <= now:
        raise Refused("until must lie in the future; leave it out for a hold without an end.")
