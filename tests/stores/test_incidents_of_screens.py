"""A shop whose screens fail together is one incident."""

from collections.abc import Sequence
from datetime import datetime

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.tables import clients, incident_members
from tests.stores.commands_world import seconds
from tests.stores.incidents_world import MINUTE, all_of, change, listen, observe, only, site
from tests.stores.notifications_world import channel, decide, told


def fail(connection: Connection, at: datetime | None, uuids: Sequence[str], screen: str) -> None:
    """Record that these screens have failed since `at`; None: they do not fail."""
    row = {"screen_health": screen, "screen_health_since": at, "screen_failed_at": at}
    connection.execute(sa.update(clients).where(clients.c.uuid.in_(uuids)).values(**row))


@pytest.mark.parametrize(
    ("screen", "cause"),
    [
        ("black", "6 of 12 displays at site Rome went black at once; what they were given to show, or an update,"),
        ("frozen", "6 of 12 displays at site Rome froze at once; what they were given to show, or an update,"),
        ("disconnected", "6 of 12 displays at site Rome lost their screens at once; the power of the screens, or"),
        ("off", "6 of 12 displays at site Rome had their screens switched off at once; the power of the screens, or"),
    ],
)
def test_the_screens_of_a_shop_that_fail_together_are_one_incident(
    connection: Connection, now: datetime, screen: str, cause: str
) -> None:
    listen(connection, now)
    channel(connection, now, delay=0 * MINUTE)
    shop = site(connection, now)
    observe(connection, now)
    fail(connection, now + seconds(30), shop[:6], screen)

    report = observe(connection, now + MINUTE)
    decide(connection, now + MINUTE)

    assert (report.opened, report.joined) == (1, 6)
    assert only(connection)["cause"].startswith(cause)
    assert told(connection) == [("opened", "6 displays at Rome failed together")]  # no message about each screen


def test_an_incident_of_screens_is_over_when_they_show_something_again(connection: Connection, now: datetime) -> None:
    listen(connection, now)
    shop = site(connection, now)
    observe(connection, now)
    fail(connection, now + seconds(30), shop[:6], "black")
    observe(connection, now + MINUTE)

    fail(connection, None, shop[:4], "ok")
    some = observe(connection, now + 2 * MINUTE)
    fail(connection, None, shop[4:6], "ok")
    rest = observe(connection, now + 3 * MINUTE)
    closed = observe(connection, now + 30 * MINUTE)

    assert (some.left, rest.left, closed.closed) == (4, 2, 1)


def test_black_screens_and_crashed_players_of_a_shop_are_one_incident(connection: Connection, now: datetime) -> None:
    listen(connection, now)
    shop = site(connection, now)
    observe(connection, now)
    fail(connection, now + seconds(30), shop[:4], "black")
    crashed = sa.update(clients).where(clients.c.uuid.in_(shop[4:6]))
    connection.execute(crashed.values(process_status="crashed", process_status_since=now + seconds(30)))
    change(connection, now + seconds(30), shop[4:6], "crashed")

    observe(connection, now + MINUTE)

    assert "failed (2 crashed, 4 with a bad screen)" in only(connection)["cause"]


def test_one_black_screen_is_no_incident(connection: Connection, now: datetime) -> None:
    listen(connection, now)
    shop = site(connection, now)
    observe(connection, now)
    fail(connection, now + seconds(30), shop[:1], "black")

    assert observe(connection, now + MINUTE).opened == 0
    assert all_of(connection) == []


def test_code_of_before_reads_a_symptom_that_it_knows(connection: Connection, now: datetime) -> None:
    listen(connection, now)
    shop = site(connection, now)
    observe(connection, now)
    fail(connection, now + seconds(30), shop[:6], "black")
    crashed = sa.update(clients).where(clients.c.uuid.in_(shop[6:8]))
    connection.execute(crashed.values(process_status="crashed", process_status_since=now + seconds(30)))
    change(connection, now + seconds(30), shop[6:8], "crashed")
    observe(connection, now + MINUTE)

    rows = connection.execute(sa.select(incident_members.c.symptom, incident_members.c.newer_symptom)).all()

    assert sorted(map(tuple, rows)) == [("crashed", None)] * 2 + [("service_failed", "screen_failed")] * 6
