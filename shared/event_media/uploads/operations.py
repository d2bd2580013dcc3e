"""Uploads in parts. One request at a time continues an upload; the last part makes it a medium."""

import secrets
import time
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace
from sqlalchemy import Connection

from shared.errors import UploadLocked, UploadNotFound, UploadTooLarge, VolumeFull
from shared.event_media import operations as event_media
from shared.event_media import rules as media_rules
from shared.event_media.operations import ReceivedUpload
from shared.event_media.store import Medium
from shared.event_media.uploads import rules, store
from shared.event_media.uploads.rules import UploadTurn
from shared.event_media.uploads.store import KeptUpload
from shared.outside.media_volume import ByteStream, MediaVolume
from shared.postgres.door import scrub

EXPIRED_AT_ONCE: Final = 20


def create(connection: Connection, now: datetime, filename: str, size: int, limit_bytes: int, by: str) -> KeptUpload:
    """Create an upload of `size` bytes. Raises UnsupportedMediaType or UploadTooLarge."""
    shown = media_rules.shown_filename(scrub(filename))
    media_rules.kind_of_name(shown)
    if size > limit_bytes:
        raise UploadTooLarge("file_too_large", limit_bytes=limit_bytes)
    return store.insert(connection, now, secrets.token_hex(16), shown, size, now + rules.LIFE, by)


def find(connection: Connection, now: datetime, upload_id: str, *, lock: bool = False) -> KeptUpload:
    """One upload; `lock` takes a row lock until this transaction ends.

    Raises UploadNotFound when it does not exist, was ended or has expired.
    """
    row = store.get(connection, now, upload_id, lock=lock)
    if row is None:
        raise UploadNotFound
    return row


def take_turn(connection: Connection, now: datetime, upload_id: str, offset: int) -> UploadTurn:
    """Let this request send from `offset` on; a request that sends already loses its turn.

    Raises UploadNotFound, UploadLocked or UploadOffsetConflict.
    """
    row = find(connection, now, upload_id, lock=True)
    rules.check_turn(now, row.received, offset, row.writer_until)
    token = secrets.token_hex(16)
    store.give_turn(connection, upload_id, token, now + rules.LEASE)
    return UploadTurn(upload_id, token, offset, row.bytes, row.filename, tuple(row.parts))


def write_part(volume: MediaVolume, turn: UploadTurn, stream: ByteStream) -> tuple[str, int]:
    """Write the next part durably to the volume. Returns its name and its bytes; 0 when the body is at its end.

    If the connection breaks, the bytes before that count. Raises VolumeFull.
    """
    part = f"{turn.offset}-{turn.token}"
    until = time.monotonic() + rules.PART_SECONDS
    most = min(turn.left, rules.PART_BYTES)
    return part, volume.write_part(turn.upload_id, part, stream, most, lambda: time.monotonic() > until)


def keep_part(connection: Connection, now: datetime, turn: UploadTurn, part: str, size: int) -> UploadTurn:
    """Add a part to the row. Returns the turn after it. Raises UploadLocked when another request has the turn."""
    until = now + rules.LEASE
    if not store.add_part(connection, turn.upload_id, turn.token, turn.offset, part, size, until):
        raise UploadLocked
    return after_part(turn, part, size)


def after_part(turn: UploadTurn, part: str, size: int) -> UploadTurn:
    """The turn with one more part."""
    return replace(turn, offset=turn.offset + size, parts=(*turn.parts, part))


def hold(connection: Connection, now: datetime, turn: UploadTurn, by: timedelta = rules.ASSEMBLY) -> None:
    """Keep the turn while the parts are assembled. Raises UploadLocked when another request has the turn."""
    if not store.prolong(connection, turn.upload_id, turn.token, now + by):
        raise UploadLocked


def assemble(volume: MediaVolume, turn: UploadTurn) -> ReceivedUpload:
    """Copy all parts into one file, hash it and inspect it.

    Raises like `event_media.operations.receive_upload`, and VolumeFull when the volume has lost bytes of a part.
    """
    with volume.open_parts(turn.upload_id, turn.parts) as stream:
        received = event_media.receive_upload(volume, stream, turn.filename, turn.bytes)
    if received.incoming.bytes != turn.bytes:
        received.discard()
        raise VolumeFull("upload_part_lost")
    return received


def complete(connection: Connection, now: datetime, turn: UploadTurn, received: ReceivedUpload, by: str) -> Medium:
    """Make the medium and complete the upload, in one transaction. Returns the medium.

    So a complete upload is always a medium, even if a process is killed. Raises UploadLocked when another request has
    the turn, and VolumeFull.
    """
    media = event_media.record_upload(connection, now, received, by)
    if not store.complete(connection, turn.upload_id, turn.token, media.id):
        raise UploadLocked
    return media


def end_turn(connection: Connection, turn: UploadTurn) -> None:
    """End the turn, so that the next request can send at once."""
    store.end_turn(connection, turn.upload_id, turn.token)


def terminate(connection: Connection, now: datetime, upload_id: str) -> None:
    """End an upload; its medium stays. Raises UploadNotFound, or UploadLocked while the parts are assembled."""
    row = find(connection, now, upload_id, lock=True)
    rules.check_turn(now, row.received, row.received, row.writer_until)
    store.delete(connection, upload_id)


def give_up(connection: Connection, turn: UploadTurn) -> None:
    """Delete an upload whose content was refused: sending it again would be refused too."""
    store.delete(connection, turn.upload_id)


def forget_expired(connection: Connection, now: datetime) -> list[str]:
    """Delete some expired uploads. Returns their ids; the caller removes their parts after the commit."""
    return store.delete_expired(connection, now, EXPIRED_AT_ONCE)
