"""`make docs`: every document is a page, every link leads somewhere, and a page loads nothing from another host."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import pytest

from deploy.parts.layout import REPOSITORY
from tests import site_of_documents
from tests.site_of_documents import DOCUMENTS

LOADS: Final = {"script": "src", "img": "src", "link": "href", "iframe": "src", "object": "data", "source": "srcset"}
IMPORTED: Final = re.compile(r"""url\(\s*["']?([^)"']+)|@import\s+["']([^"']+)""")
ASKED: Final = re.compile(r"""(?:fetch|import|open)\(\s*["'`]([^"'`]+)""")
OUTSIDE: Final = re.compile(r"https?://[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?(/[^\s<>\"]*)?")


class Page(HTMLParser):
    """What a page loads, where its links lead, and which places it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if LOADS.get(tag) in named:
            self.loads.append(named[LOADS[tag]])
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        self.places |= {named[name] for name in ("id", "name") if name in named}


@pytest.fixture(scope="module")
def built() -> Path:
    """The folder of the site."""
    return site_of_documents.built()


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(built.rglob("*.html"))}


def test_every_document_is_a_page_that_a_reader_is_led_to(built: Path, pages: dict[Path, Page]) -> None:
    front = built / "README.html"
    led_to = {(front.parent / unquote(urlsplit(link).path)).resolve() for link in pages[front].links}

    for document in DOCUMENTS:
        page = built / document.relative_to(REPOSITORY).with_suffix(".html")
        assert page in led_to | {front.resolve()}, document


def test_the_folder_opens_with_the_readme_and_its_pictures(built: Path, pages: dict[Path, Page]) -> None:
    shown = {Path(load).name for load in pages[built / "README.html"].loads}

    assert 'content="0; url=README.html"' in pages[built / "index.html"].text
    assert {"fleet.png", "display.png", "architecture.svg"} <= shown


def test_every_link_and_place_within_the_site_is_there(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for link in {*page.links, *page.loads}:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.name}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].places, f"{path.name}: {link}"


def test_links_to_others_are_well_formed(pages: dict[Path, Page]) -> None:
    """Nobody is asked whether they are there: the build needs no network."""
    outside = {link for page in pages.values() for link in page.links if urlsplit(link).scheme}

    assert len(outside) >= 10
    assert [link for link in outside if not OUTSIDE.fullmatch(link)] == []


def test_no_page_style_or_script_loads_anything_from_another_host(built: Path, pages: dict[Path, Page]) -> None:
    loaded = [load for page in pages.values() for load in page.loads]
    styles = [page.text for page in pages.values()] + [
        path.read_text(encoding="utf-8") for path in built.rglob("*.css")
    ]
    scripts = [path.read_text(encoding="utf-8") for path in built.rglob("*.js")]
    imported = [url for text in styles for found in IMPORTED.findall(text) for url in found]
    asked = [url for text in scripts for url in ASKED.findall(text)]

    assert len(loaded) >= len(pages)
    assert [url for url in (*loaded, *imported, *asked) if urlsplit(url).netloc] == []


def test_the_page_of_the_api_has_every_operation_with_its_role(built: Path, pages: dict[Path, Page]) -> None:
    source = REPOSITORY / "docs" / "openapi.json"
    paths = json.loads(source.read_text(encoding="utf-8"))["paths"]
    operations = [f"{method.upper()} {path}" for path, found in paths.items() for method in found]
    text = pages[built / "docs" / "api.html"].text

    assert len(operations) >= 100
    assert [one for one in operations if f"<h3>{one}<" not in text] == []
    assert text.count("Role<") == len(operations)
    assert [path.read_bytes() for path in built.rglob("openapi.json")] == [source.read_bytes()]


def test_each_cell_about_another_product_names_its_source() -> None:
    text = (REPOSITORY / "docs" / "compare.md").read_text(encoding="utf-8")
    read = text.partition("\n## ")[0]  # below stands what was measured
    rows = [line for line in read.splitlines() if line.startswith("|")]

    assert len(rows) >= 10
    for row in rows[2:]:
        _, asked, _, *others, _ = row.split("|")
        assert len(others) == 3
        assert [cell for cell in others if "](https://" not in cell] == [], asked
