"""Turns: how many requests of a kind are under way at once in this process.

All requests share the process's 64 threads. One that gets no turn is refused at once, so no crowd holds them all:
together the turns below leave some for everybody else (`tests/api/test_turns.py`).
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from shared.errors import Busy, ServiceError, TooManyRequests, TooManyUploads


class Turns:
    """The turns of one kind of requests."""

    def __init__(
        self,
        most_of_one: int,
        most: int,
        of_one: type[ServiceError] = TooManyRequests,
        of_all: type[ServiceError] = Busy,
    ) -> None:
        """`most_of_one` is the limit of each caller, `most` of all together; `of_one` and `of_all` say so."""
        self.most_of_one, self.most = most_of_one, most
        self.refusals = of_one, of_all
        self._lock = threading.Lock()
        self._under_way: Counter[str] = Counter()

    @contextmanager
    def turn(self, caller: str) -> Iterator[None]:
        """Count one request of this caller for the length of the block. Raises one of `refusals` at a limit."""
        of_one, of_all = self.refusals
        with self._lock:
            if self._under_way[caller] >= self.most_of_one:
                raise of_one
            if self._under_way.total() >= self.most:
                raise of_all
            self._under_way[caller] += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way[caller] -= 1
                self._under_way += Counter()  # drops callers whose count is zero


UPLOADS: Final = Turns(8, 24, TooManyUploads, TooManyUploads)
PICTURES: Final = Turns(2, 8, TooManyUploads, TooManyUploads)
"""Displays that send pictures of their screens, perhaps because they failed together."""
STRANGERS: Final = Turns(3, 6)
"""Sign-ins from addresses that are new for the account. Two passwords are hashed at once; the other callers wait."""
PEOPLE: Final = Turns(3, 6)
"""Passwords of callers whom we know: signed in, or from an address where the account signed in lately."""
ENROLMENT: Final = Turns(2, 4)
STATUS_PAGES: Final = Turns(3, 6)
ALL: Final = (UPLOADS, PICTURES, STRANGERS, PEOPLE, ENROLMENT, STATUS_PAGES)
