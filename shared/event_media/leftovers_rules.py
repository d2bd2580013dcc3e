"""Tell by a file's path on the media volume what may need it."""

import re
from enum import StrEnum
from typing import Final

from msgspec import Struct


class Owner(StrEnum):
    """What may need a file, to be checked before the file is removed."""

    PATH = "path"  # a medium whose row names this path
    CONTENT = "content"  # any medium with this content: the file is its PDF or thumbnail
    UPLOAD = "upload"  # an upload in parts
    NOBODY = "nobody"  # nothing: a killed process was writing the file
    STRANGER = "stranger"  # not a file of ours: never removed


class Belonging(Struct, frozen=True):
    """What may need a file, and the key to look it up with."""

    owner: Owner
    key: str = ""
    """The path, the content's SHA-256 or the upload's id."""
    sha256: str = ""
    """The content to lock while the file is removed; empty for none."""


# Rules import no door, so the shapes of `shared.outside.media_volume.paths` stand here again; a test compares them.
_SHAPES: Final = (
    (re.compile(r"originals/[0-9a-f]{2}/(?P<sha>[0-9a-f]{64})\.[a-z0-9]{2,5}"), Owner.PATH),
    (re.compile(r"converted/[0-9a-f]{2}/(?P<sha>[0-9a-f]{64})\.pdf"), Owner.CONTENT),
    (re.compile(r"thumbnails/[0-9a-f]{2}/(?P<sha>[0-9a-f]{64})\.png"), Owner.CONTENT),
    (re.compile(r"uploads/(?P<upload>[0-9a-f]{32})/[0-9]{1,15}-[0-9a-f]{32}"), Owner.UPLOAD),
    (re.compile(r"incoming/[0-9a-f]{32}|\.probe-[0-9a-f]{16}"), Owner.NOBODY),
    (re.compile(r"(converted|thumbnails)/[0-9a-f]{2}/\.[^/]+\.draft"), Owner.NOBODY),
)


def belonging(path: str) -> Belonging:
    """What may need the file at this path below the media root."""
    for shape, owner in _SHAPES:
        found = shape.fullmatch(path)
        if found:
            named = found.groupdict()
            sha256 = named.get("sha", "")
            keys = {Owner.PATH: path, Owner.CONTENT: sha256, Owner.UPLOAD: named.get("upload", "")}
            return Belonging(owner, keys.get(owner, ""), sha256)
    return Belonging(Owner.STRANGER)
