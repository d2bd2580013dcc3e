"""SQL on conversions. Every move is one guarded UPDATE; after the claim each write carries the claim's token."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import ARRAY, distinct_on, insert

from shared.conversions.rules import MOVES, ConversionMove
from shared.postgres.door import scrub
from shared.tables import conversions, event_media
from shared.vocabulary import ConversionStatus, TargetFormat

SHOWN = (
    conversions.c.id,
    conversions.c.source_event_media_id.label("media_id"),
    conversions.c.target_format,
    conversions.c.file_hash,
    conversions.c.status,
    conversions.c.generation,
    conversions.c.attempts,
    conversions.c.created_at,
    conversions.c.started_at,
    conversions.c.finished_at,
    conversions.c.error_code,
    conversions.c.error_message,
    conversions.c.pages,
    conversions.c.target_path,
    conversions.c.report,
    conversions.c.rebuild,
    conversions.c.traceparent,
)
NO_ERROR: dict[str, Any] = {"error_code": None, "error_message": None}
_LIVE = sa.and_(conversions.c.source_event_media_id == event_media.c.id, event_media.c.deleted_at.is_(None))


def _from(move: ConversionMove) -> sa.ColumnElement[bool]:
    return conversions.c.status.in_(sorted(MOVES[move][0]))


def insert_pending(
    connection: Connection, now: datetime, media_id: int, file_hash: str, traceparent: str | None
) -> RowMapping | None:
    """A new conversion to PDF, to be enqueued; None when this content of the medium has one already."""
    statement = insert(conversions).values(
        source_event_media_id=media_id,
        target_format=TargetFormat.PDF,
        file_hash=file_hash,
        status=ConversionStatus.PENDING,
        created_at=now,
        requested_at=now,
        enqueued_at=now,
        traceparent=traceparent,
    )
    on_conflict = statement.on_conflict_do_nothing(constraint="uq_conversions_media_format_hash")
    return connection.execute(on_conflict.returning(*SHOWN)).mappings().one_or_none()


def request_again(
    connection: Connection, now: datetime, media_id: int, file_hash: str, traceparent: str | None
) -> RowMapping | None:
    """Give a failed conversion all its tries again; None when it is not failed."""
    return _ask(connection, now, media_id, file_hash, ConversionMove.REQUEST, {"traceparent": traceparent})


def request_rebuild(
    connection: Connection, now: datetime, media_id: int, file_hash: str, traceparent: str | None
) -> RowMapping | None:
    """Have another PDF made, whatever there is; None when the conversion is under way."""
    anew = {"rebuild": True, "traceparent": traceparent}
    return _ask(connection, now, media_id, file_hash, ConversionMove.REBUILD, anew)


def _ask(
    connection: Connection, now: datetime, media_id: int, file_hash: str, move: ConversionMove, values: dict[str, Any]
) -> RowMapping | None:
    of_content = (conversions.c.source_event_media_id == media_id, conversions.c.file_hash == file_hash)
    fresh = {"status": MOVES[move][1], "attempts": 0, "started_at": None, "finished_at": None, **NO_ERROR}
    statement = (
        sa.update(conversions)
        .where(*of_content, _from(move))
        .values(**fresh, **values, generation=conversions.c.generation + 1, requested_at=now, enqueued_at=now)
    )
    return connection.execute(statement.returning(*SHOWN)).mappings().one_or_none()


def delete_of_media(connection: Connection, media_id: int) -> int:
    """Forget every conversion of a medium that is being deleted; how many there were."""
    return connection.execute(sa.delete(conversions).where(conversions.c.source_event_media_id == media_id)).rowcount


def get(connection: Connection, conversion_id: int) -> RowMapping | None:
    """One conversion, with the claim's time; None when there is none."""
    query = sa.select(*SHOWN, conversions.c.claimed_at).where(conversions.c.id == conversion_id)
    return connection.execute(query).mappings().one_or_none()


def latest_of_media(connection: Connection, media_id: int) -> RowMapping | None:
    """The newest conversion of a medium that was not deleted; None when there is none."""
    query = sa.select(*SHOWN).join(event_media, _LIVE).where(event_media.c.id == media_id)
    return connection.execute(query.order_by(conversions.c.id.desc()).limit(1)).mappings().one_or_none()


def latest_of_each(connection: Connection, media_ids: Sequence[int]) -> dict[int, RowMapping]:
    """The newest conversion of each of these media that has one, by the medium's id."""
    c = conversions.c
    asked = sa.literal(list(media_ids), ARRAY(sa.BigInteger))
    query = sa.select(*SHOWN).where(c.source_event_media_id == sa.any_(asked))
    newest = query.order_by(c.source_event_media_id, c.id.desc()).ext(distinct_on(c.source_event_media_id))
    return {row["media_id"]: row for row in connection.execute(newest).mappings()}


def list_page(
    connection: Connection, limit: int, before_id: int | None = None, status: ConversionStatus | None = None
) -> Sequence[RowMapping]:
    """Up to `limit` conversions of media that were not deleted, the newest first, with the file's name.

    They come after the one with `before_id`.
    """
    query = sa.select(*SHOWN, event_media.c.filename).join(event_media, _LIVE)
    if before_id is not None:
        query = query.where(conversions.c.id < before_id)
    if status is not None:
        query = query.where(conversions.c.status == status)
    return connection.execute(query.order_by(conversions.c.id.desc()).limit(limit)).mappings().all()


def ready_target(connection: Connection, path: str) -> RowMapping | None:
    """Who made the PDF at `path` (below `converted/`) ready, of media that were not deleted; None: do not serve it.

    Several media may have the same content, and so the same PDF; the newest answers. While another PDF is being
    made the old one is served.
    """
    is_served = sa.or_(conversions.c.status == ConversionStatus.READY, conversions.c.rebuild)
    query = (
        sa.select(*SHOWN, event_media.c.filename)
        .join(event_media, _LIVE)
        .where(conversions.c.target_path == scrub(path), is_served)
    )
    return connection.execute(query.order_by(conversions.c.id.desc()).limit(1)).mappings().one_or_none()


def claim(
    connection: Connection, now: datetime, conversion_id: int, token: str, expired_before: datetime
) -> RowMapping | None:
    """Take a conversion that waits, or whose last worker's lease is over; None when it is not to be had.

    `expired_before` is the newest time of a claim that no longer counts.
    """
    is_free = sa.or_(conversions.c.status == ConversionStatus.PENDING, conversions.c.claimed_at < expired_before)
    statement = (
        sa.update(conversions)
        .where(conversions.c.id == conversion_id, _from(ConversionMove.CLAIM), is_free)
        .values(
            status=MOVES[ConversionMove.CLAIM][1],
            claim=token,
            claimed_at=now,
            started_at=sa.func.coalesce(conversions.c.started_at, now),
            attempts=conversions.c.attempts + 1,
        )
    )
    asked_for = sa.func.coalesce(conversions.c.requested_at, conversions.c.created_at).label("requested_at")
    return connection.execute(statement.returning(*SHOWN, asked_for)).mappings().one_or_none()


def source_of(connection: Connection, media_id: int) -> RowMapping | None:
    """Path, kind and slides of the medium that is converted; None when it was deleted."""
    columns = (event_media.c.path, event_media.c.kind, event_media.c.visible_slides, event_media.c.hidden_slides)
    query = sa.select(*columns).where(event_media.c.id == media_id, event_media.c.deleted_at.is_(None))
    return connection.execute(query).mappings().one_or_none()


def finish(
    connection: Connection, now: datetime, conversion_id: int, token: str, path: str, pages: int, report: dict[str, Any]
) -> bool:
    """Make a claimed conversion ready; False when the claim is no longer ours."""
    result = {"target_path": path, "pages": pages, "report": report, "finished_at": now, "rebuild": False, **NO_ERROR}
    return _leave(connection, conversion_id, token, ConversionMove.FINISH, result)


def fail(connection: Connection, now: datetime, conversion_id: int, token: str, code: str, message: str) -> bool:
    """Give a claimed conversion up; False when the claim is no longer ours."""
    result = {"finished_at": now, "error_code": code, "error_message": message}
    return _leave(connection, conversion_id, token, ConversionMove.FAIL, result)


def release(
    connection: Connection, now: datetime, conversion_id: int, token: str, code: str, message: str, counts: bool
) -> bool:
    """Give a claimed conversion back for another try; False when the claim is no longer ours.

    Its task is still on the queue and comes again: `enqueued_at` keeps the sweep away from it meanwhile.
    """
    attempts = conversions.c.attempts if counts else conversions.c.attempts - 1
    result = {"attempts": attempts, "enqueued_at": now, "error_code": code, "error_message": message}
    return _leave(connection, conversion_id, token, ConversionMove.RELEASE, result)


def _leave(
    connection: Connection, conversion_id: int, token: str, move: ConversionMove, values: dict[str, Any]
) -> bool:
    ours = (conversions.c.id == conversion_id, conversions.c.claim == token, _from(move))
    statement = sa.update(conversions).where(*ours)
    left = statement.values(status=MOVES[move][1], claim=None, claimed_at=None, **values)
    return connection.execute(left).rowcount == 1


def requeue_forgotten(
    connection: Connection, now: datetime, forgotten_before: datetime, limit: int
) -> Sequence[RowMapping]:
    """Give a new generation to what nobody has touched since `forgotten_before`: id and generation of each.

    That is what a worker claimed and never finished, and what was committed and never enqueued. Rows that
    another sweep holds are left to it.
    """
    last_touched = sa.case(
        (
            conversions.c.status == ConversionStatus.PROCESSING,
            sa.func.greatest(conversions.c.claimed_at, conversions.c.enqueued_at),
        ),
        else_=sa.func.coalesce(conversions.c.enqueued_at, conversions.c.created_at),
    )
    forgotten = (
        sa.select(conversions.c.id)
        .where(_from(ConversionMove.CLAIM), last_touched < forgotten_before)
        .order_by(conversions.c.created_at, conversions.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    statement = (
        sa.update(conversions)
        .where(conversions.c.id.in_(forgotten))
        .values(generation=conversions.c.generation + 1, enqueued_at=now)
        .returning(conversions.c.id, conversions.c.generation)
    )
    return connection.execute(statement).mappings().all()
