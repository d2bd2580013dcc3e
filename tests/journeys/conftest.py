"""One stack for the journeys. Only test_recovery.py has another: it recovers displays."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack import Stack, running_stack

QUICK = {"TICK_SECONDS": "2", "DEMO": ""}


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack with defaults (no recovery) and a tick every two seconds."""
    with running_stack(tmp_path_factory.mktemp("stack"), **QUICK) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The state folder of a display."""
    return tmp_path / "display"
