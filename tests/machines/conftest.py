"""Everything that needs root: machines, namespaces, mounts, a firewall, other users. `make machines` runs it."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Without root run nothing, instead of a failure of each test."""
    if os.geteuid() != 0 and any(Path(__file__).parent in item.path.parents for item in items):
        raise pytest.UsageError("only root can make machines, mounts and network namespaces: sudo make machines")
