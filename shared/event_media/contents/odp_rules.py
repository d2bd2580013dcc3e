"""Read what the slides of an .odp contain: fonts by the styles around text, links and media by their addresses."""

import re
import zipfile
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree as ET

from msgspec import Struct, field

from shared.event_media import pictures_rules
from shared.event_media.contents.rules import (
    ASIAN,
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

_NS: Final = "{urn:oasis:names:tc:opendocument:xmlns:"
STYLE, TEXT, DRAW = f"{_NS}style:1.0}}", f"{_NS}text:1.0}}", f"{_NS}drawing:1.0}}"
PRESENTATION, ANIMATION = f"{_NS}presentation:1.0}}", f"{_NS}animation:1.0}}"
CHART, SMIL = f"{_NS}chart:1.0}}", f"{_NS}smil-compatible:1.0}}"
FO, SVG = f"{_NS}xsl-fo-compatible:1.0}}", f"{_NS}svg-compatible:1.0}}"
MATH: Final = "{http://www.w3.org/1998/Math/MathML}"
HREF: Final = "{http://www.w3.org/1999/xlink}href"
ENDINGS: Final = {LATIN: "", ASIAN: "-asian", COMPLEX: "-complex"}
STYLED: Final = (f"{TEXT}style-name", f"{PRESENTATION}style-name", f"{DRAW}style-name", f"{DRAW}text-style-name")
FOR_PEOPLE: Final = {f"{TEXT}a", f"{DRAW}a", f"{PRESENTATION}event-listener"}
MATH_LETTERS: Final = {f"{MATH}{name}" for name in ("mi", "mn", "mtext")}
MOVING: Final = {f"{TEXT}{name}" for name in ("date", "time")}
CHOSEN: Final = (f"{PRESENTATION}show", f"{PRESENTATION}start-page")
FRAMED: Final = {f"{DRAW}{name}" for name in ("image", "object", "object-ole", "applet", "floating-frame")}
CHART_TEXTS: Final = {f"{CHART}{name}" for name in ("title", "subtitle", "axis", "legend")}
OUTSIDE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\|\.\./")
AUDIO: Final = re.compile(r"\.(mp3|wav|m4a|wma|aac|ogg|oga|mid|aiff?|flac)$", re.IGNORECASE)


class _Fonts(Struct):
    """Font families by style. A style without a family takes that of its parent."""

    faces: dict[str, str] = field(default_factory=dict)
    own: dict[tuple[str, str], str] = field(default_factory=dict)  # (style, script) -> family
    parents: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)  # script -> family
    undated_pages: set[str] = field(default_factory=set)
    hidden_pages: set[str] = field(default_factory=set)
    transitions: set[str] = field(default_factory=set)  # styles of pages
    advancing: set[str] = field(default_factory=set)

    def read(self, tree: ET.Element) -> None:
        """Read the declarations of one part."""
        for face in tree.iter(f"{STYLE}font-face"):
            self.faces[face.get(f"{STYLE}name", "")] = _family(face.get(f"{SVG}font-family", ""))
        for style in tree.iter(f"{STYLE}style"):
            name = style.get(f"{STYLE}name", "")
            self.parents[name] = style.get(f"{STYLE}parent-style-name", "")
            for script, family in self._families(style):
                self.own[name, script] = family
            page = style.find(f"{STYLE}drawing-page-properties")
            if page is not None:
                self._read_page_style(name, page)
        for default in tree.iter(f"{STYLE}default-style"):
            if default.get(f"{STYLE}family") in {"graphic", "paragraph"}:
                self.defaults.update(self._families(default))

    def _read_page_style(self, name: str, page: ET.Element) -> None:
        if page.get(f"{PRESENTATION}visibility") == "hidden":
            self.hidden_pages.add(name)
        if page.get(f"{PRESENTATION}display-date-time") == "false":
            self.undated_pages.add(name)
        if page.get(f"{SMIL}type") or page.get(f"{PRESENTATION}transition-style", "none") != "none":
            self.transitions.add(name)
        if page.get(f"{PRESENTATION}transition-type") == "automatic":
            self.advancing.add(name)

    def of(self, styles: tuple[str, ...], script: str) -> str | None:
        """The family of text inside these styles, given from the outermost to the innermost."""
        for style in reversed(styles):
            name, seen = style, set[str]()
            while name and name not in seen:
                if (name, script) in self.own:
                    return self.own[name, script]
                seen.add(name)
                name = self.parents.get(name, "")
        return self.defaults.get(script)

    def _families(self, style: ET.Element) -> Iterator[tuple[str, str]]:
        properties = style.find(f"{STYLE}text-properties")
        if properties is None:
            return
        for script, ending in ENDINGS.items():
            face = properties.get(f"{STYLE}font-name{ending}")
            named = properties.get(f"{STYLE}font-family{ending}" if ending else f"{FO}font-family")
            family = self.faces.get(face or "", "") or _family(named or face or "")
            if family:
                yield script, family


def _family(declared: str) -> str:
    """The first family of a list such as `'Open Sans', sans-serif`."""
    return declared.split(",", maxsplit=1)[0].strip().strip("'\"").strip()


def read(package: zipfile.ZipFile) -> Contents:
    """The contents of the visible slides. Raises the errors of zipfile and ElementTree for a damaged package."""
    fonts, contents = _Fonts(), Contents()
    content, styles = _tree(package, "content.xml"), _tree(package, "styles.xml")
    fonts.read(styles)
    fonts.read(content)
    masters = {page.get(f"{STYLE}name", ""): page for page in styles.iter(f"{STYLE}master-page")}
    shows = content.iter(f"{PRESENTATION}settings")
    contents.shows_chosen_slides = any(show.get(name) for show in shows for name in CHOSEN)
    declared = content.iter(f"{PRESENTATION}date-time-decl")
    current = {one.get(f"{PRESENTATION}name") for one in declared if one.get(f"{PRESENTATION}source") == "current-date"}
    for number, page in enumerate(content.iter(f"{DRAW}page"), 1):
        style = page.get(f"{DRAW}style-name", "")
        if style not in fonts.hidden_pages:
            slide = Slide(number)
            contents.slides.append(slide)
            _read_page(page, fonts, contents, slide)
            for shape in page:
                for frame in shape.iter(f"{DRAW}frame") if shape.tag != f"{PRESENTATION}notes" else ():
                    _read_frame(package, frame, contents, slide)
            slide.is_drawn |= any(text.strip() for text in slide.text)
            for shape in _shapes_of(masters.get(page.get(f"{DRAW}master-page-name", ""))):
                _read_page(shape, fonts, contents, slide)
            is_dated = page.get(f"{PRESENTATION}use-date-time-name") in current and style not in fonts.undated_pages
            contents.lose(DATES, number, is_dated)
            contents.transitions += style in fonts.transitions
            contents.advancing_slides += style in fonts.advancing
            contents.animated_slides += _is_animated(page)
    return contents


def _shapes_of(master: ET.Element | None) -> Iterator[ET.Element]:
    """The shapes of a master page that its slides show."""
    for shape in master if master is not None else ():
        if shape.get(f"{PRESENTATION}class") is None and shape.tag != f"{PRESENTATION}notes":
            yield shape


def _tree(package: zipfile.ZipFile, name: str) -> ET.Element:
    if name not in package.namelist():
        return ET.Element("none")
    if package.getinfo(name).file_size > LARGEST_PART_BYTES:
        raise ValueError("a part is too large to be read for a report")
    with package.open(name) as part:
        return ET.parse(part).getroot()  # noqa: S314 - the file was refused if it held a document type


def _read_page(page: ET.Element, fonts: _Fonts, contents: Contents, slide: Slide) -> None:
    waiting: list[tuple[ET.Element, tuple[str, ...]]] = [(page, ())]
    while waiting:
        element, styles = waiting.pop()
        if element.tag == f"{PRESENTATION}notes":
            continue
        _note_link(element, contents)
        is_moving = element.tag in MOVING and element.get(f"{TEXT}fixed") != "true"
        contents.lose(DATES, slide.number, is_moving)
        outer = styles
        styles += tuple(element.get(name, "") for name in reversed(STYLED) if element.get(name))
        if element.tag.startswith(TEXT):
            for text, applied in ((element.text, styles), (element.tail, outer)):
                _note_font(text, applied, fonts, contents)
                slide.text.append(text or "")
        waiting += [(child, styles) for child in element]


def _read_frame(package: zipfile.ZipFile, frame: ET.Element, contents: Contents, slide: Slide) -> None:
    """Read a frame: it needs a picture that LibreOffice draws, or an object in the file, which needs no picture."""
    pictures = [picture.get(HREF, "").removeprefix("./") for picture in frame.findall(f"{DRAW}image")]
    placed = frame.find(f"{DRAW}object")
    is_drawn = any(not name or OUTSIDE.match(name) or _may_be_drawn(package, name) for name in pictures)
    is_drawn = is_drawn or (placed is not None and _part_of(placed) in package.namelist())
    is_lost = any(element.tag in FRAMED for element in frame) and not is_drawn
    slide.is_drawn |= is_drawn or is_lost
    contents.lose(PICTURES, slide.number, is_lost)
    if placed is not None:
        _read_object(package, _part_of(placed), contents, slide)


def _may_be_drawn(package: zipfile.ZipFile, name: str) -> bool:
    if name not in package.namelist():
        return False
    with package.open(name) as part:
        return pictures_rules.may_be_drawn(part.read(pictures_rules.HEAD_BYTES))


def _part_of(placed: ET.Element) -> str:
    return f"{placed.get(HREF, '').removeprefix('./')}/content.xml"


def _read_object(package: zipfile.ZipFile, name: str, contents: Contents, slide: Slide) -> None:
    """Read a formula, or the font families of a chart's titles, axes and legend, whose styles are in its own part."""
    content = _tree(package, name)
    if content.tag == f"{MATH}math":
        slide.formulas.append("".join(one.text or "" for one in content.iter() if one.tag in MATH_LETTERS))
        contents.lose(FORMULAS, slide.number)
    fonts = _Fonts()
    fonts.read(content)
    for element in content.iter():
        if element.tag in CHART_TEXTS and contents.fonts is not None:
            family = fonts.of((element.get(f"{CHART}style-name", ""),), LATIN)
            contents.fonts |= {family} if family else set()


def _note_font(text: str | None, styles: tuple[str, ...], fonts: _Fonts, contents: Contents) -> None:
    for script in scripts_of(text or ""):
        family = fonts.of(styles, script)
        if family and contents.fonts is not None:
            contents.fonts.add(family)


def _note_link(element: ET.Element, contents: Contents) -> None:
    target = element.get(HREF, "")
    if element.tag == f"{DRAW}plugin":
        said = element.get(f"{DRAW}mime-type", "")
        is_audio = said.startswith("audio/") or (not said.startswith("video/") and AUDIO.search(target))
        contents.audios += bool(is_audio)
        contents.videos += not is_audio
    if OUTSIDE.match(target):
        contents.link(target, is_hyperlink=element.tag in FOR_PEOPLE)


def _is_animated(page: ET.Element) -> bool:
    sequences = (one for one in page.iter(f"{ANIMATION}seq") if one.get(f"{PRESENTATION}node-type") == "main-sequence")
    old = page.find(f"{PRESENTATION}animations")
    return any(len(one) for one in sequences) or (old is not None and len(old) > 0)
