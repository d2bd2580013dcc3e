"""What the bulk session brought: the batch in hand, and what the arrivals behind it say.

Postgres works at one batch while the bridge reads and understands the next one.
"""

import itertools
from collections import deque
from collections.abc import Callable
from typing import Final

from bridge.budget import OverBudget
from bridge.inbox import Arrival, PutAside, Taken
from bridge.lanes import Lanes
from bridge.pace import BATCH_MESSAGES

FEW: Final = 100
"""Understood at a time: well under a millisecond, so that Postgres' answer is seen soon."""
Understood = Taken | PutAside


class Bulk:
    """The first arrivals are in hand until they are committed; of those behind them some are understood already."""

    def __init__(
        self, read: Callable[[Arrival], Understood], weigh: Callable[[Understood], Understood | OverBudget]
    ) -> None:
        """`read` understands an arrival, whenever; `weigh` looks at each in its turn, when it comes into hand."""
        self.batch: list[Understood | OverBudget] = []
        self._read = read
        self._weigh = weigh
        self._ahead: deque[Understood] = deque()

    def take(self, arrivals: "deque[Arrival]") -> list[Understood | OverBudget]:
        """The batch in hand; the next one when there is none. The same until it is committed."""
        if not self.batch:
            count = min(len(arrivals), BATCH_MESSAGES)
            ready = [self._ahead.popleft() for _ in range(min(count, len(self._ahead)))]
            rest = map(self._read, itertools.islice(arrivals, len(ready), count))
            self.batch = [self._weigh(one) for one in itertools.chain(ready, rest)]
        return self.batch

    def understand_some(self, arrivals: "deque[Arrival]") -> bool:
        """Understand a few of the arrivals behind the batch; False when there are none, or enough for the next one."""
        begin = len(self.batch) + len(self._ahead)
        if len(self._ahead) >= BATCH_MESSAGES or begin >= len(arrivals):
            return False
        self._ahead.extend(map(self._read, itertools.islice(arrivals, begin, begin + FEW)))
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
        self._ahead.clear()
