"""A shop whose players or screens fail together is one incident."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.tables import clients, incident_members
from tests.stores.commands_world import seconds
from tests.stores.incidents_world import MINUTE, change, observe, only, site
from tests.stores.notifications_world import channel, decide, told

pytestmark = pytest.mark.usefixtures("listening")


def fail(connection: Connection, at: datetime | None, uuids: Sequence[str], screen: str) -> None:
    """Record that these screens have failed since `at`; None: they do not fail."""
    row = {"screen_health": screen, "screen_health_since": at, "screen_failed_at": at}
    connection.execute(sa.update(clients).where(clients.c.uuid.in_(uuids)).values(**row))


def crash(connection: Connection, at: datetime, uuids: Sequence[str]) -> None:
    crashed = sa.update(clients).where(clients.c.uuid.in_(uuids))
    connection.execute(crashed.values(process_status="crashed", process_status_since=at))
    change(connection, at, uuids, "crashed")


CONTENT = "; what they were given to show, or an update,"
POWER = "; the power of the screens, or"
WAYS: list[tuple[Callable[[Connection, datetime, Sequence[str]], None], str]] = [
    (crash, "crashed at once" + CONTENT),
    (partial(fail, screen="black"), "went black at once" + CONTENT),
    (partial(fail, screen="frozen"), "froze at once" + CONTENT),
    (partial(fail, screen="error_page"), "showed error pages at once" + CONTENT),
    (partial(fail, screen="disconnected"), "lost their screens at once" + POWER),
    (partial(fail, screen="off"), "had their screens switched off at once" + POWER),
]


@pytest.mark.parametrize(("happen", "cause"), WAYS, ids=[cause.split(" at")[0] for _, cause in WAYS])
def test_displays_of_a_shop_that_fail_together_are_one_incident(
    connection: Connection, now: datetime, happen: Callable[[Connection, datetime, Sequence[str]], None], cause: str
) -> None:
    channel(connection, now, delay=0 * MINUTE)
    shop = site(connection, now)
    observe(connection, now)
    happen(connection, now + seconds(30), shop[:6])

    report = observe(connection, now + MINUTE)
    decide(connection, now + MINUTE)

    assert (report.opened, report.joined) == (1, 6)
    assert only(connection)["cause"].startswith("6 of 12 displays at site Rome " + cause)
    assert told(connection) == [("opened", "6 displays at Rome failed together")]  # no message about each screen


def test_an_incident_of_screens_is_over_when_they_show_something_again(connection: Connection, now: datetime) -> None:
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
    shop = site(connection, now)
    observe(connection, now)
    fail(connection, now + seconds(30), shop[:6], "black")
    crash(connection, now + seconds(30), shop[6:8])

    observe(connection, now + MINUTE)

    assert "failed (2 crashed, 6 with a bad screen)" in only(connection)["cause"]
    symptoms = connection.execute(sa.select(incident_members.c.symptom)).scalars()
    assert sorted(symptoms) == ["crashed"] * 2 + ["screen_failed"] * 6
