"""Good decks to spoil, and the targets of hostile ones."""

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.worker import decks
from tests.worker.hostile.packages import replaced

WORDS: Final = "Wartungsschluessel 4711"
"""Words of other files, which no PDF may contain."""
COLOUR: Final = (255, 0, 255)
"""The colour of another picture, which no page may show, and which good decks do not have."""


@dataclass(frozen=True)
class Secrets:
    """Other files on the same machine."""

    text: Path
    deck: Path
    """An .odp with the words, to link as an object."""
    picture: Path


@dataclass(frozen=True)
class Seeds:
    """The good decks and the targets."""

    pptx: bytes
    odp: bytes
    ppt: bytes
    web: str
    """The beacon's address."""
    secrets: Secrets

    def deck(self, suffix: str) -> bytes:
        """The good deck of this format."""
        found: bytes = getattr(self, suffix)
        return found


def seeds(folder: Path, web: str) -> Seeds:
    """Make the decks with the usual libraries and programs."""
    decks.make_pptx(folder / "a.pptx", 3)
    decks.make_odp(folder / "a.odp", 3)
    decks.make_ppt(folder / "a.ppt", 3, hidden=1)
    content = {suffix: (folder / f"a.{suffix}").read_bytes() for suffix in ("pptx", "odp", "ppt")}
    return Seeds(**content, web=web, secrets=_secrets(folder, content["odp"]))


def _secrets(folder: Path, odp: bytes) -> Secrets:
    made = Secrets(folder / "secret.txt", folder / "secret.odp", folder / "secret.png")
    made.text.write_text(WORDS, encoding="utf-8")
    made.deck.write_bytes(replaced(odp, "content.xml", "Slide 1 of 3", WORDS))
    made.picture.write_bytes(picture_of(64, 64, COLOUR))
    return made


def picture_of(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    """A complete PNG of one colour."""
    packer = zlib.compressobj(9)
    row = b"\0" + bytes(colour) * width
    data = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    header = struct.pack(">LLBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">L", len(content)) + kind + content + struct.pack(">L", zlib.crc32(kind + content))
