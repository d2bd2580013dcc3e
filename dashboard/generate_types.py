# ruff: noqa: INP001 - a script among browser modules, no package
"""Write the API's answers as TypeScript types, from the OpenAPI document that the service generates.

`dashboard/lib/openapi.d.ts` is the result; `tests/rules/test_dashboard_vendor.py` holds it in step with
`docs/openapi.json`.

    python dashboard/generate_types.py
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "docs" / "openapi.json"
TYPES = HERE / "lib" / "openapi.d.ts"

HEADER = """\
// Made by dashboard/generate_types.py from docs/openapi.json: do not edit.
// Times are RFC 3339 in UTC.
"""
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def type_of(schema: Mapping[str, Any] | bool) -> str:
    """One schema as a TypeScript type; what the document leaves open is `unknown`."""
    if isinstance(schema, bool) or not schema:
        return "unknown"
    if "$ref" in schema:
        return name_of(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(type_of(option) for option in schema["anyOf"]))
    made_of = {"array": array_of, "object": object_of}.get(schema.get("type", ""))
    return made_of(schema) if made_of else PLAIN.get(schema.get("type", ""), "unknown")


def array_of(schema: Mapping[str, Any]) -> str:
    """A list, or a tuple where each place has its own type."""
    if "prefixItems" in schema:
        return "[" + ", ".join(type_of(item) for item in schema["prefixItems"]) + "]"
    return f"Array<{type_of(schema.get('items', {}))}>"


def object_of(schema: Mapping[str, Any]) -> str:
    """An object with its fields, or a record where names are open."""
    if "properties" not in schema:
        return f"Record<string, {type_of(schema.get('additionalProperties', {}))}>"
    required = set(schema.get("required", ()))
    fields = [
        f"  {name}{'' if name in required else '?'}: {type_of(field)};" for name, field in schema["properties"].items()
    ]
    return "\n".join(["{", *fields, "}"])


def name_of(schema_name: str) -> str:
    """`Page_Log_` is PageLog: a name that TypeScript takes."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"\W|_", schema_name))


def declaration(name: str, schema: Mapping[str, Any]) -> str:
    """One exported type with the document's own sentence about it."""
    meaning = " ".join(schema.get("description", "").split())
    comment = f"/** {meaning} */\n" if meaning else ""
    return f"{comment}export type {name_of(name)} = {type_of(schema)};\n"


def generate(document: Mapping[str, Any]) -> str:
    """The whole declaration file, in the document's order."""
    schemas = document["components"]["schemas"]
    return "\n".join([HEADER, *(declaration(name, schema) for name, schema in schemas.items())])


if __name__ == "__main__":
    TYPES.write_text(generate(json.loads(DOCUMENT.read_text(encoding="utf-8"))), encoding="utf-8")
