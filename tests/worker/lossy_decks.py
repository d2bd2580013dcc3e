"""Decks with things that LibreOffice drops or shows otherwise: shapes as XML on otherwise empty slides."""

import io
from pathlib import Path
from typing import Final

from PIL import Image
from pptx import Presentation

from tests.worker import hostile_decks
from tests.worker.hostile.seeds import picture_of

A: Final = "http://schemas.openxmlformats.org/drawingml/2006/main"
P: Final = "http://schemas.openxmlformats.org/presentationml/2006/main"
R: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
M: Final = "http://schemas.openxmlformats.org/officeDocument/2006/math"
SVG: Final = "http://schemas.microsoft.com/office/drawing/2016/SVG/main"
_A14: Final = "http://schemas.microsoft.com/office/drawing/2010/main"
_P14: Final = "http://schemas.microsoft.com/office/powerpoint/2010/main"
_MC: Final = "http://schemas.openxmlformats.org/markup-compatibility/2006"
CX: Final = "http://schemas.microsoft.com/office/drawing/2014/chartex"
_PLACE: Final = '<a:off x="914400" y="1828800"/><a:ext cx="4572000" cy="914400"/>'
EMPTY: Final = picture_of(1, 1, (255, 255, 255))
PIXEL: Final = "rId99"
"""The relationship of a PNG of one pixel; rId98 is an SVG, rId97 a PNG of 100 pixels, rId96 leads nowhere."""
STAND_IN, CLEAR, WEB_PAGE, AVIF = "rId92", "rId91", "rId90", "rId89"
"""A red PNG as upright as PptxGenJS puts beside an SVG, an empty PNG, a web page and an AVIF as pictures."""
SURFACE, OF_PIE, PIE, NEW_PART = "rId88", "rId87", "rId86", "rId85"
"""Charts; the last one has the part of a chart since Office 2016."""
BLUE: Final = (0, 0, 255)
"""The colour of the SVG."""


def clear_picture() -> bytes:
    """A PNG on which nothing was drawn."""
    content = io.BytesIO()
    Image.new("RGBA", (96, 96)).save(content, "PNG")
    return content.getvalue()


def text(words: str, font: str | None = None) -> str:
    """A paragraph."""
    named = f'<a:latin typeface="{font}"/><a:sym typeface="{font}"/>' if font else ""
    return f'<a:p><a:r><a:rPr lang="en-US">{named}</a:rPr><a:t>{words}</a:t></a:r></a:p>'


def box(paragraphs: str) -> str:
    """A text box."""
    return (
        '<p:sp><p:nvSpPr><p:cNvPr id="77" name="box"/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm>'
        f'{_PLACE}</a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>'
        f"<p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>"
    )


def _formula(letter: str) -> str:
    number = "<m:r><m:t>7</m:t></m:r>"
    return f"<m:oMath><m:f><m:num><m:r><m:t>{letter}</m:t></m:r></m:num><m:den>{number}</m:den></m:f></m:oMath>"


def formula_alone(letter: str) -> str:
    """A formula in a box of its own, as PowerPoint writes it."""
    alone = box(f"<a:p><a14:m><m:oMathPara>{_formula(letter)}</m:oMathPara></a14:m></a:p>")
    old = box("<a:p><a:r><a:t>A picture for older programs</a:t></a:r></a:p>")
    return (
        f'<mc:AlternateContent><mc:Choice Requires="a14">{alone}</mc:Choice><mc:Fallback>{old}</mc:Fallback>'
        "</mc:AlternateContent>"
    )


def formula_in_text(letter: str) -> str:
    """The price is [formula] euros."""
    before, after = "<a:r><a:t>The price is </a:t></a:r>", "<a:r><a:t> euros</a:t></a:r>"
    return box(f"<a:p>{before}<a14:m>{_formula(letter)}</a14:m>{after}</a:p>")


def in_table(shape: str) -> str:
    """The first paragraph of a box in the only cell of a table."""
    paragraphs = shape[shape.index("<a:p>") : shape.index("</a:p>") + len("</a:p>")]
    cell = f"<a:tc><a:txBody><a:bodyPr/>{paragraphs}</a:txBody><a:tcPr/></a:tc>"
    return _frame(
        "http://schemas.openxmlformats.org/drawingml/2006/table",
        f'<a:tbl><a:tblPr/><a:tblGrid><a:gridCol w="4572000"/></a:tblGrid><a:tr h="914400">{cell}</a:tr></a:tbl>',
    )


def _frame(kind: str, content: str) -> str:
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="78" name="frame"/><p:cNvGraphicFramePr/><p:nvPr/>'
        f'</p:nvGraphicFramePr><p:xfrm>{_PLACE}</p:xfrm><a:graphic><a:graphicData uri="{kind}">{content}'
        "</a:graphicData></a:graphic></p:graphicFrame>"
    )


_CHART: Final = _frame(CX, '<cx:chart r:id="rId95"/>')
NEW_CHART: Final = (
    f'<mc:AlternateContent><mc:Choice Requires="cx1">{_CHART}</mc:Choice>'
    f"<mc:Fallback>{box(text('This chart is not available in your version'))}</mc:Fallback></mc:AlternateContent>"
)


_INK: Final = f'<p:contentPart r:id="rId93"><p14:xfrm>{_PLACE}</p14:xfrm></p:contentPart>'
INK: Final = f'<mc:AlternateContent><mc:Choice Requires="p14">{_INK}</mc:Choice></mc:AlternateContent>'
UNKNOWN: Final = _frame("http://schemas.microsoft.com/office/drawing/2010/ink", "")


def _chart_part(kind: str, more: str = "") -> bytes:
    """A chart of two values."""
    names = f'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="{A}"'
    points = '<c:pt idx="0"><c:v>3</c:v></c:pt><c:pt idx="1"><c:v>5</c:v></c:pt>'
    values = f'<c:val><c:numLit><c:ptCount val="2"/>{points}</c:numLit></c:val>'
    series = f'<c:ser><c:idx val="0"/><c:order val="0"/>{values}</c:ser>'
    plot = f"<c:plotArea><c:layout/><c:{kind}>{more}{series}</c:{kind}></c:plotArea>"
    return f"<c:chartSpace {names}><c:chart>{plot}</c:chart></c:chartSpace>".encode()


def with_picture_for_others(shape: str, needed: str) -> str:
    """The shape for programs that know the namespace, and a picture for others."""
    return _with_alternative(shape, needed, f"<mc:Fallback>{picture('rId97')}</mc:Fallback>")


def for_others_nothing(shape: str, needed: str) -> str:
    """The shape for programs that know the namespace."""
    return _with_alternative(shape, needed, "")


def _with_alternative(shape: str, needed: str, other: str) -> str:
    return f'<mc:AlternateContent><mc:Choice Requires="{needed}">{shape}</mc:Choice>{other}</mc:AlternateContent>'


def chart(part: str) -> str:
    """A chart of the kinds before 2016; `part`: its relationship."""
    names = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    return _frame("http://schemas.openxmlformats.org/drawingml/2006/chart", f'<c:chart {names} r:id="{part}"/>')


def smartart(data: str) -> str:
    """A SmartArt graphic; `data`: the relationship of its parts."""
    names = 'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    ids = f'<dgm:relIds {names} r:dm="{data}" r:lo="{data}" r:qs="{data}" r:cs="{data}"/>'
    return _frame("http://schemas.openxmlformats.org/drawingml/2006/diagram", ids)


def hidden(shape: str) -> str:
    """The shape, which its author has hidden."""
    return shape.replace("<p:cNvPr ", '<p:cNvPr hidden="1" ', 1)


def date(kind: str) -> str:
    """A field of this kind in a box."""
    return box(f'<a:p><a:fld id="{{B1}}" type="{kind}"><a:rPr/><a:t>1/2/2001</a:t></a:fld></a:p>')


def picture(embedded: str, svg: str = "") -> str:
    """A picture; `svg`: the relationship of its SVG."""
    more = f'<a:extLst><a:ext uri="x"><asvg:svgBlip r:embed="{svg}"/></a:ext></a:extLst>' if svg else ""
    return (
        '<p:pic><p:nvPicPr><p:cNvPr id="79" name="picture"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill>'
        f'<a:blip r:embed="{embedded}">{more}</a:blip><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr>'
        f'<a:xfrm>{_PLACE}</a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>'
    )


def object_with(preview: str) -> str:
    """An embedded workbook; `preview`: the relationship of its picture."""
    shown = picture(preview) if preview else ""
    return _frame(
        "http://schemas.openxmlformats.org/presentationml/2006/ole",
        f'<p:oleObj name="x" progId="Excel.Sheet.12" r:id="rId94" imgW="1" imgH="1"><p:embed/>{shown}</p:oleObj>',
    )


def furnished(folder: Path, *slides: str, hidden: int = 0) -> bytes:
    """A deck with a slide for each of these; the first `hidden` ones are hidden."""
    deck = Presentation()
    for number in range(len(slides)):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        if number < hidden:
            slide._element.set("show", "0")
    deck.save(str(folder / "furnished.pptx"))
    content = (folder / "furnished.pptx").read_bytes()
    parts = {
        "ppt/media/empty.png": EMPTY,
        "ppt/media/large.png": picture_of(10, 10, (200, 0, 0)),
        "ppt/media/logo.svg": b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'
        b'<rect width="24" height="24" fill="#00f"/></svg>',
        "ppt/media/broken.png": picture_of(100, 119, (200, 0, 0)),
        "ppt/media/clear.png": clear_picture(),
        "ppt/media/page.png": b"<!DOCTYPE html><html><title>404 Not Found</title></html>",
        "ppt/media/photo.png": b"\0\0\0\x1cftypavif" + bytes(500),
        "ppt/charts/surface.xml": _chart_part("surfaceChart"),
        "ppt/charts/ofPie.xml": _chart_part("ofPieChart", '<c:ofPieType val="pie"/>'),
        "ppt/charts/pie.xml": _chart_part("pieChart"),
        "ppt/charts/new.xml": f'<cx:chartSpace xmlns:cx="{CX}"/>'.encode(),
        "ppt/embeddings/book.xlsx": b"PK",
    }
    types = hostile_decks.part_of(content, "[Content_Types].xml").decode()
    defaults = (
        '<Default Extension="png" ContentType="image/png"/><Default Extension="svg" ContentType="image/svg+xml"/>'
    )
    kind = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
    charts = "".join(f'<Override PartName="/{name}" ContentType="{kind}"/>' for name in parts if "/charts/" in name)
    types = types.replace("</Types>", f"{charts}</Types>")
    more = defaults + '<Default Extension="xlsx" ContentType="application/octet-stream"/>'
    parts["[Content_Types].xml"] = types.replace("<Default ", more + "<Default ", 1).encode()
    links = "".join(
        f'<Relationship Id="{key}" Type="{R}/{kind}" Target="../{target}"/>'
        for key, kind, target in (
            ("rId99", "image", "media/empty.png"),
            ("rId98", "image", "media/logo.svg"),
            ("rId97", "image", "media/large.png"),
            ("rId92", "image", "media/broken.png"),
            ("rId91", "image", "media/clear.png"),
            ("rId90", "image", "media/page.png"),
            ("rId89", "image", "media/photo.png"),
            ("rId88", "chart", "charts/surface.xml"),
            ("rId87", "chart", "charts/ofPie.xml"),
            ("rId86", "chart", "charts/pie.xml"),
            ("rId85", "chart", "charts/new.xml"),
            ("rId94", "package", "embeddings/book.xlsx"),
        )
    )
    known_names = {"a14": _A14, "am3d": "urn:models", "p14": _P14, "m": M, "mc": _MC, "cx": CX, "cx1": CX, "asvg": SVG}
    names = " ".join(f'xmlns:{name}="{namespace}"' for name, namespace in known_names.items())
    for number, xml in enumerate(slides, 1):
        name, rels = f"ppt/slides/slide{number}.xml", f"ppt/slides/_rels/slide{number}.xml.rels"
        slide_xml = hostile_decks.part_of(content, name).decode()
        slide_xml = slide_xml.replace("<p:sld ", f"<p:sld {names} ", 1).replace("</p:spTree>", f"{xml}</p:spTree>")
        parts[name] = slide_xml.encode()
        known = hostile_decks.part_of(content, rels).decode()
        parts[rels] = known.replace("</Relationships>", links + "</Relationships>").encode()
    return hostile_decks.with_parts(content, parts)
