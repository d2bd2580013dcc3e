"""What people do with event media: upload it, look it up, remove it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, RowMapping

from shared.db import scrub
from shared.errors import EventMediaNotFound
from shared.event_media import rules, store
from shared.media_volume import ByteStream, IncomingFile, MediaVolume
from shared.vocabulary import MediaKind


@dataclass(frozen=True)
class ReceivedUpload:
    """An upload that was looked at and lies on the volume, but is no event media yet."""

    volume: MediaVolume
    incoming: IncomingFile
    filename: str
    """For people to read; never part of a path."""
    kind: MediaKind
    slides: rules.Slides | None
    """None for what is no presentation."""

    def discard(self) -> None:
        """Remove the file again, where `record_upload` was not reached or did not end well. Never raises."""
        self.incoming.discard()


def receive_upload(volume: MediaVolume, stream: ByteStream, filename: str, limit_bytes: int) -> ReceivedUpload:
    """Stream an upload to the volume and look at what it is. Needs no transaction, and must not be in one.

    Raises UnsupportedMediaType (before anything is read, when the name says so already), UploadTooLarge,
    NotAPresentation, Encrypted, TooLargeUnpacked, NoSlides or VolumeFull; then nothing is stored.
    """
    named = rules.kind_of_name(filename)
    volume.remove_abandoned_uploads()
    incoming = volume.receive(stream, limit_bytes)
    try:
        with incoming.path.open("rb") as file:
            kind, slides = rules.inspect(file, named)
    except BaseException:
        incoming.discard()
        raise
    return ReceivedUpload(volume, incoming, rules.shown_filename(scrub(filename)), kind, slides)


def record_upload(connection: Connection, now: datetime, received: ReceivedUpload, uploaded_by: str) -> RowMapping:
    """Put a received file in its place and write its row; the row. Raises VolumeFull.

    The content stays locked until the caller's transaction ends: a removal of the same bytes by somebody
    else comes before or after, never in between. Rolled back, the file stays without a row, which harms
    nobody: the next upload of the same bytes takes its place.
    """
    store.lock_content(connection, received.incoming.sha256)
    path = received.volume.place_original(received.incoming, received.kind)
    return store.insert(
        connection,
        filename=received.filename,
        kind=received.kind,
        bytes=received.incoming.bytes,
        sha256=received.incoming.sha256,
        path=path,
        visible_slides=received.slides.visible if received.slides else None,
        hidden_slides=received.slides.hidden if received.slides else None,
        uploaded_at=now,
        uploaded_by=uploaded_by,
    )


def find(connection: Connection, media_id: int) -> RowMapping:
    """One medium. Raises EventMediaNotFound."""
    row = store.get(connection, media_id)
    if row is None:
        raise EventMediaNotFound
    return row


def delete(connection: Connection, now: datetime, volume: MediaVolume, media_id: int) -> None:
    """Mark a medium deleted, and remove its original unless another medium has the same bytes.

    The file goes before the caller commits: should that fail, the row is back without its file, and a
    conversion of it says `source_missing`; the other way round files would stay that nobody finds.
    Raises EventMediaNotFound.
    """
    row = store.tombstone(connection, now, media_id)
    if row is None:
        raise EventMediaNotFound
    store.lock_content(connection, row["sha256"])
    if not store.is_path_in_use(connection, row["path"]):
        volume.remove_original(row["path"])
