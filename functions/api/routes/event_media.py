"""/api/event-media: uploaded files; the conversion of a presentation starts at once."""

from typing import Annotated, Final

import msgspec
from flask import Response
from sqlalchemy.exc import SQLAlchemyError

from functions.api import new_media
from functions.api.bodies import Answer, Body
from functions.api.files import OF_FILES, FilePart, send_stored
from functions.api.pages import Page, PageQuery, decode_cursor, page
from functions.api.routing import FORM, Bound, Call, Reply, Routes
from functions.api.shapes import media as shapes
from functions.api.turns import UPLOADS
from shared.conversions import operations as conversions
from shared.conversions import store as conversions_store
from shared.errors import (
    Encrypted,
    EventMediaNotFound,
    NameNotAccepted,
    NoSlides,
    NotAPresentation,
    ThumbnailNotFound,
    TooLargeUnpacked,
    UnsupportedMediaType,
    UploadTooLarge,
    VolumeFull,
)
from shared.event_media import operations, store
from shared.event_media.operations import ReceivedUpload
from shared.structured_log import failure
from shared.vocabulary import MediaKind, Role

routes = Routes("event_media", "/api/event-media", "Uploaded files: presentations, documents, pictures, videos.")

CONTENT_TYPES: Final = {
    MediaKind.PPT: "application/vnd.ms-powerpoint",
    MediaKind.PPTX: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    MediaKind.ODP: "application/vnd.oasis.opendocument.presentation",
    MediaKind.PDF: "application/pdf",
    MediaKind.PNG: "image/png",
    MediaKind.JPEG: "image/jpeg",
    MediaKind.WEBP: "image/webp",
    MediaKind.GIF: "image/gif",
    MediaKind.MP4: "video/mp4",
    MediaKind.WEBM: "video/webm",
}


class Uploaded(Answer):
    """The new medium and, for a presentation, its conversion."""

    media: shapes.Media
    conversion: shapes.Conversion | None


@routes.post(
    "",
    role=Role.OPERATOR,
    bound=Bound.NONE,
    statuses={201: "Stored"},
    raises=(
        UnsupportedMediaType,
        UploadTooLarge,
        NotAPresentation,
        Encrypted,
        TooLargeUnpacked,
        NoSlides,
        VolumeFull,
    ),
    upload=FORM,
    turns=UPLOADS,
)
def upload(call: Call) -> Reply[Uploaded]:
    """Store the form field `file`. A presentation is converted to PDF in the background."""
    received, by = _receive(call), call.principal.actor
    media, conversion = new_media.add(
        call, received, lambda connection, now: operations.record_upload(connection, now, received, by)
    )
    shown = shapes.conversion(conversion) if conversion is not None else None
    location = {"Location": f"/api/event-media/{media.id}"}
    return Reply(Uploaded(media=shapes.media(media), conversion=shown), 201, location)


def _receive(call: Call) -> ReceivedUpload:
    """Receive the request's file onto the volume and inspect it. Raises BadRequest when the request is incomplete."""
    part = FilePart(call.request)
    limit: int = call.services.config["UPLOAD_LIMIT_BYTES"]
    received = operations.receive_upload(call.services.media_volume, part, part.filename, limit)
    try:
        part.finish()
    except BaseException:
        received.discard()
        raise
    return received


class MediaQuery(PageQuery):
    """Which uploaded files."""

    kind: MediaKind | None = None


@routes.get("", role=Role.VIEWER, bound=Bound.NONE)
def list_media(call: Call, query: MediaQuery) -> Page[shapes.MediaListed]:
    """Uploaded files, the newest first, each with its newest conversion."""
    after = decode_cursor(query.cursor, int)
    with call.transaction() as (connection, _):
        rows = store.list_page(connection, query.limit + 1, after[0] if after else None, query.kind)
        newest = conversions_store.latest_of_each(connection, [row.id for row in rows])
    return page(rows, query.limit, lambda row: (row.id,), lambda row: shapes.media_listed(row, newest.get(row.id)))


@routes.get("/<id:media_id>", role=Role.VIEWER, bound=Bound.NONE, raises=(EventMediaNotFound,))
def media_item(call: Call, media_id: int) -> shapes.MediaListed:
    """One uploaded file with its newest conversion, as the list shows it."""
    with call.transaction() as (connection, _):
        media = operations.find(connection, media_id)
        conversion = conversions_store.latest_of_media(connection, media_id)
    return shapes.media_listed(media, conversion)


class NewName(Body):
    """A new name for a file. If its extension does not match the file's kind, the right one is added."""

    filename: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]


@routes.patch("/<id:media_id>", role=Role.OPERATOR, bound=Bound.NONE, raises=(EventMediaNotFound, NameNotAccepted))
def rename_media(call: Call, media_id: int, body: NewName) -> shapes.Media:
    """Give an uploaded file another name."""
    with call.transaction() as (connection, now):
        media = operations.rename(connection, media_id, body.filename)
        call.audit(connection, now, "event_media.rename", str(media_id), filename=media.filename)
    return shapes.media(media)


@routes.delete(
    "/<id:media_id>", role=Role.OPERATOR, bound=Bound.NONE, statuses={204: "Deleted"}, raises=(EventMediaNotFound,)
)
def delete_media(call: Call, media_id: int) -> None:
    """Delete an uploaded file and its conversions. The stored bytes stay only if another medium has the same ones."""
    with call.transaction() as (connection, now):
        media = conversions.delete_media(connection, now, media_id)
        call.audit(connection, now, "event_media.delete", str(media_id), filename=media.filename)
    try:
        with call.transaction() as (connection, _):
            operations.remove_unreferenced(connection, call.services.media_volume, media.sha256, media.path)
    except (OSError, SQLAlchemyError):
        failure("media_files_left", "files of a deleted medium are left for the sweep", media_id=media_id)


@routes.get(
    "/<id:media_id>/content",
    role=Role.VIEWER,
    bound=Bound.NONE,
    produces=tuple(CONTENT_TYPES.values()),
    statuses={200: "The file", 206: "A part of it", 304: "Unchanged"},
    raises=(EventMediaNotFound, *OF_FILES),
)
def media_content(call: Call, media_id: int) -> Response:
    """The file as it was uploaded; supports ranges and ETag."""
    with call.transaction() as (connection, _):
        media = operations.find(connection, media_id)
    content_type = CONTENT_TYPES[MediaKind(media.kind)]
    missing = EventMediaNotFound("event_media_file_missing")
    opener = call.services.media_volume.open_original
    return send_stored(call, opener, media.path, content_type, media.sha256, media.filename, missing)


@routes.get(
    "/<id:media_id>/thumbnail",
    role=Role.VIEWER,
    bound=Bound.NONE,
    produces=("image/png",),
    statuses={200: "The picture", 206: "A part of it", 304: "Unchanged"},
    raises=(EventMediaNotFound, ThumbnailNotFound, *OF_FILES),
)
def media_thumbnail(call: Call, media_id: int) -> Response:
    """The first page of a presentation as a PNG, 480 pixels on the longer side; the conversion makes it."""
    with call.transaction() as (connection, _):
        media = operations.find(connection, media_id)
        conversion = conversions_store.latest_of_media(connection, media_id)
    if conversion is None or not (conversion.report or {}).get("thumbnail"):
        raise ThumbnailNotFound
    opener = call.services.media_volume.open_thumbnail
    name = f"{media.filename}.png"
    return send_stored(call, opener, media.sha256, "image/png", None, name, ThumbnailNotFound())
