"""A share of `make campaign ONLY=schema`: the running api function, asked by a tester that knows its document alone."""

from collections.abc import Iterator
from typing import Any

import pytest

from deploy.local.broker import RunningBroker
from tests.api.schema_tester import announced, judged
from tests.api.schema_world import World, world
from tests.faults import schema


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, database_url: str, broker: RunningBroker) -> Iterator[World]:
    """The running function with its data."""
    with world(tmp_path_factory.mktemp("schema"), database_url, broker) as made:
        yield made


def only(document: dict[str, Any], path: str) -> dict[str, Any]:
    """The document with this path alone."""
    return {**document, "paths": {path: document["paths"][path]}}


def without_a_status(document: dict[str, Any]) -> None:
    del document["paths"]["/api/clients/{uuid}"]["get"]["responses"]["404"]


def with_another_type(document: dict[str, Any]) -> None:
    document["components"]["schemas"]["ClientDetails"]["properties"]["notes"] = {"type": "integer"}


def without_a_limit(document: dict[str, Any]) -> None:
    document["components"]["schemas"]["ClientFacts"]["properties"]["name"] = {"type": "string"}


def with_another_header(document: dict[str, Any]) -> None:
    answer = document["paths"]["/api/clients/{uuid}"]["get"]["responses"]["200"]
    answer["headers"]["Age"] = {"required": True, "schema": {"type": "integer"}}


LIES = {
    without_a_status: "Undocumented HTTP status code",
    with_another_type: "Response violates schema",
    with_another_header: "Missing required headers",
    without_a_limit: "API rejected schema-compliant request",
}


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_a_document_that_says_something_else_is_found_out(lie: Any, place: World) -> None:
    document = only(announced(), "/api/clients/{uuid}")
    lie(document)

    found = judged(place, document, 50, 1, 2, print)

    assert [name for name in found.failures if name.endswith(LIES[lie])], found.failures


def test_every_answer_to_a_stranger_is_one_that_the_document_announces(place: World) -> None:
    ledger, found = schema.asked(schema.Plan(cases=2000, examples=2), place, print)

    print(ledger.text())
    assert not found.failures, found.text()
    assert not found.errors, found.text()
    assert not ledger.broken
