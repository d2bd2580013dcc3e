"""Write files so that they are complete and durable or do not exist; read several files as one."""

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from msgspec import Struct

from shared.errors import UploadTooLarge, VolumeFull
from shared.structured_log import failure

BLOCK_BYTES: Final = 1024 * 1024
SLOW_BLOCK_BYTES: Final = 64 * 1024  # small, so that a read from a slow sender ends soon


class ByteStream(Protocol):
    """The source of an upload."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""
        ...


class Draft(Struct, frozen=True):
    """A file that is being written and can be read meanwhile."""

    file: BinaryIO

    def write(self, block: bytes) -> None:
        """Append a block. Raises VolumeFull."""
        with volume_errors():
            self.file.write(block)


@contextlib.contextmanager
def writing(target: Path, writer: str) -> Iterator[Draft]:
    """A draft beside `target` that replaces it when the block ends without an error."""
    draft = target.with_name(f".{target.name}.{writer}.{secrets.token_hex(8)}.draft")
    with volume_errors():
        target.parent.mkdir(parents=True, exist_ok=True)
        file = draft.open("x+b")
    try:
        with closed_after(file):
            yield Draft(file)
            make_durable(file)
        with volume_errors():
            draft.replace(target)
            sync_folder(target.parent)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def read_or_end(stream: ByteStream, size: int) -> bytes:
    """The next bytes; none at the end, or after any error when the sender has gone."""
    try:
        return stream.read(size)
    except Exception:  # noqa: BLE001 - every server has an exception of its own for it
        return b""


class Chain:
    """Files read one after the other, one open at a time."""

    def __init__(self, opened: contextlib.ExitStack, paths: Sequence[Path]) -> None:
        """`opened` closes the file that is open when the reading ends."""
        self._opened = opened
        self._waiting = list(paths)
        self._file: BinaryIO | None = None

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; none at the end."""
        while True:
            if block := self._file.read(size) if self._file else b"":
                return block
            self._opened.close()
            if not self._waiting:
                return b""
            self._file = self._opened.enter_context(self._waiting.pop(0).open("rb"))


def copy_hashed(stream: ByteStream, draft: Draft, limit_bytes: int) -> tuple[str, int]:
    """Copy and hash a stream. Returns SHA-256 and length in bytes. Raises UploadTooLarge, VolumeFull.

    A second thread hashes a block while the next one arrives; both release the interpreter lock.
    """
    digest, size, hashing = hashlib.sha256(), 0, None
    with ThreadPoolExecutor(1) as hasher:
        while block := stream.read(BLOCK_BYTES):
            size += len(block)
            if size > limit_bytes:
                raise UploadTooLarge("file_too_large", limit_bytes=limit_bytes)
            if hashing is not None:
                hashing.result()
            hashing = hasher.submit(digest.update, block)
            draft.write(block)
    return digest.hexdigest(), size


def make_durable(file: BinaryIO) -> None:
    """Force a file to disk and close it: a cloud mount reports a failed write only at the close."""
    with volume_errors():
        file.flush()
        os.fsync(file.fileno())
        file.close()


@contextlib.contextmanager
def closed_after(file: BinaryIO) -> Iterator[None]:
    """Close the file after the block, and ignore errors of this close."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.close()


def sync_folder(folder: Path) -> None:
    """Make a rename durable, on mounts that can sync folders."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def volume_errors() -> Iterator[None]:
    """Log an error of the file system and raise VolumeFull instead."""
    try:
        yield
    except OSError as error:
        failure("media_volume_failed", "the media volume refused an operation", errno=error.errno)
        raise VolumeFull from error
