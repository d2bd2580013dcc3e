"""SQL on event media."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping

from shared.tables import event_media
from shared.vocabulary import MediaKind

SHOWN = (
    event_media.c.id,
    event_media.c.filename,
    event_media.c.kind,
    event_media.c.bytes,
    event_media.c.sha256,
    event_media.c.path,
    event_media.c.visible_slides,
    event_media.c.hidden_slides,
    event_media.c.uploaded_at,
    event_media.c.uploaded_by,
)


def lock_content(connection: Connection, sha256: str) -> None:
    """Let nobody else place or remove the file with this content until the transaction ends.

    The file and its rows are two stores: without the lock a removal could look, see no row, and unlink the
    file that an upload has just placed.
    """
    key = sa.func.hashtextextended(sa.cast(f"event_media:{sha256}", sa.Text), 0)
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))


def insert(connection: Connection, **values: Any) -> RowMapping:
    """A new row of event media, as shown."""
    return connection.execute(sa.insert(event_media).values(**values).returning(*SHOWN)).mappings().one()


def get(connection: Connection, media_id: int) -> RowMapping | None:
    """One medium, or None when there is none or it was deleted."""
    query = sa.select(*SHOWN).where(event_media.c.id == media_id, event_media.c.deleted_at.is_(None))
    return connection.execute(query).mappings().one_or_none()


def list_page(
    connection: Connection, limit: int, before_id: int | None = None, kind: MediaKind | None = None
) -> Sequence[RowMapping]:
    """Up to `limit` media, the newest first, that come after the one with `before_id`."""
    query = sa.select(*SHOWN).where(event_media.c.deleted_at.is_(None))
    if before_id is not None:
        query = query.where(event_media.c.id < before_id)
    if kind is not None:
        query = query.where(event_media.c.kind == kind)
    return connection.execute(query.order_by(event_media.c.id.desc()).limit(limit)).mappings().all()


def tombstone(connection: Connection, now: datetime, media_id: int) -> RowMapping | None:
    """Mark a medium deleted and answer it; None when there is none or it was deleted before."""
    statement = (
        sa.update(event_media)
        .where(event_media.c.id == media_id, event_media.c.deleted_at.is_(None))
        .values(deleted_at=now)
        .returning(*SHOWN)
    )
    return connection.execute(statement).mappings().one_or_none()


def rename(connection: Connection, media_id: int, filename: str) -> RowMapping | None:
    """Another name for a medium; None when there is none or it was deleted."""
    statement = (
        sa.update(event_media)
        .where(event_media.c.id == media_id, event_media.c.deleted_at.is_(None))
        .values(filename=filename)
        .returning(*SHOWN)
    )
    return connection.execute(statement).mappings().one_or_none()


def is_content_in_use(connection: Connection, sha256: str) -> bool:
    """Has a medium that was not deleted this content, whatever kind it is?"""
    live = sa.exists().where(event_media.c.sha256 == sha256, event_media.c.deleted_at.is_(None))
    return bool(connection.execute(sa.select(live)).scalar_one())


def is_path_in_use(connection: Connection, path: str) -> bool:
    """Does a medium that was not deleted lie at this path of the volume?"""
    live = sa.exists().where(event_media.c.path == path, event_media.c.deleted_at.is_(None))
    return bool(connection.execute(sa.select(live)).scalar_one())
