"""SQL of conversions. Each move is one guarded UPDATE; after the claim each write needs the claim's token."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec import Struct
from sqlalchemy import Connection

from shared.conversions.rules import MOVES, ConversionMove
from shared.postgres import query
from shared.postgres.door import scrub
from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.query import NO_ROW, Query
from shared.vocabulary import ConversionStatus, MediaKind, TargetFormat


class ShownConversion(Struct, frozen=True):
    """The columns of a conversion that people see."""

    id: int
    media_id: int
    target_format: TargetFormat
    file_hash: str
    status: ConversionStatus
    attempts: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    error_code: str | None
    error_message: str | None
    pages: int | None
    report: dict[str, Any] | None
    waiting_before: int | None
    """How many others wait before it; None when it does not wait."""


class KeptConversion(ShownConversion, frozen=True):
    """A conversion of one content of a medium; `target_path` is below MEDIA_ROOT/converted."""

    generation: int
    target_path: str | None
    rebuild: bool
    """Make a new PDF even if one exists."""
    traceparent: str | None


class ListedConversion(KeptConversion, frozen=True):
    """A conversion with the name of the file that was uploaded."""

    filename: str


class ClaimedConversion(KeptConversion, frozen=True):
    """A claimed conversion, with the time of its last request."""

    requested_at: datetime


class Source(Struct, frozen=True):
    """The medium that is converted."""

    path: str
    kind: MediaKind
    visible_slides: int | None
    hidden_slides: int | None


class DueConversion(NamedTuple):
    """A conversion to enqueue; its generation is part of the task's name."""

    id: int
    generation: int


_PLAIN: Final = ", ".join(
    "c.source_event_media_id AS media_id" if name == "media_id" else f"c.{name}"
    for name in KeptConversion.__struct_fields__
    if name != "waiting_before"
)
CONVERSION: Final = f"""{_PLAIN}, CASE WHEN c.status = 'pending' THEN (SELECT count(*) FROM conversions AS waiting
    WHERE waiting.status = 'pending' AND (waiting.turn, waiting.id) < (c.turn, c.id)) END AS waiting_before"""
"""SQL: the columns of a KeptConversion."""
LISTED: Final = f"{_PLAIN}, waiting.before AS waiting_before"
"""SQL: the columns of one of many; they need WAITING, which counts once for all of them."""
WAITING: Final = """LEFT JOIN (SELECT id, row_number() OVER (ORDER BY turn, id) - 1 AS before FROM conversions
    WHERE status = 'pending') AS waiting ON waiting.id = c.id"""
LIVE: Final = """conversions AS c
    JOIN event_media AS m ON m.id = c.source_event_media_id AND m.deleted_at IS NULL"""
"""SQL: conversions of media that were not deleted."""


LOCK_TURNS = Query("SELECT pg_advisory_xact_lock(hashtextextended(:uploader, 0))", NO_ROW)


def lock_turns(connection: Connection, uploader: str) -> None:
    """Lock this uploader's turns against other transactions: of two uploads at once the second sees the first."""
    LOCK_TURNS.run(connection, uploader=f"conversion_turns:{uploader}")


def _next_turn(media_id: str) -> str:
    """SQL: the turn of a conversion of this medium that begins to wait now.

    It is the turn after the present one, but after those of the same uploader's other conversions. So each uploader
    has one conversion a turn, and nobody waits for all decks of somebody else.
    """
    return f"""1 + greatest(0,
        (SELECT max(own.turn) FROM conversions AS own JOIN event_media AS m ON m.id = own.source_event_media_id
            WHERE own.status IN ('pending', 'processing')
                AND m.uploaded_by = (SELECT uploaded_by FROM event_media WHERE id = {media_id})),
        (SELECT max(turn) FROM conversions WHERE status <> 'pending'),
        (SELECT min(turn) - 1 FROM conversions WHERE status = 'pending'))"""


def _may(move: ConversionMove) -> str:
    """SQL: whether a conversion's state allows this move."""
    states = ", ".join(f"'{status}'" for status in sorted(MOVES[move][0]))
    return f"c.status IN ({states})"


@query.one_or_none(
    f"""
    INSERT INTO conversions AS c (source_event_media_id, target_format, file_hash, status, turn, created_at,
        requested_at, enqueued_at, traceparent)
    VALUES (:media_id, 'pdf', :file_hash, 'pending', {_next_turn(":media_id")}, :now, :now, :now, :traceparent)
    ON CONFLICT ON CONSTRAINT uq_conversions_media_format_hash DO NOTHING RETURNING {CONVERSION}
    """
)
def insert_pending(
    connection: Connection, now: datetime, media_id: int, file_hash: str, traceparent: str | None
) -> KeptConversion | None:
    """Add a conversion to PDF, to be enqueued. None when this content of the medium has one already."""


def _ask(move: ConversionMove) -> Query[KeptConversion]:
    return Query(
        f"""
        UPDATE conversions AS c SET status = '{MOVES[move][1]}', turn = {_next_turn("c.source_event_media_id")},
            attempts = 0, started_at = NULL, finished_at = NULL,
            error_code = NULL, error_message = NULL, rebuild = c.rebuild OR {move is ConversionMove.REBUILD},
            traceparent = :traceparent, generation = c.generation + 1, requested_at = :now, enqueued_at = :now
        WHERE c.source_event_media_id = :media_id AND c.file_hash = :file_hash AND {_may(move)}
        RETURNING {CONVERSION}
        """,
        KeptConversion,
    )


REQUEST_AGAIN, REQUEST_REBUILD = _ask(ConversionMove.REQUEST), _ask(ConversionMove.REBUILD)


def request_again(
    connection: Connection, now: datetime, media_id: int, file_hash: str, traceparent: str | None
) -> KeptConversion | None:
    """Give a failed conversion all its tries again; None when it is not failed."""
    return REQUEST_AGAIN.one_or_none(
        connection, now=now, media_id=media_id, file_hash=file_hash, traceparent=traceparent
    )


def request_rebuild(
    connection: Connection, now: datetime, media_id: int, file_hash: str, traceparent: str | None
) -> KeptConversion | None:
    """Request a new PDF, even if one exists. None when the conversion is in progress."""
    return REQUEST_REBUILD.one_or_none(
        connection, now=now, media_id=media_id, file_hash=file_hash, traceparent=traceparent
    )


@query.run("DELETE FROM conversions WHERE source_event_media_id = :media_id")
def delete_of_media(connection: Connection, media_id: int) -> int:
    """Delete every conversion of a medium. Returns how many."""


@query.one_or_none(f"SELECT {CONVERSION} FROM conversions AS c WHERE c.id = :conversion_id")
def get(connection: Connection, conversion_id: int) -> KeptConversion | None:
    """One conversion; None when there is none."""


@query.one_or_none(f"SELECT {CONVERSION} FROM {LIVE} WHERE m.id = :media_id ORDER BY c.id DESC LIMIT 1")
def latest_of_media(connection: Connection, media_id: int) -> KeptConversion | None:
    """The newest conversion of a medium that was not deleted; None when there is none."""


LATEST_OF_EACH = Query(
    f"""
    SELECT DISTINCT ON (c.source_event_media_id) {LISTED} FROM conversions AS c {WAITING}
    WHERE c.source_event_media_id = ANY(:media_ids) ORDER BY c.source_event_media_id, c.id DESC
    """,
    KeptConversion,
)


def latest_of_each(connection: Connection, media_ids: Sequence[int]) -> dict[int, KeptConversion]:
    """The newest conversion of each of these media that has one, by the medium's id."""
    return {found.media_id: found for found in LATEST_OF_EACH.all(connection, media_ids=list(media_ids))}


@query.rows(
    f"""
    SELECT {LISTED}, m.filename FROM {LIVE} {WAITING}
    WHERE (CAST(:before_id AS bigint) IS NULL OR c.id < :before_id)
        AND (CAST(:status AS text) IS NULL OR c.status = :status)
    ORDER BY c.id DESC LIMIT :limit {FOR_ITS_VALUES}
    """
)
def list_page(
    connection: Connection, limit: int, before_id: int | None = None, status: ConversionStatus | None = None
) -> list[ListedConversion]:
    """Up to `limit` conversions of media that were not deleted, the newest first.

    They come after the one with `before_id`.
    """


READY_TARGET = Query(
    f"""
    SELECT {CONVERSION}, m.filename FROM {LIVE}
    WHERE c.target_path = :path AND (c.status = 'ready' OR c.rebuild) ORDER BY c.id DESC LIMIT 1
    """,
    ListedConversion,
)


def ready_target(connection: Connection, path: str) -> ListedConversion | None:
    """The ready conversion of the PDF at `path` (below `converted/`), of a medium not deleted. None: do not serve it.

    Several media may have the same content and PDF; the newest conversion is returned. During a rebuild the old PDF
    is served.
    """
    return READY_TARGET.one_or_none(connection, path=scrub(path))


@query.one_or_none(
    f"""
    UPDATE conversions AS c SET status = '{MOVES[ConversionMove.CLAIM][1]}', claim = :token, claimed_at = :now,
        started_at = coalesce(c.started_at, :now), attempts = c.attempts + 1
    WHERE c.id = (
        SELECT c.id FROM conversions AS c
        WHERE {_may(ConversionMove.CLAIM)} AND (c.status = 'pending' OR c.claimed_at < :expired_before)
        ORDER BY c.turn, c.id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING {CONVERSION}, coalesce(c.requested_at, c.created_at) AS requested_at
    """
)
def claim(connection: Connection, now: datetime, token: str, expired_before: datetime) -> ClaimedConversion | None:
    """Claim the next conversion that is pending, or whose last lease is over. None when there is none.

    `expired_before`: claims older than this no longer count.
    """


@query.one_or_none(
    "SELECT path, kind, visible_slides, hidden_slides FROM event_media WHERE id = :media_id AND deleted_at IS NULL"
)
def source_of(connection: Connection, media_id: int) -> Source | None:
    """The medium that is converted; None when it was deleted."""


def _leave(move: ConversionMove, result: str) -> Query[None]:
    """The statement that ends a claim with this result."""
    return Query(
        f"""
        UPDATE conversions AS c SET status = '{MOVES[move][1]}', claim = NULL, claimed_at = NULL, {result}
        WHERE c.id = :id AND c.claim = :token AND {_may(move)}
        """,
        NO_ROW,
    )


FINISH = _leave(
    ConversionMove.FINISH,
    "target_path = :path, pages = :pages, report = :report, finished_at = :now, rebuild = false, error_code = NULL,"
    " error_message = NULL",
)
FAIL = _leave(ConversionMove.FAIL, "finished_at = :now, error_code = :code, error_message = :message")
RELEASE = _leave(
    ConversionMove.RELEASE,
    f"turn = {_next_turn('c.source_event_media_id')}, attempts = c.attempts - :uncounted, enqueued_at = :now,"
    " error_code = :code, error_message = :message",
)


def finish(
    connection: Connection, now: datetime, conversion_id: int, token: str, path: str, pages: int, report: dict[str, Any]
) -> bool:
    """Make a claimed conversion ready. False when another worker has the claim."""
    result = {"path": path, "pages": pages, "report": report}
    return FINISH.run(connection, now=now, id=conversion_id, token=token, **result) == 1


def fail(connection: Connection, now: datetime, conversion_id: int, token: str, code: str, message: str) -> bool:
    """Fail a claimed conversion. False when another worker has the claim."""
    return FAIL.run(connection, now=now, id=conversion_id, token=token, code=code, message=message) == 1


def release(
    connection: Connection, now: datetime, conversion_id: int, token: str, code: str, message: str, counts: bool
) -> bool:
    """Release a claimed conversion for another try. False when another worker has the claim.

    It waits behind its uploader's others, so that they do not wait for its tries. Its task is still on the queue and
    comes again: `enqueued_at` keeps the sweep from enqueuing it meanwhile.
    """
    result = {"uncounted": 0 if counts else 1, "code": code, "message": message}
    return RELEASE.run(connection, now=now, id=conversion_id, token=token, **result) == 1


@query.rows(
    f"""
    UPDATE conversions SET generation = generation + 1, enqueued_at = :now WHERE id IN (
        SELECT c.id FROM conversions AS c
        WHERE {_may(ConversionMove.CLAIM)} AND :forgotten_before > CASE WHEN c.status = 'processing'
            THEN greatest(c.claimed_at, c.enqueued_at) ELSE coalesce(c.enqueued_at, c.created_at) END
        ORDER BY c.created_at, c.id LIMIT :limit FOR UPDATE SKIP LOCKED)
    RETURNING id, generation
    """
)
def requeue_forgotten(
    connection: Connection, now: datetime, forgotten_before: datetime, limit: int
) -> list[DueConversion]:
    """Give a new generation to conversions unchanged since `forgotten_before`. Returns them.

    They were claimed and never finished, or committed and never enqueued. Rows that another sweep has locked are
    skipped.
    """
