"""A share of `make campaign ONLY=schema`: a tester that knows only the document calls the running api function."""

from collections.abc import Iterator

import pytest

from deploy.parts.broker import RunningBroker
from tests.api.schema_audit import Change, Line, deviations
from tests.api.schema_repairs import in_calendar
from tests.api.schema_tester import announced, judged
from tests.api.schema_world import World, world
from tests.lab.campaigns import schema


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

    found = judged(place, document, 50, 1, 2, frozenset(), print)

    assert {name.rpartition(": ")[2] for name in found.failures} >= {
        "Undocumented status code",
        "Missing required response headers",
        "Response violates schema",
        "Schema-valid request rejected",
    }


def test_a_log_that_leaves_out_or_makes_up_is_found_out() -> None:
    sent, done, refused = "POST /api/tokens", Line("token:tester#1", "done"), Line("anonymous", "refused")
    changes = [Change(sent, 201, "a"), Change(sent, 400, "b"), Change("PATCH /api/users/{user_id}", 200, "c")]

    assert deviations(changes, {"a": [done], "b": [refused], "c": [done]}, "token:tester#1") == {}
    assert deviations(changes, {"b": [done], "a": [Line("token:other#2", "done")]}, "token:tester#1") == {
        f"{sent}: refused with 400, and a line says done": 1,
        f"{sent}: a line of somebody else": 1,
        "PATCH /api/users/{user_id}: never a line": 1,
    }
    assert deviations(changes[:1], {"a": [refused]}, "") == {
        f"{sent}: changed something without a line": 1,
        f"{sent}: never a line": 1,
    }


def test_a_time_without_a_date_in_utc_is_put_right_and_no_other() -> None:
    assert in_calendar("0001-01-01T00:00:00.5+00:01") == "0001-01-01T00:00:00.5Z"
    assert in_calendar("9999-12-31T23:59:59-00:01") == "9999-12-31T23:59:59Z"
    for kept in ("0001-01-01T00:00:00-00:01", "2026-03-01T12:00:00+01:00", "0001-01-01", "", None, 5):
        assert in_calendar(kept) == kept


def test_every_answer_to_a_stranger_is_one_that_the_document_announces(place: World) -> None:
    ledger, found = schema.asked(schema.Plan(cases=2000, examples=2, share=4), place, print)

    print(ledger.text())
    assert not found.failures, found.text()
    assert not found.errors, found.text()
    assert not ledger.broken, ledger.note
