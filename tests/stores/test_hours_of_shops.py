"""Displays keep the opening hours that cover them: the nearest ones, as long as they do."""

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.quiet import operations
from shared.quiet.displays_operations import let_displays_keep
from shared.vocabulary import QuietPreset
from tests.stores.commands_world import add_client
from tests.stores.quiet_world import make, open_between, opening_hours, wanted

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MORNING, DAYTIME, NIGHT = (
    open_between("06:00", "12:00"),
    open_between("09:00", "18:00"),
    open_between("18:00", "23:00"),
)


def opens(connection: Connection, client: str) -> str | None:
    """When the hours begin that this client is to keep; None without hours."""
    row = connection.execute(
        sa.text(
            "SELECT c.hours_wanted, h.version, h.hours -> 'open' -> 0 ->> 'from' FROM clients AS c"
            " LEFT JOIN client_hours AS h ON h.client_uuid = c.uuid WHERE c.uuid = :uuid"
        ),
        {"uuid": client},
    ).one()
    assert row[0] == row[1]
    return None if row[0] is None else str(row[2])


@pytest.fixture
def rome(connection: Connection, now: datetime) -> str:
    return add_client(connection, now, site="Rome", tags=["outdoor"])


def test_the_nearest_hours_count_a_tags_before_a_sites_before_the_fleets(
    connection: Connection, now: datetime, rome: str
) -> None:
    elsewhere = add_client(connection, now, site="Oslo")
    make(connection, now, wanted(QuietPreset.OPENING_HOURS, spans=MORNING, zone="UTC"))
    assert let_displays_keep(connection, now) == 2
    assert (opens(connection, rome), opens(connection, elsewhere)) == ("06:00", "06:00")

    opening_hours(connection, now, DAYTIME, "Rome")
    assert let_displays_keep(connection, now) == 1
    assert (opens(connection, rome), opens(connection, elsewhere)) == ("09:00", "06:00")

    make(connection, now, wanted(QuietPreset.OPENING_HOURS, tag="outdoor", spans=NIGHT, zone="UTC"))
    assert let_displays_keep(connection, now) == 1
    assert opens(connection, rome) == "18:00"
    assert let_displays_keep(connection, now) == 0


def test_hours_end_with_their_quiet_time(connection: Connection, now: datetime, rome: str) -> None:
    shop = opening_hours(connection, now, DAYTIME, "Rome")
    let_displays_keep(connection, now)

    operations.end(connection, now, shop, "user:anna")

    assert let_displays_keep(connection, now) == 1
    assert opens(connection, rome) is None


def test_other_hours_follow_a_change_and_a_display_that_moves(connection: Connection, now: datetime, rome: str) -> None:
    shop = opening_hours(connection, now, DAYTIME, "Rome")
    let_displays_keep(connection, now)
    operations.change(connection, now + HOUR, shop, {"spans": NIGHT}, "user:anna")
    assert let_displays_keep(connection, now + HOUR) == 1
    assert opens(connection, rome) == "18:00"

    connection.execute(sa.text("UPDATE clients SET site = 'Oslo' WHERE uuid = :uuid"), {"uuid": rome})

    assert let_displays_keep(connection, now + HOUR) == 1
    assert opens(connection, rome) is None


def test_hours_that_begin_later_wait_and_other_quiet_times_are_no_hours(
    connection: Connection, now: datetime, rome: str
) -> None:
    later = wanted(QuietPreset.OPENING_HOURS, site="Rome", starts=now + DAY, spans=DAYTIME, zone="UTC")
    make(connection, now, later)
    nightly = wanted(QuietPreset.MAINTENANCE, site="Rome", spans=NIGHT, zone="UTC", reason="Updates")
    make(connection, now, nightly)

    assert let_displays_keep(connection, now) == 0
    assert let_displays_keep(connection, now + DAY) == 1
    assert opens(connection, rome) == "09:00"


def test_a_deleted_display_keeps_none(connection: Connection, now: datetime, rome: str) -> None:
    opening_hours(connection, now, DAYTIME, "Rome")
    let_displays_keep(connection, now)
    connection.execute(sa.text("UPDATE clients SET deleted_at = :now WHERE uuid = :uuid"), {"now": now, "uuid": rome})

    assert let_displays_keep(connection, now) == 1
    assert let_displays_keep(connection, now) == 0
