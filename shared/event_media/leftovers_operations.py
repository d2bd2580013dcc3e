"""Find and remove unused files on the volume, left by killed processes, crashes and restored backups."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from msgspec import Struct
from sqlalchemy import Connection, Engine

from shared.event_media import store
from shared.event_media.leftovers_rules import Owner, belonging
from shared.event_media.uploads import store as uploads_store
from shared.outside.media_volume import MediaVolume, StoredFile
from shared.postgres.door import database_now, transaction

GRACE = timedelta(days=1)  # longer than any file takes to write


class Leftover(Struct, frozen=True):
    """An unused file."""

    file: StoredFile
    is_ours: bool
    """False when our code never writes a file at such a path; then it is never removed."""
    was_removed: bool


def sweep(engine: Engine, volume: MediaVolume, *, remove: bool, older_than: timedelta = GRACE) -> Iterator[Leftover]:
    """Find every unused file older than `older_than`, and remove it if `remove` is set.

    Each file has a transaction of its own, which locks the file's content. An upload of the same bytes runs either
    before it, and the file stays, or after it, and writes the file again.
    """
    for file in volume.old_files(older_than):
        with transaction(engine) as connection:
            if _is_needed(connection, database_now(connection), file):
                continue
            is_ours = belonging(file.path).owner is not Owner.STRANGER
            if is_ours and remove:
                volume.remove(file)
        yield Leftover(file, is_ours, is_ours and remove)


def _is_needed(connection: Connection, now: datetime, file: StoredFile) -> bool:
    whose = belonging(file.path)
    if whose.sha256:
        store.lock_content(connection, whose.sha256)
    if whose.owner is Owner.PATH:
        return store.is_path_in_use(connection, whose.key)
    if whose.owner is Owner.CONTENT:
        return store.is_content_in_use(connection, whose.key)
    return whose.owner is Owner.UPLOAD and uploads_store.is_open(connection, now, whose.key)
