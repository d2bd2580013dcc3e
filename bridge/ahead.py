"""Messages understood before their turn: Postgres works at one batch while the bridge reads the next one."""

import itertools
from collections import deque
from collections.abc import Callable
from typing import Final

from bridge.inbox import Arrival, PutAside, Taken

FEW: Final = 100
"""Understood at a time: well under a millisecond, so that Postgres' answer is seen soon."""


class Ahead:
    """What the arrivals behind those in hand say. Never more than arrivals that wait, whose number is bounded."""

    def __init__(self, read: Callable[[Arrival], Taken | PutAside]) -> None:
        """`read` understands an arrival and never raises."""
        self._read = read
        self._understood: deque[Taken | PutAside] = deque()

    def __len__(self) -> int:
        return len(self._understood)

    def take(self, arrivals: "deque[Arrival]", count: int) -> list[Taken | PutAside]:
        """What the first `count` arrivals say, in their order; they are in hand from now on."""
        ready = [self._understood.popleft() for _ in range(min(count, len(self._understood)))]
        return [*ready, *map(self._read, itertools.islice(arrivals, len(ready), count))]

    def understand_some(self, arrivals: "deque[Arrival]", in_hand: int) -> bool:
        """Understand a few of the arrivals behind the first `in_hand`; False when none is left."""
        begin = in_hand + len(self._understood)
        if begin >= len(arrivals):
            return False
        self._understood.extend(map(self._read, itertools.islice(arrivals, begin, begin + FEW)))
        return True

    def forget(self) -> None:
        """The connection is over: all of them come again."""
        self._understood.clear()
