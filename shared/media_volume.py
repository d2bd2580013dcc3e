"""The mounted media volume: the one place that makes paths below MEDIA_ROOT and writes files there.

    originals/<hh>/<sha256>.<kind>    uploaded files; the same bytes are kept once
    converted/<hh>/<file_hash>.pdf    PDFs, named after the hash of what they were made from
    thumbnails/<hh>/<file_hash>.png   their first pages, small
    incoming/<random>                 uploads that are still arriving

Every path is made from a hash that we computed, or is checked to have that form: nothing that a user sent
is ever joined to a path. Files appear whole or not at all: written beside, flushed, closed, renamed.
"""

import contextlib
import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from shared.errors import UploadTooLarge, VolumeFull
from shared.structured_log import failure

BLOCK_BYTES: Final = 1024 * 1024
ABANDONED_AFTER: Final = timedelta(days=1)  # longer than any upload takes
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_ORIGINAL: Final = re.compile(r"originals/[0-9a-f]{2}/[0-9a-f]{64}\.[a-z0-9]{2,5}")
_CONVERTED: Final = re.compile(r"[0-9a-f]{2}/[0-9a-f]{64}\.pdf")


class ByteStream(Protocol):
    """What an upload is read from."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""
        ...


@dataclass(frozen=True)
class IncomingFile:
    """An uploaded file that is whole on the volume and has no place yet."""

    path: Path
    sha256: str
    """Lower-case hexadecimal."""
    bytes: int

    def discard(self) -> None:
        """Remove it, where it was not placed. Never raises."""
        with contextlib.suppress(OSError):
            self.path.unlink()


@dataclass(frozen=True)
class Draft:
    """A file that is being written and can be read meanwhile."""

    file: BinaryIO

    def write(self, block: bytes) -> None:
        """Append a block. Raises VolumeFull."""
        with _volume_errors():
            self.file.write(block)


class MediaVolume:
    """The media volume mounted at `root`, shared by the API and the worker."""

    def __init__(self, root: Path) -> None:
        """`root` is MEDIA_ROOT; the folders below it are made when they are first needed."""
        self.root = root

    def receive(self, stream: ByteStream, limit_bytes: int) -> IncomingFile:
        """Write a stream to the volume in blocks of 1 MiB, hashing on the way.

        Raises:
            UploadTooLarge: it is longer than `limit_bytes`.
            VolumeFull: the volume cannot take it.

        Whatever is raised, also by the stream, nothing is left on the volume.
        """
        folder = self.root / "incoming"
        path = folder / secrets.token_hex(16)
        with _volume_errors():
            folder.mkdir(parents=True, exist_ok=True)
            file = path.open("xb")
        try:
            with _closed_after(file):
                digest, size = _copy(stream, Draft(file), limit_bytes)
                _flush(file)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return IncomingFile(path, digest, size)

    def place_original(self, incoming: IncomingFile, kind: str) -> str:
        """Move a received file to its place and return its path below the root.

        Two uploads of the same bytes end in the same place; the second replaces the first by itself.
        Raises VolumeFull.
        """
        path = original_path(incoming.sha256, kind)
        target = self.root / path
        with _volume_errors():
            target.parent.mkdir(parents=True, exist_ok=True)
            incoming.path.replace(target)
            _sync_folder(target.parent)
        return path

    def open_original(self, path: str) -> BinaryIO:
        """Open an original by the path that the database holds.

        Raises FileNotFoundError when it is not there, and ValueError when it is no such path.
        """
        if not _ORIGINAL.fullmatch(path):
            raise ValueError("not the path of an original")
        return (self.root / path).open("rb")

    def remove_original(self, path: str) -> None:
        """Remove an original, if it is there. For the caller who knows that no row needs it any more."""
        if not _ORIGINAL.fullmatch(path):
            raise ValueError("not the path of an original")
        (self.root / path).unlink(missing_ok=True)

    def open_converted(self, path: str) -> BinaryIO:
        """Open a converted file by its path below `converted/`; errors as for `open_original`."""
        return self._converted(path).open("rb")

    def open_thumbnail(self, file_hash: str) -> BinaryIO:
        """Open the picture of the first page; errors as for `open_original`."""
        return (self.root / _thumbnail_path(file_hash)).open("rb")

    def write_thumbnail(self, file_hash: str, content: bytes) -> None:
        """Put the picture of a first page in its place, in one step. Raises VolumeFull."""
        with _writing(self.root / _thumbnail_path(file_hash), "thumbnail") as draft:
            draft.write(content)

    @contextlib.contextmanager
    def writing_converted(self, path: str, writer: str) -> Iterator["Draft"]:
        """A draft of `writer`'s (letters, digits, -) that takes its place at `path` when the block ends well.

        Where the block raises, the draft is removed and `path` stays as it was. Raises VolumeFull.
        """
        with _writing(self._converted(path), writer) as draft:
            yield draft

    def remove_drafts(self, path: str, writer: str) -> None:
        """Remove what `writer` has begun to write for `path`: for its successor, after it was killed.

        Should it be alive after all, its draft can no longer take its place.
        """
        target = self._converted(path)
        for draft in target.parent.glob(f".{target.name}.{writer}.*.draft"):
            draft.unlink(missing_ok=True)

    def remove_abandoned_uploads(self) -> None:
        """Remove uploads that never found their place because their process was killed."""
        limit = time.time() - ABANDONED_AFTER.total_seconds()
        for path in (self.root / "incoming").glob("*"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < limit:
                    path.unlink()

    def is_usable(self) -> bool:
        """Can a file be written to the volume? For the readiness check; never raises."""
        probe = self.root / f".probe-{secrets.token_hex(8)}"
        try:
            probe.write_bytes(b"")
            probe.unlink()
        except OSError:
            return False
        return True

    def _converted(self, path: str) -> Path:
        if not _CONVERTED.fullmatch(path):
            raise ValueError("not the path of a converted file")
        return self.root / "converted" / path


def original_path(sha256: str, kind: str) -> str:
    """Where the original with this hash lies, below the root. Raises ValueError for what is no hash."""
    path = f"originals/{sha256[:2]}/{sha256}.{kind}"
    if not _ORIGINAL.fullmatch(path):
        raise ValueError("not a SHA-256 and a kind")
    return path


def converted_path(file_hash: str) -> str:
    """Where the PDF of the source with this hash lies, below `converted/`. Raises ValueError as above."""
    if not _SHA256.fullmatch(file_hash):
        raise ValueError("not a SHA-256")
    return f"{file_hash[:2]}/{file_hash}.pdf"


def _thumbnail_path(file_hash: str) -> str:
    if not _SHA256.fullmatch(file_hash):
        raise ValueError("not a SHA-256")
    return f"thumbnails/{file_hash[:2]}/{file_hash}.png"


@contextlib.contextmanager
def _writing(target: Path, writer: str) -> Iterator[Draft]:
    """A draft beside `target` that replaces it when the block ends well; see `MediaVolume.writing_converted`."""
    draft = target.with_name(f".{target.name}.{writer}.{secrets.token_hex(8)}.draft")
    with _volume_errors():
        target.parent.mkdir(parents=True, exist_ok=True)
        file = draft.open("x+b")
    try:
        with _closed_after(file):
            yield Draft(file)
            _flush(file)
        with _volume_errors():
            draft.replace(target)
            _sync_folder(target.parent)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _copy(stream: ByteStream, draft: Draft, limit_bytes: int) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while block := stream.read(BLOCK_BYTES):
        size += len(block)
        if size > limit_bytes:
            raise UploadTooLarge(limit_bytes=limit_bytes)
        digest.update(block)
        draft.write(block)
    return digest.hexdigest(), size


def _flush(file: BinaryIO) -> None:
    """Force a file to disk and close it: a cloud mount says only at the close that it could not be stored."""
    with _volume_errors():
        file.flush()
        os.fsync(file.fileno())
        file.close()


@contextlib.contextmanager
def _closed_after(file: BinaryIO) -> Iterator[None]:
    """Close it whatever happens; a full volume that complained once would complain again at the close."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.close()


def _sync_folder(folder: Path) -> None:
    """Make a rename durable; a mount that knows no folders to sync has nothing to add."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _volume_errors() -> Iterator[None]:
    """Turn what the file system says into the one error of the product; the reason is logged."""
    try:
        yield
    except OSError as error:
        failure("media_volume_failed", "the media volume refused an operation", errno=error.errno)
        raise VolumeFull from error
