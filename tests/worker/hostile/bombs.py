"""Small files that become large: ZIP and XML bombs, and absurd numbers of parts, shapes, slides or pixels."""

import io
import random
import zipfile
from typing import Final

from tests.worker import hostile_decks
from tests.worker.hostile.packages import SLIDE, SLIDE_RELS, listing, text_of, with_padding, with_picture, with_shapes
from tests.worker.hostile.seeds import Seeds, picture_of

MIB: Final = 1024 * 1024
UNUSED: Final = {"pptx": "ppt/media/image1.png", "odp": "Pictures/image1.png"}
A_STAR: Final = {
    "pptx": (
        '<p:sp><p:nvSpPr><p:cNvPr id="{0}" name="s"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="{0}" '
        'y="{0}"/><a:ext cx="90000" cy="90000"/></a:xfrm><a:prstGeom prst="star32"><a:avLst/></a:prstGeom>'
        '<a:solidFill><a:srgbClr val="AA0000"/></a:solidFill></p:spPr>'
        "</p:sp>"
    ),
    "odp": (
        '<draw:polygon svg:width="2cm" svg:height="2cm" svg:x="{0}mm" svg:y="{0}mm" svg:viewBox="0 0 100 100" '
        'draw:points="50,0 60,40 100,50 60,60 50,100 40,60 0,50 40,40"/>'
    ),
}
CLAIM: Final = 100_000
"""The side of a picture whose size only the header claims."""


def zip_bomb(good: Seeds, _chance: random.Random, suffix: str, how: tuple[str, int]) -> bytes:
    """A part that unpacks to many MiB: an unused part, or the slide itself."""
    place, size = how
    if place == "slide":
        return with_padding(good.deck(suffix), SLIDE[suffix], size * MIB)
    return hostile_decks.with_zeros(_knowing(good, suffix, [UNUSED[suffix]]), UNUSED[suffix], size * MIB)


def many_parts(good: Seeds, _chance: random.Random, suffix: str, count: int) -> bytes:
    """Many empty parts."""
    folder = UNUSED[suffix].rpartition("/")[0]
    names = [f"{folder}/{number}.png" for number in range(count)]
    out = io.BytesIO(_knowing(good, suffix, names))
    with zipfile.ZipFile(out, "a") as package:
        for name in names:
            package.writestr(name, b"")
    return out.getvalue()


def _knowing(good: Seeds, suffix: str, names: list[str]) -> bytes:
    """The good deck; the manifest of an .odp lists the parts to come."""
    return listing(good.odp, names) if suffix == "odp" else good.deck(suffix)


def xml_bomb(good: Seeds, _chance: random.Random, suffix: str, levels: int) -> bytes:
    """Entities that consist of ten entities each."""
    entities = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(levels))
    head, _, rest = text_of(good.deck(suffix), SLIDE[suffix]).partition("?>")
    bomb = f'{head}?><!DOCTYPE x [<!ENTITY a0 "lol">{entities}]>{rest.replace("Slide 1", f"&a{levels};", 1)}'
    return hostile_decks.with_parts(good.deck(suffix), {SLIDE[suffix]: bomb.encode()})


def many_shapes(good: Seeds, _chance: random.Random, suffix: str, count: int) -> bytes:
    """Many stars on one slide."""
    return with_shapes(good.deck(suffix), suffix, "".join(map(A_STAR[suffix].format, range(100, 100 + count))))


def many_slides(good: Seeds, _chance: random.Random, suffix: str, count: int) -> bytes:
    """Many copies of the first slide."""
    return _many_pptx(good.pptx, count) if suffix == "pptx" else _many_odp(good.odp, count)


def _many_odp(deck: bytes, count: int) -> bytes:
    content = text_of(deck, "content.xml")
    start, end = content.index("<draw:page "), content.rindex("</draw:page>") + len("</draw:page>")
    page = content[start : content.index("</draw:page>") + len("</draw:page>")]
    spoilt = content[:start] + page * count + content[end:]
    return hostile_decks.with_parts(deck, {"content.xml": spoilt.encode()})


def _many_pptx(deck: bytes, count: int) -> bytes:
    """Add slides from number 1001 on as copies of the first one."""
    slide, rels = (hostile_decks.part_of(deck, part) for part in (SLIDE["pptx"], SLIDE_RELS))
    numbers = range(1001, 1001 + count)
    parts = {f"ppt/slides/slide{number}.xml": slide for number in numbers}
    parts |= {f"ppt/slides/_rels/slide{number}.xml.rels": rels for number in numbers}
    kind = "application/vnd.openxmlformats-officedocument.presentationml.slide+xml"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/slide"
    lists = (
        (
            "[Content_Types].xml",
            "</Types>",
            '<Override PartName="/ppt/slides/slide{0}.xml" ContentType="' + kind + '"/>',
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            "</Relationships>",
            '<Relationship Id="rId{0}" Type="' + relation + '" Target="slides/slide{0}.xml"/>',
        ),
        ("ppt/presentation.xml", "</p:sldIdLst>", '<p:sldId id="{0}" r:id="rId{0}"/>'),
    )
    for part, end, entry in lists:
        parts[part] = text_of(deck, part).replace(end, "".join(map(entry.format, numbers)) + end, 1).encode()
    return hostile_decks.with_parts(deck, parts)


def huge_picture(good: Seeds, _chance: random.Random, suffix: str, side: int) -> bytes:
    """A picture whose pixels take gigabytes, really or only by its header."""
    picture = hostile_decks.png_of(side, side) if side == CLAIM else picture_of(side, side, (0, 0, 0))
    return with_picture(good.deck(suffix), suffix, picture)
