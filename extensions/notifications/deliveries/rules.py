"""When a message is retried, when it is given up, and why it was not sent."""

from datetime import datetime, timedelta
from typing import Final

from shared.words.sentences import Sentence, sentence

FIRST_WAIT: Final = timedelta(seconds=15)
LONGEST_WAIT: Final = timedelta(hours=1)
GIVEN_UP_AFTER: Final = timedelta(hours=24)  # the longest time of retries; then the message is too old
LEASE: Final = timedelta(seconds=90)  # a claim's lease, longer than a try; after it another sender may claim
FORGOTTEN_AFTER: Final = timedelta(seconds=60)  # a message so long overdue has lost its task


def wait(attempts: int, asked: timedelta | None) -> timedelta:
    """The back-off after this many tries: doubled each time, and at least what the receiver asked for (Retry-After)."""
    doubled = FIRST_WAIT * float(2) ** min(max(attempts, 1) - 1, 12)
    return min(max(doubled, asked or timedelta()), LONGEST_WAIT)


def is_given_up(created_at: datetime, now: datetime) -> bool:
    """Whether the time of retries is over."""
    return now - created_at >= GIVEN_UP_AFTER


@sentence
def channel_switched_off() -> Sentence: ...
@sentence
def over_before_sent() -> Sentence: ...
@sentence
def given_up(*, tries: int) -> Sentence: ...
