"""Compare the claims of a conversion's report with python-pptx and odfpy, which share no code with our readers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from odf.draw import Page
from odf.opendocument import load
from odf.style import DrawingPageProperties, Style
from odf.text import A, Date, Time
from pptx import Presentation

from shared.conversions.report_rules import MOST_SLIDES
from shared.event_media.contents.rules import LONGEST_TARGET

EFFECTS: Final = {"anim", "animClr", "animEffect", "animMotion", "animRot", "animScale", "set"}
LATIN_RANGE: Final = 0x0250
AT_LEAST: Final = {"fonts", "dates", "charts", "ink"}
"""The other reader finds some of these claims, and not all: fonts, and the slides that lose something."""


@dataclass
class Held:
    """How many claims were compared, and descriptions of the wrong ones."""

    compared: int = 0
    wrong: list[str] = field(default_factory=list)


def held(deck: Path, kind: str, report: dict[str, Any]) -> Held:
    """Compare the report's claims with another reader's results; with none if that reader cannot read the deck."""
    found = Held()
    try:
        others = {"pptx": of_pptx, "odp": of_odp}.get(kind, of_nothing)(deck)
    except Exception:  # noqa: BLE001 - strangers' decks: whatever the other reader stumbles over is not our report's
        return found
    claims = claims_of(report)
    for name, expected in others.items():
        if name not in claims:
            continue
        found.compared += 1
        if name in AT_LEAST:
            lost = sorted(expected - claims[name])
            found.wrong += [f"{name} not named: {', '.join(map(str, lost))}"] if lost else []
        elif claims[name] != expected:
            found.wrong.append(f"{name}: {claims[name]} reported, {expected} found")
    return found


def claims_of(report: dict[str, Any]) -> dict[str, Any]:
    """Name -> claim of the report; unknown values are not claims."""
    warnings = {one["code"]: one for one in report["warnings"]}
    claims = {"visible": report["visible_slides"], "hidden": report["hidden_slides"]}
    if "contents_not_known" in warnings:
        return claims
    motion, timing = warnings.get("motion_lost", {}), warnings.get("timing_lost", {})
    claims |= {name: motion.get(name, 0) for name in ("videos", "audios", "animated_slides")}
    claims |= {name: timing.get(name, 0) for name in ("transitions", "advancing")}
    claims |= {
        "hyperlinks": warnings.get("hyperlinks", {}).get("count", 0),
        "linked_files": warnings.get("links_not_followed", {}).get("count", 0),
        "workbooks": warnings.get("workbooks_not_asked", {}).get("count", 0),
    }
    for name, code in (("dates", "dates_stand_still"), ("charts", "charts_not_drawn"), ("ink", "pictures_missing")):
        slides = set(warnings.get(code, {}).get("slides", ()))
        claims |= {name: slides} if len(slides) < MOST_SLIDES else {}
    if report["fonts"] is not None:
        claims["fonts"] = set(report["fonts"]["named"])
    return claims


def of_nothing(_deck: Path) -> dict[str, Any]:
    """No other reader exists for this kind."""
    return {}


def of_pptx(path: Path) -> dict[str, Any]:
    """The results of python-pptx for the shown slides, their layouts and masters."""
    deck = Presentation(str(path))
    slides = list(deck.slides)
    shown = [slide for slide in slides if slide._element.get("show") not in {"0", "false"}]
    parts = {id(part): part for slide in shown for part in _parts(slide)}.values()
    links = [link for part in parts for link in part.rels.values()]
    outside = [link for link in links if link.is_external]
    charts = [link.target_part for link in links if not link.is_external and link.reltype.endswith("/chart")]
    return {
        "visible": len(shown),
        "hidden": len(slides) - len(shown),
        "hyperlinks": len({_target(link) for link in outside if _kind(link) == "hyperlink"}),
        "linked_files": len({_target(link) for link in outside if _kind(link) != "hyperlink"}),
        "workbooks": len({_target(link) for chart in charts for link in chart.rels.values() if link.is_external}),
        "animated_slides": sum(_has(slide._element, "timing", EFFECTS) for slide in shown),
        "transitions": sum(any(_effects(slide._element)) for slide in shown),
        "advancing": sum(any(one.get("advTm") for one in _named(slide._element, "transition")) for slide in shown),
        "fonts": {family for slide in shown for family in _families(slide.shapes)},
        "dates": _numbers(slides, "fld", "type", "datetime"),
        "charts": _numbers(slides, "graphicData", "uri", "http://schemas.microsoft.com/office/drawing/2014/chartex"),
        "ink": _numbers(slides, "contentPart"),
    }


def _numbers(slides: list[Any], name: str, attribute: str = "id", begin: str = "") -> set[int]:
    """The numbers of the shown slides with such an element, whose attribute begins so."""
    return {
        number
        for number, slide in enumerate(slides, 1)
        if slide._element.get("show") not in {"0", "false"}
        and any(one.get(attribute, "").startswith(begin) for one in _named(slide._element, name))
    }


def _parts(slide: Any) -> Iterator[Any]:
    yield slide.part
    yield slide.slide_layout.part
    yield slide.slide_layout.slide_master.part


def _kind(link: Any) -> str:
    return str(link.reltype).rpartition("/")[2]


def _target(link: Any) -> str:
    return str(link.target_ref)[:LONGEST_TARGET]


def _named(element: Any, name: str) -> list[Any]:
    return [one for one in element.iter() if isinstance(one.tag, str) and one.tag.endswith("}" + name)]


def _has(element: Any, within: str, names: set[str]) -> bool:
    inner = (one for place in element if str(place.tag).endswith("}" + within) for one in place.iter())
    return any(isinstance(one.tag, str) and one.tag.rpartition("}")[2] in names for one in inner)


def _effects(element: Any) -> Iterator[str]:
    for transition in _named(element, "transition"):
        names = {str(one.tag).rpartition("}")[2] for one in transition if isinstance(one.tag, str)}
        yield from names - {"sndAc", "extLst"}


def _families(shapes: Any) -> Iterator[str]:
    """The font families that runs of Latin text name themselves."""
    for shape in shapes:
        if shape.has_text_frame:
            for paragraph in shape.text_frame.paragraphs:
                for run in paragraph.runs:
                    name = run.font.name
                    if name and not name.startswith("+") and any("!" <= one < chr(LATIN_RANGE) for one in run.text):
                        yield name


def of_odp(path: Path) -> dict[str, Any]:
    """The results of odfpy for the pages."""
    deck = load(str(path))
    hidden_styles = {
        style.getAttribute("name")
        for style in deck.automaticstyles.getElementsByType(Style)
        for properties in style.getElementsByType(DrawingPageProperties)
        if properties.getAttribute("visibility") == "hidden"
    }
    pages = deck.presentation.getElementsByType(Page)
    shown = [page for page in pages if page.getAttribute("stylename") not in hidden_styles]
    links = {link.getAttribute("href") for page in shown for link in page.getElementsByType(A)}
    found: dict[str, Any] = {"visible": len(shown), "hidden": len(pages) - len(shown)}
    found["dates"] = {number for number, page in enumerate(pages, 1) if page in shown and _is_dated(page)}
    return found if any(links) else {**found, "hyperlinks": 0}


def _is_dated(page: Any) -> bool:
    fields = [*page.getElementsByType(Date), *page.getElementsByType(Time)]
    return any(field.getAttribute("fixed") != "true" for field in fields)
