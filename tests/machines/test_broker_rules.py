"""A share of the campaign `broker`, on the broker that is shipped."""

from pathlib import Path

from tests.faults.test_campaigns import passed
from tests.lab.campaigns import brokers


def test_the_shipped_broker_keeps_the_rules_that_we_lean_on(tmp_path: Path) -> None:
    ledger = brokers.run(brokers.Plan(waiting=500, herd=20), tmp_path)

    assert passed(ledger)
