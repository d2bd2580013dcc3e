"""Use cases of conversions: request, claim, finish, fail or release, and enqueue forgotten ones again."""

import secrets
from datetime import datetime, timedelta

from msgspec import Struct
from sqlalchemy import Connection

from shared.config import Config
from shared.conversions import report_rules, rules, store
from shared.conversions.report_rules import Findings
from shared.conversions.rules import ConversionMove, Fault
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


def queue_of(config: Config) -> TaskQueue:
    """The queue that brings conversions to the worker."""
    worker, account = config["CONVERT_WORKER_URL"], config["TASKS_SERVICE_ACCOUNT"]
    deadline = rules.timeouts(timedelta(seconds=config["CONVERSION_DEADLINE_SECONDS"])).dispatch
    return TaskQueue(config["QUEUE_URL"], worker, account, deadline, secret=config["QUEUE_SECRET"])


def ensure_pdf(
    connection: Connection, now: datetime, media: Medium, traceparent: str | None = None
) -> tuple[KeptConversion, bool]:
    """The conversion of this medium to PDF, and whether the caller must enqueue it after the commit.

    Each content of a medium has one conversion. This adds it, leaves it, or gives a failed one all its tries again
    under a new generation. Raises NotConvertible.
    """
    rules.check_convertible(media.kind)
    store.lock_turns(connection, media.uploaded_by)
    media_id, file_hash = media.id, media.sha256
    row = store.insert_pending(connection, now, media_id, file_hash, traceparent)
    row = row or store.request_again(connection, now, media_id, file_hash, traceparent)
    if row is not None:
        return row, True
    return find(connection, media_id), False


def ensure_pdf_on_volume(
    connection: Connection, now: datetime, volume: MediaVolume, media: Medium, traceparent: str | None = None
) -> tuple[KeptConversion, bool]:
    """Ensure the PDF like `ensure_pdf`, and make a new one when the volume has lost the PDF of a ready conversion."""
    row, must_enqueue = ensure_pdf(connection, now, media, traceparent)
    is_ready = row.status is ConversionStatus.READY and row.target_path is not None
    if is_ready and not volume.has_converted(row.target_path or ""):
        return rebuild(connection, now, media, traceparent)
    return row, must_enqueue


def of_new_medium(
    connection: Connection, now: datetime, media: Medium, traceparent: str
) -> tuple[KeptConversion | None, bool]:
    """Ensure the PDF of a new presentation; other media have no conversion.

    Returns the conversion, and whether to enqueue it after the commit.
    """
    if media.kind not in CONVERTIBLE_KINDS:
        return None, False
    return ensure_pdf(connection, now, media, traceparent)


def enqueue(queue: TaskQueue, conversion: KeptConversion) -> None:
    """Enqueue a conversion, after the commit. While the queue is away the conversion waits for the tick."""
    try:
        enqueue_conversion(queue, conversion.id, conversion.generation)
    except TaskQueueUnavailable:
        failure("enqueue_failed", "a conversion waits for the tick", conversion_id=conversion.id)


def rebuild(
    connection: Connection, now: datetime, media: Medium, traceparent: str | None = None
) -> tuple[KeptConversion, bool]:
    """Request a new PDF of this medium. Returns the conversion, and whether to enqueue it after the commit.

    The service serves the present PDF until the new one replaces it. A conversion in progress continues unchanged.
    Raises NotConvertible.
    """
    row, must_enqueue = ensure_pdf(connection, now, media, traceparent)
    if must_enqueue:
        return row, True
    row_again = store.request_rebuild(connection, now, media.id, media.sha256, traceparent)
    return (row_again, True) if row_again is not None else (row, False)


def delete_media(connection: Connection, now: datetime, media_id: int) -> Medium:
    """Delete a medium and its conversions. Returns its former row. Raises EventMediaNotFound.

    After the commit the caller removes the files (`event_media.operations.remove_unreferenced`). If it is killed
    before, the sweep of the volume removes them.
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


class Job(Struct, frozen=True):
    """A claimed conversion: the facts for a worker, and the token that fences its writes."""

    conversion_id: int
    token: str
    attempts: int
    """Number of tries with this one."""
    file_hash: str
    path: str | None
    """The path of the original below the media root; None when the medium was deleted."""
    kind: str
    rebuild: bool
    """Make a new PDF even if one exists."""
    visible_slides: int | None
    hidden_slides: int | None
    requested_at: datetime
    trace_id: str | None = None
    """The trace of the request that asked for the conversion."""


def claim(connection: Connection, now: datetime, lease: timedelta) -> Job | None:
    """Claim the conversion whose turn it is for one worker. None: none waits."""
    token = secrets.token_hex(16)
    row = store.claim(connection, now, token, now - lease)
    if row is None:
        return None
    source = store.source_of(connection, row.media_id)
    return Job(
        conversion_id=row.id,
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
    """Mark the conversion ready: its PDF is on the volume. False when another worker has the claim meanwhile.

    If the medium was deleted meanwhile, and no other medium has the same bytes, remove the PDF.
    """
    event_media_store.lock_content(connection, job.file_hash)
    report = report_rules.report(found)
    kept = store.finish(connection, now, job.conversion_id, job.token, path, found.pages, report)
    if not kept:
        event_media.remove_unreferenced(connection, volume, job.file_hash, job.path)
    return kept


def fail_or_release(
    connection: Connection, now: datetime, job: Job, fault: Fault, deadline: timedelta, *, is_last: bool = False
) -> ConversionMove | None:
    """Fail the conversion or release it for another try, by the rule for this fault.

    `is_last`: another try is not worth it. Returns which of the two; None when another worker has the claim meanwhile.
    """
    verdict = rules.judge(fault, job.attempts, now - job.requested_at, is_last=is_last)
    message = rules.message(fault, deadline)
    if verdict.move is ConversionMove.FAIL:
        done = store.fail(connection, now, job.conversion_id, job.token, fault, message)
    else:
        done = store.release(connection, now, job.conversion_id, job.token, fault, message, verdict.counts)
    return verdict.move if done else None


def sweep(connection: Connection, now: datetime, lease: timedelta, limit: int = SWEEP_LIMIT) -> list[DueConversion]:
    """Find forgotten conversions, unchanged for longer than `lease`, for the caller to enqueue.

    They get a new generation, because the queue refuses a task with the old name.
    """
    return store.requeue_forgotten(connection, now, now - lease, limit)
