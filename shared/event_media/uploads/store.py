"""SQL on uploads in parts. Each write in a turn is guarded by the turn's token."""

from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.event_media.uploads.rules import ASSEMBLY, LIFE
from shared.postgres import query
from shared.postgres.query import NO_ROW, Query


class KeptUpload(Struct, frozen=True):
    """An upload in parts: `received` bytes are durable; a complete upload has become the medium `media_id`."""

    id: str
    filename: str
    bytes: int
    received: int
    parts: list[str]
    media_id: int | None
    created_at: datetime
    expires_at: datetime
    writer_until: datetime | None
    """When the lease of the present turn ends."""


UPLOAD: Final = ", ".join(KeptUpload.__struct_fields__)
INSERT = Query(
    f"""
    INSERT INTO uploads (id, filename, bytes, created_at, expires_at, created_by)
    VALUES (:id, :filename, :bytes, :now, :expires_at, :by) RETURNING {UPLOAD}
    """,
    KeptUpload,
)


def insert(
    connection: Connection, now: datetime, upload_id: str, filename: str, size: int, expires_at: datetime, by: str
) -> KeptUpload:
    """Insert an upload without parts. Returns it."""
    values = {"id": upload_id, "filename": filename, "bytes": size, "expires_at": expires_at, "by": by}
    return INSERT.one(connection, now=now, **values)


_ONE: Final = f"SELECT {UPLOAD} FROM uploads WHERE id = :id AND expires_at > :now"
GET, LOCK = Query(_ONE, KeptUpload), Query(f"{_ONE} FOR UPDATE", KeptUpload)


def get(connection: Connection, now: datetime, upload_id: str, *, lock: bool = False) -> KeptUpload | None:
    """One upload; None when there is none or it has expired."""
    return (LOCK if lock else GET).one_or_none(connection, now=now, id=upload_id)


@query.one("SELECT EXISTS (SELECT FROM uploads WHERE id = :upload_id AND expires_at > :now AND media_id IS NULL)")
def is_open(connection: Connection, now: datetime, upload_id: str) -> bool:
    """Whether the parts of this upload are still needed."""


@query.run("UPDATE uploads SET writer = :token, writer_until = :until WHERE id = :upload_id")
def give_turn(connection: Connection, upload_id: str, token: str, until: datetime) -> None:
    """Give the turn to the request with this token. The caller has locked and checked the row."""


ADD_PART = Query(
    """
    UPDATE uploads SET received = received + :size, parts = array_append(parts, :part), writer_until = :until
    WHERE id = :id AND writer = :token AND received = :offset
    """,
    NO_ROW,
)


def add_part(
    connection: Connection, upload_id: str, token: str, offset: int, part: str, size: int, until: datetime
) -> bool:
    """Add a part and prolong the turn to `until`; False when another request has the turn."""
    added = {"offset": offset, "part": part, "size": size, "until": until}
    return ADD_PART.run(connection, id=upload_id, token=token, **added) == 1


@query.run("UPDATE uploads SET writer_until = :until WHERE id = :upload_id AND writer = :token")
def prolong(connection: Connection, upload_id: str, token: str, until: datetime) -> bool:
    """Prolong the turn to `until`; False when another request has the turn."""


@query.run("UPDATE uploads SET writer = NULL, writer_until = NULL WHERE id = :upload_id AND writer = :token")
def end_turn(connection: Connection, upload_id: str, token: str) -> None:
    """End the turn, if this token still has it."""


@query.run(
    """
    UPDATE uploads SET received = bytes, media_id = :media_id, parts = '{}', writer = NULL, writer_until = NULL
    WHERE id = :upload_id AND writer = :token AND media_id IS NULL
    """
)
def complete(connection: Connection, upload_id: str, token: str, media_id: int) -> bool:
    """Note that the upload has become a medium; False when another request has the turn."""


@query.run("DELETE FROM uploads WHERE id = :upload_id")
def delete(connection: Connection, upload_id: str) -> None:
    """Delete an upload."""


@query.rows(
    """
    DELETE FROM uploads WHERE id IN (
        SELECT id FROM uploads WHERE expires_at <= :now LIMIT :limit FOR UPDATE SKIP LOCKED)
    RETURNING id
    """
)
def delete_expired(connection: Connection, now: datetime, limit: int) -> list[str]:
    """Delete up to `limit` expired uploads, complete or not. Returns their ids; their parts may be removed."""


FORGET_THE_FUTURE = Query(
    """
    UPDATE uploads SET writer_until = CASE WHEN writer_until > :turn THEN :turn ELSE writer_until END,
        expires_at = CASE WHEN expires_at > :life THEN :life ELSE expires_at END
    WHERE writer_until > :turn OR expires_at > :life
    """,
    NO_ROW,
)


def forget_the_future(connection: Connection, now: datetime) -> int:
    """After the database's clock was set back: no turn or upload ends later than one of now. Returns how many."""
    return FORGET_THE_FUTURE.run(connection, turn=now + ASSEMBLY, life=now + LIFE)
