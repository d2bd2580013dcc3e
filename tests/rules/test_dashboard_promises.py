"""docs/dashboard.md names tests that exist."""

import re

from deploy.parts.layout import REPOSITORY

PROMISES = (REPOSITORY / "docs" / "dashboard.md").read_text(encoding="utf-8")
DEFINED = re.compile(r"^def (test_\w+)", re.MULTILINE)


def names_below(folder: str) -> set[str]:
    files = (REPOSITORY / "tests" / folder).glob("test_*.py")
    return {name for file in files for name in DEFINED.findall(file.read_text(encoding="utf-8"))}


def test_every_test_that_a_promise_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PROMISES))

    assert len(named) > 50
    assert named - names_below("browser") - names_below("rules") == set()


def test_every_file_that_a_promise_names_exists() -> None:
    files = re.findall(r"`((?:tests|dashboard)/[\w/]+(?:\.\w+)+)`", PROMISES)

    assert len(files) > 10
    assert [file for file in files if not (REPOSITORY / file).is_file()] == []
