"""A database for simulated histories, and scenes, which are histories that a test writes itself.

`make test` runs a share; with SIMULATION=whole in the environment everything runs, as in the campaign.
"""

import logging
import os
from collections.abc import Callable, Iterator
from typing import Final

import pytest

from deploy.local import postgres
from tests.lab.simulation.ailments import Nature
from tests.lab.simulation.display import Display
from tests.lab.simulation.history import Databases, History, Outcome

Scene = Callable[..., History]
IS_WHOLE: Final = os.environ.get("SIMULATION") == "whole"
collect_ignore = [] if IS_WHOLE else ["test_whole.py"]


@pytest.fixture(scope="module")
def databases(database_url: str, postgres_server: postgres.Cluster) -> Iterator[Databases]:
    """Engines on the module's own database."""
    used = Databases(database_url, postgres_server.url(database_url.rpartition("/")[2]))
    yield used
    used.close()


@pytest.fixture(autouse=True)
def _hush() -> Iterator[None]:
    """Silence the log: histories are full of faults."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def scene(databases: Databases) -> Scene:
    """Makes a history with `n` displays, switched on in the first half minute, and a tick each minute."""

    def make(count: int, *, until: float, **settings: str) -> History:
        databases.empty()
        history = History(databases, 7, settings)
        for number in range(count):
            display = history.add_display(Nature(), "Berlin")
            history.agenda.at(1.0 + number * 30.0 / count, display.power_on)
        history.plan_ticks(until, 50.0)
        return history

    return make


def of(history: History) -> list[Display]:
    """The history's displays in order."""
    return list(history.displays.values())


def kinds(outcome: Outcome) -> set[str]:
    """The kinds of broken promises in an outcome."""
    return {breach.kind for breach in outcome.breaches}
