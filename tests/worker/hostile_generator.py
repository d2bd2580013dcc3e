"""Decks that nobody should open, without end, by a seed: the same seed makes the same decks."""

import io
import random
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import pack
from typing import Final

from tests.worker import decks, hostile_decks

RELATIONSHIPS: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SLIDE_RELS: Final = "ppt/slides/_rels/slide1.xml.rels"
A_PICTURE: Final = (
    '<p:pic><p:nvPicPr><p:cNvPr id="77" name="p"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill>'
    '<a:blip r:link="rId77"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr><a:xfrm><a:off x="0" y="0"/>'
    '<a:ext cx="4000000" cy="4000000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>'
)
AN_OBJECT: Final = (
    '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="78" name="o"/><p:cNvGraphicFramePr/><p:nvPr/>'
    '</p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/><a:ext cx="4000000" cy="4000000"/></p:xfrm><a:graphic>'
    '<a:graphicData uri="http://schemas.openxmlformats.org/presentationml/2006/ole"><p:oleObj name="o" r:id="rId77" '
    'imgW="1" imgH="1" progId="Word.Document.12"><p:link updateAutomatic="1"/></p:oleObj></a:graphicData></a:graphic>'
    "</p:graphicFrame>"
)


@dataclass(frozen=True)
class Seeds:
    """Good decks to spoil, and what hostile ones try to reach."""

    pptx: bytes
    odp: bytes
    ppt: bytes
    web: str
    """An address where somebody listens."""
    file: Path
    """A file with words that no PDF may hold."""


@dataclass(frozen=True)
class Hostile:
    """One deck."""

    name: str
    suffix: str
    content: bytes


def seeds(folder: Path, web: str, file: Path) -> Seeds:
    """Made by the libraries and the program that people's decks are made by."""
    decks.make_pptx(folder / "a.pptx", 3)
    decks.make_odp(folder / "a.odp", 3)
    decks.make_ppt(folder / "a.ppt", 3)
    content = {suffix: (folder / f"a.{suffix}").read_bytes() for suffix in ("pptx", "odp", "ppt")}
    return Seeds(**content, web=web, file=file)


def generate(good: Seeds, seed: int, count: int) -> Iterator[Hostile]:
    """`count` decks: every kind in turn, each with a chance of its own."""
    for number in range(count):
        chance = random.Random(f"{seed}-{number}")
        kind = list(KINDS)[number % len(KINDS)]
        yield KINDS[kind](good, chance)


def _one_of(good: Seeds, chance: random.Random) -> tuple[str, bytes]:
    suffix = chance.choice(("pptx", "odp", "ppt"))
    return suffix, getattr(good, suffix)


def truncated(good: Seeds, chance: random.Random) -> Hostile:
    suffix, content = _one_of(good, chance)
    return Hostile("truncated", suffix, content[: chance.randrange(1, len(content))])


def bit_flipped(good: Seeds, chance: random.Random) -> Hostile:
    suffix, content = _one_of(good, chance)
    spoilt = bytearray(content)
    for _ in range(chance.choice((1, 10, 100))):
        spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
    return Hostile("bit-flipped", suffix, bytes(spoilt))


def flipped_inside(good: Seeds, chance: random.Random) -> Hostile:
    """A whole package whose XML is damaged: it gets past every checksum."""
    suffix = chance.choice(("pptx", "odp"))
    part = "ppt/slides/slide1.xml" if suffix == "pptx" else "content.xml"
    content: bytes = getattr(good, suffix)
    spoilt = bytearray(hostile_decks.part_of(content, part))
    for _ in range(chance.choice((1, 5, 50))):
        spoilt[chance.randrange(len(spoilt))] = chance.randrange(32, 127)
    return Hostile("flipped inside", suffix, hostile_decks.with_parts(content, {part: bytes(spoilt)}))


def zip_bomb(good: Seeds, chance: random.Random) -> Hostile:
    size = chance.choice((140, 300, 1100)) * 1024 * 1024
    name = chance.choice(("ppt/media/image1.png", "ppt/slides/slide9.xml"))
    return Hostile("zip bomb", "pptx", hostile_decks.with_zeros(good.pptx, name, size))


def many_parts(good: Seeds, chance: random.Random) -> Hostile:
    out = io.BytesIO(good.pptx)
    with zipfile.ZipFile(out, "a") as package:
        for number in range(chance.choice((5_000, 21_000))):
            package.writestr(f"ppt/media/{number}.png", b"")
    return Hostile("many parts", "pptx", out.getvalue())


def xml_bomb(good: Seeds, chance: random.Random) -> Hostile:
    levels = chance.choice((5, 9, 12))
    entities = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(levels))
    bomb = f'<!DOCTYPE x [<!ENTITY a0 "lol">{entities}]><x>&a{levels};</x>'.encode()
    suffix = chance.choice(("pptx", "odp"))
    part = "ppt/slides/slide1.xml" if suffix == "pptx" else "content.xml"
    return Hostile("XML bomb", suffix, hostile_decks.with_parts(getattr(good, suffix), {part: bomb}))


def foreign_entity(good: Seeds, chance: random.Random) -> Hostile:
    target = chance.choice((good.file.as_uri(), f"{good.web}/entity"))
    suffix = chance.choice(("pptx", "odp"))
    part = "ppt/slides/slide1.xml" if suffix == "pptx" else "content.xml"
    text = hostile_decks.part_of(getattr(good, suffix), part).decode()
    head, _, rest = text.partition("?>")
    spoilt = f'{head}?><!DOCTYPE x [<!ENTITY e SYSTEM "{target}">]>{rest.replace("Slide 1", "&e;", 1)}'
    return Hostile("foreign entity", suffix, hostile_decks.with_parts(getattr(good, suffix), {part: spoilt.encode()}))


def deep(good: Seeds, chance: random.Random) -> Hostile:
    depth = chance.choice((1_000, 20_000))
    group = '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="9" name="g"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
    return Hostile("deep", "pptx", _with_shapes(good.pptx, group * depth + "</p:grpSp>" * depth))


def password(good: Seeds, chance: random.Random) -> Hostile:
    if chance.random() < 0.5:
        package = hostile_decks.compound_file({"EncryptedPackage": chance.randbytes(500), "EncryptionInfo": b"x"})
        return Hostile("password", "pptx", package)
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry '
        'manifest:full-path="content.xml" manifest:media-type="text/xml"><manifest:encryption-data/>'
        "</manifest:file-entry></manifest:manifest>"
    )
    parts = {"META-INF/manifest.xml": manifest.encode(), "content.xml": chance.randbytes(2000)}
    return Hostile("password", "odp", hostile_decks.with_parts(good.odp, parts))


def macro(good: Seeds, chance: random.Random) -> Hostile:
    """A script that starts with the document and would fetch and write; and a VBA project that is none."""
    if chance.random() < 0.3:
        return Hostile(
            "macro", "pptx", hostile_decks.with_parts(good.pptx, {"ppt/vbaProject.bin": chance.randbytes(999)})
        )
    script = (
        '<script:module xmlns:script="http://openoffice.org/2000/script" script:name="M" script:language="StarBasic">'
        f'Sub Main\nShell("/usr/bin/touch {good.file}.touched")\nOpen "{good.file}" For Input As #1\n'
        f'ThisComponent.DrawPages(0).Name = "{good.web}"\nEnd Sub</script:module>'
    )
    library = '<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard">'
    event = (
        '<office:scripts><office:event-listeners><script:event-listener xmlns:script="urn:oasis:names:tc:opendocument:'
        'xmlns:script:1.0" script:language="ooo:script" script:event-name="dom:load" xlink:href="vnd.sun.star.script:'
        'Standard.M.Main?language=Basic&amp;location=document" xmlns:xlink="http://www.w3.org/1999/xlink"/>'
        "</office:event-listeners></office:scripts>"
    )
    content = hostile_decks.part_of(good.odp, "content.xml").decode()
    parts = {
        "Basic/Standard/M.xml": script.encode(),
        "Basic/Standard/script-lb.xml": f'{library}<library:element library:name="M"/></library:library>'.encode(),
        "content.xml": content.replace("<office:automatic-styles", event + "<office:automatic-styles", 1).encode(),
    }
    return Hostile("macro", "odp", hostile_decks.with_parts(good.odp, parts))


def linking(good: Seeds, chance: random.Random) -> Hostile:
    """Pictures, objects, media and links to the web, to files and to Windows shares, in both formats."""
    host = good.web.removeprefix("http://")
    target = chance.choice(
        (
            f"{good.web}/{chance.random()}.png",
            good.file.as_uri(),
            str(good.file),
            f"../../../../../../../../../../../../{good.file}",
            f"file://{host.partition(':')[0]}/share/a.png",
            f"\\\\{host.partition(':')[0]}\\share\\a.png",
            "file:///etc/passwd",
            "file:///proc/self/environ",
            f"ftp://{host}/a.png",
            f"smb://{host}/a.png",
            f"dav://{host}/a.png",
        )
    )
    kind = chance.choice(("picture", "object", "background", "media"))
    if chance.random() < 0.5:
        return Hostile(f"link to {target[:12]} by {kind} in pptx", "pptx", _linking_pptx(good.pptx, target, kind))
    return Hostile(f"link to {target[:12]} by {kind} in odp", "odp", linking_odp(good.odp, target, kind))


def _linking_pptx(deck: bytes, target: str, kind: str) -> bytes:
    word = {"picture": "image", "object": "oleObject", "background": "image", "media": "video"}[kind]
    link = f'<Relationship Id="rId77" Type="{RELATIONSHIPS}/{word}" Target="{target}" TargetMode="External"/>'
    rels = hostile_decks.part_of(deck, SLIDE_RELS).decode().replace("</Relationships>", link + "</Relationships>")
    shape = {"picture": A_PICTURE, "object": AN_OBJECT}.get(kind, "")
    if kind == "media":
        shape = A_PICTURE.replace("<p:nvPr/>", '<p:nvPr><a:videoFile r:link="rId77"/></p:nvPr>')
    spoilt = hostile_decks.with_parts(deck, {SLIDE_RELS: rels.encode()})
    if kind == "background":
        back = '<p:bg><p:bgPr><a:blipFill><a:blip r:link="rId77"/></a:blipFill><a:effectLst/></p:bgPr></p:bg><p:spTree>'
        return _replaced(spoilt, "ppt/slides/slide1.xml", "<p:spTree>", back)
    return _with_shapes(spoilt, shape)


def linking_odp(deck: bytes, target: str, kind: str) -> bytes:
    link = (
        f'xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="{target}" xlink:type="simple" xlink:actuate="onLoad"'
    )
    inner = {
        "picture": f"<draw:image {link}/>",
        "object": f"<draw:object {link}/>",
        "background": f"<draw:object-ole {link}/>",
        "media": f'<draw:plugin {link} draw:mime-type="application/vnd.sun.star.media"/>',
    }[kind]
    frame = f'<draw:frame svg:width="9cm" svg:height="9cm" svg:x="1cm" svg:y="1cm">{inner}</draw:frame></draw:page>'
    return _replaced(deck, "content.xml", "</draw:page>", frame)


def wrong_magic(good: Seeds, chance: random.Random) -> Hostile:
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        package.writestr("content.xml", f'<x href="{good.file}"/>')
    content = chance.choice(
        (
            b"",
            chance.randbytes(5000),
            b"MZ" + chance.randbytes(4000),
            b"<html><img src='" + good.web.encode() + b"/html.png'></html>",
            b"{\\rtf1 {\\field{\\*\\fldinst INCLUDETEXT " + str(good.file).encode() + b"}}}",
            b'a,b\n=WEBSERVICE("' + good.web.encode() + b'/csv"),1\n',
            b"<svg xmlns='http://www.w3.org/2000/svg'><image href='" + good.web.encode() + b"/svg.png'/></svg>",
            hostile_decks.png_of(100, 100),
            other.getvalue(),
        )
    )
    return Hostile("wrong magic", chance.choice(("pptx", "odp", "ppt")), content)


def many_shapes(good: Seeds, chance: random.Random) -> Hostile:
    shape = (
        '<p:sp><p:nvSpPr><p:cNvPr id="{0}" name="s"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="{0}" '
        'y="{0}"/><a:ext cx="90000" cy="90000"/></a:xfrm><a:prstGeom prst="star32"><a:avLst/></a:prstGeom></p:spPr>'
        "</p:sp>"
    )
    count = 20_000 if chance.random() < 0.15 else 1_000
    return Hostile("many shapes", "pptx", _with_shapes(good.pptx, "".join(map(shape.format, range(100, 100 + count)))))


def many_slides(good: Seeds, chance: random.Random) -> Hostile:
    content = hostile_decks.part_of(good.odp, "content.xml").decode()
    start = content.index("<draw:page ")
    page = content[start : content.index("</draw:page>") + len("</draw:page>")]
    count = 5_000 if chance.random() < 0.15 else 100
    spoilt = content[:start] + page * count + content[content.rindex("</draw:page>") + len("</draw:page>") :]
    return Hostile("many slides", "odp", hostile_decks.with_parts(good.odp, {"content.xml": spoilt.encode()}))


def huge_picture(good: Seeds, chance: random.Random) -> Hostile:
    side = chance.choice((2_000, 5_000, 12_000))
    compressed = zlib.compressobj(9)
    row = b"\0" + bytes(side)
    data = b"".join(compressed.compress(row) for _ in range(side)) + compressed.flush()
    header = pack(">LLBBBBB", side, side, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    picture = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks)
    spoilt = hostile_decks.with_parts(good.pptx, {"ppt/media/huge.png": picture})
    rels = hostile_decks.part_of(spoilt, SLIDE_RELS).decode()
    link = f'<Relationship Id="rId77" Type="{RELATIONSHIPS}/image" Target="../media/huge.png"/></Relationships>'
    types = hostile_decks.part_of(spoilt, "[Content_Types].xml").decode()
    parts = {SLIDE_RELS: rels.replace("</Relationships>", link).encode()}
    if 'Extension="png"' not in types:
        parts["[Content_Types].xml"] = types.replace(
            "<Override", '<Default Extension="png" ContentType="image/png"/><Override', 1
        ).encode()
    return Hostile(
        "huge picture",
        "pptx",
        _with_shapes(hostile_decks.with_parts(spoilt, parts), A_PICTURE.replace("r:link", "r:embed")),
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    return pack(">L", len(content)) + kind + content + pack(">L", zlib.crc32(kind + content))


def _with_shapes(deck: bytes, shapes: str) -> bytes:
    """The first slide with these shapes at its end."""
    return _replaced(deck, "ppt/slides/slide1.xml", "</p:spTree>", shapes + "</p:spTree>")


def _replaced(deck: bytes, part: str, old: str, new: str) -> bytes:
    text = hostile_decks.part_of(deck, part).decode()
    spoilt = text.replace(old, new, 1)
    if "xmlns:r=" not in spoilt:
        spoilt = spoilt.replace("<p:sld ", f'<p:sld xmlns:r="{RELATIONSHIPS}" ', 1)
    if part == "content.xml" and "xmlns:svg=" not in spoilt:
        svg = "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
        spoilt = spoilt.replace("<office:document-content", f'<office:document-content xmlns:svg="{svg}"', 1)
    return hostile_decks.with_parts(deck, {part: spoilt.encode()})


KINDS: Final[dict[str, Callable[[Seeds, random.Random], Hostile]]] = {
    "truncated": truncated,
    "bit-flipped": bit_flipped,
    "linking 1": linking,
    "flipped inside": flipped_inside,
    "zip bomb": zip_bomb,
    "linking 2": linking,
    "XML bomb": xml_bomb,
    "foreign entity": foreign_entity,
    "password": password,
    "linking 3": linking,
    "macro": macro,
    "wrong magic": wrong_magic,
    "many parts": many_parts,
    "deep": deep,
    "linking 4": linking,
    "many shapes": many_shapes,
    "many slides": many_slides,
    "huge picture": huge_picture,
    "linking 5": linking,
    "bit-flipped again": bit_flipped,
}
