"""Read what the slides of a .pptx contain.

A run of text without a font inherits one for its level: from its shape, else from the placeholder in the layout or the
master, else from the master's text styles, else from the presentation's default, else the theme's minor font.
"""

import posixpath
import zipfile
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree as ET

from msgspec import Struct
from msgspec.structs import replace

from shared.event_media import pictures_rules
from shared.event_media.contents.rules import (
    ASIAN,
    CHARTS,
    COMPLEX,
    DATES,
    FORMULAS,
    LARGEST_PART_BYTES,
    LATIN,
    PICTURES,
    Contents,
    Slide,
    scripts_of,
)

A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
C: Final = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
M: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
STRICT: Final = "{http://purl.oclc.org/ooxml/"
USUAL: Final = {  # namespace of Strict Open XML -> usual namespace
    "{http://purl.oclc.org/ooxml/drawingml/main}": A,
    "{http://purl.oclc.org/ooxml/presentationml/main}": P,
    "{http://purl.oclc.org/ooxml/officeDocument/relationships}": R,
    "{http://purl.oclc.org/ooxml/drawingml/chart}": C,
    "{http://purl.oclc.org/ooxml/officeDocument/math}": M,
}
MC: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
FALLBACK, ALTERNATIVES = f"{MC}Fallback", f"{MC}AlternateContent"
KNOWN: Final = frozenset({"p14", "p15", "v"})  # what LibreOffice takes an alternative for
ONCE_KNOWN: Final = KNOWN | {"a14"}  # by older versions; newer ones take the picture beside a formula
FIRST_NEWER: Final = (25, 2)
ELEMENTS: Final = {LATIN: f"{A}latin", ASIAN: f"{A}ea", COMPLEX: f"{A}cs"}
THEME_ENDINGS: Final = {LATIN: "lt", ASIAN: "ea", COMPLEX: "cs"}
TITLES: Final = {"title", "ctrTitle"}
EFFECTS: Final = {
    f"{P}{name}" for name in ("anim", "animClr", "animEffect", "animMotion", "animRot", "animScale", "set")
}
INK: Final = f"{P}contentPart"
DRAWN: Final = {INK, *(f"{P}{name}" for name in ("pic", "graphicFrame", "cxnSp"))}
SHAPES: Final = {*DRAWN, f"{P}sp", f"{P}grpSp"}
FRAMED: Final = ("/table", "/chart", "/diagram")  # ends of the kinds of frames that LibreOffice draws
OF_VML: Final = ("/ole", "/compatibility")  # it draws them by a picture or, as until 2007, by a VML drawing
SVG: Final = "{http://schemas.microsoft.com/office/drawing/2016/SVG/main}svgBlip"
HIDDEN: Final = {"1", "true"}
SURFACES: Final = {f"{C}surfaceChart", f"{C}surface3DChart"}  # LibreOffice draws columns
OF_PIE: Final = f"{C}ofPieChart"  # a pie before LibreOffice 25
PRIVATE: Final = range(0xE000, 0xF900)  # characters that only a font gives a shape
AUDIO_SUFFIXES: Final = (".mp3", ".wav", ".m4a", ".wma", ".aac", ".ogg", ".mid", ".aif", ".aiff", ".flac")


class Link(Struct, frozen=True):
    """One relationship of a part."""

    kind: str
    """The last word of its type."""
    target: str
    """A part's name; an address when it is external."""
    is_external: bool


class _Package:
    """The parts of a package, by name in any case, and their relationships.

    `is_newer`: it is read by LibreOffice FIRST_NEWER or later.
    """

    def __init__(self, package: zipfile.ZipFile, *, is_newer: bool) -> None:
        self.is_newer, self.known = is_newer, KNOWN if is_newer else ONCE_KNOWN
        self._package = package
        self._names = {name.lower(): name for name in package.namelist()}
        self._trees: dict[str, ET.Element] = {}

    def tree(self, name: str | None, *, keep: bool = True) -> ET.Element:
        """The root element of a part; an empty element when there is no part. Raises ValueError if it is too large."""
        real = self._names.get((name or "").lower())
        if real is None:
            return ET.Element("none")
        if real in self._trees:
            return self._trees[real]
        if self._package.getinfo(real).file_size > LARGEST_PART_BYTES:
            raise ValueError("a part is too large to be read for a report")
        with self._package.open(real) as part:
            root = ET.parse(part).getroot()  # noqa: S314 - the file was refused if it held a document type
        if root.tag.startswith(STRICT):
            _make_usual(root)
        if keep:
            self._trees[real] = root
        return root

    def head(self, link: Link | None, most: int = pictures_rules.HEAD_BYTES) -> bytes | None:
        """The beginning of the linked part; None when there is no such part."""
        real = self._names.get(link.target.lower()) if link is not None and not link.is_external else None
        if real is None:
            return None
        with self._package.open(real) as part:
            return part.read(most)

    def links(self, name: str | None) -> dict[str, Link]:
        """The relationships of a part by id."""
        if name is None:
            return {}
        folder, file = posixpath.split(name)
        found = {}
        for element in self.tree(posixpath.join(folder, "_rels", f"{file}.rels"), keep=False):
            target, external = element.get("Target", ""), element.get("TargetMode") == "External"
            inside = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = element.get("Type", "").rpartition("/")[2]
            found[element.get("Id", "")] = Link(kind, target if external else inside, external)
        return found

    def linked(self, name: str | None, kind: str) -> str | None:
        """The target of a part's first relationship of this kind."""
        return next((link.target for link in self.links(name).values() if link.kind == kind), None)


class _Styles(Struct, frozen=True):
    """The parts from which the text of one slide inherits fonts."""

    layout: ET.Element
    master: ET.Element
    presentation: ET.Element
    theme: ET.Element

    def inherited(self, shape: ET.Element | None, level: int, script: str) -> str:
        """The inherited typeface of a run."""
        for style in self._lists(shape):
            found = style.find(f"{A}lvl{level}pPr/{A}defRPr/{ELEMENTS[script]}") if style is not None else None
            if found is not None and found.get("typeface"):
                return found.get("typeface", "")
        return f"+mn-{THEME_ENDINGS[script]}"

    def real(self, typeface: str) -> str:
        """The family of a typeface; a name that begins with `+` refers to the theme."""
        if not typeface.startswith("+"):
            return typeface
        place = "majorFont" if typeface.startswith("+mj") else "minorFont"
        element = {"lt": "latin", "ea": "ea", "cs": "cs"}.get(typeface[-2:], "latin")
        found = self.theme.find(f".//{A}fontScheme/{A}{place}/{A}{element}")
        return found.get("typeface", "") if found is not None else ""

    def _lists(self, shape: ET.Element | None) -> Iterator[ET.Element | None]:
        place = _placeholder(shape)
        if shape is not None:
            yield shape.find(f"{P}txBody/{A}lstStyle")
        if place is not None:
            for tree in (self.layout, self.master):
                twin = _twin(tree, place)
                yield twin.find(f"{P}txBody/{A}lstStyle") if twin is not None else None
            style = "titleStyle" if place.get("type") in TITLES else "bodyStyle"
            yield self.master.find(f"{P}txStyles/{P}{style}")
        yield self.master.find(f"{P}txStyles/{P}otherStyle") if place is None else None
        yield self.presentation.find(f"{P}defaultTextStyle")


def read(file: zipfile.ZipFile, libreoffice: tuple[int, int] | None = None) -> Contents:
    """The contents of the visible slides, as this version of LibreOffice reads them; an unknown one counts as old.

    Raises the errors of zipfile and ElementTree for a damaged package.
    """
    package, contents = _Package(file, is_newer=libreoffice is not None and libreoffice >= FIRST_NEWER), Contents()
    main = package.linked("", "officeDocument")
    presentation, links = package.tree(main), package.links(main)
    if presentation.tag != f"{P}presentation":
        raise ValueError("a presentation of an unknown namespace")
    show = package.tree(package.linked(main, "presProps")).find(f"{P}showPr")
    contents.shows_chosen_slides = show is not None and any(one.tag in {f"{P}custShow", f"{P}sldRg"} for one in show)
    media: dict[str, str] = {}
    for number, entry in enumerate(presentation.iter(f"{P}sldId"), 1):
        link = links.get(entry.get(f"{R}id", ""))
        if link is not None:
            _read_slide(package, Slide(number), link.target, presentation, contents, media)
    contents.videos = sum(kind == "video" for kind in media.values())
    contents.audios = sum(kind == "audio" for kind in media.values())
    return contents


def _read_slide(
    package: _Package, slide: Slide, name: str, presentation: ET.Element, contents: Contents, media: dict[str, str]
) -> None:
    root = package.tree(name, keep=False)
    if root.get("show") in {"0", "false"}:
        return
    contents.slides.append(slide)
    layout = package.linked(name, "slideLayout")
    master = package.linked(layout, "slideMaster")
    theme = package.tree(package.linked(master, "theme"))
    styles = _Styles(package.tree(layout), package.tree(master), presentation, theme)
    _note_text(root, styles, contents, slide, of_placeholders=True)
    for tree in (styles.layout, styles.master):
        _note_text(tree, styles, contents, slide, of_placeholders=False)
    for part, tree in ((name, root), (layout, styles.layout), (master, styles.master)):
        links = package.links(part)
        for link in links.values():
            _note_link(link, contents, media)
        for element in _taken(tree, package.known):
            _note_object(element, package, links, contents, slide)
    taken = _taken(root, package.known)
    slide.is_drawn = any(text.strip() for text in slide.text) or any(each.tag in DRAWN for each in taken)
    contents.lose(CHARTS, slide.number, _new_charts(root))
    for link in package.links(name).values():
        _read_drawing(package, link, styles, contents, slide)
    _note_transition(root, contents)
    timing = root.find(f"{P}timing")
    contents.animated_slides += timing is not None and any(one.tag in EFFECTS for one in timing.iter())


def _make_usual(root: ET.Element) -> None:
    """Rename the namespaces of Strict Open XML to the usual ones."""
    for element in root.iter():
        element.tag = _usual(element.tag)
        for name in [name for name in element.attrib if name.startswith(STRICT)]:
            element.set(_usual(name), element.attrib.pop(name))


def _usual(name: str) -> str:
    namespace, brace, local = name.rpartition("}")
    return USUAL.get(namespace + brace, namespace + brace) + local


def _taken(tree: ET.Element, known: frozenset[str]) -> Iterator[ET.Element]:
    """Every element that LibreOffice shows: of alternatives, the first one that it knows, or the fallback."""
    waiting = [tree]
    while waiting:
        element = waiting.pop()
        if element.tag in SHAPES and any(name.get("hidden") in HIDDEN for name in element.iterfind(f"*/{P}cNvPr")):
            continue
        yield element
        waiting += [_alternative(element, known)] if element.tag == ALTERNATIVES else element


def _alternative(alternatives: ET.Element, known: frozenset[str]) -> ET.Element:
    """The one that LibreOffice takes; but the one with a formula, when it takes a fallback without a picture of it."""
    fitting = (one for one in alternatives if one.tag == FALLBACK or set(one.get("Requires", "").split()) <= known)
    taken = next(fitting, ET.Element("none"))
    if taken.tag != FALLBACK or next(taken.iter(f"{A}blip"), None) is not None:
        return taken
    return next((one for one in alternatives if next(one.iter(f"{M}oMath"), None) is not None), taken)


def _new_charts(tree: ET.Element) -> int:
    """How many charts are of the kinds since Office 2016."""
    return sum(each.get("uri", "").endswith("/chartex") for each in tree.iter(f"{A}graphicData"))


def _note_object(
    element: ET.Element, package: _Package, links: dict[str, Link], contents: Contents, slide: Slide
) -> None:
    """Note formulas, and what LibreOffice does not draw: ink, pictures, objects without a picture, unknown frames."""
    if element.tag == f"{M}oMath":
        slide.formulas.append("".join(text.text or "" for text in element.iter(f"{M}t")))
        contents.lose(FORMULAS, slide.number)
    elif element.tag == f"{A}blip":
        _note_picture(element, package, links, contents, slide)
    elif element.tag == INK:
        contents.lose(PICTURES, slide.number)
    elif element.tag == ALTERNATIVES:
        is_lost = not len(_alternative(element, package.known)) and any(each.tag in SHAPES for each in element.iter())
        contents.lose(PICTURES, slide.number, is_lost and not _new_charts(element))
    elif element.tag == f"{A}graphicData":
        uri = element.get("uri", "")
        drawn = uri.endswith(FRAMED)
        if uri.endswith(OF_VML):
            drawn = any(blip.get(f"{R}embed") for blip in element.iter(f"{A}blip"))
            drawn = drawn or any(link.kind == "vmlDrawing" for link in links.values())
        elif uri.endswith("/diagram"):
            drawn = any(package.head(links.get(ids.get(f"{R}dm", ""))) for ids in element)
        elif uri.endswith("/chart"):
            _note_chart(element, package, links, contents, slide)
        contents.lose(PICTURES, slide.number, not drawn and not uri.endswith("/chartex"))


def _note_chart(frame: ET.Element, package: _Package, links: dict[str, Link], contents: Contents, slide: Slide) -> None:
    """Note a chart that is not in the package, or of a kind that LibreOffice draws as another one."""
    for chart in frame:
        link = links.get(chart.get(f"{R}id", ""))
        kinds = {each.tag for each in package.tree(link.target, keep=False).iter()} if link else set()
        contents.lose(CHARTS, slide.number, f"{C}chartSpace" not in kinds or bool(kinds & SURFACES))
        contents.lose(CHARTS, slide.number, OF_PIE in kinds and not package.is_newer)


def _note_picture(
    blip: ET.Element, package: _Package, links: dict[str, Link], contents: Contents, slide: Slide
) -> None:
    """Note a picture that is not in the package or cannot be drawn, or an SVG with another picture beside it."""
    key, other = blip.get(f"{R}embed"), next(blip.iter(SVG), None)
    link = links.get(key or "")
    svg = package.head(links.get(other.get(f"{R}embed", ""))) if other is not None else None
    if (key is None and other is None) or (link is not None and link.is_external):
        return
    picture = package.head(link, pictures_rules.TWIN_BYTES if svg else pictures_rules.HEAD_BYTES) or b""
    lost = not pictures_rules.may_be_drawn(picture) or (bool(svg) and pictures_rules.is_stand_in(picture, svg or b""))
    contents.lose(PICTURES, slide.number, lost and not (svg and package.is_newer))


def _read_drawing(package: _Package, link: Link, styles: _Styles, contents: Contents, slide: Slide) -> None:
    """Read a chart or SmartArt graphic of a slide: its text is in a part of its own."""
    if link.is_external:
        return
    if link.kind == "diagramDrawing":
        _note_text(package.tree(link.target, keep=False), styles, contents, slide, of_placeholders=True)
    elif link.kind == "chart":
        theme = package.linked(link.target, "themeOverride")
        own = replace(styles, theme=package.tree(theme)) if theme else styles
        _note_chart_fonts(package.tree(link.target, keep=False), own, contents)
        for inner in package.links(link.target).values():
            if inner.is_external:
                contents.link_workbook(inner.target)


def _note_chart_fonts(chart: ET.Element, styles: _Styles, contents: Contents) -> None:
    """Note the font families of a chart's titles, axes, legend and labels.

    The chart does not say which scripts their text has, so the Latin family counts.
    """
    for properties in (f"{A}defRPr", f"{A}rPr"):
        for run in chart.iter(properties):
            named = run.find(f"{A}latin")
            family = styles.real(named.get("typeface", "")) if named is not None else ""
            if family and contents.fonts is not None:
                contents.fonts.add(family)


def _note_transition(slide: ET.Element, contents: Contents) -> None:
    """Note a slide's transition; a newer effect has a plain one beside it for older programs."""
    found = list(slide.iter(f"{P}transition"))
    contents.transitions += any(not one.tag.endswith(("}sndAc", "}extLst")) for each in found for one in each)
    contents.advancing_slides += any(each.get("advTm") is not None for each in found)


def _note_link(link: Link, contents: Contents, media: dict[str, str]) -> None:
    if link.kind in {"video", "audio"}:
        media[link.target] = link.kind
    elif link.kind == "media":
        media.setdefault(link.target, "audio" if link.target.lower().endswith(AUDIO_SUFFIXES) else "video")
    if link.is_external:
        contents.link(link.target, is_hyperlink=link.kind == "hyperlink")


def _note_text(tree: ET.Element, styles: _Styles, contents: Contents, slide: Slide, *, of_placeholders: bool) -> None:
    """Note the text and fonts of every run. Of layouts and masters, slides show only text outside placeholders."""
    for shape, level, run in _runs(tree):
        if not of_placeholders and _placeholder(shape) is not None:
            continue
        text = "".join(part.text or "" for part in run.iter(f"{A}t"))
        slide.text.append(text)
        is_date = run.tag == f"{A}fld" and run.get("type", "").startswith("datetime")
        contents.lose(DATES, slide.number, is_date)
        for script in scripts_of(text):
            own = run.find(f"{A}rPr/{ELEMENTS[script]}")
            named = own.get("typeface") if own is not None else None
            family = styles.real(named or styles.inherited(shape, level, script))
            if family and contents.fonts is not None:
                contents.fonts.add(family)
            if script == LATIN:
                symbols = run.find(f"{A}rPr/{A}sym")
                family = (symbols.get("typeface") if symbols is not None else None) or family
                contents.signs.update({sign: family for sign in text if ord(sign) in PRIVATE})


def _runs(tree: ET.Element) -> Iterator[tuple[ET.Element | None, int, ET.Element]]:
    """Every run of text with its shape and its level from 1."""
    waiting: list[tuple[ET.Element, ET.Element | None, int]] = [(tree, None, 1)]
    while waiting:
        element, shape, level = waiting.pop()
        if element.tag in {f"{A}r", f"{A}fld"}:
            yield shape, level, element
            continue
        if element.tag == f"{P}sp":
            shape = element
        elif element.tag == f"{A}p":
            level = _level(element)
        waiting += [(child, shape, level) for child in element if child.tag != FALLBACK]


def _level(paragraph: ET.Element) -> int:
    properties = paragraph.find(f"{A}pPr")
    said = properties.get("lvl", "0") if properties is not None else "0"
    return min(9, int(said) + 1) if said.isdigit() else 1


def _placeholder(shape: ET.Element | None) -> ET.Element | None:
    return shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph") if shape is not None else None


def _twin(tree: ET.Element, place: ET.Element) -> ET.Element | None:
    """The placeholder of a layout or master that matches this one: by index, else by type."""
    wanted, kind = place.get("idx"), place.get("type", "body")
    by_type = None
    for shape in tree.iter(f"{P}sp"):
        found = _placeholder(shape)
        if found is None:
            continue
        if wanted is not None and found.get("idx") == wanted:
            return shape
        same = found.get("type", "body") == kind or {found.get("type"), kind} <= TITLES
        by_type = by_type if by_type is not None or not same else shape
    return by_type
