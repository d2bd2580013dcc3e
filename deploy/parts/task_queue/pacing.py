"""How many tasks may a queue dispatch now? A token bucket and a limit of concurrent ones. No clock inside."""

import math
from dataclasses import dataclass, field


@dataclass
class Pace:
    """One queue's limits and its bucket, which starts full; times are seconds of any steady clock."""

    rate: float
    """Dispatches a second in the long run."""
    burst: int
    """How many may go at once after a pause."""
    concurrent: int
    """How many may be under way."""
    _tokens: float = field(init=False)
    _filled_at: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._tokens = float(self.burst)

    def room(self, now: float, under_way: int) -> int:
        """How many may be dispatched at `now`, with `under_way` of them not finished."""
        self._fill(now)
        return max(0, min(int(self._tokens), self.concurrent - under_way))

    def take(self, dispatched: int) -> None:
        """Note that `dispatched` tasks went; `room` must have allowed them."""
        self._tokens -= dispatched

    def seconds_to_token(self) -> float:
        """How long from the last `room` until one more may go by the rate; 0 when one may."""
        return max(0.0, (1 - self._tokens) / self.rate)

    def _fill(self, now: float) -> None:
        elapsed = 0.0 if self._filled_at is None else max(0.0, now - self._filled_at)
        self._tokens = min(float(self.burst), self._tokens + elapsed * self.rate)
        self._filled_at = now


def burst_size(rate: float) -> int:
    """The bucket of a queue with this rate: a second's worth, at least one."""
    return max(1, math.ceil(rate))
