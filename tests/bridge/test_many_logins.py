"""A share of `make campaign ONLY=logins`."""

from pathlib import Path

from sqlalchemy import Engine

from deploy.local import broker as mosquitto
from tests.faults import logins
from tests.faults.ledger import Ledger


def test_logins_that_change_all_the_time_cut_nobody_else_and_are_told_seldom(
    database_url: str, broker: mosquitto.RunningBroker, engine: Engine, tmp_path: Path
) -> None:
    plan, ledger = logins.Plan(logins=1000), Ledger("logins", 1, {})

    logins.change_all_the_time(
        plan, database_url, logins.Place(engine, broker, tmp_path / "accounts.log"), ledger, print
    )

    assert not ledger.broken
