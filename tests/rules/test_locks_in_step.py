"""Each lock file has the packages of its list, all their dependencies, and hashes.

No service is asked: the dependencies of a package come from its installed copy.
"""

import re
from importlib.metadata import PackageNotFoundError, requires
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deploy.parts.layout import REPOSITORY

ENTRY: Final = re.compile(
    r"(?P<name>[\w.-]+)==(?P<version>[^ ]+)(?: ; [^\\]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n"
)
LISTS: Final = ("requirements", "requirements-dev")


def wanted(name: str) -> dict[str, Requirement]:
    """The packages of a list, and of the lists that it includes."""
    found: dict[str, Requirement] = {}
    for line in (REPOSITORY / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            found |= wanted(line.removeprefix("-r ").removesuffix(".txt"))
        elif line and not line.startswith("#"):
            requirement = Requirement(line.partition(" #")[0])
            found[canonicalize_name(requirement.name)] = requirement
    return found


def locked(name: str) -> dict[str, str]:
    """Package -> version in a lock file; every line except comments must belong to an entry with hashes."""
    text = (REPOSITORY / f"{name}.lock").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^ *#.*\n", "", text)
    assert ENTRY.sub("", text) == ""
    return {canonicalize_name(entry["name"]): entry["version"] for entry in ENTRY.finditer(text)}


@pytest.mark.parametrize("name", LISTS)
def test_a_lock_holds_the_versions_of_its_list(name: str) -> None:
    versions = locked(name)

    assert {p: f"=={versions.get(p)}" for p in wanted(name)} == {p: str(r.specifier) for p, r in wanted(name).items()}


@pytest.mark.parametrize("name", LISTS)
def test_a_lock_holds_what_its_packages_need_and_nothing_else(name: str) -> None:
    versions, seen = locked(name), set[tuple[str, str]]()
    waiting = [(package, extra) for package, one in wanted(name).items() for extra in ("", *one.extras)]
    while waiting:
        package, extra = waiting.pop()
        if (package, extra) in seen or package not in versions:
            continue
        seen.add((package, extra))
        try:
            needs = [Requirement(text) for text in requires(package) or []]
        except PackageNotFoundError:  # for another machine, or not installed yet
            continue
        for need in needs:
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                dependency = canonicalize_name(need.name)
                assert dependency in versions, f"{package} needs {dependency}"
                assert need.specifier.contains(versions[dependency], prereleases=True), f"{package} needs {need}"
                waiting += [(dependency, part) for part in ("", *need.extras)]
    elsewhere = {"colorama", "tomli", "pywin32"}  # for other systems and older Pythons
    assert versions.keys() - {package for package, _ in seen} <= elsewhere


def test_both_locks_agree() -> None:
    assert locked("requirements").items() <= locked("requirements-dev").items()


@pytest.mark.parametrize("file", ["Makefile", "deploy/docker/Dockerfile", "docs/deploying.md"])
def test_whoever_installs_a_lock_asks_for_hashes(file: str) -> None:
    """Without the option a lock without hashes would be installed too."""
    lines = (REPOSITORY / file).read_text(encoding="utf-8").splitlines()
    installing = [line for line in lines if re.search(r"pip install -", line)]

    assert installing
    assert [line for line in installing if "--require-hashes" not in line] == []
