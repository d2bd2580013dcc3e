"""A share of `make campaign ONLY=many_logins`."""

from pathlib import Path

from sqlalchemy import Engine

from deploy.parts import broker as mosquitto
from tests.lab.campaigns import many_logins
from tests.lab.campaigns.ledger import Ledger


def test_logins_that_change_all_the_time_cut_nobody_else(
    database_url: str, broker: mosquitto.RunningBroker, engine: Engine, tmp_path: Path
) -> None:
    plan, ledger = many_logins.Plan(logins=1000), Ledger("many_logins", 1, {})

    many_logins.change_all_the_time(
        plan, database_url, many_logins.Place(engine, broker, tmp_path / "accounts.log"), ledger, print
    )

    assert not ledger.broken
