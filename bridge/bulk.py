"""What the bulk session brought: the batch in hand, and what the arrivals behind it say.

Postgres works at one batch while the bridge reads and understands the next one.
"""

import bisect
import itertools
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from bridge.budget import OverBudget
from bridge.inbox import Arrival, PutAside, Taken
from bridge.lanes import Lanes
from bridge.pace import BATCH_MESSAGES

FEW: Final = 100
"""Understood at a time: well under a millisecond, so that Postgres' answer is seen soon."""
BATCH_BYTES: Final = 8 * 2**20
"""Of payloads in one batch, which Postgres gets as a few statements; usual messages have some 350 bytes each."""
Understood = Taken | PutAside
Weighed = Understood | OverBudget


class Bulk:
    """The first arrivals are in hand until they are committed; of those behind them some are understood already."""

    def __init__(
        self, read: Callable[[Arrival], Understood], weigh: Callable[[Iterable[Understood]], list[Weighed]]
    ) -> None:
        """`read` understands an arrival, whenever; `weigh` looks at all in their turn, when they come into hand."""
        self.batch: list[Weighed] = []
        self._read = read
        self._weigh = weigh
        self._put_back: deque[Weighed] = deque()  # what was in hand behind the batch
        self._ahead: deque[Understood] = deque()  # what comes behind both
        self._ahead_bytes = 0

    def take(self, arrivals: "deque[Arrival]", most: int) -> list[Weighed]:
        """The batch in hand, or its first `most`; the next one when there is none. What it answers is to be stored."""
        if not self.batch:
            count = _fitting(arrivals, most)
            again = list(itertools.islice(self._put_back, count))
            ready = list(itertools.islice(self._ahead, count - len(again)))
            rest = map(self._read, itertools.islice(arrivals, len(again) + len(ready), count))
            self.batch = again + self._weigh(itertools.chain(ready, rest))
            _drop_first(self._put_back, len(again))  # only now: an error above leaves all in its place
            _drop_first(self._ahead, len(ready))
            self._ahead_bytes = sum(_sizes(self._arrivals_ahead(arrivals)))
        elif len(self.batch) > most:
            self._put_back.extendleft(reversed(self.batch[most:]))
            self.batch = self.batch[:most]
        return self.batch

    def _arrivals_ahead(self, arrivals: "deque[Arrival]") -> Iterable[Arrival]:
        """Those that are understood and were never in hand."""
        begin = len(self.batch) + len(self._put_back)
        return itertools.islice(arrivals, begin, begin + len(self._ahead)) if self._ahead else ()

    def understand_some(self, arrivals: "deque[Arrival]") -> bool:
        """Understand a few of the arrivals behind the batch; False when there are none, or enough for the next one."""
        begin = len(self.batch) + len(self._put_back) + len(self._ahead)
        is_enough = len(self._ahead) >= BATCH_MESSAGES or self._ahead_bytes >= BATCH_BYTES
        if is_enough or begin >= len(arrivals):
            return False
        few = list(itertools.islice(arrivals, begin, begin + FEW))
        self._ahead.extend(map(self._read, few))
        self._ahead_bytes += sum(_sizes(few))
        return True

    def read_on(self, broker: Lanes) -> bool:
        """While Postgres works: a little of what comes after the batch; False when there is nothing to do."""
        arrivals = broker.bulk.arrivals
        if self.understand_some(arrivals):
            return True
        before = len(arrivals)
        if broker.fault is None and before < len(self.batch) + BATCH_MESSAGES:
            broker.step(0)
        return len(arrivals) > before

    def committed(self) -> None:
        """The batch is stored and acknowledged."""
        self.batch = []

    def dropped(self) -> None:
        """The connection is over: whatever is not acknowledged comes again."""
        self.batch = []
        self._put_back.clear()
        self._ahead.clear()
        self._ahead_bytes = 0


def _fitting(arrivals: "deque[Arrival]", most: int) -> int:
    """How many of the first arrivals make a batch."""
    sizes = _sizes(itertools.islice(arrivals, most))
    if sum(sizes) <= BATCH_BYTES:
        return len(sizes)
    return max(1, bisect.bisect_right(list(itertools.accumulate(sizes)), BATCH_BYTES))


def _drop_first(waiting: deque[Any], count: int) -> None:
    for _ in range(count):
        waiting.popleft()


def _sizes(arrivals: Iterable[Arrival]) -> list[int]:
    return [len(one.payload) for one in arrivals]
