"""The time of a history: an agenda of events, and the clocks that the service reads.

Nothing sleeps. Code that must wait (a slow commit, an answer of the broker) calls `Agenda.pass_by`, which runs the
agenda's events of that time in the middle of the work.
"""

import heapq
import random
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any, Final
from unittest.mock import patch

from shared.postgres.door import database_now

BEGINNING: Final = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)  # the database's clock at second 0
UNDER_TEST: Final = ("bridge.", "functions.scheduler_tick", "shared.commands", "shared.recovery", "shared.clients")
"""Modules that get the history's clocks, random numbers and new ids."""


class Agenda:
    """Events by time, in seconds since the start of the history; events of one time in the order of their planning."""

    def __init__(self) -> None:
        self.now = 0.0
        self._planned: list[tuple[float, int, Callable[[], object]]] = []
        self._number = 0

    def at(self, moment: float, happens: Callable[[], object]) -> None:
        """Plan an event for this moment, or for now if the moment has passed."""
        self._number += 1
        heapq.heappush(self._planned, (max(moment, self.now), self._number, happens))

    def after(self, seconds: float, happens: Callable[[], object]) -> None:
        """Plan an event `seconds` from now."""
        self.at(self.now + seconds, happens)

    def run_until(self, moment: float) -> None:
        """Run all events up to this moment, and set the time to it."""
        while self._planned and self._planned[0][0] <= moment:
            at, _, happens = heapq.heappop(self._planned)
            self.now = max(self.now, at)
            happens()
        self.now = max(self.now, moment)

    def pass_by(self, seconds: float) -> None:
        """Run the events of the next `seconds`, while the caller waits."""
        self.run_until(self.now + seconds)


class Clocks:
    """The clocks of a history. The database's clock decides everything, and can be stepped."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self.database_is_off_by = timedelta()
        self.leapt = 0.0  # skipped seconds: they passed for the service, without events

    def database(self, _connection: Any = None) -> datetime:
        """Replaces `shared.postgres.door.database_now`."""
        return BEGINNING + timedelta(seconds=self.monotonic()) + self.database_is_off_by

    def monotonic(self) -> float:
        """Replaces `time.monotonic`, on every host."""
        return self._agenda.now + self.leapt


class _Time:
    """Replaces the module `time` where it is imported as a module."""

    def __init__(self, clocks: Clocks) -> None:
        self.monotonic = clocks.monotonic

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


class _Uuid:
    """Replaces the module `uuid`: the seed decides new ids."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    def uuid4(self) -> uuid.UUID:
        return uuid.UUID(int=self._dice.getrandbits(128), version=4)

    def __getattr__(self, name: str) -> Any:
        return getattr(uuid, name)


@contextmanager
def virtual_time(clocks: Clocks, seed: int) -> Iterator[None]:
    """During the block the code under test uses these clocks, and takes random numbers and ids from this seed."""
    stand_ins: dict[int, Any] = {
        id(database_now): clocks.database,
        id(time): _Time(clocks),
        id(uuid): _Uuid(random.Random(f"{seed} ids")),
        id(random): random.Random(f"{seed} dice"),
    }
    with ExitStack() as patched:
        for module in _under_test():
            for name, value in list(vars(module).items()):
                if (stand_in := stand_ins.get(id(value))) is not None:
                    patched.enter_context(patch.object(module, name, stand_in))
        yield


def _under_test() -> list[ModuleType]:
    return [module for name, module in sorted(sys.modules.items()) if name.startswith(UNDER_TEST)]
