"""The product's version stands in pyproject.toml alone."""

import io
import json
import logging
import re
import tomllib
from pathlib import Path
from typing import Final

import pytest

from deploy.parts.layout import REPOSITORY
from functions.api import openapi
from shared import structured_log
from shared import version as place
from shared.version import version
from tests.deploy.confined import copied

GENERATED: Final = {
    REPOSITORY / "docs/openapi.json",
    REPOSITORY / "deploy/docker/compose.yaml",
}  # tests hold them to it
OF_OTHERS: Final = re.compile(
    r"\.lock$|^requirements.*\.txt$|^package(-lock)?\.json$|^VENDOR\.json$|^NOTICE$|^[\d.]+\.sql$"
)
SOURCES: Final = sorted(
    path
    for pattern in ("*", ".github/**/*", *(f"{folder}/**/*" for folder in
        ("bridge", "dashboard", "deploy", "displays", "docs", "extensions", "functions", "migrations", "shared",
         "tests")))
    for path in REPOSITORY.glob(pattern)
    if path.is_file() and not {"node_modules", "__pycache__", "vendor", ".terraform"} & set(path.parts)
)  # fmt: skip


def test_the_version_is_the_one_that_the_project_file_states() -> None:
    stated = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

    assert version() == stated
    assert re.fullmatch(r"\d+\.\d+\.\d+", stated)


def test_no_other_file_states_it() -> None:
    """A heading of the changelog names each released one; packages of others have numbers of their own."""
    stated = re.compile(rf"(?<![\d.]){re.escape(version())}(?![\d.]*\d)".encode())
    found = {path for path in SOURCES if not OF_OTHERS.search(path.name) and stated.search(path.read_bytes())}

    changelog = REPOSITORY / "CHANGELOG.md"
    assert found - GENERATED - {changelog} == {REPOSITORY / "pyproject.toml"}
    lines = [line for line in changelog.read_bytes().splitlines() if stated.search(line)]
    assert [line for line in lines if not line.startswith(b"## ")] == []


def test_a_project_file_without_a_version_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "signage-fleet"\n', encoding="utf-8")
    monkeypatch.setattr(place, "STATED_IN", tmp_path / "pyproject.toml")

    with pytest.raises(LookupError, match=r"pyproject\.toml states no version"):
        place.version.__wrapped__()


def test_the_api_says_which_version_it_is() -> None:
    assert openapi.document([])["info"]["version"] == version()


def test_the_first_line_of_a_component_says_its_version() -> None:
    stream, before = io.StringIO(), logging.getLogger().handlers[:]
    try:
        structured_log.configure("test", stream, version=version())
    finally:
        logging.getLogger().handlers[:] = before

    started = json.loads(stream.getvalue())
    assert (started["event"], started["component"], started["version"]) == ("component_started", "test", version())


STARTS: Final = (
    "bridge/main.py",
    *(f"functions/{name}/main.py" for name in ("api", "convert_worker", "scheduler_tick")),
    *(f"deploy/parts/{name}/__main__.py" for name in ("broker_accounts", "broker_logins")),
)


@pytest.mark.parametrize("path", STARTS)
def test_each_component_gives_its_version(path: str) -> None:
    assert re.search(r"configure\(\"\w+\", version=version\(\)\)", (REPOSITORY / path).read_text(encoding="utf-8"))


def test_every_image_has_the_file_that_states_it() -> None:
    assert "pyproject.toml" in copied("app") & copied("sources")
