"""The folder for the data of the tests' servers: in memory if there is room, otherwise on the disk.

A copy of the migrated template has a thousand small files. On ext4 their creation and removal takes half a second of a
core for each test module, in memory a quarter of that. A kill -9 of Postgres has the same effect on both; tests of a
crash of the machine (`durable`) use the disk.
"""

import atexit
import contextlib
import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

KEPT: Final = "SIGNAGE_TESTS_POSTGRES"
"""Environment variable with `make test`'s folder of what is made once for all suites: see `kept`."""
MEMORY: Final = Path("/dev/shm")  # a tmpfs on every Linux; small in some containers
OURS: Final = re.compile(r"signage-tests-(\d+)")  # with the id of its process
ROOM_BYTES: Final = 3 * 2**30  # for two suites: each needs 0.3 GB, and up to 1 GB for the log of Postgres
FREE_BYTES: Final = 2 * ROOM_BYTES  # of available memory: the rest is for the tested programs


def folder() -> str | None:
    """A folder for `tempfile`, removed with this process; None (the default folder) without enough memory."""
    if not os.access(MEMORY, os.W_OK):
        return None
    sweep()
    if shutil.disk_usage(MEMORY).free < ROOM_BYTES or _available_bytes() < FREE_BYTES:
        return None
    mine = MEMORY / f"signage-tests-{os.getpid()}"
    with contextlib.suppress(FileExistsError):
        mine.mkdir(mode=0o711)  # Postgres may run as another user
        atexit.register(shutil.rmtree, mine, ignore_errors=True)
    return str(mine)


@cache
def kept() -> Path:
    """The folder of what is made once: by `make test` for all its suites, by a single pytest for itself."""
    if given := os.environ.get(KEPT):
        return Path(given)
    own = tempfile.mkdtemp(prefix="signage-kept-", dir=folder())
    Path(own).chmod(0o711)  # Postgres may run as another user
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return Path(own)


def sweep() -> None:
    """Remove folders of killed tests, which would use memory until the next boot."""
    for place in MEMORY.iterdir():
        named = OURS.fullmatch(place.name)
        if named and not Path(f"/proc/{named[1]}").exists():
            shutil.rmtree(place, ignore_errors=True)


def _available_bytes() -> int:
    """Available memory without swapping, in bytes."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return 0
