"""The time of a history: an agenda of what happens when, and the clocks that the service reads.

Nothing here sleeps. Whoever has to wait (a slow commit, an answer of the broker) lets the agenda go on in the
meantime: `Agenda.pass_by` is called in the middle of the work, as time passes in the middle of work.
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

BEGINNING: Final = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)  # what the database's clock shows at second 0
UNDER_TEST: Final = ("bridge.", "functions.scheduler_tick", "shared.commands", "shared.recovery", "shared.clients")
"""Modules whose clocks, dice and new ids are the history's."""


class Agenda:
    """What happens when, in seconds since the beginning of the history; ties in the order of their planning."""

    def __init__(self) -> None:
        self.now = 0.0
        self._planned: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0

    def at(self, moment: float, happens: Callable[[], None]) -> None:
        """Plan it for this moment, or for now when that is over."""
        self._number += 1
        heapq.heappush(self._planned, (max(moment, self.now), self._number, happens))

    def after(self, seconds: float, happens: Callable[[], None]) -> None:
        """Plan it for so many seconds from now."""
        self.at(self.now + seconds, happens)

    def run_until(self, moment: float) -> None:
        """Let everything happen that is planned up to this moment; then it is this moment."""
        while self._planned and self._planned[0][0] <= moment:
            at, _, happens = heapq.heappop(self._planned)
            self.now = max(self.now, at)
            happens()
        self.now = max(self.now, moment)

    def pass_by(self, seconds: float) -> None:
        """Somebody waits: everything else goes on for so long."""
        self.run_until(self.now + seconds)


class Clocks:
    """What clocks show. The database's clock is the judge of everything, and can be stepped."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self.database_is_off_by = timedelta()
        self.leapt = 0.0  # seconds that passed for the service and were told in no agenda: nothing happened in them

    def database(self, _connection: Any = None) -> datetime:
        """Stands in for `shared.postgres.door.database_now`."""
        return BEGINNING + timedelta(seconds=self.monotonic()) + self.database_is_off_by

    def monotonic(self) -> float:
        """Stands in for `time.monotonic`, on every host."""
        return self._agenda.now + self.leapt


class _Time:
    """Stands in for the module `time` where it is imported as such."""

    def __init__(self, clocks: Clocks) -> None:
        self.monotonic = clocks.monotonic

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


class _Uuid:
    """Stands in for the module `uuid`: new ids by the seed."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    def uuid4(self) -> uuid.UUID:
        return uuid.UUID(int=self._dice.getrandbits(128), version=4)

    def __getattr__(self, name: str) -> Any:
        return getattr(uuid, name)


@contextmanager
def virtual_time(clocks: Clocks, seed: int) -> Iterator[None]:
    """Inside, the code under test reads these clocks, and draws its dice and its ids by this seed."""
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
