"""Sending a stored file: ranges, ETag, a type that browsers may not guess around."""

from pathlib import Path

from flask import Response, send_file

from shared.errors import NotFound

SANDBOXED = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'"
INLINE = {"application/pdf", "image/png", "image/jpeg", "image/webp", "image/gif", "video/mp4", "video/webm"}


def send_stored(path: Path, content_type: str, sha256: str, filename: str, missing: type[NotFound]) -> Response:
    """The file at `path`, which the database named. Its bytes never change under one hash, so the hash is its ETag.

    Raises `missing` when the volume does not have it.
    """
    try:
        answer = send_file(
            path,
            mimetype=content_type,
            as_attachment=content_type not in INLINE,
            download_name=filename,
            conditional=True,
            etag=sha256,
        )
    except FileNotFoundError:
        raise missing("The file is recorded but not on the media volume.") from None
    answer.headers["Cache-Control"] = "private, no-cache"
    answer.headers["X-Content-Type-Options"] = "nosniff"
    if content_type != "application/pdf":  # a browser's PDF viewer does not run inside a sandbox
        answer.headers["Content-Security-Policy"] = SANDBOXED
    else:
        answer.headers["Content-Security-Policy"] = "default-src 'none'; frame-ancestors 'self'"
    return answer
