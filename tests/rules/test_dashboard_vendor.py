"""The dashboard's vendored libraries are those of VENDOR.json, byte for byte."""

import hashlib
import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from deploy.parts.layout import REPOSITORY

DASHBOARD = REPOSITORY / "dashboard"
VENDOR = DASHBOARD / "vendor"
ENTRIES: dict[str, dict[str, Any]] = json.loads((VENDOR / "VENDOR.json").read_text(encoding="utf-8"))
FREE_LICENCES = {"MIT", "Apache-2.0", "ISC", "BSD-2-Clause", "BSD-3-Clause"}


def script(path: Path) -> ModuleType:
    """Load a Python script of the dashboard as a module, because it is in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ENTRIES)
def test_a_vendored_file_is_the_one_that_was_written_down(name: str) -> None:
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == ENTRIES[name]["sha256"]


def test_the_notice_names_what_is_vendored_with_version_and_licence() -> None:
    named = {tuple(line.split()) for line in (REPOSITORY / "NOTICE").read_text(encoding="utf-8").splitlines()}

    assert {(one["package"], one["version"], one["licence"]) for one in ENTRIES.values()} <= named


def test_every_module_beside_vendor_json_is_in_it() -> None:
    assert {path.name for path in VENDOR.glob("*.js")} == set(ENTRIES)


@pytest.mark.parametrize("name", ENTRIES)
def test_a_vendored_file_has_the_version_that_the_types_are_checked_against(name: str) -> None:
    versions = json.loads((DASHBOARD / "package.json").read_text(encoding="utf-8"))["devDependencies"]

    assert ENTRIES[name]["version"] == versions[ENTRIES[name]["package"]]


@pytest.mark.parametrize("name", ENTRIES)
def test_a_vendored_file_brings_its_licence(name: str) -> None:
    assert ENTRIES[name]["licence"] in FREE_LICENCES
    assert len((VENDOR / ENTRIES[name]["licence_file"]).read_text(encoding="utf-8")) > 500


def test_bare_imports_become_relative_and_the_source_map_is_dropped() -> None:
    refresh = script(VENDOR / "refresh.py")

    written = refresh.rewrite(
        'import{h as t}from"preact";import"@preact/signals-core";t();\n//# sourceMappingURL=x.mjs.map'
    )

    assert written == 'import{h as t}from "./preact.js";import "./signals-core.js";t();\n'


def test_a_bare_import_that_nobody_vendored_is_refused_by_name() -> None:
    refresh = script(VENDOR / "refresh.py")

    with pytest.raises(KeyError, match="left-pad"):
        refresh.rewrite('import p from "left-pad";')


def test_the_types_of_the_api_are_those_of_its_openapi_document() -> None:
    generator = script(DASHBOARD / "generate_types.py")
    document = json.loads(generator.DOCUMENT.read_text(encoding="utf-8"))

    assert generator.TYPES.read_text(encoding="utf-8") == generator.generate(document), (
        "run: python dashboard/generate_types.py"
    )


def test_renovate_reads_the_version_of_every_vendored_file() -> None:
    [manager] = json.loads((REPOSITORY / ".github/renovate.json").read_text(encoding="utf-8"))["customManagers"]
    pattern = manager["matchStrings"][0].replace("(?<", "(?P<")
    text = (VENDOR / "VENDOR.json").read_text(encoding="utf-8")

    found = [(match["depName"], match["currentValue"]) for match in re.finditer(pattern, text)]
    assert found == [(entry["package"], entry["version"]) for entry in ENTRIES.values()]
    assert re.search(manager["managerFilePatterns"][0].strip("/"), "dashboard/vendor/VENDOR.json")
