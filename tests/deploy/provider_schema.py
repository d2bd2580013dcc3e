"""`python -m tests.deploy.provider_schema FOLDER`: does the provider know every resource and argument of deploy/gcp?

Terraform's own check needs the provider, which comes from a registry of its own. The same schema is on npm, as types:
FOLDER is where `npm pack @cdktf/provider-google` was unpacked (docs/deploying.md). Prints what is unknown or missing;
exit code 1 when there is any. Not part of `make test`: the package is large.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.deploy.terraform import folders

INTERFACE: Final = re.compile(r"export interface (\w+)[^{]*\{(.*?)\n\}", re.DOTALL)
FIELD: Final = re.compile(r"readonly (\w+)(\??):\s*([^;]*?);\s*(?:/\*|$|\n)", re.DOTALL)
OF_TERRAFORM: Final = {
    "for_each",
    "count",
    "depends_on",
    "lifecycle",
    "provisioner",
    "provider",
    "timeouts",
    "__is_block__",
}
NEWER: Final = {("google_cloud_run_v2_service", "mount_options")}
"""Arguments of provider 7.5 and later that the published types (of 6.50) do not have yet."""


@dataclass(frozen=True)
class Schema:
    """The arguments of a resource and of the blocks in it, by the names of their types."""

    interfaces: dict[str, dict[str, tuple[bool, str]]]  # type -> argument -> (required, its type)

    @classmethod
    def read(cls, file: Path) -> "Schema":
        text = file.read_text(encoding="utf-8")
        return cls(
            {
                name: {_snake(field): (mark == "", type_) for field, mark, type_ in FIELD.findall(body + "\n")}
                for name, body in INTERFACE.findall(text)
            }
        )

    def complaints(self, type_: str, body: dict[str, Any], where: str, resource: str) -> Iterator[str]:
        """What is unknown or missing in one block and those in it."""
        known = self.interfaces[type_]
        of_terraform = OF_TERRAFORM if "." not in where.removeprefix(f"{resource}.") else {"__is_block__"}
        given = {name for name in body if name not in of_terraform and name != "dynamic"}
        dynamic = [(name, inner) for block in body.get("dynamic", ()) for name, inner in block.items()]
        given |= {name for name, _ in dynamic}
        for name in sorted(given - set(known)):
            if (resource, name) not in NEWER:
                yield f"{where}: no argument {name}"
        for name, (required, _) in known.items():
            if required and name not in given:
                yield f"{where}: {name} is missing"
        for name in given & set(known):
            inner = re.search(r"\b([A-Z]\w+)\b", known[name][1])
            if inner and inner[1] in self.interfaces:
                for block in _blocks(body.get(name, [])) + [b["content"][0] for n, b in dynamic if n == name]:
                    yield from self.complaints(inner[1], block, f"{where}.{name}", resource)


def _blocks(value: Any) -> list[dict[str, Any]]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, dict)]


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), name)


def _folder_of(type_: str, data: bool) -> tuple[str, str]:
    words = type_.removeprefix("google_").split("_")
    name = "".join(word.capitalize() for word in words)
    return ("data-google-" if data else "") + "-".join(words), ("DataGoogle" if data else "") + name + "Config"


def main(arguments: list[str]) -> int:
    """The number of resources looked at, and every complaint."""
    library = Path(arguments[0]) / "package" / "lib"
    looked_at, found = 0, []
    for folder in folders():
        for kind in ("resource", "data"):
            for (type_, name), body in folder.typed(kind).items():
                if not type_.startswith("google_"):
                    continue
                place, config = _folder_of(type_, kind == "data")
                file = library / place / "index.d.ts"
                looked_at += 1
                if not file.exists():
                    found.append(f"{type_}: no such {kind}")
                    continue
                schema = Schema.read(file)
                config = next(key for key in schema.interfaces if key.lower() == config.lower())
                found += schema.complaints(config, body, f"{type_}.{name}", type_)
    print("\n".join(found))
    print(f"{looked_at} resources and data sources, {len(found)} complaints")
    return 1 if found or not looked_at else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
