"""Write the broker's file of displays' logins when the logins in Postgres change."""

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from shared.access import enrolment_store
from shared.access.enrolment_store import DisplayLogin
from shared.postgres.door import snapshot
from shared.structured_log import event

NEW_FILE_MODE: Final = 0o640


class Accounts:
    """The broker's password file of displays."""

    def __init__(self, engine: Engine, password_file: Path) -> None:
        """`password_file` is DISPLAYS_PASSWORD_FILE."""
        self._engine = engine
        self._password_file = password_file
        self._digest: str | None = None  # the digest of the logins in the file

    def keep_up(self) -> None:
        """Read the logins once, and write the file when they changed.

        Raises:
            SQLAlchemyError, OSError: the database or the file cannot be used; retry later.
        """
        if not self._password_file.exists():
            self._digest = None
        with snapshot(self._engine) as connection:  # digest and logins must belong together
            digest = enrolment_store.live_logins_digest(connection)
            logins = enrolment_store.live_logins(connection) if digest != self._digest else None
        if logins is not None:
            if write_if_changed(self._password_file, render(logins)):
                event("accounts_written", "the displays' logins changed", logins=len(logins))
            self._digest = digest


def render(logins: Iterable[DisplayLogin]) -> bytes:
    """The password file's content, in mosquitto's format."""
    return "".join(f"{login.client_uuid}:{login.password_hash}\n" for login in logins).encode()


def write_if_changed(path: Path, content: bytes) -> bool:
    """Replace the file atomically, keeping its owner and mode; False when it has this content already.

    Raises:
        OSError: the folder cannot be written; the file is unchanged.
    """
    before = path.stat() if path.exists() else None
    if before is not None and path.read_bytes() == content:
        return False
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            _take_over(file.fileno(), before)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    _sync_folder(path.parent)
    return True


def _take_over(descriptor: int, before: os.stat_result | None) -> None:
    """Give the new file the owner, group and mode of the old one: the broker must be able to read it."""
    os.fchmod(descriptor, NEW_FILE_MODE if before is None else before.st_mode & 0o777)
    own = os.fstat(descriptor)
    if before is not None and (before.st_uid, before.st_gid) != (own.st_uid, own.st_gid):
        os.fchown(descriptor, before.st_uid, before.st_gid)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
