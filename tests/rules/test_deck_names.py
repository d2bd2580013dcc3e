"""Slide shows, templates and decks with macros are accepted with their own extensions, by the API and by the page."""

import io
import re
import zipfile
from pathlib import Path

import pytest

from deploy.parts.layout import REPOSITORY
from shared.errors import NotAPresentation, UnsupportedMediaType
from shared.event_media import rules
from shared.vocabulary import MediaKind
from tests.worker import decks, hostile_decks

NAMES = {
    **dict.fromkeys(("ppt", "pps", "pot"), MediaKind.PPT),
    **dict.fromkeys(("pptx", "ppsx", "pptm", "ppsm", "potx", "potm"), MediaKind.PPTX),
    **dict.fromkeys(("odp", "otp"), MediaKind.ODP),
}


@pytest.mark.parametrize(("suffix", "kind"), NAMES.items())
def test_a_deck_is_taken_under_each_name_that_offices_give_it(suffix: str, kind: MediaKind) -> None:
    assert rules.kind_of_name(f"Menu.{suffix.upper()}") is kind
    assert rules.name_of_kind(f"Menu.{suffix}", kind) == f"Menu.{suffix}", "renaming keeps it"


def test_the_picker_of_the_page_offers_every_name_that_the_service_takes() -> None:
    source = (REPOSITORY / "dashboard" / "views" / "uploads.js").read_text(encoding="utf-8")
    offered = re.findall(r'ACCEPTED =\s*"([^"]*)"', source)

    assert [set(each.split(",")) for each in offered] == [set(rules.SUFFIXES)]


CONTENT_TYPES = [
    ("application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml", "ppsx"),
    ("application/vnd.openxmlformats-officedocument.presentationml.template.main+xml", "potx"),
    ("application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml", "pptm"),
    ("application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml", "ppsm"),
]


@pytest.mark.parametrize(("declared", "suffix"), CONTENT_TYPES)
def test_what_the_package_says_of_itself_makes_it_a_deck(tmp_path: Path, declared: str, suffix: str) -> None:
    deck = hostile_decks.pptx_bytes(tmp_path)
    types = hostile_decks.part_of(deck, "[Content_Types].xml").decode()
    usual = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
    assert usual in types

    other = hostile_decks.with_parts(deck, {"[Content_Types].xml": types.replace(usual, declared).encode()})

    assert rules.inspect(io.BytesIO(other), rules.kind_of_name(f"a.{suffix}"))[0] is MediaKind.PPTX


def test_a_keynote_file_is_refused_with_the_way_out() -> None:
    with pytest.raises(UnsupportedMediaType, match="Export the Keynote file as PowerPoint"):
        rules.kind_of_name("talk.key")


LIBRARY = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE library:libraries PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "libraries.dtd">
<library:libraries xmlns:library="http://openoffice.org/2000/library"/>"""
DECLARING = LIBRARY.replace(b'"libraries.dtd">', b'"libraries.dtd" [<!ENTITY a "aaaa">]>')
ELSEWHERE = LIBRARY.replace(b'"libraries.dtd"', b'"http://192.0.2.1/libraries.dtd"')
OF_OTHERS = LIBRARY.replace(b"-//OpenOffice.org//", b"-//W3C//")
FORMULA = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE math:math PUBLIC "-//OpenOffice.org//DTD Modified W3C MathML 1.01//EN" "math.dtd">
<math:math xmlns:math="http://www.w3.org/1998/Math/MathML"/>"""
MANIFEST = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "Manifest.dtd">
<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>"""


def odp_with(folder: Path, part: str, content: bytes) -> io.BytesIO:
    decks.make_odp(folder / "deck.odp", 1)
    return io.BytesIO(hostile_decks.with_parts((folder / "deck.odp").read_bytes(), {part: content}))


@pytest.mark.parametrize(
    ("part", "content"),
    [
        *((name, LIBRARY) for name in ("Basic/script-lc.xml", "Basic/Standard/Module1.xml", "Dialogs/dialog-lc.xml")),
        ("Configurations2/accelerator/current.xml", LIBRARY),
        ("Object 1/content.xml", FORMULA),
        ("META-INF/manifest.xml", MANIFEST),
    ],
)
def test_an_odp_with_a_document_type_as_offices_write_it_is_taken(tmp_path: Path, part: str, content: bytes) -> None:
    kind, slides = rules.inspect(odp_with(tmp_path, part, content), MediaKind.ODP)

    assert (kind, slides and slides.visible) == (MediaKind.ODP, 1)


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("Basic/script-lc.xml", DECLARING),  # a declaration, which entity bombs need
        ("META-INF/manifest.xml", DECLARING),
        ("Object 1/content.xml", ELSEWHERE),
        ("Object 1/content.xml", OF_OTHERS),
        ("META-INF/documentsignatures.xml", OF_OTHERS),
        *((name, LIBRARY) for name in ("content.xml", "styles.xml", "meta.xml", "settings.xml")),
    ],
)
def test_every_other_document_type_in_an_odp_is_refused(tmp_path: Path, part: str, content: bytes) -> None:
    with pytest.raises(NotAPresentation, match="document type"):
        rules.inspect(odp_with(tmp_path, part, content), MediaKind.ODP)


def test_a_document_type_in_a_pptx_is_refused_wherever_it_lies(tmp_path: Path) -> None:
    deck = hostile_decks.with_parts(hostile_decks.pptx_bytes(tmp_path), {"Basic/script-lc.xml": LIBRARY})

    with zipfile.ZipFile(io.BytesIO(deck)) as package:
        assert "Basic/script-lc.xml" in package.namelist()
    with pytest.raises(NotAPresentation, match="document type"):
        rules.inspect(io.BytesIO(deck), MediaKind.PPTX)
