"""SQL on uploads in parts. Each write of a request in its turn names the turn's token."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping

from shared.tables import uploads

SHOWN = (
    uploads.c.id,
    uploads.c.filename,
    uploads.c.bytes,
    uploads.c.received,
    uploads.c.parts,
    uploads.c.media_id,
    uploads.c.created_at,
    uploads.c.expires_at,
    uploads.c.writer_until,
)


def insert(connection: Connection, **values: Any) -> RowMapping:
    """A new upload without a byte."""
    return connection.execute(sa.insert(uploads).values(**values).returning(*SHOWN)).mappings().one()


def get(connection: Connection, now: datetime, upload_id: str, *, lock: bool = False) -> RowMapping | None:
    """One upload that has not expired; None otherwise."""
    query = sa.select(*SHOWN).where(uploads.c.id == upload_id, uploads.c.expires_at > now)
    return connection.execute(query.with_for_update() if lock else query).mappings().one_or_none()


def is_open(connection: Connection, now: datetime, upload_id: str) -> bool:
    """Are the parts of this upload still needed?"""
    waiting = (uploads.c.id == upload_id, uploads.c.expires_at > now, uploads.c.media_id.is_(None))
    return bool(connection.execute(sa.select(sa.exists().where(*waiting))).scalar_one())


def give_turn(connection: Connection, upload_id: str, token: str, until: datetime) -> None:
    """Let the request with this token send; the caller has locked the row and looked at it."""
    turn = {"writer": token, "writer_until": until}
    connection.execute(sa.update(uploads).where(uploads.c.id == upload_id).values(**turn))


def add_part(
    connection: Connection, upload_id: str, token: str, offset: int, part: str, size: int, until: datetime
) -> bool:
    """Count a part in, and go on with the turn until then; False when the turn is another one's now."""
    ours = (uploads.c.id == upload_id, uploads.c.writer == token, uploads.c.received == offset)
    longer = {
        "received": offset + size,
        "parts": sa.func.array_append(uploads.c.parts, sa.cast(part, sa.Text)),
        "writer_until": until,
    }
    return connection.execute(sa.update(uploads).where(*ours).values(**longer)).rowcount == 1


def prolong(connection: Connection, upload_id: str, token: str, until: datetime) -> bool:
    """Go on with the turn until then; False when it is another one's now."""
    ours = (uploads.c.id == upload_id, uploads.c.writer == token)
    return connection.execute(sa.update(uploads).where(*ours).values(writer_until=until)).rowcount == 1


def end_turn(connection: Connection, upload_id: str, token: str) -> None:
    """Let the next request send, if the turn is still this one's."""
    ours = (uploads.c.id == upload_id, uploads.c.writer == token)
    connection.execute(sa.update(uploads).where(*ours).values(writer=None, writer_until=None))


def complete(connection: Connection, upload_id: str, token: str, media_id: int) -> bool:
    """The upload has become a medium; False when the turn is another one's now."""
    ours = (uploads.c.id == upload_id, uploads.c.writer == token, uploads.c.media_id.is_(None))
    done = {"received": uploads.c.bytes, "media_id": media_id, "parts": [], "writer": None, "writer_until": None}
    return connection.execute(sa.update(uploads).where(*ours).values(**done)).rowcount == 1


def delete(connection: Connection, upload_id: str) -> None:
    """Forget an upload."""
    connection.execute(sa.delete(uploads).where(uploads.c.id == upload_id))


def delete_expired(connection: Connection, now: datetime, limit: int) -> Sequence[str]:
    """Forget uploads that were not finished in time, and old finished ones: the ids, whose parts may go."""
    over = sa.select(uploads.c.id).where(uploads.c.expires_at <= now).limit(limit).with_for_update(skip_locked=True)
    statement = sa.delete(uploads).where(uploads.c.id.in_(over)).returning(uploads.c.id)
    return connection.execute(statement).scalars().all()
