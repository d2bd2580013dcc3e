"""Read what the slides of an .odp contain: fonts by the styles around text, links and media by their addresses."""

import re
import zipfile
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree as ET

from msgspec import Struct, field

from shared.event_media.contents.rules import ASIAN, COMPLEX, LARGEST_PART_BYTES, LATIN, Contents, scripts_of

_NS: Final = "{urn:oasis:names:tc:opendocument:xmlns:"
STYLE, TEXT, DRAW = f"{_NS}style:1.0}}", f"{_NS}text:1.0}}", f"{_NS}drawing:1.0}}"
PRESENTATION, ANIMATION = f"{_NS}presentation:1.0}}", f"{_NS}animation:1.0}}"
CHART, SMIL = f"{_NS}chart:1.0}}", f"{_NS}smil-compatible:1.0}}"
FO, SVG = f"{_NS}xsl-fo-compatible:1.0}}", f"{_NS}svg-compatible:1.0}}"
HREF: Final = "{http://www.w3.org/1999/xlink}href"
ENDINGS: Final = {LATIN: "", ASIAN: "-asian", COMPLEX: "-complex"}
STYLED: Final = (f"{TEXT}style-name", f"{PRESENTATION}style-name", f"{DRAW}style-name", f"{DRAW}text-style-name")
FOR_PEOPLE: Final = {f"{TEXT}a", f"{DRAW}a", f"{PRESENTATION}event-listener"}
CHART_TEXTS: Final = {f"{CHART}{name}" for name in ("title", "subtitle", "axis", "legend")}
OUTSIDE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\|\.\./")
AUDIO: Final = re.compile(r"\.(mp3|wav|m4a|wma|aac|ogg|oga|mid|aiff?|flac)$", re.IGNORECASE)


class _Fonts(Struct):
    """Font families by style. A style without a family takes that of its parent."""

    faces: dict[str, str] = field(default_factory=dict)
    own: dict[tuple[str, str], str] = field(default_factory=dict)  # (style, script) -> family
    parents: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)  # script -> family
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
    used: set[str] = set()
    for page in content.iter(f"{DRAW}page"):
        style = page.get(f"{DRAW}style-name", "")
        if style not in fonts.hidden_pages:
            used.add(page.get(f"{DRAW}master-page-name", ""))
            _read_page(page, fonts, contents)
            for placed in page.iter(f"{DRAW}object"):
                _read_chart(package, placed.get(HREF, ""), contents)
            contents.transitions += style in fonts.transitions
            contents.advancing_slides += style in fonts.advancing
            contents.animated_slides += _is_animated(page)
    for name in sorted(used & set(masters)):
        for shape in masters[name]:
            if shape.get(f"{PRESENTATION}class") is None and shape.tag != f"{PRESENTATION}notes":
                _read_page(shape, fonts, contents)
    return contents


def _tree(package: zipfile.ZipFile, name: str) -> ET.Element:
    if name not in package.namelist():
        return ET.Element("none")
    if package.getinfo(name).file_size > LARGEST_PART_BYTES:
        raise ValueError("a part is too large to be read for a report")
    with package.open(name) as part:
        return ET.parse(part).getroot()  # noqa: S314 - the file was refused if it held a document type


def _read_page(page: ET.Element, fonts: _Fonts, contents: Contents) -> None:
    waiting: list[tuple[ET.Element, tuple[str, ...]]] = [(page, ())]
    while waiting:
        element, styles = waiting.pop()
        if element.tag == f"{PRESENTATION}notes":
            continue
        _note_link(element, contents)
        outer = styles
        styles += tuple(element.get(name, "") for name in reversed(STYLED) if element.get(name))
        if element.tag.startswith(TEXT):
            _note_font(element.text, styles, fonts, contents)
            _note_font(element.tail, outer, fonts, contents)
        waiting += [(child, styles) for child in element]


def _read_chart(package: zipfile.ZipFile, address: str, contents: Contents) -> None:
    """Read the font families of a chart's titles, axes and legend; its styles are in the chart's own part."""
    content = _tree(package, f"{address.removeprefix('./')}/content.xml")
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
