"""A share of `make campaign ONLY=schema`: the running api function, asked by a tester that knows its document alone."""

from pathlib import Path

from deploy.local.broker import RunningBroker
from tests.api.schema_world import world
from tests.faults import schema


def test_every_answer_to_a_stranger_is_one_that_the_document_announces(
    tmp_path: Path, database_url: str, broker: RunningBroker
) -> None:
    plan = schema.Plan(cases=2000, examples=2)

    with world(tmp_path, database_url, broker) as place:
        ledger, found = schema.asked(plan, place, print)

    print(ledger.text())
    assert not found.failures, found.text()
    assert not found.errors, found.text()
    assert not ledger.broken
