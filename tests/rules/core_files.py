"""The files of the core, each read and parsed once for all tests that ask about the code itself."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from deploy.parts.layout import REPOSITORY

CORE: Final = {
    ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__"): path
    for part in ("functions", "bridge", "extensions", "shared")
    for path in sorted((REPOSITORY / part).rglob("*.py"))
    if "compiler" not in path.parts
}
"""Dotted name -> module of the core, without what only compiles words."""


class Facts(NamedTuple):
    """What the tests ask about one file."""

    text: str
    imports: list[ast.Import | ast.ImportFrom]
    classes: list[str]
    functions: list[ast.FunctionDef]
    texts: list[str]
    """Every constant, as text."""
    calls: list[ast.Call]
    raised: list[tuple[int, str]]
    """(line, name) of each error that is raised without arguments."""


@functools.cache
def facts(path: Path) -> Facts:
    text = path.read_text(encoding="utf-8")
    found = Facts(text, [], [], [], [], [], [])
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.imports.append(node)
        elif isinstance(node, ast.ClassDef):
            found.classes.append(node.name)
        elif isinstance(node, ast.FunctionDef):
            found.functions.append(node)
        elif isinstance(node, ast.Constant):
            found.texts.append(str(node.value))
        elif isinstance(node, ast.Call):
            found.calls.append(node)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name):
            found.raised.append((node.lineno, node.exc.id))
    return found


def imported(path: Path) -> Iterator[str]:
    """The dotted names of all imports of a file."""
    for node in facts(path).imports:
        module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        yield from (module + alias.name for alias in node.names)
