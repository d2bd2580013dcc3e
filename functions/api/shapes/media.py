"""The answers about uploaded files and their conversions."""

from datetime import datetime

import msgspec

from functions.api.bodies import Answer, answer_of
from shared.conversions.store import KeptConversion, ListedConversion, ShownConversion
from shared.event_media.store import Medium
from shared.trace import trace_id
from shared.vocabulary import ConversionStatus, MediaKind


class Media(Answer):
    """An uploaded file. `sha256` is in hex."""

    id: int
    filename: str
    kind: MediaKind
    bytes: int
    sha256: str
    uploaded_at: datetime
    uploaded_by: str


class Conversion(ShownConversion, frozen=True):
    """A conversion of one medium. `file_url` is null until the conversion is ready."""

    file_url: str | None
    trace_id: str | None
    """The id of the request's trace, in every log line about the conversion."""


class MediaListed(Media):
    """An uploaded file in a list, with its newest conversion."""

    conversion: Conversion | None


class ConversionItem(Conversion, frozen=True):
    """A conversion in a list, with the name of the uploaded file."""

    filename: str


def media(row: Medium) -> Media:
    """A medium as its answer."""
    return answer_of(Media, row)


def media_listed(row: Medium, newest: KeptConversion | None) -> MediaListed:
    """A medium with its newest conversion as its answer."""
    return answer_of(MediaListed, row, conversion=None if newest is None else conversion(newest))


def conversion(row: KeptConversion) -> Conversion:
    """A conversion as its answer."""
    is_ready = row.status is ConversionStatus.READY
    file_url = f"/api/files/converted/{row.target_path}" if is_ready else None
    return answer_of(Conversion, row, file_url=file_url, trace_id=trace_id(row.traceparent))


def conversion_item(row: ListedConversion) -> ConversionItem:
    """A conversion of a list as its answer."""
    return ConversionItem(**msgspec.structs.asdict(conversion(row)), filename=row.filename)
