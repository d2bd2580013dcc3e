"""Limit how many tasks a queue dispatches: a token bucket, and a limit of parallel deliveries. It reads no clock."""

import math
from dataclasses import dataclass, field


@dataclass
class Pace:
    """One queue's limits and its bucket, which starts full; times are monotonic seconds."""

    rate: float
    """Dispatches a second in the long run."""
    burst: int
    """The size of the bucket: how many may be dispatched at once after a pause."""
    concurrent: int
    """The most parallel deliveries."""
    _tokens: float = field(init=False)
    _filled_at: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._tokens = float(self.burst)

    def room(self, now: float, under_way: int) -> int:
        """How many tasks may be dispatched at `now`, while `under_way` are being delivered."""
        self._fill(now)
        return max(0, min(int(self._tokens), self.concurrent - under_way))

    def take(self, dispatched: int) -> None:
        """Note that `dispatched` tasks were dispatched; `room` must have allowed them."""
        self._tokens -= dispatched

    def seconds_to_token(self) -> float:
        """Seconds from the last `room` until the rate allows one more task; 0 when it does now."""
        return max(0.0, (1 - self._tokens) / self.rate)

    def _fill(self, now: float) -> None:
        elapsed = 0.0 if self._filled_at is None else max(0.0, now - self._filled_at)
        self._tokens = min(float(self.burst), self._tokens + elapsed * self.rate)
        self._filled_at = now


def burst_size(rate: float) -> int:
    """The bucket's size for this rate: the tokens of one second, at least one."""
    return max(1, math.ceil(rate))
