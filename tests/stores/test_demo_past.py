"""The past of the demo's displays: what a first look shows."""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from deploy.local import demo_past
from displays.simulated.behaviours import cast
from shared.availability import operations
from shared.availability.operations import Period
from shared.incidents import timeline_operations
from shared.tables import client_commands, incidents
from shared.words.reader import words_of

DAYS = 28


@pytest.fixture
def past(connection: Connection, now: datetime) -> None:
    demo_past.write(connection, now, cast(50, 1, 30))


@pytest.mark.usefixtures("past")
def test_four_weeks_of_each_site_are_known_and_mostly_up(connection: Connection, now: datetime) -> None:
    since, until = now.date() - timedelta(days=DAYS), now.date() - timedelta(days=1)

    rows = operations.by_site(connection, now, Period(since, until, "UTC", timedelta(days=90)))

    assert len(rows) == 8
    for row in rows:
        assert row.spent.unknown == timedelta()
        assert 0.97 < row.spent.up / (row.spent.up + row.spent.down) < 1


@pytest.mark.usefixtures("past")
def test_the_dark_site_of_yesterday_is_an_incident_in_each_language(connection: Connection, now: datetime) -> None:
    incident = connection.execute(sa.select(incidents)).one()

    found = timeline_operations.find(connection, incident.id)

    assert timedelta(hours=9) < now - found.began_at < timedelta(hours=34)
    assert (found.members, found.unwell, found.closed_at) == (6, 0, found.began_at + demo_past.DARK_FOR)
    assert words_of("de").say(found.cause).startswith("6 von 6 Displays am Standort Lyon sind ")


@pytest.mark.usefixtures("past")
def test_each_crash_was_mended_by_a_restart(connection: Connection) -> None:
    restarts = connection.execute(sa.select(client_commands)).all()

    assert len(restarts) > 50
    assert {(row.action, row.state, row.source) for row in restarts} == {("restart_app", "succeeded", "recovery")}
