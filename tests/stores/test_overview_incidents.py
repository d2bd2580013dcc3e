"""The overview names the open incidents, and each unwell display's own: cards and rows come from one answer."""

from datetime import datetime
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection

from shared.overview import operations
from shared.overview.operations import Overview
from shared.postgres.door import database_now
from tests.stores.incidents_world import CONFIG, MINUTE, come_back, go_silent, listen, observe, site


@pytest.fixture
def now(connection: Connection) -> datetime:
    moment = database_now(connection)
    listen(connection, moment)
    return moment


def look(connection: Connection, at: datetime) -> Overview:
    return operations.overview(connection, at, CONFIG, None, with_heartbeats=False)


def incidents_of(seen: Overview) -> dict[str, Any]:
    """The incident of each display, by uuid."""
    rows = [dict(zip(seen.columns, row, strict=True)) for row in msgspec.json.decode(seen.rows)]
    return {row["uuid"]: row["incident_id"] for row in rows}


def test_a_dark_shop_is_one_incident_and_each_of_its_displays_names_it(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    go_silent(connection, now, fleet[:10])
    observe(connection, now)

    seen = look(connection, now)

    [incident] = seen.incidents
    assert (incident.kind, incident.key, incident.members, incident.unwell) == ("site", "Rome", 10, 10)
    assert incidents_of(seen) == {one: incident.id if one in fleet[:10] else None for one in fleet}


def test_a_display_that_is_back_names_no_incident_and_still_counts_as_a_member(
    connection: Connection, now: datetime
) -> None:
    fleet = site(connection, now)
    go_silent(connection, now, fleet)
    observe(connection, now)
    come_back(connection, now, fleet[:4])
    observe(connection, now + MINUTE)

    seen = look(connection, now + MINUTE)

    [incident] = seen.incidents
    assert (incident.members, incident.unwell) == (12, 8)
    assert [incidents_of(seen)[one] for one in fleet] == [None] * 4 + [incident.id] * 8


def test_an_incident_that_is_over_is_not_named(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    go_silent(connection, now, fleet)
    observe(connection, now)
    come_back(connection, now, fleet)
    observe(connection, now + MINUTE)
    observe(connection, now + 60 * MINUTE)

    assert look(connection, now + 60 * MINUTE).incidents == []
