"""Peers that append what they hear to a table and have nothing to guard: how fast they take what waits for them."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from deploy.local.probes import wait_until
from tests.bench.traffic import publish
from tests.faults.machine import Machine, rows

SECONDS: Final = 300.0
HAS_SUBSCRIBED: Final = "signage/probe/heartbeat"


@dataclass(frozen=True)
class Appender:
    """A program with a session of its own at the broker's port for the bench."""

    name: str
    table: str
    running: Callable[[Machine, int], AbstractContextManager[None]]
    """Runs it, on this machine and port, for as long as the block."""

    def subscribe(self, service: Machine, port: int) -> None:
        """Let it make its session, prove that messages come through, and leave."""

        def is_heard() -> bool:
            publish(port, [(HAS_SUBSCRIBED.encode(), b"{}")])
            return self.stored(service) > 0

        with self.running(service, port):
            wait_until(is_heard, SECONDS)

    def drain(self, service: Machine, port: int, messages: int) -> float:
        """Messages a second from its first commit to its last."""
        before = self.stored(service)
        seen: list[tuple[float, int]] = []

        def all_stored() -> bool:
            found = self.stored(service) - before
            if found and (not seen or found != seen[-1][1]):
                seen.append((time.monotonic(), found))
            return found >= messages

        with self.running(service, port):
            wait_until(all_stored, SECONDS)
        (began, first), (ended, last) = seen[0], seen[-1]
        return (last - first) / (ended - began)

    def stored(self, service: Machine) -> int:
        """Rows that it has committed."""
        engine = service.engine()
        try:
            if not rows(engine, f"SELECT 1 WHERE to_regclass('{self.table}') IS NOT NULL"):
                return 0
            return int(rows(engine, f"SELECT count(*) FROM {self.table}")[0][0])
        finally:
            engine.dispose()
