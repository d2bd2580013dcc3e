"""/api/event-media/signed-uploads: files that are sent to an address that expires, and then said to be there.

Where a function may be sent 32 MB at most, the address is the bucket's; on one machine it is our own, below
/api/files, which speaks to clients as the bucket does (`shared.outside.media_volume.signed_uploads`). Either way the
file becomes a medium by `complete`: its size, hash and kind are looked at, in one transaction with its conversion.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Final

import msgspec
from sqlalchemy import RowMapping

from functions.api import shapes
from functions.api.bodies import END, Answer, Body, answer_of
from functions.api.finishing import finish
from functions.api.problems import BodyTooLarge, DatabaseUnavailable, InvalidField
from functions.api.routes.event_media import Uploaded
from functions.api.routing import PUBLIC, Call, Header, Reply, Routes
from shared.conversions import store as conversions
from shared.errors import (
    ContentDiffers,
    Encrypted,
    LinkInvalid,
    NoSlides,
    NotAPresentation,
    SignedUploadsOff,
    TooLargeUnpacked,
    UnsupportedMediaType,
    UploadIncomplete,
    UploadLocked,
    UploadNotFound,
    UploadOffsetConflict,
    UploadTooLarge,
    VolumeFull,
)
from shared.event_media import operations as event_media
from shared.event_media.uploads import operations
from shared.event_media.uploads.rules import SIGNED_WAYS, Turn, check_whole
from shared.outside.media_volume import upload_path
from shared.outside.media_volume.signed_uploads import LocalUploads, PlannedUpload
from shared.vocabulary import Role, UploadWay

PREFIX: Final = "/api/event-media/signed-uploads"
WHOLE: Final = "application/octet-stream"
RANGE_FORM: Final = r"bytes ([0-9]{1,18}-[0-9]{1,18}|\*)/[0-9]{1,18}"
RANGE: Final = re.compile(r"bytes (?:(?P<first>\d{1,18})-(?P<last>\d{1,18})|\*)/(?P<total>\d{1,18})")
OURS: Final = (UploadWay.SIGNED,)
REFUSALS: Final = (UnsupportedMediaType, NotAPresentation, Encrypted, TooLargeUnpacked, NoSlides, ContentDiffers)

routes = Routes("signed_uploads", PREFIX, "Files that are sent to an address that expires: large ones, in the cloud.")
files = Routes("upload_sessions", "/api/files", "Where files are sent by an address that expires, on one machine.")


class NewSignedUpload(Body, kw_only=True):
    """A file that is to come."""

    filename: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
    bytes: Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]
    sha256: Annotated[str, msgspec.Meta(pattern=rf"^[0-9a-f]{{64}}{END}")] | None = None
    """What it hashes to; given, another content is refused."""


class SignedUpload(Answer):
    """A file that is to come. `received` is null where its bytes do not pass through this service."""

    id: str
    filename: str
    bytes: int
    sha256: str | None
    received: int | None
    media_id: int | None
    created_at: datetime
    expires_at: datetime


class BegunUpload(SignedUpload):
    """How to send it: `method` to `url` with `headers`, then PUT the bytes to the `Location` of the answer."""

    method: str
    url: str
    headers: dict[str, str]


@routes.post(
    "", role=Role.OPERATOR, statuses={201: "Created"}, raises=(UnsupportedMediaType, UploadTooLarge, SignedUploadsOff)
)
def create_signed_upload(call: Call, body: NewSignedUpload) -> Reply[BegunUpload]:
    """Ask for an address to send a file to. It is good for 15 minutes; what was begun by then may go on for a day."""
    signed = call.services.signed_uploads
    if signed is None:
        raise SignedUploadsOff
    limit: int = call.services.config["UPLOAD_LIMIT_BYTES"]
    actor = call.principal.actor
    with call.transaction() as (connection, now):
        row = operations.create(
            connection, now, body.filename, body.bytes, limit, actor, way=signed.way, sha256=body.sha256
        )
        call.audit(connection, now, "upload.create", row["id"], filename=row["filename"], way=signed.way)
        expired = operations.forget_expired(connection, now)
    for upload_id in expired:
        call.services.media_volume.remove_upload(upload_id)
    address = signed.address(_planned(row), now)
    begun = answer_of(
        BegunUpload,
        row,
        received=_received(row),
        method=address.method,
        url=address.url,
        headers=address.headers,
    )
    return Reply(begun, 201, {"Location": f"{PREFIX}/{row['id']}"})


@routes.get("/<upload_id>", role=Role.VIEWER, raises=(UploadNotFound,))
def signed_upload(call: Call, upload_id: str) -> SignedUpload:
    """How far a file is."""
    with call.transaction() as (connection, now):
        row = operations.find(connection, now, upload_id, SIGNED_WAYS)
    return answer_of(SignedUpload, row, received=_received(row))


@routes.post(
    "/<upload_id>/complete",
    role=Role.OPERATOR,
    statuses={201: "Stored", 200: "It was stored before"},
    raises=(UploadNotFound, UploadIncomplete, UploadLocked, UploadTooLarge, VolumeFull, *REFUSALS),
)
def complete_signed_upload(call: Call, upload_id: str) -> Reply[Uploaded]:
    """Say that all bytes were sent: the file is looked at and becomes a medium, with its conversion."""
    with call.transaction() as (connection, now):
        row = operations.find_alone(connection, now, upload_id, SIGNED_WAYS)  # else it could be stored meanwhile
        if row["media_id"] is not None:
            media = event_media.find(connection, row["media_id"])
            return _uploaded(media, conversions.latest_of_media(connection, media["id"]), 200)
        check_whole(UploadWay(row["way"]), row["received"], row["bytes"])
        turn = operations.take_turn(connection, now, upload_id, None, SIGNED_WAYS)
    try:
        media, conversion = finish(call, turn)
    finally:
        with call.transaction() as (connection, _):
            operations.end_turn(connection, turn)
    return _uploaded(media, conversion, 201)


@routes.delete("/<upload_id>", role=Role.OPERATOR, statuses={204: "Ended"}, raises=(UploadNotFound, UploadLocked))
def end_signed_upload(call: Call, upload_id: str) -> None:
    """End an upload and remove what was sent. What has become a medium stays one."""
    with call.transaction() as (connection, now):
        operations.terminate(connection, now, upload_id, SIGNED_WAYS)
        call.audit(connection, now, "upload.terminate", upload_id)
    call.services.media_volume.remove_upload(upload_id)


@files.post(
    "/signed-uploads/<token>",
    role=PUBLIC,
    statuses={201: "Begun"},
    raises=(LinkInvalid, UploadNotFound, DatabaseUnavailable),
    headers={"x-goog-resumable": Header("start")},
)
def begin_session(call: Call, token: str) -> Reply[None]:
    """Begin to send a file, by an address that expires; the address itself is the permission."""
    signed = _ours(call)
    upload_id = signed.open_start(token, datetime.now(UTC))
    with call.transaction() as (connection, now):
        row = operations.find(connection, now, upload_id, OURS)
    return Reply(None, 201, {"Location": signed.session_url(upload_id, row["expires_at"])})


@files.put(
    "/upload-sessions/<token>",
    role=PUBLIC,
    statuses={200: "All bytes are there", 308: "Go on after `Range`"},
    raises=(LinkInvalid, UploadNotFound, UploadOffsetConflict, UploadLocked, VolumeFull, DatabaseUnavailable),
    upload=WHOLE,
    headers={
        "Content-Range": Header(
            "`bytes 0-99/1000` for a part, `bytes */1000` to ask how far it is; none: all of it",
            {"type": "string", "pattern": f"^{RANGE_FORM}$"},
        )
    },
)
def send_to_session(call: Call, token: str) -> Reply[None]:
    """Send a file's bytes, whole or in ranges one after the other; what came counts also where it was cut off."""
    upload_id = _ours(call).open_session(token, datetime.now(UTC))
    with call.transaction() as (connection, now):
        row = operations.find(connection, now, upload_id, OURS)
    offset = _offset(call, row["bytes"])
    if offset is not None and row["received"] < row["bytes"]:
        _take(call, upload_id, offset)
        with call.transaction() as (connection, now):
            row = operations.find(connection, now, upload_id, OURS)
    return _how_far(row)


def _take(call: Call, upload_id: str, offset: int) -> None:
    """The request's body, part after part to the volume, each counted when it is durable."""
    with call.transaction() as (connection, now):
        turn = operations.take_turn(connection, now, upload_id, offset, OURS)
    try:
        if (call.request.content_length or 0) > turn.left:
            raise BodyTooLarge("The body is longer than what the file has left.", limit_bytes=turn.left)
        _receive(call, turn)
    finally:
        with call.transaction() as (connection, _):
            operations.end_turn(connection, turn)


def _receive(call: Call, turn: Turn) -> None:
    while turn.left:
        part, size = operations.write_part(call.services.media_volume, turn, call.request.stream)
        if size == 0:
            return
        if size == turn.left and call.request.stream.read(1):
            raise BodyTooLarge("The body is longer than what the file has left.", limit_bytes=turn.left)
        with call.transaction() as (connection, now):
            turn = operations.keep_part(connection, now, turn, part, size)


def _offset(call: Call, size: int) -> int | None:
    """The byte of the file at which the body begins; None for a question. Raises InvalidField."""
    header = call.request.headers.get("Content-Range")
    if header is None:
        return 0
    found = RANGE.fullmatch(header)
    if found is None or int(found["total"]) != size:
        raise InvalidField(errors=[{"field": "Content-Range", "expected": f"bytes <first>-<last>/{size} or */{size}"}])
    return None if found["first"] is None else int(found["first"])


def _how_far(row: RowMapping) -> Reply[None]:
    if row["received"] == row["bytes"]:
        return Reply(None, 200)
    return Reply(None, 308, {"Range": f"bytes=0-{row['received'] - 1}"} if row["received"] else {})


def _ours(call: Call) -> LocalUploads:
    """Our own addresses, where they are switched on. Raises LinkInvalid: nothing else was ever one of them."""
    signed = call.services.signed_uploads
    if not isinstance(signed, LocalUploads):
        raise LinkInvalid
    return signed


def _planned(row: RowMapping) -> PlannedUpload:
    path = upload_path(row["id"], row["parts"][0]) if row["parts"] else ""
    return PlannedUpload(row["id"], path, row["bytes"], row["expires_at"])


def _received(row: RowMapping) -> int | None:
    return None if row["way"] == UploadWay.BUCKET and row["media_id"] is None else row["received"]


def _uploaded(media: RowMapping, conversion: RowMapping | None, status: int) -> Reply[Uploaded]:
    shown = shapes.conversion(conversion) if conversion is not None else None
    location = {"Location": f"/api/event-media/{media['id']}"}
    return Reply(Uploaded(media=shapes.media(media), conversion=shown), status, location)
