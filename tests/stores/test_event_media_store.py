"""Event media: rows on real Postgres and files on a real volume, kept consistent."""

import contextlib
import io
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.errors import EventMediaNotFound, NotAPresentation, UnsupportedMediaType, UploadTooLarge, VolumeFull
from shared.event_media import operations, store
from shared.event_media.store import Medium
from shared.outside.media_volume import MediaVolume, converted_path
from shared.postgres.door import database_now, transaction
from shared.tables import event_media
from tests.worker import hostile_decks

LIMIT = 10_000_000


@pytest.fixture
def now(connection: Connection) -> datetime:
    return database_now(connection)


@pytest.fixture
def volume(tmp_path: Path) -> MediaVolume:
    return MediaVolume(tmp_path / "media")


@pytest.fixture(scope="module")
def deck(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return hostile_decks.pptx_bytes(tmp_path_factory.mktemp("deck"), slides=2, hidden=1)


def files(volume: MediaVolume) -> list[str]:
    """Every file on the volume, by its path below the root."""
    return sorted(str(path.relative_to(volume.root)) for path in volume.root.rglob("*") if path.is_file())


def upload(connection: Connection, now: datetime, volume: MediaVolume, content: bytes) -> Medium:
    received = operations.receive_upload(volume, io.BytesIO(content), "talk.pptx", LIMIT)
    return operations.record_upload(connection, now, received, "user:alice")


def test_an_upload_is_kept_with_what_was_seen_in_it(
    connection: Connection, now: datetime, volume: MediaVolume, deck: bytes
) -> None:
    media = upload(connection, now, volume, deck)

    assert (media.filename, media.kind, media.bytes) == ("talk.pptx", "pptx", len(deck))
    assert (media.visible_slides, media.hidden_slides) == (1, 1)
    assert (media.uploaded_at, media.uploaded_by) == (now, "user:alice")
    assert files(volume) == [media.path]
    with volume.open_original(media.path) as file:
        assert file.read() == deck
    assert operations.find(connection, media.id) == media


class Broken(io.BytesIO):
    """A stream whose sender disconnects in the middle."""

    def read(self, size: int | None = -1, /) -> bytes:
        block = super().read(size)
        if not block:
            raise ConnectionResetError
        return block


REFUSED = [
    ("notes.txt", io.BytesIO(b"x"), UnsupportedMediaType),
    ("talk.pptx", io.BytesIO(b"no deck"), NotAPresentation),
    ("big.pdf", io.BytesIO(b"%PDF-" + bytes(LIMIT)), UploadTooLarge),
    ("cut.pptx", Broken(b"PK\x03\x04"), ConnectionResetError),
]


@pytest.mark.parametrize(("name", "stream", "error"), REFUSED)
def test_what_is_refused_leaves_nothing_on_the_volume(
    volume: MediaVolume, name: str, stream: io.BytesIO, error: type[Exception]
) -> None:
    with pytest.raises(error):
        operations.receive_upload(volume, stream, name, LIMIT)

    assert files(volume) == []


def test_an_upload_of_exactly_the_limit_is_taken(volume: MediaVolume) -> None:
    received = operations.receive_upload(volume, io.BytesIO(b"%PDF-".ljust(LIMIT - 5) + b"%%EOF"), "full.pdf", LIMIT)

    assert received.incoming.bytes == LIMIT
    received.discard()
    assert files(volume) == []


def test_a_volume_that_cannot_be_written_is_said_to_be_unavailable(volume: MediaVolume, deck: bytes) -> None:
    volume.root.write_bytes(b"a file where the folder should be")

    with pytest.raises(VolumeFull):
        operations.receive_upload(volume, io.BytesIO(deck), "talk.pptx", LIMIT)
    assert not volume.is_usable()


def test_what_a_killed_upload_left_is_removed_after_a_day(volume: MediaVolume, deck: bytes) -> None:
    left = volume.root / "incoming" / "left"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    operations.receive_upload(volume, io.BytesIO(deck), "talk.pptx", LIMIT).discard()
    assert left.exists(), "it may still be arriving"

    os.utime(left, (time.time() - 90_000,) * 2)
    operations.receive_upload(volume, io.BytesIO(deck), "talk.pptx", LIMIT).discard()

    assert not left.exists()


def test_the_same_bytes_twice_are_two_media_and_one_file(
    connection: Connection, now: datetime, volume: MediaVolume, deck: bytes
) -> None:
    first, second = (upload(connection, now, volume, deck) for _ in range(2))

    assert first.id != second.id
    assert files(volume) == [first.path]


def delete(connection: Connection, now: datetime, volume: MediaVolume, media_id: int) -> None:
    """Delete a medium as the API does, but without the commit between row and files."""
    row = operations.delete(connection, now, media_id)
    operations.remove_unreferenced(connection, volume, row.sha256, row.path)


def test_a_file_goes_with_its_last_medium(
    connection: Connection, now: datetime, volume: MediaVolume, deck: bytes
) -> None:
    first, second = (upload(connection, now, volume, deck) for _ in range(2))

    delete(connection, now, volume, first.id)
    assert files(volume) == [first.path]
    delete(connection, now, volume, second.id)

    assert files(volume) == []
    assert store.list_page(connection, 10) == []
    with pytest.raises(EventMediaNotFound):
        delete(connection, now, volume, first.id)
    with pytest.raises(EventMediaNotFound):
        operations.find(connection, first.id)


PATHS = ["", "/etc/passwd", "../x", "originals/../../etc/passwd", "originals/ab/" + "ab" * 32 + ".pptx/../x", "ab\n"]


@pytest.mark.parametrize("path", PATHS)
def test_only_paths_of_our_own_making_are_opened(volume: MediaVolume, path: str) -> None:
    for act in (volume.open_original, volume.open_converted, volume.remove_original):
        with pytest.raises(ValueError, match="not the path"):
            act(path)
    with pytest.raises(ValueError, match="not a SHA-256"):
        converted_path(path)


def test_a_draft_takes_its_place_whole_or_not_at_all(volume: MediaVolume) -> None:
    path = converted_path("ab" * 32)

    with contextlib.suppress(RuntimeError), volume.writing_converted(path, "writer-1") as draft:
        draft.write(b"half")
        raise RuntimeError
    assert files(volume) == []

    with volume.writing_converted(path, "writer-1") as draft:
        draft.write(b"whole")
        assert [name.endswith(".draft") for name in files(volume)] == [True]
    assert files(volume) == [f"converted/{path}"]


def write_and_be_overtaken(volume: MediaVolume, path: str) -> None:
    with volume.writing_converted(path, "writer-1") as draft:
        draft.write(b"late")
        volume.remove_drafts(path, "writer-1")


def test_the_successor_of_a_writer_removes_its_draft_and_nobody_elses(volume: MediaVolume) -> None:
    path = converted_path("ab" * 32)

    with volume.writing_converted(path, "writer-2") as draft:
        draft.write(b"good")
        with pytest.raises(VolumeFull):
            write_and_be_overtaken(volume, path)

    assert files(volume) == [f"converted/{path}"]
    with volume.open_converted(path) as file:
        assert file.read() == b"good"


@pytest.fixture
def racing(engine: Engine) -> Iterator[Callable[..., None]]:
    """Runs functions at the same moment, each in its own thread and transaction."""

    def run(*acts: Callable[[Connection, datetime], object]) -> None:
        gate = threading.Barrier(len(acts))

        def one(act: Callable[[Connection, datetime], object]) -> None:
            with transaction(engine) as connection:
                now = database_now(connection)
                gate.wait(60)
                act(connection, now)

        with ThreadPoolExecutor(len(acts)) as pool:
            list(pool.map(one, acts))

    yield run
    with transaction(engine) as connection:
        connection.execute(sa.delete(event_media))


@pytest.mark.parametrize("round_number", range(10))
def test_a_removal_never_takes_the_file_of_an_upload_that_comes_at_the_same_moment(
    engine: Engine, racing: Callable[..., None], volume: MediaVolume, deck: bytes, round_number: int
) -> None:
    with transaction(engine) as connection:
        old = upload(connection, database_now(connection), volume, deck)
    received = operations.receive_upload(volume, io.BytesIO(deck), "talk.pptx", LIMIT)

    racing(
        lambda connection, now: delete(connection, now, volume, old.id),
        lambda connection, now: operations.record_upload(connection, now, received, "user:alice"),
    )

    assert files(volume) == [old.path]
