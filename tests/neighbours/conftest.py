"""One stack for what stands beside a fleet."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack import Stack, running_stack


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack with defaults (no recovery) and a tick each second."""
    with running_stack(tmp_path_factory.mktemp("stack"), TICK_SECONDS="1", DEMO="") as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The state folder of a display."""
    return tmp_path / "display"
