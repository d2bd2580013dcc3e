"""Files: the one of a form as it comes, and stored ones as they leave.

A form's file is a stream: nothing of it is kept in memory or in a temporary folder. The media volume reads it in blocks
while it hashes; a body that ends early, or has no file, is refused before anything is recorded.

A stored file has ranges, an ETag, and a type that browsers may not guess around. Cloud Run answers 32 MiB at most,
unless the answer comes in chunks. There a larger file is sent without its length, which makes the server send chunks,
and a longer range is answered by its beginning, as RFC 9110 (15.3.7) allows.
"""

import io
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Final

from flask import Request, Response, request, send_file
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.sansio.multipart import Data, Epilogue, Event, File, MultipartDecoder, NeedData

from functions.api.routing import Call
from functions.problems import BadRequest, BodyTooLarge, PreconditionFailed, RangeNotSatisfiable
from shared.errors import NotFound, UnsupportedMediaType
from shared.postgres.door import scrub

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

BLOCK_BYTES: Final = 1024 * 1024  # what the server reads ahead: smaller reads make it copy the rest each time
MAX_PARTS: Final = 16
LONGEST_FILENAME: Final = 255


class FilePart(io.RawIOBase):
    """The part named `file` of a multipart request, readable once, front to back."""

    def __init__(self, request: Request) -> None:
        """Reads up to the beginning of the file; raises BadRequest when there is none."""
        super().__init__()
        self._request = request
        self._declared = request.content_length
        self._received = 0
        # twice a block: the decoder keeps what may be the beginning of a boundary
        self._decoder = MultipartDecoder(_boundary(request), 2 * BLOCK_BYTES, max_parts=MAX_PARTS)
        self._ready = b""
        self._ended = False
        self.filename = self._find_file()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes; b"" at the end of the file. Raises BadRequest for a body that was cut off."""
        if size < 0:
            raise io.UnsupportedOperation("a file part is read in blocks")
        while not self._ready and not self._ended:
            self._take(self._next())
        block, self._ready = self._ready[:size], self._ready[size:]
        return block

    def finish(self) -> None:
        """Read what follows the file, so that the request is known to be whole and to hold no second file."""
        while not isinstance(found := self._next(), Epilogue):
            if isinstance(found, File):
                raise BadRequest("One file at a time: the form has a second one; nothing was stored.")
        while block := self._request.stream.read(BLOCK_BYTES):
            self._received += len(block)
        if self._declared is not None and self._received != self._declared:
            raise _cut_off()

    def _find_file(self) -> str:
        while True:
            found = self._next()
            if isinstance(found, File):
                if found.name != "file":
                    raise BadRequest("The upload's file must be the form field named `file`.")
                return _plain(found.filename)

    def _take(self, found: Event) -> None:
        if not isinstance(found, Data):
            raise _cut_off()
        self._ready = found.data
        self._ended = not found.more_data

    def _next(self) -> Event:
        """The decoder's next event, feeding it from the body as it asks."""
        try:
            while isinstance(found := self._decoder.next_event(), NeedData):
                block = self._request.stream.read(BLOCK_BYTES)
                self._received += len(block)
                self._decoder.receive_data(block or None)
        except (ValueError, UnicodeDecodeError):
            raise _cut_off() from None
        except RequestEntityTooLarge:
            raise BodyTooLarge("The form around the file is too large.") from None
        return found


def _boundary(request: Request) -> bytes:
    boundary = request.mimetype_params.get("boundary", "")
    if request.mimetype != "multipart/form-data" or not boundary:
        raise UnsupportedMediaType("The body must be multipart/form-data with the file in the field `file`.")
    return boundary.encode("ascii", "replace")


def _plain(filename: str | None) -> str:
    """The last part of a file name, scrubbed: what a browser or a script calls the file, never a path."""
    name = scrub(filename or "").replace("\\", "/").rsplit("/", 1)[-1].strip()
    if not name:
        raise BadRequest("The upload's file has no name.")
    return name[-LONGEST_FILENAME:]


def _cut_off() -> BadRequest:
    return BadRequest("The upload ended before it was complete, or is not well-formed; nothing was stored.")


CLOUD_MOST_BYTES: Final = 30_000_000
"""In one piece, where the platform has that limit."""
INLINE: Final = {"application/pdf", "image/png", "image/jpeg", "image/webp", "image/gif", "video/mp4", "video/webm"}
OF_FILES: Final = (RangeNotSatisfiable, PreconditionFailed)  # what sending one may end in: Range, If-Match
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
    """The file that `open_file` finds at `path`, a path that the database named.

    Bytes that never change have their hash as ETag; without one (a PDF may be made anew) it is made of the
    file's time and size. Raises `missing` when the volume does not have it.
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
    """The whole file, the range asked for, or 304. Raises RequestedRangeNotSatisfiable.

    More than `most` bytes are not sent in one piece; None: as many as there are.
    """
    status = os.fstat(file.fileno())
    size = status.st_size
    inline = content_type in INLINE
    answer = send_file(file, content_type, as_attachment=not inline, download_name=filename, conditional=False)
    answer.content_length = size
    tag = sha256 or f"{status.st_mtime_ns:x}-{size:x}"
    answer.set_etag(tag)
    in_parts = _wants_one_range() and not request.if_none_match.contains_weak(tag)
    environ = _with_short_range(size, most) if in_parts and most is not None else request.environ
    answer.make_conditional(environ, accept_ranges=in_parts, complete_length=size)
    answer.headers["Accept-Ranges"] = "bytes"
    if most is not None and size > most and answer.status_code == 200 and request.method != "HEAD":
        del answer.headers["Content-Length"]
    return answer


def _with_short_range(size: int, most: int) -> "WSGIEnvironment":
    """The request, its range ended after `most` bytes."""
    asked = request.range.range_for_length(size) if request.range is not None else None
    if asked is None or asked[1] - asked[0] <= most:
        return request.environ
    return {**request.environ, "HTTP_RANGE": f"bytes={asked[0]}-{asked[0] + most - 1}"}


def _wants_one_range() -> bool:
    """Several ranges, another unit or nonsense are answered with the whole file, as RFC 9110 allows."""
    asked = request.range
    return asked is not None and asked.units == "bytes" and len(asked.ranges) == 1
