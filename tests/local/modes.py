"""The permissions of files."""

import stat
from pathlib import Path


def mode(path: Path) -> int:
    """Return the permission bits of a file."""
    return stat.S_IMODE(path.stat().st_mode)
