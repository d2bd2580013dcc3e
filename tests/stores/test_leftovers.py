"""The sweep of the media volume finds unneeded files, and removes them only on demand."""

import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.event_media import operations
from shared.event_media.leftovers_operations import sweep
from shared.event_media.leftovers_rules import Owner, belonging
from shared.outside.media_volume import MediaVolume, converted_path, paths
from shared.postgres.door import database_now, transaction
from shared.tables import event_media
from shared.vocabulary import MediaKind
from tests.worker.hostile_pdfs import PDF

SHA = "ab" * 32
PATHS = [
    *((paths.original_path(SHA, kind), Owner.PATH) for kind in MediaKind),
    (f"converted/{paths.converted_path(SHA)}", Owner.CONTENT),
    (paths.thumbnail_path(SHA), Owner.CONTENT),
    (paths.upload_path("a" * 32, f"0-{'b' * 32}"), Owner.UPLOAD),
    (f"incoming/{'a' * 32}", Owner.NOBODY),
    (f"converted/ab/.{SHA}.pdf.conversion-1.0123.draft", Owner.NOBODY),
    ("lost+found/x", Owner.STRANGER),
    ("notes.txt", Owner.STRANGER),
    (f"originals/ab/{SHA}.pptx.bak", Owner.STRANGER),
    (f"converted/ab/{SHA}.pdf\n", Owner.STRANGER),
]


@pytest.mark.parametrize(("path", "owner"), PATHS)
def test_a_file_is_known_by_its_path(path: str, owner: Owner) -> None:
    assert belonging(path).owner is owner


@pytest.fixture
def volume(tmp_path: Path) -> MediaVolume:
    return MediaVolume(tmp_path / "media")


@pytest.fixture
def committed(engine: Engine) -> Iterator[Engine]:
    yield engine
    with transaction(engine) as connection:
        connection.execute(sa.delete(event_media))


def upload(engine: Engine, volume: MediaVolume, content: bytes) -> int:
    """Add a committed medium with a PDF and a picture. Returns its id."""
    received = operations.receive_upload(volume, io.BytesIO(content), "menu.pdf", 10**6)
    with transaction(engine) as connection:
        row = operations.record_upload(connection, database_now(connection), received, "tests")
    with volume.writing_converted(converted_path(row.sha256), "tests") as draft:
        draft.write(PDF)
    volume.write_thumbnail(row.sha256, b"x")
    return row.id


def grow_old(volume: MediaVolume) -> set[str]:
    """Make every file two days old. Returns their paths."""
    for path in volume.root.rglob("*"):
        os.utime(path, (time.time() - 2 * 86_400,) * 2)
    return files(volume)


def files(volume: MediaVolume) -> set[str]:
    return {str(path.relative_to(volume.root)) for path in volume.root.rglob("*") if path.is_file()}


def litter(volume: MediaVolume) -> set[str]:
    """Create files as killed processes and people leave them."""
    paths = {path for path, owner in PATHS if owner is not Owner.STRANGER}
    for path in paths | {"notes.txt"}:
        (volume.root / path).parent.mkdir(parents=True, exist_ok=True)
        (volume.root / path).write_bytes(b"left")
    return paths


def test_the_sweep_lists_what_nothing_needs_and_removes_it_only_when_told_to(
    committed: Engine, volume: MediaVolume
) -> None:
    upload(committed, volume, PDF)
    needed = files(volume)
    left = litter(volume)
    before = grow_old(volume)

    found = {one.file.path: one for one in sweep(committed, volume, remove=False)}
    assert set(found) == left | {"notes.txt"}
    assert files(volume) == before
    assert not any(one.was_removed for one in found.values())

    removed = {one.file.path for one in sweep(committed, volume, remove=True) if one.was_removed}
    assert removed == left
    assert files(volume) == needed | {"notes.txt"}


def test_what_is_young_is_left_alone(committed: Engine, volume: MediaVolume) -> None:
    litter(volume)

    assert list(sweep(committed, volume, remove=True)) == []


def test_files_of_a_deleted_medium_that_a_kill_left_are_found(committed: Engine, volume: MediaVolume) -> None:
    media_id = upload(committed, volume, PDF)
    with transaction(committed) as connection:
        operations.delete(connection, database_now(connection), media_id)  # and then it was killed
    before = grow_old(volume)

    assert {one.file.path for one in sweep(committed, volume, remove=True)} == before
    assert files(volume) == set()


def test_links_are_not_followed(committed: Engine, volume: MediaVolume, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "precious").write_bytes(b"x")
    volume.root.mkdir()
    (volume.root / "link").symlink_to(tmp_path / "outside")
    grow_old(volume)

    assert list(sweep(committed, volume, remove=True)) == []


def test_the_command_is_dry_by_default(committed: Engine, database_url: str, volume: MediaVolume) -> None:
    left = litter(volume)
    (volume.root / "notes.txt").unlink()
    grow_old(volume)
    environment = {**os.environ, "DATABASE_URL": database_url, "MEDIA_ROOT": str(volume.root)}
    command = [sys.executable, "-m", "functions.scheduler_tick.volume_sweep"]

    def run(*options: str) -> str:
        done = subprocess.run([*command, *options], env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    dry = run()
    assert "nothing removed" in dry
    assert files(volume) == left

    wet = subprocess.run(
        [*command, "--remove"], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert f"{len(left)} files" in wet.stdout
    assert files(volume) == set()
