"""What can be made before it is needed, while Postgres works at something else (`prepared.meanwhile`)."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Later(Generic[T]):
    """Made once: when there is time for it, at the latest when it is asked for."""

    def __init__(self, make: Callable[[], T]) -> None:
        """`make` needs no answer of Postgres that is not there yet."""
        self._make: Callable[[], T] | None = make
        self._made: T
        self._error: Exception | None = None

    def __call__(self) -> T:
        """What was made. Raises what making it raised."""
        self.make_now()
        if self._error is not None:
            raise self._error
        return self._made

    def make_now(self) -> bool:
        """Make it, if that was still to do; whether it was. Never raises: who asks for it is told."""
        make, self._make = self._make, None
        if make is None:
            return False
        try:
            self._made = make()
        except Exception as error:  # noqa: BLE001 - raised where it is asked for
            self._error = error
        return True


def in_turn(*all_of_them: Later[Any]) -> Callable[[], bool]:
    """Each call makes the next one that is not made; False when none is left."""
    return lambda: any(one.make_now() for one in all_of_them)
