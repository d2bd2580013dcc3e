"""The imports of the dashboard's modules, and the files that the first page fetches."""

import gzip
import re
from graphlib import TopologicalSorter
from pathlib import Path

from deploy.parts.layout import REPOSITORY

DASHBOARD = REPOSITORY / "dashboard"
APP = DASHBOARD / "app.js"
STATUS = DASHBOARD / "status.js"  # the public status page of a site
VIEWS_STYLE = DASHBOARD / "views.css"
MODULES = [APP, STATUS, *(path for part in ("lib", "views", "vendor") for path in DASHBOARD.glob(f"{part}/**/*.js"))]
IMPORT = re.compile(r"(?:\bfrom|\bimport)\s*[\"']([^\"'\s]+)[\"']")  # no space: a text may have the word, too
LATER = re.compile(r"\bawait import\([\"']([^\"']+)[\"']\)")
FIRST_PAGE_BYTES = 61_300  # gzipped: all files that are fetched before a fleet that is well is shown
TROUBLE_BYTES = 16_000  # gzipped: what is fetched besides when something is wrong
OF_TROUBLE = [DASHBOARD / "views" / name for name in ("causes.js", "failed_panel.js", "attention.js", "mended.js")]


TRANSLATED = set((DASHBOARD / "lib" / "words").glob("*/*.js"))  # `translate` imports them by the reader's language


def imported(module: Path, *forms: re.Pattern[str]) -> set[Path]:
    """The modules that this one imports in any of these forms."""
    text = module.read_text(encoding="utf-8")
    return {(module.parent / target).resolve() for form in forms for target in form.findall(text)}


def test_every_import_is_relative_and_exists() -> None:
    """A bare import would stop the whole page, because there is no import map; a missing file would too."""
    imports = {module: imported(module, IMPORT, LATER) for module in MODULES}

    assert sum(map(len, imports.values())) > 300
    assert {target for targets in imports.values() for target in targets} - set(MODULES) == set()


def test_no_module_imports_itself_by_way_of_others_not_even_later() -> None:
    TopologicalSorter({module: imported(module, IMPORT, LATER) for module in MODULES}).prepare()  # or CycleError


def test_every_module_is_imported() -> None:
    used = {target for module in MODULES for target in imported(module, IMPORT, LATER)}

    assert set(MODULES) - used == {APP, STATUS, *TRANSLATED}
    assert TRANSLATED


def test_components_are_mounted_where_their_props_are_checked() -> None:
    """Props are checked in `h(Component, props)`, and not in `<${Component}`."""
    assert [module.name for module in MODULES if "<${" in module.read_text(encoding="utf-8")] == []


def fetched_with(module: Path) -> set[Path]:
    """This module and all modules that the browser needs before running it, without dynamic imports."""
    found = {module}
    waiting = [module]
    while waiting:
        fresh = imported(waiting.pop(), IMPORT) - found
        found |= fresh
        waiting.extend(fresh)
    return found


def test_the_first_page_asks_for_its_modules_at_once_and_for_nothing_inline() -> None:
    page = (DASHBOARD / "index.html").read_text(encoding="utf-8")
    preloaded = re.findall(r'rel="modulepreload" href="([^"]+)"', page)
    needed = fetched_with(APP) - {APP}

    assert sorted(preloaded) == sorted(str(path.relative_to(DASHBOARD)) for path in needed)
    assert "<style" not in page
    assert " style=" not in page
    assert re.findall(r"<script[^>]*>([^<]+)</script>", page) == []
    assert not re.search(r"\son\w+=", page)


def test_what_the_first_page_needs_stays_within_its_budget() -> None:
    files = [*fetched_with(APP), DASHBOARD / "index.html", DASHBOARD / "style.css"]

    assert sum(len(gzip.compress(path.read_bytes(), 6)) for path in files) <= FIRST_PAGE_BYTES


def test_what_tells_of_trouble_is_small_too() -> None:
    fetched = {file for module in OF_TROUBLE for file in fetched_with(module)} - fetched_with(APP)

    assert set(OF_TROUBLE) <= fetched
    assert sum(len(gzip.compress(path.read_bytes(), 6)) for path in (*fetched, VIEWS_STYLE)) <= TROUBLE_BYTES
