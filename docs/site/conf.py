"""The site of documents, made by Sphinx: `make docs`. Its pages are the Markdown files that a forge shows.

A page that no reader is led to, a link or heading that is not there, and a file that is missing end the build.
"""

import json
from pathlib import Path
from typing import Any, Final

import yaml
from docutils import nodes
from sphinx.application import Sphinx

ROOT: Final = Path(__file__).parents[2]

project = "Signage Fleet"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/decisions/*.md"]
exclude_patterns = [
    ".*",
    "**/node_modules",
    "bridge",
    "dashboard",
    "deploy",
    "displays",
    "dist",
    "functions",
    "shared",
    "tests",
]
nitpicky = True

myst_heading_anchors = 6
"""Links name headings as forges do."""

html_theme = "furo"
html_title = project
html_copy_source = False
html_use_index = False
html_show_copyright = False
html_permalinks_icon = "#"

READERS: Final = {
    "Try it": ("/docs/concepts", "/docs/compare", "What is proven </docs/reliability>"),
    "Operate": ("/docs/alerts", "/docs/operating", "/docs/reference"),
    "Deploy": ("/docs/deploying", "/docs/scaling", "/docs/security"),
    "Displays and clients": ("/docs/display-agent", "/docs/display-browser", "/docs/protocol", "/docs/api"),
    "Develop": (
        "/CONTRIBUTING",
        "/docs/performance",
        "/CHANGELOG",
        "/SECURITY",
        "/CODE_OF_CONDUCT",
    ),
    "Decisions": ("/docs/decisions/README",),
}
"""Who reads what. The pages do not repeat it."""
DECISIONS: Final = sorted(path.stem for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md"))
FRONT_PAGE: Final = f'<!doctype html><title>{project}</title><meta http-equiv="refresh" content="0; url=README.html">\n'


def _contents(caption: str, pages: tuple[str, ...]) -> str:
    """A table of contents that only the site's sidebar shows."""
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:  # noqa: ARG001 - Sphinx names the arguments
    """Lead readers from the front page to every page, and to each decision; add what the campaigns counted."""
    if page == root_doc:
        source[0] += "".join(_contents(reader, pages) for reader, pages in READERS.items())
    elif page == "docs/decisions/README":
        source[0] += "\n".join(["", "```{toctree}", "", *DECISIONS, "```", ""])
    elif page == "docs/reliability":
        figures = (ROOT / "tests" / "lab" / "figures.md").read_text(encoding="utf-8")
        source[0] += figures.partition("## Figures\n")[2]


def add_operations(app: Sphinx, document: nodes.document) -> None:
    """Write every operation of docs/openapi.json below the words of docs/api.md."""
    if app.env.docname != "docs/api":
        return
    api = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    [page] = document.findall(lambda node: isinstance(node, nodes.section) and isinstance(node.parent, nodes.document))
    page += nodes.paragraph("", "", *_text(api["info"]["description"]))
    for tag in api["tags"]:
        part = _section(document, tag["name"].replace("_", " ").capitalize())
        part += nodes.paragraph("", "", *_text(tag["description"]))
        for path, operations in api["paths"].items():
            for method, operation in operations.items():
                if tag["name"] in operation["tags"]:
                    part += _operation(document, f"{method.upper()} {path}", operation)
        page += part


def add_promises(app: Sphinx, document: nodes.document) -> None:
    """Write every promise of tests/promises.yaml, with its tests, below the words of docs/reliability.md."""
    if app.env.docname != "docs/reliability":
        return
    [page] = document.findall(lambda node: isinstance(node, nodes.section) and isinstance(node.parent, nodes.document))
    for title, promises in yaml.safe_load((ROOT / "tests" / "promises.yaml").read_text(encoding="utf-8")).items():
        part = _section(document, title)
        part += nodes.bullet_list("", *(_promise(**promise) for promise in promises))
        page += part


def _promise(promise: str, tests: tuple[str, ...] = ()) -> nodes.list_item:
    """What is promised; below it its tests, one a line."""
    held = [nodes.line("", "", *_text(f"`{test}`")) for test in tests]
    return nodes.list_item("", nodes.paragraph("", "", *_text(promise)), nodes.line_block("", *held))


def _operation(document: nodes.document, name: str, operation: dict[str, Any]) -> nodes.section:
    """What one operation does, who may call it, what it takes and what it answers."""
    section = _section(document, name)
    section += nodes.paragraph("", "", *_text(operation["description"]))
    facts = [("Role", operation["x-role"]), ("Callers of chosen sites", operation.get("x-sites", ""))]
    facts += [(f"{one['in'].capitalize()} `{one['name']}`", _meaning(one)) for one in operation["parameters"]]
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        facts.append(("Body", f"{kind} `{_shape(body)}`" if _shape(body) else kind))
    for status, answer in operation["responses"].items():
        shapes = {_shape(content) for content in answer.get("content", {}).values()} - {"", "Problem"}
        facts.append((status, answer["description"] + "".join(f" `{shape}`" for shape in sorted(shapes))))
    fields = nodes.field_list()
    for label, text in facts:
        if text:
            told = nodes.field_body("", nodes.paragraph("", "", *_text(text)))
            fields += nodes.field("", nodes.field_name("", "", *_text(label)), told)
    section += fields
    return section


def _shape(content: dict[str, Any]) -> str:
    """The name of a body's schema in docs/openapi.json; empty without one."""
    return str(content.get("schema", {}).get("$ref", "")).rpartition("/")[2]


def _meaning(parameter: dict[str, Any]) -> str:
    """What a parameter means; its schema may say it in the first of several forms."""
    schema = parameter.get("schema", {})
    places = (parameter, schema, *schema.get("anyOf", ()))
    return next((place["description"] for place in places if "description" in place), "-")


def _section(document: nodes.document, title: str) -> nodes.section:
    section = nodes.section("", nodes.title("", title), names=[nodes.fully_normalize_name(title)])
    document.note_implicit_target(section, section)
    return section


def _text(text: str) -> list[nodes.Node]:
    """The text; what stands between backquotes becomes code."""
    parts = text.split("`")
    return [nodes.literal("", part) if number % 2 else nodes.Text(part) for number, part in enumerate(parts) if part]


def write_front_page(app: Sphinx, failure: Exception | None) -> None:
    """Lead visitors of the folder to the README."""
    if failure is None:
        (Path(app.outdir) / "index.html").write_text(FRONT_PAGE, encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("source-read", add_contents)
    app.connect("doctree-read", add_operations, priority=100)  # before Sphinx collects the headings
    app.connect("doctree-read", add_promises, priority=100)
    app.connect("build-finished", write_front_page)
