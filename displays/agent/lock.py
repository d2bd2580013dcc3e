"""Allow one agent on a machine: a second one ends with an error."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


class AnotherAgent(Exception):
    """Another agent runs on this machine, from the same folder."""


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lock the folder, which also works on a read-only disk. Raises AnotherAgent or OSError."""
    lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AnotherAgent(f"another agent runs here already, from {folder}") from None
        yield
    finally:
        os.close(lock)
