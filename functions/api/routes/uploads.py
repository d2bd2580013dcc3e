"""/api/event-media/uploads: resumable uploads by the tus protocol 1.0 (https://tus.io).

The core and the extensions creation, termination and expiration are supported. One transaction both sets
`Upload-Offset` to the file's length and creates the medium. The dashboard sends a form: `routes/event_media.py`.
"""

import base64
import binascii
import re
from datetime import datetime
from email.utils import format_datetime
from typing import Final

from functions.api import fields, new_media
from functions.api.bodies import Answer, answer_of
from functions.api.routing import Bound, Call, Header, Reply, Routes
from functions.api.turns import UPLOADS
from functions.api.tus import PREFIX, VERSION
from functions.problems import BadRequest, BodyTooLarge, InvalidField, ProtocolUnknown
from shared.errors import (
    Encrypted,
    NoSlides,
    NotAPresentation,
    Refused,
    TooLargeUnpacked,
    UnsupportedMediaType,
    UploadLocked,
    UploadNotFound,
    UploadOffsetConflict,
    UploadTooLarge,
    VolumeFull,
)
from shared.event_media.operations import ReceivedUpload
from shared.event_media.uploads import operations
from shared.event_media.uploads.rules import UploadTurn
from shared.event_media.uploads.store import KeptUpload
from shared.vocabulary import Role

PART: Final = "application/offset+octet-stream"
LARGEST_NUMBER: Final = 10**18 - 1
LONGEST_METADATA: Final = 4096
REFUSALS: Final = (UnsupportedMediaType, NotAPresentation, Encrypted, TooLargeUnpacked, NoSlides)
SPOKEN: Final = {"type": "string", "pattern": f"^{re.escape(VERSION)}$"}  # generators take no `const` in a header
TUS: Final = {"Tus-Resumable": Header("1.0.0, the version of the protocol", SPOKEN, required=True)}
TUS_OF_HEAD: Final = {"Tus-Resumable": Header("1.0.0, the version of the protocol; only HEAD needs it")}
METADATA_FORM: Final = "filename (?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"

routes = Routes("uploads", PREFIX, "Uploads in parts that survive a broken connection: tus 1.0.")


class Upload(Answer):
    """An upload in parts. `offset` bytes of `length` are stored; `media_id` is set when all are."""

    id: str
    filename: str
    offset: int
    length: int
    media_id: int | None
    created_at: datetime
    expires_at: datetime


@routes.post(
    "",
    role=Role.OPERATOR,
    bound=Bound.NONE,
    statuses={201: "Created"},
    raises=(UnsupportedMediaType, UploadTooLarge, ProtocolUnknown),
    headers={
        **TUS,
        "Upload-Length": Header(
            "the file's bytes", {"type": "integer", "minimum": 1, "maximum": LARGEST_NUMBER}, required=True
        ),
        "Upload-Metadata": Header(
            "`filename` and its value in Base64; other pairs are ignored",
            {"type": "string", "pattern": rf"(^|,)\s*{METADATA_FORM}\s*($|,)"},
            required=True,
        ),
    },
)
def create_upload(call: Call) -> Reply[Upload]:
    """Announce a file. Its parts are then sent with PATCH to the Location."""
    _check_version(call)
    size, filename = _number(call, "Upload-Length"), _filename(call)
    if size == 0:
        raise InvalidField.at("Upload-Length", "field_file_size")
    limit: int = call.services.config["UPLOAD_LIMIT_BYTES"]
    with call.transaction() as (connection, now):
        row = operations.create(connection, now, filename, size, limit, call.principal.actor)
        call.audit(connection, now, "upload.create", row.id, filename=row.filename)
        expired = operations.forget_expired(connection, now)
    for upload_id in expired:
        call.services.media_volume.remove_upload(upload_id)
    return Reply(_shown(row), 201, {"Location": f"{PREFIX}/{row.id}", **_headers(row)})


@routes.get(
    "/<upload_id>", role=Role.VIEWER, bound=Bound.NONE, raises=(UploadNotFound, ProtocolUnknown), headers=TUS_OF_HEAD
)
def upload_state(call: Call, upload_id: str) -> Reply[Upload]:
    """The state of an upload: HEAD for tus clients, GET for all others."""
    if call.request.method == "HEAD":
        _check_version(call)
    with call.transaction() as (connection, now):
        row = operations.find(connection, now, upload_id)
    return Reply(_shown(row), 200, _headers(row))


@routes.patch(
    "/<upload_id>",
    role=Role.OPERATOR,
    bound=Bound.NONE,
    statuses={204: "Received"},
    raises=(UploadNotFound, UploadOffsetConflict, UploadLocked, VolumeFull, ProtocolUnknown, *REFUSALS),
    upload=PART,
    turns=UPLOADS,
    headers={
        **TUS,
        "Upload-Offset": Header(
            "the byte of the file at which the body begins",
            {"type": "integer", "minimum": 0, "maximum": LARGEST_NUMBER},
            required=True,
        ),
    },
)
def continue_upload(call: Call, upload_id: str) -> Reply[None]:
    """Send the next bytes, as many as you like. The last byte completes the file, which becomes a medium."""
    _check_version(call)
    if call.request.mimetype != PART:
        raise UnsupportedMediaType("body_must_be_part", facts={"content_type": PART})
    offset = _number(call, "Upload-Offset")
    with call.transaction() as (connection, now):
        turn = operations.take_turn(connection, now, upload_id, offset)
    try:
        _check_length(call, turn)
        _receive(call, turn)
    finally:
        with call.transaction() as (connection, _):
            operations.end_turn(connection, turn)
    with call.transaction() as (connection, now):
        row = operations.find(connection, now, upload_id)
    return Reply(None, 204, _headers(row))


@routes.delete(
    "/<upload_id>",
    role=Role.OPERATOR,
    bound=Bound.NONE,
    statuses={204: "Ended"},
    raises=(UploadNotFound, UploadLocked, ProtocolUnknown),
    headers=TUS,
)
def terminate_upload(call: Call, upload_id: str) -> None:
    """End an upload and remove its parts. The medium of a complete upload stays."""
    _check_version(call)
    with call.transaction() as (connection, now):
        operations.terminate(connection, now, upload_id)
        call.audit(connection, now, "upload.terminate", upload_id)
    call.services.media_volume.remove_upload(upload_id)


def _receive(call: Call, turn: UploadTurn) -> None:
    """Write the parts to the volume. Count each when it is durable; the last one in the medium's transaction."""
    volume, stream = call.services.media_volume, call.request.stream
    while turn.left:
        part, size = operations.write_part(volume, turn, stream)
        if size == 0:
            return
        if size == turn.left:
            _refuse_more(stream)
            _finish(call, operations.after_part(turn, part, size))
            return
        with call.transaction() as (connection, now):
            turn = operations.keep_part(connection, now, turn, part, size)


def _finish(call: Call, turn: UploadTurn) -> None:
    """Assemble and inspect the complete file; one transaction creates the medium and ends the upload.

    Raises VolumeFull, UploadLocked if another request has taken over, and the errors of `uploads.operations.assemble`.
    """
    with call.transaction() as (connection, now):
        operations.hold(connection, now, turn)
    received, by = _assemble(call, turn), call.principal.actor
    new_media.add(call, received, lambda connection, now: operations.complete(connection, now, turn, received, by))
    call.services.media_volume.remove_upload(turn.upload_id)


def _assemble(call: Call, turn: UploadTurn) -> ReceivedUpload:
    """Assemble and inspect the file. A file that is refused is removed: a retry would be refused too."""
    try:
        return operations.assemble(call.services.media_volume, turn)
    except (Refused, UnsupportedMediaType, UploadTooLarge):
        with call.transaction() as (connection, _):
            operations.give_up(connection, turn)
        call.services.media_volume.remove_upload(turn.upload_id)
        raise


def _check_version(call: Call) -> None:
    if call.request.headers.get("Tus-Resumable") != VERSION:
        raise ProtocolUnknown


def _check_length(call: Call, turn: UploadTurn) -> None:
    if (call.request.content_length or 0) > turn.left:
        raise _too_long(turn.left)


def _refuse_more(stream: object) -> None:
    """Raise BodyTooLarge when a body without Content-Length has bytes beyond the file's length."""
    if stream.read(1):  # type: ignore[attr-defined]
        raise _too_long(0)


def _too_long(left: int) -> BodyTooLarge:
    return BodyTooLarge("body_longer_than_file", limit_bytes=left)


def _number(call: Call, name: str) -> int:
    value = call.request.headers.get(name, "")
    if not re.fullmatch(r"[0-9]{1,18}", value):
        raise InvalidField.at(name, fields.field_whole_number(least=None, most=None))
    return int(value)


def _filename(call: Call) -> str:
    """The value of `filename` in Upload-Metadata. Raises BadRequest."""
    pairs = call.request.headers.get("Upload-Metadata", "")[:LONGEST_METADATA].split(",")
    for pair in pairs:
        key, _, value = pair.strip().partition(" ")
        if key == "filename":
            try:
                return base64.b64decode(value, validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                raise BadRequest("upload_filename_odd") from None
    raise BadRequest("upload_filename_missing")


def _headers(row: KeptUpload) -> dict[str, str]:
    headers = {
        "Upload-Offset": str(row.received),
        "Upload-Length": str(row.bytes),
        "Upload-Expires": format_datetime(row.expires_at, usegmt=True),
    }
    return {**headers, "Upload-Media-Id": str(row.media_id)} if row.media_id else headers


def _shown(row: KeptUpload) -> Upload:
    return answer_of(Upload, row, offset=row.received, length=row.bytes)
