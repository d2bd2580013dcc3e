"""Which messages are written together, and when: the batch of each session, and how large one may be.

A transaction costs as much for one message as for sixteen, so a few wait a quarter of a second for company. Under load
writing takes a third of our time. A batch is no larger than what the database takes in good time: an ACK never waits
long behind a batch, and no batch is too large to end.
"""

import bisect
import itertools
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from bridge.inbox import Arrival, Inbox, PutAside, Taken
from bridge.storing import BatchOutcome
from shared.client_logs.rules import Allowance, Boot, Budget, LogLine, admits, boot_of

BATCH_MESSAGES: Final = 8_000  # half the window
"""At most. The larger, the more reports of one client become one row."""
FEWEST_MESSAGES: Final = 500  # at most so many while the database is slow; fewer would not make it quicker
COMPANY: Final = 16  # messages that are worth a transaction
COMPANY_SECONDS: Final = 0.25  # a message waits no longer for company
PAUSE_SECONDS: Final = 0.01  # at most, between two batches
GOOD_SECONDS: Final = 0.25  # what a batch should take at most


class Pace:
    """When to write the next batch: when it has company, or has waited for it long enough.

    Under load it rests twice as long as the last one took. Times are monotonic seconds.
    """

    def __init__(self) -> None:
        """The first batch is due at once, and small: nobody knows yet how quick the database is."""
        self._free_at = 0.0
        self._waits_since: float | None = None  # when the first message of the next batch was seen
        self.most = 4 * FEWEST_MESSAGES
        """The next batch may have so many messages."""

    def wrote(self, began: float, ended: float, messages: int) -> None:
        """A batch was written. After a full one that was quick, the next one may be twice as large.

        Why a small one took long is not its size.
        """
        took = ended - began
        self._waits_since = None
        self._free_at = ended + min(2 * took, PAUSE_SECONDS)
        if took > GOOD_SECONDS:
            if messages > FEWEST_MESSAGES:
                self.most = min(self.most, max(FEWEST_MESSAGES, int(messages * GOOD_SECONDS / took)))
        elif messages >= self.most:
            self.most = min(2 * self.most, BATCH_MESSAGES)

    def failed(self) -> None:
        """A batch was not written. Halve the next one: this one may have been too large."""
        self.most = max(FEWEST_MESSAGES, self.most // 2)

    def wait_seconds(self, waiting: int, now: float) -> float:
        """How much longer these messages wait; 0 when they are written now."""
        if self._waits_since is None:
            self._waits_since = now
        if waiting >= self.most:
            return 0.0
        due = self._free_at if waiting >= COMPANY else max(self._free_at, self._waits_since + COMPANY_SECONDS)
        return max(0.0, due - now)


GATHERED_SECONDS: Final = 15.0  # above the canary's period: so long without a commit, and messages have gathered
LONGEST_PAUSE_SECONDS: Final = 3600.0  # more is not credited


@dataclass(slots=True)
class OverBudget:
    """A log message that is not stored: lost when it is plain, sent again by its display when it is numbered."""

    uuid: str
    is_numbered: bool


class LogBudgets:
    """What is left to each client of its share of the log. Lines above it are cut before the database hears of them.

    Only log lines are weighed: ACKs, presence, failures and reports always pass. Times are those of arrival, in
    monotonic seconds.

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
        if pause > GATHERED_SECONDS:
            self._begin_anew(now, pause, 0)

    def connected(self, now: float, pause_seconds: float, again: int) -> None:
        """Messages come again after `pause_seconds` in which none was taken.

        Up to `again` of them were delivered, and perhaps paid for, on the connection before.
        """
        self._took_at = now
        self._begin_anew(now, pause_seconds if pause_seconds > GATHERED_SECONDS else 0.0, again)

    def _begin_anew(self, now: float, pause_seconds: float, again: int) -> None:
        """A whole budget for everybody, and what the pause would have brought.

        Nobody is forgotten for as long as the pause was, so that the credit is given once.
        """
        pause = min(pause_seconds, LONGEST_PAUSE_SECONDS)
        self._recent, self._earlier = {}, {}
        self._beginning = self._budget.burst + pause * self._budget.per_second + again
        self._turn_at = now + max(pause, self._budget.refill_seconds)


BATCH_BYTES: Final = 8 * 2**20
"""Of payloads in one batch: Postgres gets them in a few statements. A usual message has some 350 bytes."""
Understood = Taken | PutAside
"""What reading makes of an arrival."""
Weighed = Understood | OverBudget
"""What a batch holds."""


class Bulk:
    """The bulk session's batch. The first arrivals are in hand until they are committed."""

    def __init__(self, inbox: Inbox, budgets: LogBudgets) -> None:
        """`inbox` reads an arrival at any time; `budgets` weigh it when it comes into hand, in its turn."""
        self.batch: list[Weighed] = []
        self._inbox = inbox
        self._budgets = budgets
        self._put_back: deque[Weighed] = deque()  # what was in hand behind the batch

    def take(self, arrivals: "deque[Arrival]", most: int) -> list[Weighed]:
        """The batch to store: the one in hand, or its first `most` messages, or a new one when none is in hand."""
        if not self.batch:
            count = _fitting(arrivals, most)
            again = list(itertools.islice(self._put_back, count))
            rest = [self._inbox.read(one) for one in itertools.islice(arrivals, len(again), count)]
            self.batch = again + self._budgets.weigh(rest)
            for _ in again:  # only now: an error above leaves all in its place
                self._put_back.popleft()
        elif len(self.batch) > most:
            self._put_back.extendleft(reversed(self.batch[most:]))
            self.batch = self.batch[:most]
        return self.batch

    def committed(self) -> None:
        """The batch is stored and acknowledged."""
        self.batch = []

    def dropped(self) -> None:
        """The connection is over: whatever is not acknowledged comes again."""
        self.batch = []
        self._put_back.clear()


def _fitting(arrivals: "deque[Arrival]", most: int) -> int:
    """How many of the first arrivals make up a batch."""
    sizes = _sizes(itertools.islice(arrivals, most))
    if sum(sizes) <= BATCH_BYTES:
        return len(sizes)
    return max(1, bisect.bisect_right(list(itertools.accumulate(sizes)), BATCH_BYTES))


def _sizes(arrivals: Iterable[Arrival]) -> list[int]:
    return [len(one.payload) for one in arrivals]


AT_ONCE: Final = 1_000
AGAIN_SECONDS: Final = 1.0
REST_SECONDS: Final = 1.0  # so long without a bulk message, and nothing waits in its queue
PATIENCE_SECONDS: Final = 60.0  # above two heartbeats
EARLY_MAX: Final = 20_000  # a first rollout all at once, in some 25 MB
EARLY_AT_ONCE: Final = 2_000  # of them tried again in one batch


class Urgent:
    """A display says that it is online before its first heartbeat, which registers it and may wait in the bulk queue.

    Such a presence is tried again, some of them each second, until its client is known or nothing waits there any more.
    """

    def __init__(self) -> None:
        """No message is in hand."""
        self.arrived = 0  # of the batch in hand, those that the broker waits for
        self._batch: list[Taken | PutAside] = []
        self._early: list[Taken] = []
        self._again_at = 0.0
        self._bulk_at = 0.0  # when a bulk message was last in hand

    def batch(self, arrivals: Iterable[Arrival], inbox: Inbox) -> list[Taken | PutAside]:
        """The messages to write now: the same ones until they are committed."""
        if not self._batch:
            new = [inbox.read(arrival) for arrival in itertools.islice(arrivals, AT_ONCE)]
            self.arrived = len(new)
            is_due = self._early and time.monotonic() >= self._again_at
            self._batch = [*self._early[:EARLY_AT_ONCE], *new] if is_due else list(new)
            if is_due:
                del self._early[:EARLY_AT_ONCE]
        return self._batch

    def bulk_came(self) -> None:
        """A bulk message is in hand: more may wait behind it."""
        self._bulk_at = time.monotonic()

    @property
    def patient_from(self) -> float:
        """Presence of unknown clients is tried again when it was heard after this moment, in monotonic seconds."""
        now = time.monotonic()
        if len(self._early) + len(self._batch) > EARLY_MAX + AT_ONCE:
            return now
        return now - (REST_SECONDS if now - self._bulk_at > REST_SECONDS else PATIENCE_SECONDS)

    def committed(self, outcome: BatchOutcome) -> None:
        """The batch is stored. What is early in it is tried again."""
        if outcome.early:
            self._early += outcome.early
            self._again_at = time.monotonic() + AGAIN_SECONDS
        self._batch = []

    def dropped(self) -> None:
        """The connection is over: the broker delivers again what it waits for."""
        self._early += [one for one in self._batch[: len(self._batch) - self.arrived] if isinstance(one, Taken)]
        self._batch = []
