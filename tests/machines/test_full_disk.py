"""A share of the campaign `disk`."""

import subprocess
import sys
from pathlib import Path

from deploy.parts.layout import REPOSITORY

SMALL_DISK = """
import sys
from pathlib import Path
from tests.lab.campaigns import disk
ledger = disk.run(disk.Plan(displays=5, lines=60, seconds=1.5, megabytes=200), Path(sys.argv[1]))
print(ledger.text())
sys.exit(bool(ledger.broken))
"""


def test_a_full_disk_and_a_stopped_postgres_cost_nothing(tmp_path: Path) -> None:
    """Runs in its own process with its own mount namespace."""
    done = subprocess.run(
        [sys.executable, "-c", SMALL_DISK, tmp_path], check=False, cwd=REPOSITORY, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stdout + done.stderr
