"""What a worker does with a claimed conversion, outside of any transaction: from the original to the PDF."""

from dataclasses import dataclass
from typing import BinaryIO

from functions.convert_worker.converter import ConversionFault, convert
from functions.convert_worker.pdf import count_pages
from shared.conversions import rules
from shared.conversions.operations import Job
from shared.conversions.rules import Fault, Timeouts
from shared.errors import ServiceError, VolumeFull
from shared.event_media import rules as media_rules
from shared.media_volume import MediaVolume, converted_path
from shared.structured_log import event
from shared.vocabulary import MediaKind


@dataclass(frozen=True)
class Workshop:
    """What a conversion needs besides its job."""

    volume: MediaVolume
    converter_url: str
    timeouts: Timeouts
    max_attempts: int


def make_pdf(workshop: Workshop, job: Job) -> tuple[str, int]:
    """The path of the job's PDF below `converted/` and its pages; it lies on the volume then.

    0. What an earlier worker of this conversion was writing when it was killed is removed.
    1. A PDF of the same bytes that is there and whole is used again: the converter is not called.
    2. The original is looked at once more, and sent to the converter while it is hashed.
    3. The PDF is checked while it is a draft, and takes its place in one step.

    Raises ConversionFault.
    """
    if job.attempts > workshop.max_attempts:
        raise ConversionFault(Fault.ATTEMPTS_USED_UP, f"try {job.attempts}")
    path = converted_path(job.file_hash)
    try:
        workshop.volume.remove_drafts(path, _writer(job))
        pages = _pages_there(workshop.volume, path)
        return path, pages or _convert_original(workshop, job, path)
    except (VolumeFull, OSError) as error:
        raise ConversionFault(Fault.VOLUME_UNAVAILABLE, str(error)) from error


def _writer(job: Job) -> str:
    return f"conversion-{job.conversion_id}"


def _pages_there(volume: MediaVolume, path: str) -> int | None:
    """The pages of the PDF that other media with the same bytes, or a worker that died, left; None for none."""
    try:
        with volume.open_converted(path) as file:
            return count_pages(file)
    except OSError:
        return None


def _convert_original(workshop: Workshop, job: Job, path: str) -> int:
    try:
        source = workshop.volume.open_original(job.path or "")
    except (OSError, ValueError) as error:
        raise ConversionFault(Fault.SOURCE_MISSING, type(error).__name__) from error
    with source:
        _look_again(source, job.kind)
        return _convert(workshop, job, source, path)


def _look_again(source: BinaryIO, kind: str) -> None:
    try:
        media_rules.inspect(source, MediaKind(kind))
    except ServiceError as error:
        raise ConversionFault(rules.fault_of_refusal(error), error.detail) from error


def _convert(workshop: Workshop, job: Job, source: BinaryIO, path: str) -> int:
    trace = f"conversion-{job.conversion_id}-{job.attempts}"
    with workshop.volume.writing_converted(path, _writer(job)) as draft:
        sent = convert(workshop.converter_url, source, f"deck.{job.kind}", draft, workshop.timeouts, trace)
        if sent != job.file_hash:
            raise ConversionFault(Fault.SOURCE_CHANGED, f"sent {sent}")
        pages = count_pages(draft.file)
        if pages is None:
            raise ConversionFault(Fault.INVALID_PDF, "no PDF with pages")
    event("conversion_written", "the PDF is on the volume", conversion_id=job.conversion_id, pages=pages)
    return pages
