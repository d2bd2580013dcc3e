"""Each client's share of the log: whoever sends more is cut before the database hears of it.

Only log messages are weighed: ACKs, presence, failures and reports always pass, and a flood costs no more than
its reading. The time is that of arrival, by the bridge's monotonic clock.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from bridge.inbox import PutAside, Taken
from shared.client_logs.rules import Allowance, Boot, Budget, LogLine, admits, boot_of

PAUSE_SECONDS: Final = 15.0  # above the canary's period: so long without a commit, and messages have gathered
LONGEST_PAUSE_SECONDS: Final = 3600.0  # more is not credited


@dataclass(slots=True)
class OverBudget:
    """A log message that is not stored: lost when it is plain, sent again by its display when it is numbered."""

    uuid: str
    is_numbered: bool


class LogBudgets:
    """What is left to each client that logged lately.

    Two generations: who has not logged for a refill has a whole budget again and need not be remembered.
    """

    def __init__(self, budget: Budget) -> None:
        """Every client begins with a whole budget."""
        self._budget = budget
        self._recent: dict[str, Allowance] = {}
        self._earlier: dict[str, Allowance] = {}
        self._turn_at = 0.0  # when the recent ones become the earlier ones
        self._beginning = budget.burst  # tokens of a client that is not remembered
        self._took_at: float | None = None

    def __len__(self) -> int:
        return len(self._recent.keys() | self._earlier.keys())

    def weigh(self, messages: Iterable[Taken | PutAside]) -> list[Taken | PutAside | OverBudget]:
        """The messages in their order; in the place of each log message over its client's budget, that it is."""
        return [
            self._weighed(one, one.said.body) if isinstance(one, Taken) and isinstance(one.said.body, LogLine) else one
            for one in messages
        ]

    def _weighed(self, message: Taken, line: LogLine) -> Taken | OverBudget:
        if admits(self._budget, self._left_to(line), line):
            return message
        return OverBudget(line.uuid, boot_of(line) is not None)

    def _left_to(self, line: LogLine) -> Allowance:
        if line.heard >= self._turn_at:
            self._earlier, self._recent = self._recent, {}
            self._turn_at = line.heard + self._budget.refill_seconds
            self._beginning = self._budget.burst
        left = self._recent.get(line.uuid)
        if left is None:
            left = self._earlier.get(line.uuid) or Allowance(self._beginning, line.heard)
            self._recent[line.uuid] = left
        return left

    def took(self, now: float, marks: Mapping[Boot, int]) -> None:
        """A batch is committed, and these marks with it.

        After a pause (database away) what gathered meanwhile comes at once.
        """
        for boot, seq in marks.items():
            if (left := self._recent.get(boot[0])) is not None:
                left.mark = (boot, seq)
        pause = 0.0 if self._took_at is None else now - self._took_at
        self._took_at = now
        if pause > PAUSE_SECONDS:
            self._begin_anew(now, pause, 0)

    def connected(self, now: float, pause_seconds: float, again: int) -> None:
        """Messages come again after `pause_seconds` in which none was taken.

        Up to `again` of them were delivered, and perhaps paid for, on the connection before.
        """
        self._took_at = now
        self._begin_anew(now, pause_seconds if pause_seconds > PAUSE_SECONDS else 0.0, again)

    def _begin_anew(self, now: float, pause_seconds: float, again: int) -> None:
        """A whole budget for everybody, and what the pause would have brought.

        Nobody is forgotten for as long as the pause was, so that the credit is given once.
        """
        pause = min(pause_seconds, LONGEST_PAUSE_SECONDS)
        self._recent, self._earlier = {}, {}
        self._beginning = self._budget.burst + pause * self._budget.per_second + again
        self._turn_at = now + max(pause, self._budget.refill_seconds)
