"""A display on a real ext4 that the kernel lets be read only, because its card has a fault."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from displays.agent.disk import Disk
from displays.agent.vitals import disk_percent
from displays.client import durable


def run(*command: str | Path) -> str:
    """Run this. Returns its output without the last newline. Skips where the machine has no loop devices."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no ext4 on a loop device here: {done.stderr.strip()}")
    return done.stdout.strip()


@pytest.fixture
def card(tmp_path: Path) -> Iterator[Path]:
    """A mounted ext4 of its own."""
    image, mounted = tmp_path / "image", tmp_path / str(uuid4())
    mounted.mkdir()
    run("truncate", "--size=64M", image)
    run("mkfs.ext4", "-q", image)
    run("mount", "-o", "loop,errors=remount-ro", image, mounted)
    try:
        yield mounted
    finally:
        subprocess.run(["umount", "--lazy", mounted], check=True)


def spoil(card: Path) -> None:
    """Tell the kernel of a fault of this file system."""
    device = Path(run("findmnt", "--noheadings", "--output", "SOURCE", card)).name
    trigger = Path(f"/sys/fs/ext4/{device}/trigger_fs_error")
    if not trigger.exists():
        pytest.skip("this kernel has no trigger_fs_error")
    trigger.write_text("x")


def test_a_disk_after_a_fault_takes_nothing_however_the_kernel_calls_it(card: Path) -> None:
    """Linux 6.18 still calls such a mount writable: only to open a file for writing tells."""
    disk = Disk(card)
    assert (disk.works, disk.journal.works()) == (True, True)

    spoil(card)
    disk.look()

    assert (disk.works, disk.journal.works()) == (False, False)
    assert not durable.takes_writes(card / "journal.jsonl")
    assert disk_percent(card) is not None, "it can still be read"
    disk.journal.close()
