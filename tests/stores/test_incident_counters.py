"""The counters of incidents, when each look has a transaction of its own.

In a database of its own: displays that other tests left silent would join the cluster.
"""

from typing import Any

from sqlalchemy import Engine

from shared.clients import operations as clients_operations
from shared.postgres.door import database_now
from tests.stores.incidents_world import MINUTE, all_of, come_back, go_silent, listen, observe, site


def test_counters_are_right_after_each_look_of_its_own_transaction(engine: Engine) -> None:
    """Displays join, come back, are deleted and move from a cluster into the incident of their shop."""
    with engine.begin() as connection:
        at = database_now(connection)
        listen(connection, at)
        shops = [site(connection, at, f"Counted {number}", 10) for number in range(8)]
    some = [shop[0] for shop in shops]
    steps: list[Any] = [
        lambda c, t: go_silent(c, t, some, heard_before=190),
        lambda c, t: go_silent(c, t, shops[0][1:], heard_before=246),
        lambda c, t: come_back(c, t, shops[0][:7]),
        lambda c, t: clients_operations.delete(c, t, shops[0][8]),
        lambda c, t: come_back(c, t, shops[0][7:8]),
        lambda c, t: go_silent(c, t, shops[0][:7]),
        lambda c, t: go_silent(c, t, shops[0][7:8]),
        lambda c, t: come_back(c, t, [*some, *shops[0][:8]]),
    ]
    for number, step in enumerate(steps):
        with engine.begin() as connection:
            step(connection, at + number * MINUTE)
            observe(connection, at + number * MINUTE)

    with engine.begin() as connection:
        rows = [
            (row["members"], row["unwell"], row["times"]) for row in all_of(connection) if row["site"] == "Counted 0"
        ]
    assert rows == [(10, 0, 1), (9, 1, 2)]
