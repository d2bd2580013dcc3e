"""Answers that are kept for some seconds in this process, so that a crowd of readers costs little."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from msgspec import Struct

MOST: Final = 256
"""How many answers are kept; the oldest go first."""
LATEST: Final = 3
"""While one caller renews an answer, the others get the old one, up to so many times its time."""


class _Answer(Struct):
    body: bytes
    made_at: float
    is_renewed: bool = False


class KeptAnswers:
    """Answers by name. Each instance of the function has its own: nothing else depends on them."""

    def __init__(self, length: timedelta, clock: Callable[[], float] = time.monotonic) -> None:
        """`length`: how long an answer is fresh."""
        self._length, self._clock = length.total_seconds(), clock
        self._lock = threading.Lock()
        self._answers: dict[str, _Answer] = {}

    def get(self, name: str, make: Callable[[], bytes]) -> bytes:
        """The answer of this name; `make` makes it anew when it is old. No caller waits for another one."""
        began = self._clock()
        with self._lock:
            kept = self._answers.get(name)
            if kept is not None:
                age = began - kept.made_at
                if age < self._length or (kept.is_renewed and age < LATEST * self._length):
                    return kept.body
                kept.is_renewed = True
        body = self._made(kept, make)
        with self._lock:
            self._answers.pop(name, None)
            self._answers[name] = _Answer(body, began)
            while len(self._answers) > MOST:
                del self._answers[next(iter(self._answers))]
        return body

    def _made(self, kept: _Answer | None, make: Callable[[], bytes]) -> bytes:
        try:
            return make()
        except BaseException:
            if kept is not None:
                kept.is_renewed = False
            raise
