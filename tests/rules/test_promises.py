"""tests/promises.yaml names tests, files and campaigns that exist."""

import re
from itertools import chain
from typing import Final

import yaml

from deploy.parts.layout import REPOSITORY

PROMISES: Final = yaml.safe_load((REPOSITORY / "tests" / "promises.yaml").read_text(encoding="utf-8"))
DEFINED: Final = re.compile(r"^def (test_\w+)", re.MULTILINE)
MET: Final = "OWASP ASVS 5.0, levels 1 and 2: met as shipped"
NOT_MET: Final = MET.replace("met as", "not met as")
NAMED: Final = {test for promise in chain(*PROMISES.values()) for test in promise.get("tests", ())}


def defined_below(folder: str) -> set[str]:
    files = (REPOSITORY / "tests" / folder).glob("test_*.py")
    return {name for file in files for name in DEFINED.findall(file.read_text(encoding="utf-8"))}


def test_every_test_that_a_promise_names_exists() -> None:
    named = {name for name in NAMED if name.startswith("test_")}

    assert len(named) > 50
    assert named - defined_below("browser") - defined_below("rules") == set()


def test_every_file_that_a_promise_names_exists() -> None:
    files = {name for name in NAMED if "/" in name}

    assert len(files) > 50
    assert [file for file in files if not (REPOSITORY / file).exists()] == []


def test_every_campaign_that_a_promise_names_exists() -> None:
    told = (REPOSITORY / "tests" / "lab" / "campaigns" / "__main__.py").read_text(encoding="utf-8")
    campaigns = {name for named in NAMED for name in re.findall(r"make campaign ONLY=(\w+)", named)}

    assert len(campaigns) > 5
    assert {name for name in campaigns if f'"{name}"' not in told} == set()


def test_each_promise_but_those_of_the_standard_names_what_holds_it() -> None:
    for section, promises in PROMISES.items():
        assert [promise for promise in promises if section not in {MET, NOT_MET} and not promise.get("tests")] == []
