"""The batch of each session: which messages are written in one transaction, when, and how many at most.

A transaction costs as much for one message as for sixteen, so a message waits up to a quarter of a second for others.
Under load the bridge spends a third of its time writing.
"""

import bisect
import itertools
import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from bridge.inbox import Arrival, Inbox, PutAside, Taken
from bridge.storing import BatchOutcome
from shared.client_logs.rules import Allowance, Boot, Budget, LogLine, admits, boot_of

BATCH_MESSAGES: Final = 8_000  # half the window
"""The most messages of a batch. In a larger batch more reports of one client become one row."""
FEWEST_MESSAGES: Final = 500  # the limit of a batch on the slowest database; a lower one would not make it quicker
COMPANY: Final = 16  # so many messages are written without waiting for more
COMPANY_SECONDS: Final = 0.25  # the longest time that a message waits for others
QUIET_SECONDS: Final = 2.0
"""The same while reports only repeat what is stored and come so slowly that they find no company in COMPANY_SECONDS.

A transaction costs nearly as much for a few messages as for many.
"""
QUICK_FOR_SECONDS: Final = 10.0  # after a batch that told something new
PAUSE_SECONDS: Final = 0.01  # the longest pause between two batches


class Pace:
    """When to write the next batch: when enough messages wait, or the first one has waited long enough.

    After a batch the pace pauses for twice the time that the batch took, up to PAUSE_SECONDS. Times are monotonic
    seconds.
    """

    def __init__(self) -> None:
        """The first batch is due at once."""
        self._free_at = 0.0
        self._waits_since: float | None = None  # when the first message of the next batch was seen
        self._quick_until: float | None = None  # None: no batch was written yet
        self.most = BATCH_MESSAGES
        """The most messages of the next batch."""

    def wrote(self, began: float, ended: float, messages: int, *, has_news: bool = True) -> None:
        """A batch was written. After a full one the next may be a little larger. `has_news`: it told something new."""
        if has_news or self._quick_until is None:
            self._quick_until = ended + QUICK_FOR_SECONDS
        self._waits_since = None
        self._free_at = ended + min(2 * (ended - began), PAUSE_SECONDS)
        if messages >= self.most:
            self.most = min(self.most + FEWEST_MESSAGES, BATCH_MESSAGES)

    def failed(self, messages: int) -> None:
        """A batch was not written. The next one has half as many messages: the batch may have been too large."""
        self.most = min(self.most, max(FEWEST_MESSAGES, messages // 2))

    def wait_seconds(self, waiting: int, now: float) -> float:
        """How much longer these messages wait; 0 when they are written now."""
        if self._waits_since is None:
            self._waits_since = now
        if waiting >= self.most:
            return 0.0
        is_quick = self._quick_until is None or now < self._quick_until
        longest = COMPANY_SECONDS if is_quick else QUIET_SECONDS
        is_busy = waiting >= (COMPANY if is_quick or now - self._waits_since < COMPANY_SECONDS else FEWEST_MESSAGES)
        return max(0.0, (self._free_at if is_busy else max(self._free_at, self._waits_since + longest)) - now)


GATHERED_SECONDS: Final = 15.0  # a longer time without a commit leaves a backlog; above the canary's period
LONGEST_PAUSE_SECONDS: Final = 3600.0  # the longest pause that is credited to budgets


class OverBudget(Struct):
    """A log message that is not stored. A plain one is lost; a numbered one is sent again by its display."""

    uuid: str
    is_numbered: bool


class LogBudgets:
    """The log budget that each client has left (a token bucket). Lines over it never reach the database.

    Only log lines are weighed: ACKs, presence, failures and reports always pass. Times are times of arrival, in
    monotonic seconds.

    Clients are remembered in two generations, recent and earlier. A client that did not log for `refill_seconds` has a
    whole budget again, so it is forgotten.
    """

    def __init__(self, budget: Budget) -> None:
        """Every client begins with a whole budget."""
        self._budget = budget
        self._recent: dict[str, Allowance] = {}
        self._earlier: dict[str, Allowance] = {}
        self._turn_at = 0.0  # when the recent clients become the earlier ones
        self._beginning = budget.burst  # tokens of a client that is not remembered
        self._took_at: float | None = None

    def __len__(self) -> int:
        return len(self._recent.keys() | self._earlier.keys())

    def weigh(self, messages: Iterable[Taken | PutAside]) -> list[Taken | PutAside | OverBudget]:
        """The messages in their order. An `OverBudget` replaces each log message over its client's budget."""
        return [
            self._weighed(one, one.message.body)
            if isinstance(one, Taken) and isinstance(one.message.body, LogLine)
            else one
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

        After a pause (database away) the backlog comes at once, so the budgets are credited for the pause.
        """
        for boot, seq in marks.items():
            if (left := self._recent.get(boot[0])) is not None:
                left.mark = (boot, seq)
        pause = 0.0 if self._took_at is None else now - self._took_at
        self._took_at = now
        if pause > GATHERED_SECONDS:
            self._begin_anew(now, pause, 0)

    def connected(self, now: float, pause_seconds: float, again: int) -> None:
        """A new connection brings messages, after `pause_seconds` without a commit.

        Up to `again` of them may have been delivered, and counted against a budget, on the connection before.
        """
        self._took_at = now
        self._begin_anew(now, pause_seconds if pause_seconds > GATHERED_SECONDS else 0.0, again)

    def _begin_anew(self, now: float, pause_seconds: float, again: int) -> None:
        """Give each client a whole budget, and the tokens of the pause.

        For the length of the pause no client is forgotten, so that each gets this credit once.
        """
        pause = min(pause_seconds, LONGEST_PAUSE_SECONDS)
        self._recent, self._earlier = {}, {}
        self._beginning = self._budget.burst + pause * self._budget.per_second + again
        self._turn_at = now + max(pause, self._budget.refill_seconds)


BATCH_BYTES: Final = 8 * 2**20
"""The most bytes of payloads in one batch: Postgres gets them in a few statements. A usual message has 350 bytes."""
Weighed = Taken | PutAside | OverBudget
"""A member of a batch."""


class Bulk:
    """The bulk session's batch. Its arrivals stay the first of the queue until the batch is committed."""

    def __init__(self, inbox: Inbox, budgets: LogBudgets) -> None:
        """`inbox` reads arrivals; `budgets` weigh each of them once, when it enters the batch."""
        self.batch: list[Weighed] = []
        self._inbox = inbox
        self._budgets = budgets
        self._put_back: deque[Weighed] = deque()  # the rest of a batch that was made smaller, already weighed

    def take(self, arrivals: "deque[Arrival]", most: int) -> list[Weighed]:
        """The batch to store, of `most` messages at most: the one not yet committed, or else a new one."""
        if not self.batch:
            count = _fitting(arrivals, most)
            again = list(itertools.islice(self._put_back, count))
            rest = [self._inbox.read(one) for one in itertools.islice(arrivals, len(again), count)]
            self.batch = again + self._budgets.weigh(rest)
            for _ in again:  # after the reading: an error there must leave every message in its place
                self._put_back.popleft()
        elif len(self.batch) > most:
            self._put_back.extendleft(reversed(self.batch[most:]))
            self.batch = self.batch[:most]
        return self.batch

    def committed(self) -> None:
        """The batch is stored and acknowledged."""
        self.batch = []

    def dropped(self) -> None:
        """The connection is over: the broker delivers again the messages that are not acknowledged."""
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


AT_ONCE: Final = 1_000  # the most new messages of an urgent batch
AGAIN_SECONDS: Final = 1.0  # between two retries of early presence
REST_SECONDS: Final = 1.0  # after so long without a bulk message the bulk queue is empty
PATIENCE_SECONDS: Final = 60.0  # the longest time that early presence is retried; above two heartbeats
EARLY_MAX: Final = 20_000  # the most early presence that is kept, some 25 MB: a first rollout all at once
EARLY_AT_ONCE: Final = 2_000  # the most early presence that is retried in one batch


class Urgent:
    """The urgent session's batch, with presence that came early.

    A new display says that it is online before its first heartbeat. The heartbeat registers the display, but may still
    wait in the bulk queue. Such early presence is retried each second until the client is known or the bulk queue is
    empty.
    """

    def __init__(self) -> None:
        """The batch is empty."""
        self.arrived = 0  # messages of the batch that the broker wants acknowledged; the others are retries
        self._batch: list[Taken | PutAside] = []
        self._early: list[Taken] = []
        self._again_at = 0.0
        self._bulk_at = 0.0  # when a bulk message was last taken into a batch

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
        """A bulk message is in a batch: more may wait behind it."""
        self._bulk_at = time.monotonic()

    @property
    def patient_from(self) -> float:
        """Presence of an unknown client is retried when it was heard after this moment, in monotonic seconds."""
        now = time.monotonic()
        if len(self._early) + len(self._batch) > EARLY_MAX + AT_ONCE:
            return now
        return now - (REST_SECONDS if now - self._bulk_at > REST_SECONDS else PATIENCE_SECONDS)

    def committed(self, outcome: BatchOutcome) -> None:
        """The batch is stored. Its early presence is retried."""
        if outcome.early:
            self._early += outcome.early
            self._again_at = time.monotonic() + AGAIN_SECONDS
        self._batch = []

    def dropped(self) -> None:
        """The connection is over: the broker delivers the new messages again; the retries are kept here."""
        self._early += [one for one in self._batch[: len(self._batch) - self.arrived] if isinstance(one, Taken)]
        self._batch = []
