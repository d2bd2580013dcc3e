"""The paths below the root of the media volume, made of hashes and ids, never of a user's text."""

import re
from typing import Final

PART: Final = re.compile(r"uploads/[0-9a-f]{32}/[0-9]{1,15}-[0-9a-f]{32}")
SHA256: Final = re.compile(r"[0-9a-f]{64}")
ORIGINAL: Final = re.compile(r"originals/[0-9a-f]{2}/[0-9a-f]{64}\.[a-z0-9]{2,5}")
CONVERTED: Final = re.compile(r"[0-9a-f]{2}/[0-9a-f]{64}\.pdf")


def original_path(sha256: str, kind: str) -> str:
    """The path of the original with this hash, below the root. Raises ValueError for an invalid hash."""
    path = f"originals/{sha256[:2]}/{sha256}.{kind}"
    if not ORIGINAL.fullmatch(path):
        raise ValueError("not a SHA-256 and a kind")
    return path


def converted_path(file_hash: str) -> str:
    """The path of the PDF of this source's hash, below `converted/`. Raises ValueError for an invalid hash."""
    if not SHA256.fullmatch(file_hash):
        raise ValueError("not a SHA-256")
    return f"{file_hash[:2]}/{file_hash}.pdf"


def thumbnail_path(file_hash: str) -> str:
    if not SHA256.fullmatch(file_hash):
        raise ValueError("not a SHA-256")
    return f"thumbnails/{file_hash[:2]}/{file_hash}.png"


def upload_path(upload_id: str, part: str) -> str:
    """The path of an upload's part, below the root. Raises ValueError for an invalid id or name."""
    path = f"uploads/{upload_id}/{part}"
    if not PART.fullmatch(path):
        raise ValueError("not the path of a part")
    return path
