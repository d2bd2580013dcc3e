"""What people do with event media: upload it, look it up, remove it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from shared.errors import EventMediaNotFound
from shared.event_media import rules, store
from shared.event_media.store import Medium
from shared.outside.media_volume import ByteStream, IncomingFile, MediaVolume
from shared.postgres.door import scrub
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
    """None unless it is a presentation."""

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


def record_upload(connection: Connection, now: datetime, received: ReceivedUpload, uploaded_by: str) -> Medium:
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


def find(connection: Connection, media_id: int) -> Medium:
    """One medium. Raises EventMediaNotFound."""
    row = store.get(connection, media_id)
    if row is None:
        raise EventMediaNotFound
    return row


def rename(connection: Connection, media_id: int, filename: str) -> Medium:
    """Give a medium another name for people; its ending goes on to say what it is. Raises EventMediaNotFound."""
    kind = find(connection, media_id).kind
    row = store.rename(connection, media_id, rules.name_of_kind(filename, kind))
    if row is None:
        raise EventMediaNotFound
    return row


def delete(connection: Connection, now: datetime, media_id: int) -> Medium:
    """Mark a medium deleted: its row as it was. Raises EventMediaNotFound.

    Its files are still there: they go when the mark is committed, see `remove_unreferenced`. The other way round
    a medium would lose its file when the commit fails.
    """
    row = store.tombstone(connection, now, media_id)
    if row is None:
        raise EventMediaNotFound
    return row


def remove_unreferenced(connection: Connection, volume: MediaVolume, sha256: str, path: str | None) -> None:
    """Remove the original at `path`, and the PDF and picture made of this content, unless a medium needs them.

    The content stays locked until the caller's transaction ends, so that an upload of the same bytes comes
    before or after. Should the process be killed in between, the sweep of the volume finds what is left.
    """
    store.lock_content(connection, sha256)
    if path is not None and not store.is_path_in_use(connection, path):
        volume.remove_original(path)
    if not store.is_content_in_use(connection, sha256):
        volume.remove_made_of(sha256)
