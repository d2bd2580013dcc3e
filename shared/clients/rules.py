"""What people may write about a client, and when an acknowledgement still means the failure it was meant for."""

import re
from datetime import datetime

from shared.errors import FailureChanged

UUID_FORM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def check_still_that_failure(current: datetime | None, expected: datetime | None) -> None:
    """An acknowledgement names the failure it saw; a newer one must be looked at first.

    Nothing is raised without an expectation, or where the failure has been cleared by somebody else.

    Raises:
        FailureChanged: the client failed again in the meantime; `service_failed_at` is that failure's time.
    """
    if expected is not None and current is not None and current != expected:
        raise FailureChanged(service_failed_at=current)
