"""Which bridge leads, even with a restored database."""

import sqlalchemy as sa
from sqlalchemy import Connection

from shared.leadership import operations as leadership
from shared.leadership import store


def test_the_lead_is_taken_back_only_by_the_process_that_had_it(connection: Connection) -> None:
    """A restored copy counts epochs again, so another bridge may have had the same epoch."""
    epoch = leadership.lead(connection, "one")
    assert epoch is not None
    assert leadership.lead_again(connection, epoch, "one") is True

    connection.execute(sa.text("UPDATE bridge_status SET instance = 'two'"))

    assert leadership.lead_again(connection, epoch, "one") is False
    assert leadership.lead_again(connection, epoch - 1, "two") is False


def test_the_life_of_a_database_is_the_same_until_its_server_starts_anew(connection: Connection) -> None:
    assert store.life(connection) == store.life(connection)
    assert len(store.life(connection)) == 12
