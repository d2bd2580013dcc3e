"""Files on the volume that no row names: what kills, crashes and restored backups leave."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, Engine

from shared.event_media import store
from shared.event_media.leftovers_rules import Owner, belonging
from shared.event_media.uploads import store as uploads
from shared.outside.media_volume import MediaVolume, StoredFile
from shared.postgres.door import database_now, transaction

GRACE = timedelta(days=1)  # longer than anything that is being written takes


@dataclass(frozen=True)
class Leftover:
    """A file that nothing needs."""

    file: StoredFile
    is_ours: bool
    """False for a file that our code does not write by its path; it is never removed."""
    was_removed: bool


def sweep(engine: Engine, volume: MediaVolume, *, remove: bool, older_than: timedelta = GRACE) -> Iterator[Leftover]:
    """Every file older than `older_than` that nothing needs. Removes them only when `remove` says so.

    Each has a transaction of its own, under the lock of its content. An upload of the same bytes comes before it, and
    the file stays, or comes after it and writes the file again.
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
    return whose.owner is Owner.UPLOAD and uploads.is_open(connection, now, whose.key)
