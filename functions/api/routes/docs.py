"""/api/openapi.json and /api/docs: the description of the API, for programs and for people."""

from functools import lru_cache
from html import escape
from typing import Any, Final

from flask import Response, current_app

from functions.api import openapi
from functions.api.routing import JSON, Bound, Call, Routes
from functions.reader import to_json
from shared.vocabulary import Role

routes = Routes("docs", "/api", "The description of this API.")

# No scripts, no styles, no other hosts.
PAGE_POLICY: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@routes.get("/openapi.json", role=Role.VIEWER, bound=Bound.NONE)
def show_openapi(call: Call) -> Response:  # noqa: ARG001 - every handler takes the call
    """The OpenAPI 3.1 document of this API."""
    return Response(_json(_all_routes()), content_type=JSON)


@routes.get("/docs", role=Role.VIEWER, bound=Bound.NONE, produces=("text/html",))
def show_docs(call: Call) -> Response:  # noqa: ARG001 - every handler takes the call
    """Every operation on one page, for people."""
    page = Response(_page(_all_routes()), content_type="text/html; charset=utf-8")
    page.headers["Content-Security-Policy"] = PAGE_POLICY
    return page


def _all_routes() -> tuple[Routes, ...]:
    """The routes of the current app."""
    found: tuple[Routes, ...] = current_app.extensions["signage_routes"]
    return found


@lru_cache(maxsize=1)
def _json(all_routes: tuple[Routes, ...]) -> bytes:
    return to_json(openapi.document(all_routes))


@lru_cache(maxsize=1)
def _page(all_routes: tuple[Routes, ...]) -> str:
    document = openapi.document(all_routes)
    title = escape(document["info"]["title"])
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'
        f"<h1>{title}</h1><p>{escape(document['info']['description'])}</p>"
        '<p>For programs: <a href="/api/openapi.json">openapi.json</a></p>'
        + "".join(_section(document, tag) for tag in document["tags"])
        + "</body></html>"
    )


def _section(document: dict[str, Any], tag: dict[str, str]) -> str:
    rows = [
        _row(method, path, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if tag["name"] in operation["tags"]
    ]
    head = "<tr><th>Method</th><th>Path</th><th>Role</th><th>What it does</th><th>Answers</th></tr>"
    return (
        f"<h2>{escape(tag['name'].replace('_', ' '))}</h2><p>{escape(tag['description'])}</p>"
        f'<table border="1" cellpadding="6">{head}{"".join(rows)}</table>'
    )


def _row(method: str, path: str, operation: dict[str, Any]) -> str:
    query = [p["name"] for p in operation["parameters"] if p["in"] == "query"]
    shown = path + (f"?{'&'.join(name + '=' for name in query)}" if query else "")
    answers = "; ".join(f"{status} {response['description']}" for status, response in operation["responses"].items())
    cells = (method.upper(), shown, operation["x-role"], operation["description"], answers)
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
