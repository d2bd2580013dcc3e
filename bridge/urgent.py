"""What the urgent session brought: taken at once, but for the presence of clients that are not known yet."""

import itertools
import time
from collections.abc import Callable, Iterable
from typing import Final

from bridge.batch import Outcome
from bridge.inbox import Arrival, PutAside, Taken

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
        """Nothing is in hand."""
        self.arrived = 0  # of the batch in hand, those that the broker waits for
        self._batch: list[Taken | PutAside] = []
        self._early: list[Taken] = []
        self._again_at = 0.0
        self._bulk_at = 0.0  # when a bulk message was last in hand

    def batch(self, arrivals: Iterable[Arrival], read: Callable[[Arrival], Taken | PutAside]) -> list[Taken | PutAside]:
        """What to write now: the same until it is committed."""
        if not self._batch:
            new = [read(arrival) for arrival in itertools.islice(arrivals, AT_ONCE)]
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
        """The presence of unknown clients that was heard after this (monotonic seconds) is to be tried again."""
        now = time.monotonic()
        if len(self._early) + len(self._batch) > EARLY_MAX + AT_ONCE:
            return now
        return now - (REST_SECONDS if now - self._bulk_at > REST_SECONDS else PATIENCE_SECONDS)

    def committed(self, outcome: Outcome) -> None:
        """The batch is stored, but for what is to be tried again."""
        if outcome.early:
            self._early += outcome.early
            self._again_at = time.monotonic() + AGAIN_SECONDS
        self._batch = []

    def dropped(self) -> None:
        """The connection is over: the broker delivers again what it waits for."""
        self._early += [one for one in self._batch[: len(self._batch) - self.arrived] if isinstance(one, Taken)]
        self._batch = []
