"""Decide what may be uploaded, by the kind in a file's name and the kind that its content proves.

No function writes, and none unpacks a whole file.
"""

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import BinaryIO, Final

from shared.errors import NameNotAccepted, NotAPresentation, TooLargeUnpacked, UnsupportedMediaType
from shared.event_media import ole_rules, pictures_rules, zip_rules
from shared.event_media.zip_rules import Slides
from shared.vocabulary import CONVERTIBLE_KINDS, MediaKind

__all__ = ["NAMELESS", "Slides", "inspect", "kind_of_name", "name_of_kind", "shown_filename"]

_OTHER_SUFFIXES: Final = {
    MediaKind.JPEG: (".jpg",),
    MediaKind.PPT: (".pps", ".pot"),
    MediaKind.PPTX: (".ppsx", ".pptm", ".ppsm", ".potx", ".potm"),
    MediaKind.ODP: (".otp",),
}
SUFFIXES: Final[dict[str, MediaKind]] = {f".{kind}": kind for kind in MediaKind} | {
    suffix: kind for kind, suffixes in _OTHER_SUFFIXES.items() for suffix in suffixes
}
"""Slide shows, templates and decks with macros have the same formats as presentations."""
KEYNOTE: Final = ".key"
FILENAME_CHARACTERS: Final = 255
NAMELESS: Final = "unnamed"
HEAD_BYTES: Final = 4096
PDF_TAIL_BYTES: Final = 1024  # PDF readers look for the end mark in these last bytes
ZIP: Final = b"PK\x03\x04"
OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def kind_of_name(filename: str) -> MediaKind:
    """The kind by the file's extension. Raises UnsupportedMediaType."""
    suffix = PurePath(filename).suffix.lower()
    kind = SUFFIXES.get(suffix)
    if kind is None and suffix == KEYNOTE:
        raise UnsupportedMediaType("export_keynote", accepted=list(SUFFIXES))
    if kind is None:
        raise UnsupportedMediaType("accepted_names", accepted=list(SUFFIXES))
    return kind


def shown_filename(filename: str) -> str:
    """The name for people: without folders, control characters and marks that change the writing direction.

    An extension alone, which many programs would hide, gets a name.
    """
    name = _CONTROL.sub("", re.split(r"[/\\]", filename)[-1]).strip()
    stem, dot, ending = name.rpartition(".")
    if not stem.strip(". ") and (dot + ending).lower() in SUFFIXES:
        name = f"{NAMELESS}.{ending}"
    suffix = PurePath(name).suffix[:16]
    return name if len(name) <= FILENAME_CHARACTERS else name[: FILENAME_CHARACTERS - len(suffix)] + suffix


def name_of_kind(filename: str, kind: MediaKind) -> str:
    """A new name for people. An extension of its kind is added if it has none. Raises NameNotAccepted when empty."""
    name = shown_filename(filename)
    if not PurePath(name).stem.strip(". "):
        raise NameNotAccepted
    return name if SUFFIXES.get(PurePath(name).suffix.lower()) == kind else shown_filename(f"{name}.{kind}")


def inspect(file: BinaryIO, named: MediaKind) -> tuple[MediaKind, Slides | None]:
    """The kind that the content proves, and the counts of slides; None when it has none or they cannot be counted.

    The content decides: a presentation may have the extension of another kind of presentation, and a picture that of
    another kind of picture.

    Raises:
        UnsupportedMediaType: the name is no presentation's, and the content is not what the name says.
        TooLargeUnpacked: a picture has too many pixels.
        NotAPresentation: the name is a presentation's, but the content is not.
        Encrypted, TooLargeUnpacked, NoSlides: the presentation cannot be shown.
    """
    if named in CONVERTIBLE_KINDS:
        return _inspect_presentation(file)
    file.seek(0)
    head = file.read(HEAD_BYTES)
    for kind, matches in SIGNATURES.items():
        if matches(head) and _is_related(kind, named):
            _check_rest(file, kind)
            return kind, None
    raise UnsupportedMediaType("content_is_another", facts={"kind": named.value})


def _check_rest(file: BinaryIO, kind: MediaKind) -> None:
    """Check the end of a PDF and the size of a picture. Raises UnsupportedMediaType or TooLargeUnpacked."""
    if kind is MediaKind.PDF:
        file.seek(max(0, file.seek(0, 2) - PDF_TAIL_BYTES))
        if b"%%EOF" not in file.read():
            raise UnsupportedMediaType("pdf_without_end")
    elif kind in PICTURES:
        file.seek(0)
        pixels = pictures_rules.pixels(file)
        if pixels == 0:
            raise UnsupportedMediaType("picture_without_size")
        if pixels > pictures_rules.MAX_PIXELS:
            raise TooLargeUnpacked(
                "picture_has_too_many_pixels", facts={"megapixels": pictures_rules.MAX_PIXELS // 10**6}
            )


def _inspect_presentation(file: BinaryIO) -> tuple[MediaKind, Slides | None]:
    """Inspect a presentation by its first bytes: a .ppt may contain whole ZIP packages later in the file."""
    file.seek(0)
    head = file.read(len(OLE))
    if head.startswith(ZIP):
        return zip_rules.inspect(file)
    if head == OLE:
        return MediaKind.PPT, ole_rules.inspect(file)
    raise NotAPresentation


def _is_related(kind: MediaKind, named: MediaKind) -> bool:
    return kind == named or {kind, named} <= PICTURES


def _is_webp(head: bytes) -> bool:
    return head[:4] == b"RIFF" and head[8:12] == b"WEBP"


def _is_mp4(head: bytes) -> bool:
    return head[4:8] == b"ftyp"


def _is_webm(head: bytes) -> bool:
    return head[:4] == b"\x1a\x45\xdf\xa3" and b"webm" in head[:64]


PICTURES: Final = {MediaKind.PNG, MediaKind.JPEG, MediaKind.WEBP, MediaKind.GIF}
SIGNATURES: Final[dict[MediaKind, Callable[[bytes], bool]]] = {
    MediaKind.PDF: lambda head: b"%PDF-" in head[:1024],  # readers accept some bytes before it
    MediaKind.PNG: lambda head: head.startswith(b"\x89PNG\r\n\x1a\n"),
    MediaKind.JPEG: lambda head: head.startswith(b"\xff\xd8\xff"),
    MediaKind.WEBP: _is_webp,
    MediaKind.GIF: lambda head: head[:6] in {b"GIF87a", b"GIF89a"},
    MediaKind.MP4: _is_mp4,
    MediaKind.WEBM: _is_webm,
}
