"""Upload, find, rename and delete event media."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from shared.errors import EventMediaNotFound
from shared.event_media import rules, store
from shared.event_media.store import Medium
from shared.outside.media_volume import ByteStream, IncomingFile, MediaVolume
from shared.postgres.door import scrub
from shared.vocabulary import MediaKind


class ReceivedUpload(Struct, frozen=True):
    """An upload that is inspected and on the volume, but is no medium yet."""

    volume: MediaVolume
    incoming: IncomingFile
    filename: str
    """For people; never part of a path."""
    kind: MediaKind
    slides: rules.Slides | None
    """None unless it is a presentation."""

    def discard(self) -> None:
        """Remove the file, after `record_upload` failed or was not reached. Never raises."""
        self.incoming.discard()


def receive_upload(volume: MediaVolume, stream: ByteStream, filename: str, limit_bytes: int) -> ReceivedUpload:
    """Stream an upload to the volume and inspect it. Must not be called in a transaction.

    Raises UnsupportedMediaType (by the file's name, before a byte is read, or by its content), UploadTooLarge,
    NotAPresentation, Encrypted, TooLargeUnpacked, NoSlides or VolumeFull; then nothing is stored.
    """
    shown = rules.shown_filename(scrub(filename))
    named = rules.kind_of_name(shown)
    volume.remove_abandoned_incoming()
    incoming = volume.receive(stream, limit_bytes)
    try:
        with incoming.path.open("rb") as file:
            kind, slides = rules.inspect(file, named)
    except BaseException:
        incoming.discard()
        raise
    return ReceivedUpload(volume, incoming, shown, kind, slides)


def record_upload(connection: Connection, now: datetime, received: ReceivedUpload, uploaded_by: str) -> Medium:
    """Move a received file into place and insert its row. Returns the row. Raises VolumeFull.

    The content stays locked until the caller's transaction ends, so that no other transaction removes the same bytes
    meanwhile. After a rollback the file stays without a row; the next upload of the same bytes or the sweep deals with
    it.
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
    """Rename a medium; the extension still shows its kind. Raises EventMediaNotFound or NameNotAccepted."""
    kind = find(connection, media_id).kind
    row = store.rename(connection, media_id, rules.name_of_kind(filename, kind))
    if row is None:
        raise EventMediaNotFound
    return row


def delete(connection: Connection, now: datetime, media_id: int) -> Medium:
    """Mark a medium deleted. Returns its row. Raises EventMediaNotFound.

    Call `remove_unreferenced` after the commit. If the files were removed first, a medium would lose its file when the
    commit fails.
    """
    row = store.tombstone(connection, now, media_id)
    if row is None:
        raise EventMediaNotFound
    return row


def remove_unreferenced(connection: Connection, volume: MediaVolume, sha256: str, path: str | None) -> None:
    """Remove the original at `path`, and the PDF and thumbnail of this content, unless a medium needs them.

    The content stays locked until the caller's transaction ends, so that no upload of the same bytes runs meanwhile. If
    the process is killed, the sweep of the volume removes the rest.
    """
    store.lock_content(connection, sha256)
    if path is not None and not store.is_path_in_use(connection, path):
        volume.remove_original(path)
    if not store.is_content_in_use(connection, sha256):
        volume.remove_made_of(sha256)
