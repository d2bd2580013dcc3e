"""/api/conversions and /api/files: presentations as PDFs."""

from flask import Response

from functions.api.files import OF_FILES, send_stored
from functions.api.pages import Page, PageQuery, decode_cursor, page
from functions.api.routing import Bound, Call, Reply, Routes
from functions.api.shapes import media as shapes
from shared.conversions import operations, store
from shared.conversions.store import KeptConversion
from shared.errors import ConversionNotFound, EventMediaNotFound, NotConvertible
from shared.event_media import operations as event_media
from shared.vocabulary import ConversionStatus, Role

routes = Routes("conversions", "/api/conversions", "Presentations as PDFs.")
files = Routes("files", "/api/files", "Converted files.")


@routes.post(
    "/<id:media_id>/pdf",
    role=Role.OPERATOR,
    bound=Bound.NONE,
    statuses={200: "The PDF is there", 202: "It is being made"},
    raises=(EventMediaNotFound, NotConvertible),
)
def ensure_pdf(call: Call, media_id: int) -> Reply[shapes.Conversion]:
    """Make a PDF of this medium unless it exists or is being made. A failed or lost PDF is made again."""
    with call.transaction() as (connection, now):
        media = event_media.find(connection, media_id)
        volume = call.services.media_volume
        conversion, must_enqueue = operations.ensure_pdf_on_volume(connection, now, volume, media, call.traceparent)
        if must_enqueue:
            call.audit(connection, now, "conversion.request", str(media_id), conversion_id=conversion.id)
    return _under_way(call, conversion, must_enqueue)


@routes.post(
    "/<id:media_id>/reconvert",
    role=Role.OPERATOR,
    bound=Bound.NONE,
    statuses={202: "It is being made"},
    raises=(EventMediaNotFound, NotConvertible),
)
def reconvert(call: Call, media_id: int) -> Reply[shapes.Conversion]:
    """Make the PDF of this medium again, for example after new fonts. The present PDF is served until then."""
    with call.transaction() as (connection, now):
        media = event_media.find(connection, media_id)
        conversion, must_enqueue = operations.rebuild(connection, now, media, call.traceparent)
        call.audit(connection, now, "conversion.rebuild", str(media_id), conversion_id=conversion.id)
    return _under_way(call, conversion, must_enqueue)


def _under_way(call: Call, conversion: KeptConversion, must_enqueue: bool) -> Reply[shapes.Conversion]:
    if must_enqueue:
        operations.enqueue(call.services.task_queue, conversion)
    return Reply(shapes.conversion(conversion), 200 if conversion.status == ConversionStatus.READY else 202)


@routes.get(
    "/<id:media_id>/status", role=Role.VIEWER, bound=Bound.NONE, raises=(EventMediaNotFound, ConversionNotFound)
)
def conversion_status(call: Call, media_id: int) -> shapes.Conversion:
    """The newest conversion of a medium."""
    with call.transaction() as (connection, _):
        event_media.find(connection, media_id)
        return shapes.conversion(operations.find(connection, media_id))


class ConversionsQuery(PageQuery):
    """Which conversions."""

    status: ConversionStatus | None = None


@routes.get("", role=Role.VIEWER, bound=Bound.NONE)
def list_conversions(call: Call, query: ConversionsQuery) -> Page[shapes.ConversionItem]:
    """Conversions, the newest first, each with its file's name."""
    after = decode_cursor(query.cursor, int)
    with call.transaction() as (connection, _):
        rows = store.list_page(connection, query.limit + 1, after[0] if after else None, query.status)
    return page(rows, query.limit, lambda row: (row.id,), shapes.conversion_item)


@files.get(
    "/converted/<path:path>",
    role=Role.VIEWER,
    bound=Bound.NONE,
    produces=("application/pdf",),
    statuses={200: "The PDF", 206: "A part of it", 304: "Unchanged"},
    raises=(ConversionNotFound, *OF_FILES),
)
def converted_file(call: Call, path: str) -> Response:
    """A converted PDF. Only paths in the database are served; supports ranges and ETag."""
    with call.transaction() as (connection, _):
        row = store.ready_target(connection, path)
    if row is None or row.target_path is None:
        raise ConversionNotFound("converted_path_unknown")
    name = row.filename.rpartition(".")[0] + ".pdf"
    missing = ConversionNotFound("converted_file_missing")
    opener = call.services.media_volume.open_converted
    return send_stored(call, opener, row.target_path, "application/pdf", None, name, missing)
