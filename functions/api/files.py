"""Receive a form's file as a stream, and send stored files.

The media volume reads and hashes the stream in blocks; no copy is made in memory or in a temporary folder. A body that
ends early or has no file is refused before anything is stored.

A stored file is sent with ranges, an ETag and a fixed content type. Cloud Run limits an answer to 32 MiB unless it is
chunked. There a larger file is sent without its length, so that the server sends chunks. A longer range is answered by
its beginning, as RFC 9110 (15.3.7) allows.
"""

import io
import os
import re
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Final
from urllib.parse import quote

from flask import Request, Response, request, send_file
from werkzeug.datastructures import Headers
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.sansio.multipart import Data, Epilogue, Event, File, MultipartDecoder, NeedData

from functions.api.routing import Call
from functions.problems import BadRequest, BodyTooLarge, PreconditionFailed, RangeNotSatisfiable
from shared.errors import NotFound, UnsupportedMediaType
from shared.event_media import rules
from shared.postgres.door import scrub

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

BLOCK_BYTES: Final = 1024 * 1024  # the server's read-ahead: at each smaller read it would copy the rest
MAX_PARTS: Final = 16
_BARE_BACKSLASH: Final = re.compile(r"\\(?![\\\"])")


class _Decoder(MultipartDecoder):
    """The decoder of forms, for names of files that are not written as its standard wants."""

    def _parse_headers(self, data: bytes | bytearray) -> Headers:
        """Read names that are not UTF-8 as Windows-1252, and keep the backslashes of paths, which escape nothing."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
        return super()._parse_headers(_BARE_BACKSLASH.sub(r"\\\\", text).encode())


class FilePart(io.RawIOBase):
    """The part named `file` of a multipart request, readable once, from beginning to end."""

    def __init__(self, request: Request) -> None:
        """Read up to the beginning of the file. Raises BadRequest when there is none."""
        super().__init__()
        self._request = request
        self._declared = request.content_length
        self._received = 0
        # twice a block: the decoder keeps back bytes that may begin a boundary
        self._decoder = _Decoder(_boundary(request), 2 * BLOCK_BYTES, max_parts=MAX_PARTS)
        self._ready = b""
        self._ended = False
        self.filename = self._find_file()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes; b"" at the end of the file. Raises BadRequest when the body was cut off."""
        if size < 0:
            raise io.UnsupportedOperation("a file part is read in blocks")
        while not self._ready and not self._ended:
            self._take(self._next())
        block, self._ready = self._ready[:size], self._ready[size:]
        return block

    def finish(self) -> None:
        """Read the rest of the body, to check that it is complete and has no second file. Raises BadRequest."""
        while not isinstance(found := self._next(), Epilogue):
            if isinstance(found, File):
                raise BadRequest("one_file_at_a_time")
        while block := self._request.stream.read(BLOCK_BYTES):
            self._received += len(block)
        if self._declared is not None and self._received != self._declared:
            raise _cut_off()

    def _find_file(self) -> str:
        while True:
            found = self._next()
            if isinstance(found, File):
                if found.name != "file":
                    raise BadRequest("file_field_missing")
                return _plain(found.filename)

    def _take(self, found: Event) -> None:
        if not isinstance(found, Data):
            raise _cut_off()
        self._ready = found.data
        self._ended = not found.more_data

    def _next(self) -> Event:
        """The decoder's next event; feeds it from the body."""
        try:
            while isinstance(found := self._decoder.next_event(), NeedData):
                block = self._request.stream.read(BLOCK_BYTES)
                self._received += len(block)
                self._decoder.receive_data(block or None)
        except ValueError:
            raise _cut_off() from None
        except RequestEntityTooLarge:
            raise BodyTooLarge("form_too_large") from None
        return found


def _boundary(request: Request) -> bytes:
    boundary = request.mimetype_params.get("boundary", "")
    if request.mimetype != "multipart/form-data" or not boundary:
        raise UnsupportedMediaType("body_must_be_form")
    return boundary.encode("ascii", "replace")


def _plain(filename: str | None) -> str:
    """The file name as people see it. Raises BadRequest when it is empty."""
    if name := rules.shown_filename(scrub(filename or "")):
        return name
    raise BadRequest("upload_without_name")


def _cut_off() -> BadRequest:
    return BadRequest("upload_cut_off")


CLOUD_MOST_BYTES: Final = 30_000_000
"""The most bytes in an answer that is not chunked, in the cloud."""
INLINE: Final = {"application/pdf", "image/png", "image/jpeg", "image/webp", "image/gif", "video/mp4", "video/webm"}
OF_FILES: Final = (RangeNotSatisfiable, PreconditionFailed)  # the errors of sending a file: Range, If-Match
PDF_POLICY: Final = "default-src 'none'; frame-ancestors 'self'"  # a browser's PDF viewer runs in no sandbox
OTHERS_POLICY: Final = "sandbox; default-src 'none'"


def send_stored(
    call: Call,
    open_file: Callable[[str], BinaryIO],
    path: str,
    content_type: str,
    sha256: str | None,
    filename: str,
    missing: NotFound,
) -> Response:
    """Send the file that `open_file` opens at `path`, a path from the database.

    The ETag is `sha256`. A file that can change (a PDF is made again) has none: its ETag is made of its time and size.
    Raises `missing` when the file is not on the volume.
    """
    try:
        file = open_file(path)
    except FileNotFoundError:
        raise missing from None
    try:
        in_cloud = call.services.config["DEPLOYMENT_MODE"] == "cloud"
        answer = _answer(file, content_type, sha256, filename, CLOUD_MOST_BYTES if in_cloud else None)
    except BaseException:
        file.close()
        raise
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.headers["Content-Security-Policy"] = PDF_POLICY if content_type == "application/pdf" else OTHERS_POLICY
    return answer


def _answer(file: BinaryIO, content_type: str, sha256: str | None, filename: str, most: int | None) -> Response:
    """The whole file, the requested range, or 304. Raises RequestedRangeNotSatisfiable or PreconditionFailed.

    `most` limits the bytes of an answer that is not chunked; None: no limit.
    """
    status = os.fstat(file.fileno())
    size = status.st_size
    tag = sha256 or f"{status.st_mtime_ns:x}-{size:x}"
    if request.if_match and not request.if_match.contains(tag):  # werkzeug would send the file with a 412
        raise PreconditionFailed
    answer = send_file(file, content_type, conditional=False)
    answer.headers.set("Content-Disposition", "inline" if content_type in INLINE else "attachment", **_names(filename))
    answer.content_length = size
    answer.set_etag(tag)
    in_parts = _wants_one_range(tag)
    environ = _with_short_range(size, most) if in_parts and most is not None else request.environ
    environ = {name: value for name, value in environ.items() if name != "HTTP_IF_MATCH"}
    answer.make_conditional(environ, accept_ranges=in_parts, complete_length=size)
    answer.headers["Accept-Ranges"] = "bytes"
    if most is not None and size > most and answer.status_code == 200 and request.method != "HEAD":
        del answer.headers["Content-Length"]
    return answer


def _with_short_range(size: int, most: int) -> "WSGIEnvironment":
    """The request's environ, with its range cut to `most` bytes."""
    asked = request.range.range_for_length(size) if request.range is not None else None
    if asked is None or asked[1] - asked[0] <= most:
        return request.environ
    return {**request.environ, "HTTP_RANGE": f"bytes={asked[0]}-{asked[0] + most - 1}"}


def _wants_one_range(tag: str) -> bool:
    """Whether one valid range of bytes is requested. All others are ignored, as RFC 9110 allows.

    It is not when the caller has the whole file already, or names its part by a weak ETag.
    """
    asked = request.range
    if request.if_none_match.contains_weak(tag) or request.headers.get("If-Range", "").startswith("W/"):
        return False
    return asked is not None and asked.units == "bytes" and len(asked.ranges) == 1


def _names(filename: str) -> dict[str, str]:
    """The names in Content-Disposition: `filename*` has the whole one, `filename` its ASCII for old programs."""
    plain = unicodedata.normalize("NFKD", filename).encode("ascii", "ignore").decode().strip()
    names = {"filename": rules.NAMELESS + plain if plain.startswith(".") else plain}
    return names if plain == filename else {**names, "filename*": f"UTF-8''{quote(filename, safe='')}"}
