"""Sending a stored file: ranges, ETag, a type that browsers may not guess around; large ones by another address."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Final

from flask import Response, request, send_file

from functions.api.problems import PreconditionFailed, RangeNotSatisfiable
from functions.api.routing import Call
from shared.errors import NotFound
from shared.outside.media_volume import MediaVolume
from shared.outside.media_volume.signing import LARGE_BYTES, SignedFile, UrlSigner

INLINE: Final = {"application/pdf", "image/png", "image/jpeg", "image/webp", "image/gif", "video/mp4", "video/webm"}
OF_FILES: Final = (RangeNotSatisfiable, PreconditionFailed)  # what sending one may end in: Range, If-Match
PDF_POLICY: Final = "default-src 'none'; frame-ancestors 'self'"  # a browser's PDF viewer runs in no sandbox
OTHERS_POLICY: Final = "sandbox; default-src 'none'"


@dataclass(frozen=True)
class Signing:
    """How large files are redirected."""

    signer: UrlSigner
    folder: str
    """What stands before the path, to make it one below the root of the volume."""
    now: datetime
    above_bytes: int = LARGE_BYTES

    def redirect(self, path: str, content_type: str, disposition: str) -> Response:
        """The answer that leads to the file's own address; nobody may keep it."""
        where = self.signer.download_url(SignedFile(self.folder + path, content_type, disposition), self.now)
        return Response(status=307, headers={"Location": where, "Cache-Control": "no-store"})


def send_stored(
    open_file: Callable[[str], BinaryIO],
    path: str,
    content_type: str,
    sha256: str | None,
    filename: str,
    missing: NotFound,
    signed: Signing | None = None,
) -> Response:
    """The file that `open_file` finds at `path`, a path that the database named.

    Bytes that never change have their hash as ETag; without one (a PDF may be made anew) it is made of the
    file's time and size. Where `signed` says how, a large file is redirected to an address of its own. Raises
    `missing` when the volume does not have it.
    """
    try:
        file = open_file(path)
    except FileNotFoundError:
        raise missing from None
    try:
        answer = _answer(file, content_type, sha256, filename)
        if signed is not None and answer.status_code != 304 and _size(file) > signed.above_bytes:
            answer.close()
            return signed.redirect(path, content_type, answer.headers["Content-Disposition"])
    except BaseException:
        file.close()
        raise
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.headers["Content-Security-Policy"] = PDF_POLICY if content_type == "application/pdf" else OTHERS_POLICY
    return answer


def signing(call: Call, folder: str, now: datetime) -> Signing | None:
    """How this service redirects large files; None where it answers them itself."""
    signer = call.services.url_signer
    return None if signer is None else Signing(signer, folder, now)


def send_signed(volume: MediaVolume, file: SignedFile, missing: NotFound) -> Response:
    """The file that an address of our own stands for; it was checked. Raises `missing`."""
    opener, path = volume.open_original, file.path
    if path.startswith("converted/"):
        opener, path = volume.open_converted, path.removeprefix("converted/")
    answer = send_stored(opener, path, file.content_type, None, "file", missing)
    answer.headers["Content-Disposition"] = file.disposition
    return answer


def _size(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


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
