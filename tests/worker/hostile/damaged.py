"""Decks that are truncated, have flipped bits, are nested too deeply, or are of another format."""

import io
import random
import zipfile
from collections.abc import Callable
from typing import Final

from tests.worker import hostile_decks
from tests.worker.hostile.packages import SLIDE, with_shapes
from tests.worker.hostile.seeds import Seeds

A_GROUP: Final = {
    "pptx": (
        '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="9" name="g"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>',
        "</p:grpSp>",
    ),
    "odp": ("<draw:g>", "</draw:g>"),
}


def truncated(good: Seeds, chance: random.Random, suffix: str, _how: None) -> bytes:
    """Cut the deck at a random place."""
    content = good.deck(suffix)
    return content[: chance.randrange(1, len(content))]


def bit_flipped(good: Seeds, chance: random.Random, suffix: str, bits: int) -> bytes:
    """Flip bits at random places."""
    spoilt = bytearray(good.deck(suffix))
    for _ in range(bits):
        spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
    return bytes(spoilt)


def flipped_inside(good: Seeds, chance: random.Random, suffix: str, count: int) -> bytes:
    """A valid package with damaged XML, which passes every checksum."""
    part = SLIDE[suffix]
    spoilt = bytearray(hostile_decks.part_of(good.deck(suffix), part))
    for _ in range(count):
        spoilt[chance.randrange(len(spoilt))] = chance.randrange(32, 127)
    return hostile_decks.with_parts(good.deck(suffix), {part: bytes(spoilt)})


def deep(good: Seeds, _chance: random.Random, suffix: str, depth: int) -> bytes:
    """Deeply nested groups."""
    begin, end = A_GROUP[suffix]
    return with_shapes(good.deck(suffix), suffix, begin * depth + end * depth)


def _a_text(good: Seeds, _chance: random.Random) -> bytes:
    """An OpenDocument text with the extension of a presentation."""
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        package.writestr("content.xml", f'<x href="{good.secrets.text}"/>')
    return other.getvalue()


STRANGERS: Final[dict[str, Callable[[Seeds, random.Random], bytes]]] = {
    "nothing": lambda _good, _chance: b"",
    "noise": lambda _good, chance: chance.randbytes(5000),
    "a program": lambda _good, chance: b"MZ" + chance.randbytes(4000),
    "HTML": lambda good, _chance: f"<html><img src='{good.web}/html.png'></html>".encode(),
    "RTF": lambda good, _chance: b"{\\rtf1 {\\field{\\*\\fldinst INCLUDETEXT " + bytes(good.secrets.text) + b"}}}",
    "CSV": lambda good, _chance: f'a,b\n=WEBSERVICE("{good.web}/csv"),1\n'.encode(),
    "SVG": lambda good, _chance: (
        f"<svg xmlns='http://www.w3.org/2000/svg'><image href='{good.web}/svg.png'/></svg>".encode()
    ),
    "a picture": lambda _good, _chance: hostile_decks.png_of(100, 100),
    "an OpenDocument text": _a_text,
}


def wrong_magic(good: Seeds, chance: random.Random, _suffix: str, what: str) -> bytes:
    """Another format with a deck's extension."""
    return STRANGERS[what](good, chance)
