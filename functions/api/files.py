"""Stored files as answers: ranges, ETag, a type that browsers may not guess around.

Cloud Run answers 32 MiB at most, unless the answer comes in chunks. There a larger file is sent without its length,
which makes the server send chunks, and a longer range is answered by its beginning, as RFC 9110 (15.3.7) allows.
"""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Final

from flask import Response, request, send_file

from functions.api.routing import Call
from functions.problems import PreconditionFailed, RangeNotSatisfiable
from shared.errors import NotFound

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

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
