"""The overview names the open incidents, and each unwell display's own: cards and rows come from one answer."""

from datetime import datetime
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection

from shared.overview import operations
from shared.overview.operations import Overview
from tests.stores.incidents_world import (
    CONFIG,
    MINUTE,
    come_back,
    notice_return,
    notice_silence,
    observe,
    site,
)

pytestmark = pytest.mark.usefixtures("listening")


def look(connection: Connection, at: datetime) -> Overview:
    return operations.overview(connection, at, CONFIG, None, with_heartbeats=False)


def incidents_of(seen: Overview) -> dict[str, Any]:
    """The incident of each display, by uuid."""
    rows = [dict(zip(seen.columns, row, strict=True)) for row in msgspec.json.decode(seen.rows)]
    return {row["uuid"]: row["incident_id"] for row in rows}


def test_a_dark_shop_is_one_incident_and_each_of_its_displays_names_it(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    notice_silence(connection, now, fleet[:10])

    seen = look(connection, now)

    [incident] = seen.incidents
    assert (incident.kind, incident.key, incident.members, incident.unwell) == ("site", "Rome", 10, 10)
    assert incidents_of(seen) == {one: incident.id if one in fleet[:10] else None for one in fleet}


def test_the_dark_shop_stands_before_newer_incidents_of_few(connection: Connection, now: datetime) -> None:
    shops = [site(connection, now, f"Shop {number}", 10) for number in range(6)]
    large = site(connection, now, "Large", 40)
    notice_silence(connection, now, [*shops[0], *large[:13]])  # one after the other
    notice_silence(connection, now + 6 * MINUTE, [shop[0] for shop in shops[1:]])

    seen = look(connection, now + 6 * MINUTE)

    assert [(one.key, one.unwell) for one in seen.incidents] == [("Shop 0", 10), ("Large", 13), ("", 5)]
    assert seen.incidents[2].id == max(one.id for one in seen.incidents)


def test_a_display_that_is_back_names_no_incident_and_stays_a_member_until_its_end(
    connection: Connection, now: datetime
) -> None:
    fleet = site(connection, now)
    notice_silence(connection, now, fleet)
    come_back(connection, now, fleet[:4])
    observe(connection, now + MINUTE)

    seen = look(connection, now + MINUTE)

    [incident] = seen.incidents
    assert (incident.members, incident.unwell) == (12, 8)
    assert [incidents_of(seen)[one] for one in fleet] == [None] * 4 + [incident.id] * 8
    notice_return(connection, now + 2 * MINUTE, fleet[4:])
    observe(connection, now + 60 * MINUTE)
    assert look(connection, now + 60 * MINUTE).incidents == []
