"""Peers that append what they hear to a table and have nothing to guard."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from deploy.parts.probes import wait_until
from tests.lab.bench.traffic import publish
from tests.lab.campaigns.machine import Machine, rows

SECONDS: Final = 300.0
HAS_SUBSCRIBED: Final = "signage/probe/heartbeat"


@dataclass(frozen=True)
class Appender:
    """A program with a session of its own at the broker's port for the bench."""

    name: str
    table: str
    stored: str
    """Asks how many rows are committed."""
    running: Callable[[Machine, int], AbstractContextManager[None]]
    """Runs it, on this machine and port, for as long as the block."""

    def subscribe(self, service: Machine, port: int) -> None:
        """Let it make its session, prove that messages come through, and leave."""

        def is_heard() -> bool:
            publish(port, [(HAS_SUBSCRIBED.encode(), b"{}")])
            return self.is_stored(service)

        with self.running(service, port):
            wait_until(is_heard, SECONDS)

    def is_stored(self, service: Machine) -> bool:
        """Whether anything is committed."""
        engine = service.engine()
        try:
            known = rows(engine, f"SELECT 1 WHERE to_regclass('{self.table}') IS NOT NULL")
            return bool(known) and bool(rows(engine, self.stored)[0][0])
        finally:
            engine.dispose()
