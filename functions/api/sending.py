"""Sending a stored file: ranges, ETag, a type that browsers may not guess around."""

import os
from collections.abc import Callable
from typing import BinaryIO, Final

from flask import Response, request, send_file

from shared.errors import NotFound

INLINE: Final = {"application/pdf", "image/png", "image/jpeg", "image/webp", "image/gif", "video/mp4", "video/webm"}
PDF_POLICY: Final = "default-src 'none'; frame-ancestors 'self'"  # a browser's PDF viewer runs in no sandbox
OTHERS_POLICY: Final = "sandbox; default-src 'none'"


def send_stored(
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
        answer = _answer(file, content_type, sha256, filename)
    except BaseException:
        file.close()
        raise
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.headers["Content-Security-Policy"] = PDF_POLICY if content_type == "application/pdf" else OTHERS_POLICY
    return answer


def _answer(file: BinaryIO, content_type: str, sha256: str | None, filename: str) -> Response:
    """The whole file, the range asked for, or 304. Raises RequestedRangeNotSatisfiable."""
    status = os.fstat(file.fileno())
    size = status.st_size
    inline = content_type in INLINE
    answer = send_file(file, content_type, as_attachment=not inline, download_name=filename, conditional=False)
    answer.content_length = size
    answer.set_etag(sha256 or f"{status.st_mtime_ns:x}-{size:x}")
    answer.make_conditional(request.environ, accept_ranges=_wants_one_range(), complete_length=size)
    answer.headers["Accept-Ranges"] = "bytes"
    return answer


def _wants_one_range() -> bool:
    """Several ranges, another unit or nonsense are answered with the whole file, as RFC 9110 allows."""
    asked = request.range
    return asked is not None and asked.units == "bytes" and len(asked.ranges) == 1
