"""The OpenAPI document: valid, complete, equal to the file in the repository, and true of the app."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_origin

import msgspec
import pytest
from flask import Response
from openapi_spec_validator import validate

from functions.api import openapi
from functions.api.bodies import END, pretty_json
from functions.api.routes import ALL, docs
from functions.api.routing import Endpoint
from tests.api.people import Api

ROOT = Path(__file__).parents[2]
ENDPOINTS = [endpoint for routes in ALL for endpoint in routes.endpoints]
REQUIRED_BY_THE_SPECIFICATION = [
    ("get", "/api/client-logs/{uuid}/logs"),
    ("get", "/api/client-logs/summary"),
    ("get", "/api/client-logs/recent-errors"),
    ("get", "/api/client-logs/test"),
    ("get", "/api/clients/crashed"),
    ("get", "/api/clients/service_failed"),
    ("post", "/api/clients/{uuid}/clear_service_failed"),
    ("post", "/api/conversions/{media_id}/pdf"),
    ("get", "/api/conversions/{media_id}/status"),
    ("get", "/api/files/converted/{path}"),
]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The generated document."""
    return openapi.document(ALL)


def test_the_document_is_valid_openapi(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    validate(document)


def test_the_file_in_the_repository_is_the_generated_one(document: dict[str, Any]) -> None:
    kept = (ROOT / "docs" / "openapi.json").read_text(encoding="utf-8")

    assert kept == pretty_json(document), "run `make openapi`"


def test_no_row_of_a_store_extends_an_answer_and_shows_its_columns_in_its_place() -> None:
    """An answer may extend a row. The other way round the row fits the answer's type, and all of it would be sent."""
    answers = [openapi.Problem, *(endpoint.answer for endpoint in ENDPOINTS if endpoint.answer not in NO_STRUCT)]
    shown = structs_in(msgspec.inspect.multi_type_info(answers))

    assert {cls.__name__ for cls in shown} >= {"Page", "Client", "AuditEntry", "PassedLimit"}
    assert {below for cls in shown for below in extending(cls)} - shown == set()


NO_STRUCT = {None, type(None), Response}


def structs_in(info: Any) -> set[type[Any]]:
    """Every Struct that a description of types by `msgspec.inspect` names, at any depth."""
    if isinstance(info, list | tuple):
        return set().union(*(structs_in(part) for part in info))
    if not isinstance(info, msgspec.inspect.Type | msgspec.inspect.Field):
        return set()
    inside = structs_in([getattr(info, name) for name in info.__struct_fields__])
    return inside | ({get_origin(info.cls) or info.cls} if isinstance(info, msgspec.inspect.StructType) else set())


def extending(cls: type[Any]) -> Iterator[type[Any]]:
    """The classes below this one."""
    for below in cls.__subclasses__():
        yield below
        yield from extending(below)


def test_generators_of_clients_can_read_every_body_and_list(document: dict[str, Any]) -> None:
    """Some end at tuples and at schemas that are no object, and leave out operations with a body without a schema."""
    nodes = list(_nodes(document))
    assert not [node for node in nodes if "prefixItems" in node or node.get("items") is False]
    bodies = [body for node in nodes if isinstance(node.get("content"), dict) for body in node["content"].values()]
    assert len(bodies) > 500
    assert all(body["schema"] for body in bodies)


def _nodes(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _nodes(inner)


def test_no_pattern_lets_a_line_end_through(document: dict[str, Any]) -> None:
    """Python's `$` also matches before a final line break, which later code does not expect."""
    of_bodies = list(patterns_in(document["components"]["schemas"]))
    of_queries = [
        pattern
        for path in document["paths"].values()
        for operation in path.values()
        for parameter in operation["parameters"]
        if parameter["in"] == "query"
        for pattern in patterns_in(parameter)
    ]

    assert of_bodies
    assert of_queries
    assert [pattern for pattern in of_bodies + of_queries if not pattern.endswith(END)] == []


def patterns_in(tree: Any) -> Iterator[str]:
    """Every `pattern` in the document."""
    if isinstance(tree, dict):
        if isinstance(tree.get("pattern"), str):
            yield tree["pattern"]
        tree = list(tree.values())
    if isinstance(tree, list):
        for part in tree:
            yield from patterns_in(part)


def test_every_endpoint_of_the_specification_is_described(document: dict[str, Any]) -> None:
    missing = [
        (method, path)
        for method, path in REQUIRED_BY_THE_SPECIFICATION
        if method not in document["paths"].get(path, {})
    ]

    assert missing == []


def test_every_operation_has_a_name_of_its_own_and_says_what_it_does(document: dict[str, Any]) -> None:
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]

    assert len(names) == len(set(names)) == len(ENDPOINTS)
    assert all(operation["summary"] for operation in operations)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: f"{endpoint.method} {endpoint.path}")
def test_an_answer_to_a_wrong_call_is_one_that_the_document_announces(
    endpoint: Endpoint, api: Api, document: dict[str, Any]
) -> None:
    template = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", endpoint.path)
    announced = document["paths"][template][endpoint.method.lower()]["responses"]
    path = re.sub(r"<uuid:\w+>", "00000000-0000-4000-8000-00000000000f", endpoint.path)
    path = re.sub(r"<(?:\w+:)?\w+>", "99", path)

    for role in (None, "viewer", "admin"):
        for query in ("", "?no_such_parameter=1"):
            answer = api.ask(endpoint.method, path + query, role)
            assert str(answer.status_code) in announced, (role, query)
            assert answer.content_type is None or answer.content_type.split(";")[0] in announced[
                str(answer.status_code)
            ].get("content", {answer.content_type: {}})


@pytest.mark.parametrize("number", ["0", "007", str(2**63), "9" * 30])
def test_what_is_no_id_is_an_unknown_address_also_where_the_path_has_other_methods(api: Api, number: str) -> None:
    for endpoint in (e for e in ENDPOINTS if "<id:" in e.path):
        answer = api.ask(endpoint.method, re.sub(r"<id:\w+>", number, endpoint.path))

        assert answer.status_code == 404, (endpoint.method, endpoint.path)


def test_the_largest_id_is_one(api: Api) -> None:
    answer = api.get(f"/api/event-media/{2**63 - 1}")

    assert answer.get_json()["code"] == "event_media_not_found"


def test_the_served_document_is_the_generated_one(api: Api, document: dict[str, Any]) -> None:
    answer = api.get("/api/openapi.json")

    assert answer.content_type == "application/json"
    assert answer.json == json.loads(pretty_json(document))


class Outside(HTMLParser):
    """Collects everything that a page would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.cells = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.cells += tag == "td"
        if tag in {"script", "style", "img", "link", "iframe", "object", "embed", "form"}:
            self.found.append(tag)
        self.found += [name for name, value in attrs if name in {"src", "style"} or name.startswith("on")]
        self.found += [value or "" for name, value in attrs if name == "href" and not (value or "").startswith("/api/")]


def test_the_page_for_people_lists_every_operation_and_loads_nothing(api: Api, document: dict[str, Any]) -> None:
    answer = api.get("/api/docs")
    page = Outside()
    page.feed(answer.text)

    assert answer.content_type == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert page.found == []
    assert page.cells == 5 * len(ENDPOINTS)
    for path, operations in document["paths"].items():
        assert path in answer.text, operations


def test_text_from_the_declarations_is_text_on_the_page() -> None:
    operation = {"parameters": [], "responses": {"200": {"description": "<b>"}}, "x-role": "<i>", "description": "<u>"}

    row = docs._row("get", "/<script>", operation)

    assert re.findall(r"<(?!/?t[rd]>)", row) == []
    assert "&lt;script&gt;" in row
