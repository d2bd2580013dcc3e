"""The whole stack, started as by `make run`, with the views that campaigns need: processes, restarts, database."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from sqlalchemy import Engine

from deploy.parts import guardian
from deploy.parts.probes import wait_until
from shared.postgres.door import engine_for
from tests.lab.campaigns.fleet import Fleet, talking
from tests.stack import Stack, enrolled

CONNECT_SECONDS = 60.0


class Whole:
    """A running stack. Its own supervisor restarts services."""

    def __init__(self, stack: Stack) -> None:
        """Earlier restarts do not count."""
        self.stack = stack
        self._ended_before = self._restarts()

    def engine(self) -> Engine:
        """A new engine on its database; the caller disposes of it."""
        return engine_for(self.stack.environment["DATABASE_URL"], "faults")

    def looked_after(self) -> None:
        """Do nothing: the stack's supervisor restarts services."""

    @property
    def exits(self) -> int:
        """How often services were restarted."""
        return self._restarts() - self._ended_before

    def pids(self) -> dict[str, set[int]]:
        """Running service -> its process and all processes below it."""
        return {
            life["name"]: {life["pid"]} | guardian.descendants(life["pid"])
            for life in self._lives()
            if life["pid"] is not None
        }

    def received(self) -> int:
        """How many messages the bridge has read since it leads."""
        port = self.stack.ports["BRIDGE_HEALTH_PORT"]
        answer = requests.get(f"http://127.0.0.1:{port}/healthz", timeout=60).json()
        return int(answer["counters"]["received"])

    def _restarts(self) -> int:
        return sum(int(life["restarts"]) for life in self._lives())

    def _lives(self) -> list[dict[str, Any]]:
        """The supervisor's view of each service."""
        told: list[dict[str, Any]] = json.loads((self.stack.state / "run" / "status.json").read_text(encoding="utf-8"))
        return told


@contextmanager
def enrolled_fleet(whole: Whole, count: int, seed: int, report_seconds: float) -> Iterator[Fleet]:
    """Enrolled displays that are connected and talk during the block."""
    fleet = Fleet(int(whole.stack.ports["MQTT_DISPLAYS_PORT"]), count, seed, report_seconds)
    api = whole.stack.api()
    for one in fleet.displays:
        fleet.logins[one.uuid] = enrolled(api, one.uuid).password
    with talking(fleet):
        wait_until(lambda: fleet.is_connected, CONNECT_SECONDS)
        yield fleet
