"""Decks that try to leave the sandbox: links to the web, to files and Windows shares, external entities, macros."""

import random
from typing import Final
from xml.sax.saxutils import quoteattr

from tests.worker import hostile_decks
from tests.worker.hostile.packages import (
    A_PICTURE,
    RELATIONSHIPS,
    SLIDE,
    SLIDE_RELS,
    XLINK,
    frame,
    listing,
    replaced,
    text_of,
    with_shapes,
)
from tests.worker.hostile.seeds import Seeds

PLACES: Final = ("picture", "object", "background", "media")
"""The places of a link; `object` is an OLE object."""
TARGETS: Final = (
    *("http", "a file's address", "a file's path", "up and down to a file", "a deck", "a picture"),
    *("file on a host", "a share", "the users of this machine", "the environment", "ftp", "smb", "dav"),
)
AN_OBJECT: Final = (
    '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="78" name="o"/><p:cNvGraphicFramePr/><p:nvPr/>'
    '</p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/><a:ext cx="4000000" cy="4000000"/></p:xfrm><a:graphic>'
    '<a:graphicData uri="http://schemas.openxmlformats.org/presentationml/2006/ole"><p:oleObj name="o" r:id="rId77" '
    'imgW="1" imgH="1" progId="Word.Document.12"><p:link updateAutomatic="1"/></p:oleObj></a:graphicData></a:graphic>'
    "</p:graphicFrame>"
)
_OFFICE: Final = 'xmlns:script="http://openoffice.org/2000/script"'
_LIBRARY: Final = 'xmlns:library="http://openoffice.org/2000/library"'


def linking(good: Seeds, chance: random.Random, suffix: str, how: tuple[str, str]) -> bytes:
    """A deck with a link of one kind in one place."""
    target, place = how
    link = linking_pptx if suffix == "pptx" else linking_odp
    return link(good.deck(suffix), address(good, chance, target), place)


def address(good: Seeds, chance: random.Random, target: str) -> str:
    """The target of a link of this kind."""
    host, secrets = good.web.removeprefix("http://"), good.secrets
    name = host.partition(":")[0]
    return {
        "http": f"{good.web}/{chance.random()}.png",
        "a file's address": secrets.text.as_uri(),
        "a file's path": str(secrets.text),
        "up and down to a file": f"{'../' * 12}{str(secrets.deck).lstrip('/')}",
        "a deck": secrets.deck.as_uri(),
        "a picture": secrets.picture.as_uri(),
        "file on a host": f"file://{name}/share/a.png",
        "a share": f"\\\\{name}\\share\\a.png",
        "the users of this machine": "file:///etc/passwd",
        "the environment": "file:///proc/self/environ",
        "ftp": f"ftp://{host}/a.png",
        "smb": f"smb://{host}/a.png",
        "dav": f"dav://{host}/a.png",
    }[target]


def linking_pptx(deck: bytes, target: str, place: str) -> bytes:
    """The .pptx with a link in its first slide."""
    word = {"picture": "image", "object": "oleObject", "background": "image", "media": "video"}[place]
    link = f'<Relationship Id="rId77" Type="{RELATIONSHIPS}/{word}" Target={quoteattr(target)} TargetMode="External"/>'
    rels = text_of(deck, SLIDE_RELS).replace("</Relationships>", link + "</Relationships>")
    spoilt = hostile_decks.with_parts(deck, {SLIDE_RELS: rels.encode()})
    if place == "background":
        back = '<p:bg><p:bgPr><a:blipFill><a:blip r:link="rId77"/></a:blipFill><a:effectLst/></p:bgPr></p:bg><p:spTree>'
        return replaced(spoilt, SLIDE["pptx"], "<p:spTree>", back)
    film = A_PICTURE.replace("<p:nvPr/>", '<p:nvPr><a:videoFile r:link="rId77"/></p:nvPr>')
    return with_shapes(spoilt, "pptx", {"picture": A_PICTURE, "object": AN_OBJECT, "media": film}[place])


def linking_odp(deck: bytes, target: str, place: str) -> bytes:
    """The .odp with a link on its first page."""
    link = f'{XLINK} xlink:href={quoteattr(target)} xlink:type="simple" xlink:actuate="onLoad"'
    if place == "background":
        return _odp_background(deck, link)
    inner = {
        "picture": f"<draw:image {link}/>",
        "object": f"<draw:object {link}/>",
        "media": f'<draw:plugin {link} draw:mime-type="application/vnd.sun.star.media"/>',
    }[place]
    return with_shapes(deck, "odp", frame(inner))


def _odp_background(deck: bytes, link: str) -> bytes:
    """The picture fills the page."""
    fill = f'<office:styles><draw:fill-image draw:name="Far" {link}/></office:styles>'
    page = '<style:drawing-page-properties draw:fill="bitmap" draw:fill-image-name="Far" '
    spoilt = replaced(deck, "styles.xml", "<office:styles/>", fill)
    return replaced(spoilt, "content.xml", "<style:drawing-page-properties ", page)


def foreign_entity(good: Seeds, _chance: random.Random, suffix: str, target: str) -> bytes:
    """An external entity in the text of the first slide."""
    there = f"{good.web}/entity" if target == "http" else good.secrets.text.as_uri()
    head, _, rest = text_of(good.deck(suffix), SLIDE[suffix]).partition("?>")
    spoilt = f'{head}?><!DOCTYPE x [<!ENTITY e SYSTEM "{there}">]>{rest.replace("Slide 1", "&e;", 1)}'
    return hostile_decks.with_parts(good.deck(suffix), {SLIDE[suffix]: spoilt.encode()})


def macro(good: Seeds, chance: random.Random, suffix: str, language: str) -> bytes:
    """A macro that starts with the document and tries to read the secret, write beside it, and fetch a URL."""
    return _vba(good, chance) if suffix == "pptx" else _script(good, language)


def _vba(good: Seeds, chance: random.Random) -> bytes:
    """A deck with the types and relations of macros, an invalid project, and a button for it."""
    project = hostile_decks.compound_file({"PROJECT": b"ID", "dir": chance.randbytes(999)}, nested=True)
    types, rels = (text_of(good.pptx, part) for part in ("[Content_Types].xml", "ppt/_rels/presentation.xml.rels"))
    plain, with_macros = "presentationml.presentation.main+xml", "ms-powerpoint.presentation.macroEnabled.main+xml"
    relation = "http://schemas.microsoft.com/office/2006/relationships/vbaProject"
    binary = '<Default Extension="bin" ContentType="application/vnd.ms-office.vbaProject"/><Override'
    macros = types.replace(f"openxmlformats-officedocument.{plain}", with_macros).replace("<Override", binary, 1)
    link = f'<Relationship Id="rId99" Type="{relation}" Target="vbaProject.bin"/></Relationships>'
    parts = {
        "ppt/vbaProject.bin": project,
        "[Content_Types].xml": macros.encode(),
        "ppt/_rels/presentation.xml.rels": rels.replace("</Relationships>", link).encode(),
    }
    button = A_PICTURE.replace(
        'name="p"/>', 'name="p"><a:hlinkClick r:id="" action="ppaction://macro?name=AutoOpen"/></p:cNvPr>'
    ).replace('r:link="rId77"', "")
    return with_shapes(hostile_decks.with_parts(good.pptx, parts), "pptx", button)


def _script(good: Seeds, language: str) -> bytes:
    names = {
        "Basic": "Standard.M.Main?language=Basic&amp;location=document",
        "Python": "m.py$main?language=Python&amp;location=document",
    }
    event = (
        '<office:scripts><office:event-listeners><script:event-listener script:language="ooo:script" '
        f'script:event-name="dom:load" {XLINK} xlink:type="simple" xlink:href="vnd.sun.star.script:{names[language]}"/>'
        "</office:event-listeners></office:scripts><office:automatic-styles"
    )
    parts = _basic(good) if language == "Basic" else _python(good)
    spoilt = hostile_decks.with_parts(listing(good.odp, parts), parts)
    return replaced(spoilt, "content.xml", "<office:automatic-styles", event)


def _basic(good: Seeds) -> dict[str, bytes]:
    program = (
        f'<script:module {_OFFICE} script:name="M" script:language="StarBasic">Sub Main\n'
        f'Open "{touched(good)}" For Output As #1\nShell("/usr/bin/touch {touched(good)}")\n'
        f'Open "{good.secrets.text}" For Input As #2\nThisComponent.DrawPages(0).Name = "{good.web}"\nEnd Sub'
        "</script:module>"
    )
    library = '<library:element library:name="M"/>'
    libraries = '<library:library library:name="Standard" library:link="false"/>'
    texts = {
        "Standard/M.xml": program,
        "Standard/script-lb.xml": f'<library:library {_LIBRARY} library:name="Standard">{library}</library:library>',
        "script-lc.xml": f"<library:libraries {_LIBRARY}>{libraries}</library:libraries>",
    }
    return {f"Basic/{name}": f'<?xml version="1.0"?>{text}'.encode() for name, text in texts.items()}


def _python(good: Seeds) -> dict[str, bytes]:
    program = f"import urllib.request\ndef main(*_):\n    open({str(touched(good))!r}, 'w')\n"
    program += f"    urllib.request.urlopen({good.web + '/macro'!r})\n"
    return {"Scripts/python/m.py": program.encode()}


def touched(good: Seeds) -> str:
    """The file that a macro would create."""
    return f"{good.secrets.text}.touched"
