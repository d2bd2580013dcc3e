"""The use cases of a conversion: asked for, claimed, finished or given up, and found again when forgotten."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from shared.conversions import rules, store
from shared.conversions.rules import ConversionMove, Fault, Findings
from shared.conversions.store import DueConversion, KeptConversion
from shared.errors import ConversionNotFound, TaskQueueUnavailable
from shared.event_media import operations as event_media
from shared.event_media import store as event_media_store
from shared.event_media.store import Medium
from shared.outside.media_volume import MediaVolume
from shared.outside.task_queue import TaskQueue, enqueue_conversion
from shared.structured_log import failure
from shared.trace import trace_id
from shared.vocabulary import CONVERTIBLE_KINDS, ConversionStatus

SWEEP_LIMIT = 500  # per tick; the next one takes the rest


def ensure_pdf(
    connection: Connection, now: datetime, media: Medium, traceparent: str | None = None
) -> tuple[KeptConversion, bool]:
    """The conversion of this medium to PDF, and whether the caller must enqueue it after the commit.

    There is one for each content of a medium: it is made, left as it is, or, where it failed, given all its
    tries again under a new generation. Raises NotConvertible.
    """
    rules.check_convertible(media.kind)
    media_id, file_hash = media.id, media.sha256
    row = store.insert_pending(connection, now, media_id, file_hash, traceparent)
    row = row or store.request_again(connection, now, media_id, file_hash, traceparent)
    if row is not None:
        return row, True
    return find(connection, media_id), False


def ensure_pdf_on_volume(
    connection: Connection, now: datetime, volume: MediaVolume, media: Medium, traceparent: str | None = None
) -> tuple[KeptConversion, bool]:
    """Ensure the PDF like `ensure_pdf`, and make another one when the volume has lost the PDF of a ready row."""
    row, must_enqueue = ensure_pdf(connection, now, media, traceparent)
    is_ready = row.status is ConversionStatus.READY and row.target_path is not None
    if is_ready and not volume.has_converted(row.target_path or ""):
        return rebuild(connection, now, media, traceparent)
    return row, must_enqueue


def of_new_medium(
    connection: Connection, now: datetime, media: Medium, traceparent: str
) -> tuple[KeptConversion | None, bool]:
    """Ensure the PDF of a presentation that was just stored; other media have no conversion."""
    if media.kind not in CONVERTIBLE_KINDS:
        return None, False
    return ensure_pdf(connection, now, media, traceparent)


def enqueue(queue: TaskQueue, conversion: KeptConversion) -> None:
    """Hand a conversion to the task queue, after the commit. While the queue is away it waits for the tick."""
    try:
        enqueue_conversion(queue, conversion.id, conversion.generation)
    except TaskQueueUnavailable:
        failure("enqueue_failed", "a conversion waits for the tick", conversion_id=conversion.id)


def rebuild(
    connection: Connection, now: datetime, media: Medium, traceparent: str | None = None
) -> tuple[KeptConversion, bool]:
    """Have another PDF made of this medium, and whether the caller must enqueue it after the commit.

    The present one is served until the new one takes its place. What is under way already goes on as it is.
    Raises NotConvertible.
    """
    row, must_enqueue = ensure_pdf(connection, now, media, traceparent)
    if must_enqueue:
        return row, True
    row_again = store.request_rebuild(connection, now, media.id, media.sha256, traceparent)
    return (row_again, True) if row_again is not None else (row, False)


def delete_media(connection: Connection, now: datetime, media_id: int) -> Medium:
    """Delete a medium and its conversions: its row as it was. Raises EventMediaNotFound.

    After the commit the caller lets its files go (`event_media.operations.remove_unreferenced`); should it be
    killed before, the sweep of the volume finds them.
    """
    row = event_media.delete(connection, now, media_id)
    store.delete_of_media(connection, media_id)
    return row


def find(connection: Connection, media_id: int) -> KeptConversion:
    """The latest conversion of a medium. Raises ConversionNotFound."""
    row = store.latest_of_media(connection, media_id)
    if row is None:
        raise ConversionNotFound
    return row


@dataclass(frozen=True)
class Job:
    """A claimed conversion: what a worker needs to know, and the token that fences its writes."""

    conversion_id: int
    token: str
    attempts: int
    """Tries, this one included."""
    file_hash: str
    path: str | None
    """The path of the original below the media root; None when the medium was deleted."""
    kind: str
    rebuild: bool
    """A PDF that is there already must not be used."""
    visible_slides: int | None
    hidden_slides: int | None
    requested_at: datetime
    trace_id: str | None = None
    """The trace of the request that asked for the conversion."""


def claim(connection: Connection, now: datetime, conversion_id: int, lease: timedelta) -> Job | None:
    """Take a conversion for one worker; None when it is done, gone, or another worker has it."""
    token = secrets.token_hex(16)
    row = store.claim(connection, now, conversion_id, token, now - lease)
    if row is None:
        return None
    source = store.source_of(connection, row.media_id)
    return Job(
        conversion_id=conversion_id,
        token=token,
        attempts=row.attempts,
        file_hash=row.file_hash,
        path=source.path if source else None,
        kind=source.kind if source else "",
        rebuild=row.rebuild,
        visible_slides=source.visible_slides if source else None,
        hidden_slides=source.hidden_slides if source else None,
        requested_at=row.requested_at,
        trace_id=trace_id(row.traceparent),
    )


def finish(connection: Connection, now: datetime, volume: MediaVolume, job: Job, path: str, found: Findings) -> bool:
    """The PDF is on the volume: ready. False when the claim was lost to another worker meanwhile.

    Where the medium was deleted meanwhile, and no other one has the same bytes, the PDF goes again.
    """
    event_media_store.lock_content(connection, job.file_hash)
    report = rules.report(found)
    kept = store.finish(connection, now, job.conversion_id, job.token, path, found.pages, report)
    if not kept:
        event_media.remove_unreferenced(connection, volume, job.file_hash, job.path)
    return kept


def give_up_or_back(
    connection: Connection, now: datetime, job: Job, fault: Fault, max_attempts: int, deadline: timedelta
) -> ConversionMove | None:
    """Fail the conversion or release it for another try, as the rules say of this fault.

    Answers which of the two happened; None when the claim was lost to another worker meanwhile.
    """
    verdict = rules.judge(fault, job.attempts, max_attempts, now - job.requested_at)
    message = rules.message(fault, deadline)
    if verdict.move is ConversionMove.FAIL:
        done = store.fail(connection, now, job.conversion_id, job.token, fault, message)
    else:
        done = store.release(connection, now, job.conversion_id, job.token, fault, message, verdict.counts)
    return verdict.move if done else None


def sweep(connection: Connection, now: datetime, lease: timedelta, limit: int = SWEEP_LIMIT) -> list[DueConversion]:
    """Conversions that nobody has touched for longer than `lease`, to be enqueued.

    They get a new generation, so that the queue does not take their task for the old one.
    """
    return store.requeue_forgotten(connection, now, now - lease, limit)
