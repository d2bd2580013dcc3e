"""The facts that people write about a client, and the check of an acknowledgement."""

import re
from datetime import datetime

from shared.errors import FailureChanged

UUID_FORM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def check_still_that_failure(current: datetime | None, expected: datetime | None) -> None:
    """Check that the open failure is the one that the caller saw (`expected`, None: no check).

    A failure that another person has acknowledged passes, too.

    Raises:
        FailureChanged: the client failed again in the meantime; `service_failed_at` is that failure's time.
    """
    if expected is not None and current is not None and current != expected:
        raise FailureChanged(service_failed_at=current)
