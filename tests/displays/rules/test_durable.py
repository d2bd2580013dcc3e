"""Whether a display's disk takes writes, on real mounts."""

import subprocess
import sys
from typing import Final

import pytest

from deploy.parts.layout import REPOSITORY

LOOK: Final = "import pathlib, displays.client.durable as d; print(d.takes_writes(pathlib.Path('%s')))"

MOUNTED: Final = """
set -e
mount -t tmpfs -o size=64k tmpfs /mnt
touch /mnt/journal
{then}
exec "$0" -c "{look}"
"""


@pytest.mark.parametrize(
    ("then", "file", "takes"),
    [
        ("true", "journal", True),
        ("mount -o remount,ro /mnt", "journal", False),
        ("head -c 60k /dev/zero >/mnt/fill", "journal", False),
        ("true", "nothing", False),
    ],
    ids=["as it should be", "read-only", "full", "no journal"],
)
def test_a_disk_takes_writes_while_it_is_writable_and_has_room(then: str, file: str, takes: bool) -> None:
    script = MOUNTED.format(then=then, look=LOOK % f"/mnt/{file}")
    own = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, sys.executable]

    done = subprocess.run(own, cwd=REPOSITORY, capture_output=True, text=True, check=True)

    assert done.stdout == f"{takes}\n"
