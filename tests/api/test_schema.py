"""A share of `make campaign ONLY=schema`: the running api function, asked by a tester that knows its document alone."""

from collections.abc import Iterator

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


def test_a_document_that_says_something_else_is_found_out(place: World) -> None:
    document = announced()
    path, shapes = "/api/clients/{uuid}", document["components"]["schemas"]
    document["paths"] = {path: document["paths"][path]}
    answers = document["paths"][path]["get"]["responses"]
    del answers["404"]
    answers["200"]["headers"]["Age"] = {"required": True, "schema": {"type": "integer"}}
    shapes["ClientDetails"]["properties"]["notes"] = {"type": "integer"}
    shapes["ClientFacts"]["properties"]["tags"] = {"type": "array", "items": {"type": "string"}, "maxItems": 40}

    found = judged(place, document, 50, 1, 2, print)

    assert {name.rpartition(": ")[2] for name in found.failures} >= {
        "Undocumented status code",
        "Missing required response headers",
        "Response violates schema",
        "Schema-valid request rejected",
    }


def test_every_answer_to_a_stranger_is_one_that_the_document_announces(place: World) -> None:
    ledger, found = schema.asked(schema.Plan(cases=2000, examples=2), place, print)

    print(ledger.text())
    assert not found.failures, found.text()
    assert not found.errors, found.text()
    assert not ledger.broken
