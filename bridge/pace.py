"""When a batch is written: at once when it is quiet; under load so rarely that writing costs a third of our time."""

from typing import Final

BATCH_MESSAGES: Final = 2_000  # half the window
BATCH_SECONDS: Final = 0.01  # a message waits no longer for company


class Pace:
    """A small batch costs as much as a larger one: the rest between two is twice as long as the last one took.

    Times are monotonic seconds.
    """

    def __init__(self) -> None:
        """The first batch is due at once."""
        self._free_at = 0.0

    def wrote(self, began: float, ended: float) -> None:
        """A batch was written."""
        self._free_at = ended + min(2 * (ended - began), BATCH_SECONDS)

    def wait_seconds(self, waiting: int, now: float) -> float:
        """How long so many messages that wait have to wait on for company; 0: not at all."""
        return 0.0 if waiting >= BATCH_MESSAGES else max(0.0, self._free_at - now)
