"""What makes a received file a medium, whether it came as a form or in parts."""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection

from functions.api.routing import Call
from shared.conversions import operations as conversions
from shared.conversions.store import KeptConversion
from shared.event_media.operations import ReceivedUpload
from shared.event_media.store import Medium


def add(
    call: Call, received: ReceivedUpload, record: Callable[[Connection, datetime], Medium]
) -> tuple[Medium, KeptConversion | None]:
    """Record the file and request its conversion in one transaction, then enqueue that. If it fails, the file goes."""
    try:
        with call.transaction() as (connection, now):
            media = record(connection, now)
            conversion, must_enqueue = conversions.of_new_medium(connection, now, media, call.traceparent)
            call.audit(connection, now, "event_media.upload", str(media.id), filename=media.filename)
    except BaseException:
        received.discard()
        raise
    if conversion is not None and must_enqueue:
        conversions.enqueue(call.services.task_queue, conversion)
    return media, conversion
