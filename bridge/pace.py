"""When a batch is written, and how large it may be.

At once when it is quiet; under load so rarely that writing costs a third of our time. And no larger than what the
database takes in good time, so that an ACK never waits long behind a batch, and no batch is too large to end.
"""

from typing import Final

BATCH_MESSAGES: Final = 8_000  # half the window
"""At most. The larger, the more reports of one client become one row."""
FEWEST_MESSAGES: Final = 500  # at most so many while the database is slow; fewer would not make it quicker
BATCH_SECONDS: Final = 0.01  # a message waits no longer for company
GOOD_SECONDS: Final = 0.25  # what a batch should take at most


class Pace:
    """A small batch costs as much as a larger one: the rest between two is twice as long as the last one took.

    Times are monotonic seconds.
    """

    def __init__(self) -> None:
        """The first batch is due at once, and small: how quick the database is is not known."""
        self._free_at = 0.0
        self.most = 4 * FEWEST_MESSAGES
        """So many messages the next batch may have."""

    def wrote(self, began: float, ended: float, messages: int) -> None:
        """A batch of so many was written: a full one that was quick may be followed by one of twice as many.

        Why a small one took long is not its size.
        """
        took = ended - began
        self._free_at = ended + min(2 * took, BATCH_SECONDS)
        if took > GOOD_SECONDS:
            if messages > FEWEST_MESSAGES:
                self.most = min(self.most, max(FEWEST_MESSAGES, int(messages * GOOD_SECONDS / took)))
        elif messages >= self.most:
            self.most = min(2 * self.most, BATCH_MESSAGES)

    def failed(self) -> None:
        """A batch was not written: if that was for its size, half of it may be."""
        self.most = max(FEWEST_MESSAGES, self.most // 2)

    def wait_seconds(self, waiting: int, now: float) -> float:
        """How long so many messages that wait have to wait on for company; 0: not at all."""
        return 0.0 if waiting >= self.most else max(0.0, self._free_at - now)
