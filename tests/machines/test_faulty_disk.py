"""A display on a real ext4 that the kernel lets be read only, because its card has a fault."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from displays.agent.card import PAGE_BYTES, Card
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


def test_a_card_that_gives_back_another_page_lies(card: Path, tmp_path: Path) -> None:
    """The image below the file system is spoilt, as a worn or forged card spoils what it holds."""
    Card(card / "card.page").look(0.0, 0.0)
    page = (card / "card.page").read_bytes()
    image = bytearray((tmp_path / "image").read_bytes())

    with (tmp_path / "image").open("r+b") as file:
        file.seek(image.index(page) + PAGE_BYTES // 2)
        file.write(b"\xff" * 64 if page[PAGE_BYTES // 2 :][:64] != b"\xff" * 64 else bytes(64))

    assert (card / "card.page").read_bytes() == page, "the kernel's cache still gives what was written"
    again = Card(card / "card.page")
    again.look(0.0, (card / "card.page").stat().st_mtime)
    assert again.lies is True
