"""A unit that writes lines on a display, and what the service has of them."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from tests.lab.campaigns.machine import rows
from tests.lab.campaigns.whole import Whole

WRITER: Final = "writer.service"
WRITTEN: Final = ("journalctl", f"--unit={WRITER}", "--output=cat", "--quiet", "--no-pager")
LINES_SECONDS: Final = 900.0  # numbers that may have begun again are doubted for five minutes, then resent
_LINES: Final = """\
[Service]
ExecStart=/bin/sh -c 'n=0; while :; do n=$$((n+1)); echo "line $$n of start $$INVOCATION_ID"; sleep {}; done'
Restart=always

[Install]
WantedBy=multi-user.target
"""


def writer(seconds: float) -> str:
    """The unit; it writes a line each so many seconds. No two of its lines are the same."""
    return _LINES.format(seconds)


def stored_lines(whole: Whole, uuid: str) -> list[str]:
    """The lines of the writer in the database."""
    engine = whole.engine()
    try:
        found = rows(
            engine,
            "SELECT message FROM client_logs WHERE client_uuid = :uuid AND message LIKE 'line % of start %'",
            uuid=uuid,
        )
    finally:
        engine.dispose()
    return [str(row[0]) for row in found]


def lines_lost_and_twice(in_journal: str, stored: Callable[[], list[str]]) -> tuple[int, int, int]:
    """How many lines journald has, how many of them are not stored, and how many of all are stored twice.

    The writer must have been stopped. A power cut takes lines from journald that are stored: these are not lost.
    """
    written = {line for line in in_journal.splitlines() if line.startswith("line ")}
    deadline = time.monotonic() + LINES_SECONDS
    while written - (there := Counter(stored())).keys() and time.monotonic() < deadline:
        time.sleep(1)
    return len(written), len(written - there.keys()), there.total() - len(there)
