"""Read deploy/gcp with an HCL parser: blocks, references and the settings of each service."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import hcl2
from hcl2.utils import SerializationOptions

from deploy.parts.layout import REPOSITORY

GCP: Final = REPOSITORY / "deploy" / "gcp"
COMPONENTS: Final = {  # module of deploy/gcp -> folder of its code, and its entry point
    "api": ("functions/api", "functions/api/main.py"),
    "convert_worker": ("functions/convert_worker", "functions/convert_worker/main.py"),
    "scheduler_tick": ("functions/scheduler_tick", "functions/scheduler_tick/main.py"),
    "bridge": ("bridge", "bridge/main.py"),
}
AS_PLAIN: Final = SerializationOptions(with_comments=False, strip_string_quotes=True, preserve_heredocs=False)
INTERPOLATED: Final = re.compile(r"\$\{(.*)\}", re.DOTALL)
NAME: Final = r"[A-Za-z_][A-Za-z0-9_-]*"
REFERENCE: Final = re.compile(
    rf"(?<![\w.\"-])(?:(data|ephemeral)\.)?((?:google|random|terraform|tls)_\w+|var|local|module)\.({NAME})"
    rf"(?:\[[^\]]*\])*(?:\.({NAME}))?"
)
SETTING: Final = re.compile(r"\b([A-Z][A-Z0-9_]{2,})\s*=(?![=>])")
LOCAL: Final = re.compile(rf"\blocal\.({NAME})")


@dataclass(frozen=True)
class Reference:
    """One reference: `kind` is var, local, module, resource, data or ephemeral."""

    kind: str
    type: str
    name: str
    attribute: str
    where: str


@dataclass(frozen=True)
class Folder:
    """One module: the blocks of all files in a folder."""

    path: Path

    @cached_property
    def files(self) -> dict[str, dict[str, Any]]:
        """File name -> its blocks. Raises an error for invalid HCL."""
        return {file.name: _parsed(file) for file in sorted(self.path.glob("*.tf"))}

    def blocks(self, kind: str) -> dict[str, Any]:
        """All blocks of a kind with one label (variable, output, module), by name."""
        return {
            name: body for file in self.files.values() for block in file.get(kind, ()) for name, body in block.items()
        }

    def typed(self, kind: str) -> dict[tuple[str, str], dict[str, Any]]:
        """All blocks of a kind with two labels (resource, data, ephemeral), by type and name."""
        return {
            (type_, name): body
            for file in self.files.values()
            for block in file.get(kind, ())
            for type_, named in block.items()
            for name, body in named.items()
        }

    @cached_property
    def locals(self) -> dict[str, Any]:
        """All local values, not evaluated."""
        return {
            name: value
            for file in self.files.values()
            for block in file.get("locals", ())
            for name, value in block.items()
            if name != "__is_block__"
        }

    def references(self) -> Iterator[Reference]:
        """All references in the expressions of this module."""
        for name, file in self.files.items():
            for text in strings(file):
                for found in INTERPOLATED.findall(text):
                    yield from _references(found, name)

    def setting_names(self, value: Any) -> set[str]:
        """The names in a map of environment variables, including the locals that it merges."""
        if isinstance(value, dict):
            return {name for name in value if name != "__is_block__"}
        found = set(SETTING.findall(value))
        return found.union(*(self.setting_names(self.locals[name]) for name in LOCAL.findall(value)))

    def literal_settings(self, value: Any) -> dict[str, str]:
        """The settings with a literal value."""
        if isinstance(value, dict):
            return {name: text for name, text in value.items() if isinstance(text, str) and "${" not in text}
        found = dict(re.findall(r'\b([A-Z][A-Z0-9_]{2,}) = "([^"$]*)"', value))
        for name in LOCAL.findall(value):
            found |= self.literal_settings(self.locals[name])
        return found


@cache
def _parsed(file: Path) -> dict[str, Any]:
    with file.open(encoding="utf-8") as text:
        return dict(hcl2.load(text, serialization_options=AS_PLAIN))


def strings(value: Any) -> Iterator[str]:
    """All strings in a parsed file, also keys, which may be computed."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def _references(expression: str, where: str) -> Iterator[Reference]:
    for prefix, type_, name, attribute in REFERENCE.findall(expression):
        kind = type_ if type_ in {"var", "local", "module"} else prefix or "resource"
        yield Reference(kind, type_, name, attribute, where)


@cache
def root() -> Folder:
    """The root module, deploy/gcp."""
    return Folder(GCP)


@cache
def folders() -> tuple[Folder, ...]:
    """The root module and all modules below it."""
    return (root(), *(Folder(path) for path in sorted((GCP / "modules").iterdir()) if path.is_dir()))
