"""SQL on event media."""

from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.query import NO_ROW, Query
from shared.vocabulary import MediaKind


class Medium(Struct, frozen=True):
    """An uploaded file; `path` is below the media root."""

    id: int
    filename: str
    kind: MediaKind
    bytes: int
    sha256: str
    path: str
    visible_slides: int | None
    hidden_slides: int | None
    uploaded_at: datetime
    uploaded_by: str


COLUMNS: Final = Medium.__struct_fields__
MEDIUM: Final = ", ".join(COLUMNS)
LOCK_CONTENT = Query("SELECT pg_advisory_xact_lock(hashtextextended(:content, 0))", NO_ROW)


def lock_content(connection: Connection, sha256: str) -> None:
    """Lock the file with this content against other transactions that write or remove it (an advisory lock).

    Without the lock a removal could see no row and then unlink the file that an upload has just written.
    """
    LOCK_CONTENT.run(connection, content=f"event_media:{sha256}")


INSERT = Query(
    f"""
    INSERT INTO event_media ({", ".join(COLUMNS[1:])}) VALUES ({", ".join(f":{name}" for name in COLUMNS[1:])})
    RETURNING {MEDIUM}
    """,
    Medium,
)


def insert(connection: Connection, **values: Any) -> Medium:
    """Insert a medium; `values` are all its columns but the id. Returns it."""
    return INSERT.one(connection, **values)


@query.one_or_none(f"SELECT {MEDIUM} FROM event_media WHERE id = :media_id AND deleted_at IS NULL")
def get(connection: Connection, media_id: int) -> Medium | None:
    """One medium, or None when there is none or it was deleted."""


@query.rows(
    f"""
    SELECT {MEDIUM} FROM event_media
    WHERE deleted_at IS NULL AND (CAST(:before_id AS bigint) IS NULL OR id < :before_id)
        AND (CAST(:kind AS text) IS NULL OR kind = :kind)
    ORDER BY id DESC LIMIT :limit {FOR_ITS_VALUES}
    """
)
def list_page(
    connection: Connection, limit: int, before_id: int | None = None, kind: MediaKind | None = None
) -> list[Medium]:
    """Up to `limit` media with an id below `before_id`, the newest first."""


@query.one_or_none(
    f"""
    UPDATE event_media SET deleted_at = :now WHERE id = :media_id AND deleted_at IS NULL RETURNING {MEDIUM}
    """
)
def tombstone(connection: Connection, now: datetime, media_id: int) -> Medium | None:
    """Mark a medium deleted and return it; None when there is none or it was deleted before."""


@query.one_or_none(
    f"""
    UPDATE event_media SET filename = :filename WHERE id = :media_id AND deleted_at IS NULL RETURNING {MEDIUM}
    """
)
def rename(connection: Connection, media_id: int, filename: str) -> Medium | None:
    """Rename a medium and return it; None when there is none or it was deleted."""


@query.one("SELECT EXISTS (SELECT FROM event_media WHERE sha256 = :sha256 AND deleted_at IS NULL)")
def is_content_in_use(connection: Connection, sha256: str) -> bool:
    """Whether a medium that is not deleted has this content, of any kind."""


@query.one("SELECT EXISTS (SELECT FROM event_media WHERE path = :path AND deleted_at IS NULL)")
def is_path_in_use(connection: Connection, path: str) -> bool:
    """Whether a medium that is not deleted has this path."""
