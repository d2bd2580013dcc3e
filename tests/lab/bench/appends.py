"""Peers that only append messages to a table."""

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
    """A program with its own session at the bench's listener."""

    name: str
    table: str
    stored: str
    """SQL: how many rows are committed."""
    running: Callable[[Machine, int], AbstractContextManager[None]]
    """Runs it on this machine and port, during the block."""

    def subscribe(self, service: Machine, port: int) -> None:
        """Let it create its session, check that messages arrive, and stop it."""

        def is_heard() -> bool:
            publish(port, [(HAS_SUBSCRIBED.encode(), b"{}")])
            return self.is_stored(service)

        with self.running(service, port):
            wait_until(is_heard, SECONDS)

    def is_stored(self, service: Machine) -> bool:
        """Whether any row is committed."""
        engine = service.engine()
        try:
            known = rows(engine, f"SELECT 1 WHERE to_regclass('{self.table}') IS NOT NULL")
            return bool(known) and bool(rows(engine, self.stored)[0][0])
        finally:
            engine.dispose()
