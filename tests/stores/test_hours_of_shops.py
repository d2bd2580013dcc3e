"""Displays keep the opening hours that cover them: the nearest ones, as long as they do."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.quiet import operations
from shared.quiet.displays_operations import let_displays_keep
from shared.tables import clients
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


ENDS: list[Callable[[Connection, datetime, str, int], object]] = [
    lambda connection, now, _, shop: operations.end(connection, now, shop, "user:anna"),
    lambda connection, _, display, __: change(connection, display, site="Oslo"),
    lambda connection, now, display, _: change(connection, display, deleted_at=now),
]


def change(connection: Connection, display: str, **facts: Any) -> None:
    connection.execute(sa.update(clients).where(clients.c.uuid == display).values(**facts))


@pytest.mark.parametrize("end", ENDS, ids=["the quiet time ends", "the display moves", "it is deleted"])
def test_other_hours_follow_a_change_and_none_are_kept_once_they_end(
    connection: Connection, now: datetime, rome: str, end: Callable[[Connection, datetime, str, int], object]
) -> None:
    shop = opening_hours(connection, now, DAYTIME, "Rome")
    let_displays_keep(connection, now)
    changed = operations.change(connection, now + HOUR, shop, {"spans": NIGHT}, "user:anna")
    assert let_displays_keep(connection, now + HOUR) == 1
    assert opens(connection, rome) == "18:00"

    end(connection, now + HOUR, rome, changed.id)

    assert let_displays_keep(connection, now + HOUR) == 1
    assert opens(connection, rome) is None
    assert let_displays_keep(connection, now + HOUR) == 0


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
