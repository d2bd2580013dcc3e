"""The mounted media volume. Only this package makes paths below MEDIA_ROOT and writes files there.

    originals/<hh>/<sha256>.<kind>    uploaded files; the same bytes are kept once
    converted/<hh>/<file_hash>.pdf    PDFs, named after the hash of their source
    thumbnails/<hh>/<file_hash>.png   their first pages, small
    uploads/<id>/<offset>-<token>     parts of uploads that may be resumed
    incoming/<random>                 uploads that are still arriving

Each path is made from a computed hash, or its form is checked: no text from a user becomes part of a path. Files
appear whole or not at all: they are written beside their place, flushed, closed and renamed.
"""

import contextlib
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from shared.outside.media_volume import paths
from shared.outside.media_volume.durable import (
    SLOW_BLOCK_BYTES,
    ByteStream,
    Chain,
    Draft,
    closed_after,
    copy_hashed,
    make_durable,
    read_or_end,
    sync_folder,
    volume_errors,
    writing,
)
from shared.outside.media_volume.paths import converted_path, original_path, upload_path

__all__ = [
    "ByteStream",
    "Draft",
    "IncomingFile",
    "MediaVolume",
    "StoredFile",
    "converted_path",
    "original_path",
    "upload_path",
]
ABANDONED_AFTER: Final = timedelta(days=1)  # longer than any upload takes


class IncomingFile(Struct, frozen=True):
    """An uploaded file that is complete on the volume, before it is moved to its place."""

    path: Path
    sha256: str
    """Lower-case hexadecimal."""
    bytes: int

    def discard(self) -> None:
        """Remove it if it has no place yet. Never raises."""
        with contextlib.suppress(OSError):
            self.path.unlink()


class StoredFile(Struct, frozen=True):
    """A file on the volume."""

    path: str
    """Below the root."""
    bytes: int


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

        After an error, also of the stream, no file remains on the volume.
        """
        folder = self.root / "incoming"
        path = folder / secrets.token_hex(16)
        with volume_errors():
            folder.mkdir(parents=True, exist_ok=True)
            file = path.open("xb")
        try:
            with closed_after(file):
                digest, size = copy_hashed(stream, Draft(file), limit_bytes)
                make_durable(file)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return IncomingFile(path, digest, size)

    def place_original(self, incoming: IncomingFile, kind: str) -> str:
        """Move a received file to its place and return its path below the root.

        Two uploads of the same bytes have the same place; the second replaces the first.
        Raises VolumeFull.
        """
        path = paths.original_path(incoming.sha256, kind)
        target = self.root / path
        with volume_errors():
            target.parent.mkdir(parents=True, exist_ok=True)
            incoming.path.replace(target)
            sync_folder(target.parent)
        return path

    def open_original(self, path: str) -> BinaryIO:
        """Open an original by the path that the database holds.

        Raises FileNotFoundError when it is missing, ValueError for a path of another form.
        """
        if not paths.ORIGINAL.fullmatch(path):
            raise ValueError("not the path of an original")
        return (self.root / path).open("rb")

    def remove_original(self, path: str) -> None:
        """Remove an original, if it exists. Only when no row needs it."""
        if not paths.ORIGINAL.fullmatch(path):
            raise ValueError("not the path of an original")
        (self.root / path).unlink(missing_ok=True)

    def remove_made_of(self, file_hash: str) -> None:
        """Remove the PDF and the picture made of this content, if they exist. Only when no row needs them."""
        for path in (self._converted(paths.converted_path(file_hash)), self.root / paths.thumbnail_path(file_hash)):
            path.unlink(missing_ok=True)

    def has_converted(self, path: str) -> bool:
        """Whether the file exists. For repairs; serving decides by the database."""
        return self._converted(path).is_file()

    def open_converted(self, path: str) -> BinaryIO:
        """Open a converted file by its path below `converted/`; errors as for `open_original`."""
        return self._converted(path).open("rb")

    def open_thumbnail(self, file_hash: str) -> BinaryIO:
        """Open the picture of the first page; errors as for `open_original`."""
        return (self.root / paths.thumbnail_path(file_hash)).open("rb")

    def write_thumbnail(self, file_hash: str, content: bytes) -> None:
        """Put the picture of a first page in its place, in one step. Raises VolumeFull."""
        with writing(self.root / paths.thumbnail_path(file_hash), "thumbnail") as draft:
            draft.write(content)

    @contextlib.contextmanager
    def writing_converted(self, path: str, writer: str) -> Iterator["Draft"]:
        """A draft of `writer` (letters, digits, -). It replaces `path` when the block ends without an error.

        After an error the draft is removed and `path` does not change. Raises VolumeFull.
        """
        with writing(self._converted(path), writer) as draft:
            yield draft

    def remove_drafts(self, path: str, writer: str) -> None:
        """Remove the drafts of a killed `writer` for `path`.

        If the writer still runs, its draft can no longer replace `path`.
        """
        target = self._converted(path)
        for draft in target.parent.glob(f".{target.name}.{writer}.*.draft"):
            draft.unlink(missing_ok=True)

    def write_part(self, upload_id: str, part: str, stream: ByteStream, most: int, is_time: Callable[[], bool]) -> int:
        """Write up to `most` bytes of a stream, until `is_time` at the latest, as one part. Returns its bytes.

        If the stream ends early, also by an error, the bytes before are stored durably. Raises VolumeFull.
        """
        path = self._part(upload_id, part)
        with volume_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("xb")
        with closed_after(file):
            size = 0
            while size < most and not is_time() and (block := read_or_end(stream, min(SLOW_BLOCK_BYTES, most - size))):
                Draft(file).write(block)
                size += len(block)
            make_durable(file)
        if size == 0:
            path.unlink(missing_ok=True)
        else:
            with contextlib.suppress(FileNotFoundError):  # another request has removed the upload and its parts
                sync_folder(path.parent)
        return size

    @contextlib.contextmanager
    def open_parts(self, upload_id: str, parts: Sequence[str]) -> Iterator[ByteStream]:
        """These parts as one stream. Raises VolumeFull when one is missing."""
        with contextlib.ExitStack() as opened, volume_errors():
            files = [self._part(upload_id, part) for part in parts]
            yield Chain(opened, files)

    def remove_upload(self, upload_id: str) -> None:
        """Remove all parts of an upload. Never raises: the sweep removes the rest."""
        shutil.rmtree(self._part(upload_id, "0-" + "0" * 32).parent, ignore_errors=True)

    def _part(self, upload_id: str, part: str) -> Path:
        return self.root / upload_path(upload_id, part)

    def remove_abandoned_incoming(self) -> None:
        """Remove incoming files whose process was killed."""
        limit = time.time() - ABANDONED_AFTER.total_seconds()
        for path in (self.root / "incoming").glob("*"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < limit:
                    path.unlink()

    def old_files(self, older_than: timedelta) -> Iterator[StoredFile]:
        """Every file last written longer ago than `older_than`, in the order of the folders. Follows no links."""
        limit = time.time() - older_than.total_seconds()
        for folder, _, names in os.walk(self.root):
            for name in sorted(names):
                path = Path(folder, name)
                with contextlib.suppress(FileNotFoundError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode) and status.st_mtime < limit:
                        yield StoredFile(path.relative_to(self.root).as_posix(), status.st_size)

    def remove(self, file: StoredFile) -> None:
        """Remove a file from `old_files`. Only when nothing needs it."""
        (self.root / file.path).unlink(missing_ok=True)

    def is_usable(self) -> bool:
        """Whether a file can be written to the volume, for the readiness check. Never raises."""
        probe = self.root / f".probe-{secrets.token_hex(8)}"
        try:
            probe.write_bytes(b"")
            probe.unlink()
        except OSError:
            return False
        return True

    def _converted(self, path: str) -> Path:
        if not paths.CONVERTED.fullmatch(path):
            raise ValueError("not the path of a converted file")
        return self.root / "converted" / path
