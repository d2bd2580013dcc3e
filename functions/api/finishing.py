"""The end of an upload that was not one request: all its bytes are there, and it becomes a medium."""

from sqlalchemy import RowMapping

from functions.api.routes.event_media import conversion_for, enqueue
from functions.api.routing import Call
from shared.errors import Refused, UnsupportedMediaType, UploadTooLarge
from shared.event_media.operations import ReceivedUpload
from shared.event_media.uploads import operations
from shared.event_media.uploads.rules import Turn


def finish(call: Call, turn: Turn) -> tuple[RowMapping, RowMapping | None]:
    """One file of its parts, looked at; the medium and its conversion, in the transaction that ends the upload.

    Raises what `operations.assemble` raises, UploadLocked when another request has taken over, and VolumeFull.
    """
    with call.transaction() as (connection, now):
        operations.hold(connection, now, turn)
    received = _assemble(call, turn)
    try:
        with call.transaction() as (connection, now):
            media = operations.complete(connection, now, turn, received, call.principal.actor)
            conversion, must_enqueue = conversion_for(connection, now, media, call.traceparent)
            call.audit(connection, now, "event_media.upload", str(media["id"]), filename=media["filename"])
    except BaseException:
        received.discard()
        raise
    call.services.media_volume.remove_upload(turn.upload_id)
    if conversion is not None and must_enqueue:
        enqueue(call, conversion["id"], conversion["generation"])
    return media, conversion


def _assemble(call: Call, turn: Turn) -> ReceivedUpload:
    """The whole file, looked at. One that is refused for what it is will not be better next time: it goes."""
    try:
        return operations.assemble(call.services.media_volume, turn)
    except (Refused, UnsupportedMediaType, UploadTooLarge):
        with call.transaction() as (connection, _):
            operations.give_up(connection, turn)
        call.services.media_volume.remove_upload(turn.upload_id)
        raise
