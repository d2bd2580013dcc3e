"""The product without an extension: its folder is deleted in a copy, and the kernel's tests pass there.

A test file belongs to the extension when it, or a module of `tests` that it imports, names the extension or one of its
addresses. All other files are the kernel's.
"""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import extensions
from deploy.parts.layout import REPOSITORY
from tests.lab.campaigns.ledger import Ledger, tell

EXTENSIONS: Final = tuple(sorted(path.parent.name for path in (REPOSITORY / "extensions").glob("*/__init__.py")))
SUITES: Final = ("rules", "stores", "tick", "api", "bridge")
LEFT_OUT: Final = (".git", ".venv", "node_modules", "__pycache__", ".*_cache", "campaign-results", ".run")
COUNTED: Final = re.compile(r"(\d+) (passed|failed|error)")
OF_WHOLE_TREE: Final = ("test_house.py", "test_docs", "test_extensions.py", "test_openapi.py", "test_sentences.py")
"""Tests of the documents and lists of the whole product."""


@dataclass(frozen=True)
class Plan:
    """Which extensions are deleted, one at a time, and which tests run then; no files: all of SUITES."""

    gone: Sequence[str] = EXTENSIONS
    files: Sequence[str] = ()
    seed: int = 1


def run(plan: Plan, folder: Path) -> Ledger:
    """Delete each extension in a copy, and run the kernel's tests there."""
    began = time.monotonic()
    ledger = Ledger("without", plan.seed, {"extensions": len(plan.gone)})
    for gone in plan.gone:
        copy = _copy_without(gone, folder / gone)
        files = list(plan.files) or [str(path.relative_to(copy)) for path in kernels_tests(copy, gone)]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
        counts = {what: int(count) for count, what in COUNTED.findall(done.stdout.splitlines()[-1])}
        tell(f"without {gone}: {counts}")
        if done.returncode:
            tell(done.stdout[-4_000:])
        ledger.counted[f"passed without {gone}"] = counts.get("passed", 0)
        ledger.conditions[f"the kernel's tests pass without {gone}"] = done.returncode == 0
        shutil.rmtree(copy)
    ledger.seconds = time.monotonic() - began
    return ledger


def _copy_without(gone: str, copy: Path) -> Path:
    shutil.copytree(REPOSITORY, copy, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    shutil.rmtree(copy / "extensions" / gone)
    return copy


def kernels_tests(copy: Path, gone: str) -> list[Path]:
    """The test files of SUITES that are not about this extension."""
    own = re.compile("|".join([rf"extensions(\.| import .*\b){gone}\b", *_paths_of(gone)]))
    texts = {path: path.read_text(encoding="utf-8") for path in (copy / "tests").rglob("*.py")}
    modules = {path: ".".join(path.relative_to(copy).with_suffix("").parts) for path in texts}
    imports = {path: set(_imports(text)) for path, text in texts.items()}
    about = {path for path, text in texts.items() if own.search(text)}
    while more := {path for path in {*texts} - about if imports[path] & {modules[other] for other in about}}:
        about |= more
    return sorted(
        path
        for suite in SUITES
        for path in (copy / "tests" / suite).glob("test_*.py")
        if path not in about and not path.name.startswith(OF_WHOLE_TREE)
    )


def _imports(text: str) -> Iterator[str]:
    """Every dotted name that a file imports from the tests."""
    for module, names in re.findall(r"^from (tests[\w.]*) import \(?([\w\s,]+)", text, re.MULTILINE):
        yield module
        yield from (f"{module}.{name}" for name in re.findall(r"\w+", names))


def _paths_of(gone: str) -> Iterator[str]:
    """Patterns of the addresses of its routes."""
    [api] = [module for module in extensions.parts("api") if module.__name__ == f"extensions.{gone}.api"]
    for endpoint in (endpoint for routes in api.ROUTES for endpoint in routes.endpoints):
        yield re.sub(r"<[^>]+>", r"[^/\\s]+", endpoint.path) + r"\b"
