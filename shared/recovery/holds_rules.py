"""Which holds an operator may order."""

from datetime import datetime

from shared.errors import Refused


def check_until(until: datetime | None, now: datetime) -> None:
    """Check that a hold ends in the future. Raises Refused."""
    if until is not None and until <= now:
        raise Refused("until must lie in the future; leave it out for a hold without an end.")
