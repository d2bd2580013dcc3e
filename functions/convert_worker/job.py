"""Make the PDF of a claimed conversion, outside any transaction."""

from contextlib import nullcontext
from typing import Any, BinaryIO

from msgspec import Struct

from functions.convert_worker.converter import ConversionFault, convert
from functions.convert_worker.identity import OwnIdentity
from functions.convert_worker.pdf import Examined, Examiner, examine
from shared.conversions import rules
from shared.conversions.operations import Job
from shared.conversions.report_rules import Findings
from shared.conversions.rules import MAX_ATTEMPTS, Fault, Timeouts
from shared.errors import ServiceError, VolumeFull
from shared.event_media import rules as media_rules
from shared.outside.media_volume import MediaVolume, converted_path
from shared.structured_log import event
from shared.vocabulary import MediaKind


class Workshop(Struct, frozen=True):
    """The services and settings that every conversion uses."""

    volume: MediaVolume
    converter_url: str
    timeouts: Timeouts
    identity: OwnIdentity | None = None
    """Authenticates the worker; None where the converter needs no authentication."""


def make_pdf(workshop: Workshop, job: Job) -> tuple[str, Findings]:
    """Put the job's PDF on the volume. Returns its path below `converted/` and the findings for the report.

    0. Remove the drafts of an earlier worker of this conversion that was killed.
    1. If a usable PDF of the same bytes exists, use it: the converter is not called.
    2. Inspect the original again, and hash it while it is sent to the converter.
    3. Examine the PDF while it is a draft, then move it into place atomically, and the same for the thumbnail.

    Raises ConversionFault.
    """
    if job.attempts > MAX_ATTEMPTS:
        raise ConversionFault(Fault.ATTEMPTS_USED_UP, f"try {job.attempts}")
    path = converted_path(job.file_hash)
    try:
        workshop.volume.remove_drafts(path, _writer(job))
        examined = _usable_pdf(workshop.volume, job, path) or _convert_original(workshop, job, path)
        return path, _findings(workshop.volume, job, examined)
    except (VolumeFull, OSError) as error:
        raise ConversionFault(Fault.VOLUME_UNAVAILABLE, str(error)) from error


def _writer(job: Job) -> str:
    return f"conversion-{job.conversion_id}"


def _findings(volume: MediaVolume, job: Job, examined: Examined) -> Findings:
    """The findings for the report. Writes the thumbnail to the volume."""
    if examined.thumbnail is not None:
        volume.write_thumbnail(job.file_hash, examined.thumbnail)
    return Findings(
        pages=examined.pages,
        visible_slides=job.visible_slides,
        hidden_slides=job.hidden_slides,
        embedded_fonts=examined.embedded_fonts,
        contents=examined.contents,
        has_thumbnail=examined.thumbnail is not None,
        letters_missing=examined.letters_missing,
        pages_read=examined.pages_read,
    )


def _usable_pdf(volume: MediaVolume, job: Job, path: str) -> Examined | None:
    """An existing PDF of the same bytes, from another medium or a worker that died; None when none is usable."""
    if job.rebuild:
        return None
    try:
        file = volume.open_converted(path)
    except OSError:
        return None
    with file, _original(volume, job) or nullcontext() as deck:
        return examine(file, deck, job.kind)


def _original(volume: MediaVolume, job: Job) -> BinaryIO | None:
    try:
        return volume.open_original(job.path or "")
    except (OSError, ValueError):
        return None


def _convert_original(workshop: Workshop, job: Job, path: str) -> Examined:
    source = _original(workshop.volume, job)
    if source is None:
        raise ConversionFault(Fault.SOURCE_MISSING, job.path or "deleted")
    with source:
        _inspect(source, job.kind)
        return _convert(workshop, job, source, path)


def _inspect(source: BinaryIO, kind: str) -> None:
    try:
        media_rules.inspect(source, MediaKind(kind))
    except ServiceError as error:
        raise ConversionFault(rules.fault_of_refusal(error), error.detail) from error


def _convert(workshop: Workshop, job: Job, source: BinaryIO, path: str) -> Examined:
    trace = f"conversion-{job.conversion_id}-{job.attempts}" + (f"-{job.trace_id}" if job.trace_id else "")
    with Examiner() as examiner, workshop.volume.writing_converted(path, _writer(job)) as draft:
        name, url, timeouts = f"deck.{job.kind}", workshop.converter_url, workshop.timeouts
        sent = convert(url, source, name, draft, timeouts, trace, workshop.identity)
        if sent != job.file_hash:
            raise ConversionFault(Fault.SOURCE_CHANGED, f"sent {sent}")
        examined = examiner.examine(draft.file, source, job.kind)
        if examined is None:
            raise ConversionFault(Fault.INVALID_PDF, "no PDF with pages")
    known: dict[str, Any] = {"conversion_id": job.conversion_id, "trace_id": job.trace_id}
    event("conversion_written", "the PDF is on the volume", pages=examined.pages, **known)
    return examined
