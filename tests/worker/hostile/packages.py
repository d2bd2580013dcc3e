"""Change a part of a deck: insert text, add shapes to the first slide, enlarge a part."""

import io
import zipfile
from collections.abc import Iterable
from typing import Final

from tests.worker import hostile_decks

RELATIONSHIPS: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SLIDE: Final = {"pptx": "ppt/slides/slide1.xml", "odp": "content.xml"}
"""Format -> the part with the first slide's text."""
MANIFEST: Final = "META-INF/manifest.xml"
SLIDE_RELS: Final = "ppt/slides/_rels/slide1.xml.rels"
XLINK: Final = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
_PREFIXES: Final = {
    "pptx": ("<p:sld ", {"r": RELATIONSHIPS}),
    "odp": (
        "<office:document-content",
        {
            "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
            "script": "urn:oasis:names:tc:opendocument:xmlns:script:1.0",
        },
    ),
}
A_PICTURE: Final = (
    '<p:pic><p:nvPicPr><p:cNvPr id="77" name="p"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill>'
    '<a:blip r:link="rId77"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr><a:xfrm><a:off x="0" y="0"/>'
    '<a:ext cx="4000000" cy="4000000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>'
)


def text_of(deck: bytes, part: str) -> str:
    """A part as text."""
    return hostile_decks.part_of(deck, part).decode()


def replaced(deck: bytes, part: str, old: str, new: str) -> bytes:
    """The deck with the first `old` of a part replaced; the prefixes that the new text may use are declared.

    Raises ValueError without `old`, because the deck would stay a good one.
    """
    text = text_of(deck, part)
    if old not in text:
        raise ValueError(f"{part} has no {old}")
    spoilt = text.replace(old, new, 1)
    for root, prefixes in _PREFIXES.values():
        for prefix, name in prefixes.items():
            if root in spoilt and f"xmlns:{prefix}=" not in spoilt.partition(">")[2].partition(">")[0]:
                spoilt = spoilt.replace(root, f'{root.rstrip()} xmlns:{prefix}="{name}" ', 1)
    return hostile_decks.with_parts(deck, {part: spoilt.encode()})


def with_shapes(deck: bytes, suffix: str, shapes: str) -> bytes:
    """The deck with these shapes at the end of its first slide."""
    end = {"pptx": "</p:spTree>", "odp": "</draw:page>"}[suffix]
    return replaced(deck, SLIDE[suffix], end, shapes + end)


def with_picture(deck: bytes, suffix: str, picture: bytes) -> bytes:
    """The deck with a picture on its first slide."""
    if suffix == "odp":
        image = f'<draw:image {XLINK} xlink:href="Pictures/p.png" xlink:type="simple"/>'
        pictured = hostile_decks.with_parts(listing(deck, ["Pictures/p.png"]), {"Pictures/p.png": picture})
        return with_shapes(pictured, suffix, frame(image))
    link = f'<Relationship Id="rId77" Type="{RELATIONSHIPS}/image" Target="../media/p.png"/></Relationships>'
    parts = {
        "ppt/media/p.png": picture,
        SLIDE_RELS: text_of(deck, SLIDE_RELS).replace("</Relationships>", link).encode(),
        "[Content_Types].xml": _knowing_png(text_of(deck, "[Content_Types].xml")).encode(),
    }
    return with_shapes(hostile_decks.with_parts(deck, parts), suffix, A_PICTURE.replace("r:link", "r:embed"))


def _knowing_png(types: str) -> str:
    if 'Extension="png"' in types:
        return types
    return types.replace("<Override", '<Default Extension="png" ContentType="image/png"/><Override', 1)


def listing(odp: bytes, names: Iterable[str]) -> bytes:
    """The .odp with these parts in its manifest, because LibreOffice treats unlisted parts as damage."""
    entries = "".join(f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type=""/>' for name in names)
    end = "</manifest:manifest>"
    manifest = text_of(odp, MANIFEST).replace(end, entries + end)
    return hostile_decks.with_parts(odp, {MANIFEST: manifest.encode()})


def frame(inner: str) -> str:
    """A frame of an .odp with this content."""
    return f'<draw:frame svg:width="9cm" svg:height="9cm" svg:x="1cm" svg:y="1cm">{inner}</draw:frame>'


def with_padding(deck: bytes, part: str, size: int) -> bytes:
    """The deck with `size` blanks between the declaration and the root of an XML part."""
    head, end, rest = text_of(deck, part).partition("?>")
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(deck)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name != part:
                new.writestr(name, old.read(name))
        with new.open(part, "w", force_zip64=True) as opened:
            opened.write((head + end).encode())
            block = b" " * 1024 * 1024
            for start in range(0, size, len(block)):
                opened.write(block[: size - start])
            opened.write(rest.encode())
    return out.getvalue()
