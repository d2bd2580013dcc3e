"""Where the tests' servers keep what may be lost with the machine: in memory where there is room, else on the disk.

A copy of the migrated template is a thousand small files. On ext4 to make and to remove them is half a second of a
core for each module of tests, in memory a quarter of that. What a Postgres promises at a kill -9 is the same on both;
what it promises when the machine dies (`durable`) is tested on the disk.
"""

import atexit
import contextlib
import os
import re
import shutil
from pathlib import Path
from typing import Final

KEPT: Final = "SIGNAGE_TESTS_POSTGRES"
"""Names the folder in which `make test` has one migrated Postgres for all its suites: tests/migrated.py."""
MEMORY: Final = Path("/dev/shm")  # a tmpfs on every Linux; small in some containers
OURS: Final = re.compile(r"signage-tests-(\d+)")  # the process whose folder it is
ROOM_BYTES: Final = 3 * 2**30  # for two suites; each takes 0.3 GB, and 1 GB more of log where Postgres writes much
FREE_BYTES: Final = 2 * ROOM_BYTES  # of the machine's memory: the rest is for what is tested


def folder() -> str | None:
    """A folder for `tempfile`, gone with this process; None, which is its usual one, where memory is short."""
    if not os.access(MEMORY, os.W_OK):
        return None
    sweep()
    if shutil.disk_usage(MEMORY).free < ROOM_BYTES or _available_bytes() < FREE_BYTES:
        return None
    mine = MEMORY / f"signage-tests-{os.getpid()}"
    with contextlib.suppress(FileExistsError):
        mine.mkdir(mode=0o711)  # Postgres may run as somebody else
        atexit.register(shutil.rmtree, mine, ignore_errors=True)
    return str(mine)


def sweep() -> None:
    """Remove what tests left that were killed: it takes memory for as long as the machine runs."""
    for place in MEMORY.iterdir():
        named = OURS.fullmatch(place.name)
        if named and not Path(f"/proc/{named[1]}").exists():
            shutil.rmtree(place, ignore_errors=True)


def _available_bytes() -> int:
    """What the kernel can still give without swapping."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return 0
