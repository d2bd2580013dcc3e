"""Write files so that they survive a power cut; used by the journal, the spool and the counter file."""

import errno
import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

ROOM_BYTES: Final = 16 * 1024
LARGEST_BYTES: Final = 1024 * 1024


def read_file(path: Path) -> bytes:
    """The content of a file, at most `LARGEST_BYTES`. Raises OSError, also for a pipe, instead of waiting for ever."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        return file.read(LARGEST_BYTES)


def replace_file(path: Path, content: bytes) -> None:
    """Replace the file at `path` atomically: a crash leaves the old content or the new one, never a mixture."""
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)  # what a crash left, or a link or pipe that somebody laid there
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the rename itself
    finally:
        os.close(folder)


def takes_writes(path: Path) -> bool:
    """Whether the disk of this file is writable and has room for a journal. Nothing is written to it.

    It is opened, too: a kernel may refuse writes after a fault and still name the mount writable.
    """
    try:
        disk = os.statvfs(path)
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return False
    return not disk.f_flag & os.ST_RDONLY and disk.f_bavail * disk.f_frsize >= ROOM_BYTES


def append(file: int, content: bytes) -> None:
    """Append all of `content` to the open descriptor, or nothing. Raises OSError when the disk is full."""
    size = os.fstat(file).st_size
    written = os.write(file, content)
    if written < len(content):
        os.ftruncate(file, size)
        raise OSError(errno.ENOSPC, "only a part could be written")


def json_lines(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file with one in each line; [] when there is no file.

    A power cut may tear the end of the file. An incomplete line is left out: its write was never confirmed.
    """
    if not path.exists():
        return []
    return [body for line in path.read_bytes().splitlines() if (body := _object(line)) is not None]


def as_lines(bodies: Iterable[dict[str, Any]]) -> bytes:
    """`bodies` as JSON, one object in each line; ASCII only, so that no text of a log can break a line."""
    return b"".join(json.dumps(body, separators=(",", ":")).encode() + b"\n" for body in bodies)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(line)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None
