"""The time of a loss of the broker is by the service's clock: when the display's count rose."""

from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.clients import losses_store
from shared.clients.reports import operations as reports
from shared.clients.reports.rules import HealthReport
from shared.tables import client_losses
from tests.stores.reports_world import CLOCK, NOW, U, V, register


def report(seq: int | None, count: int | None, uuid: str = U, at: float = CLOCK, boot_seq: int = 1) -> HealthReport:
    stamp: dict[str, Any] = {} if seq is None else {"install_id": "i", "boot_seq": boot_seq, "seq": seq}
    wrong = (NOW + timedelta(days=400)).timestamp()  # the time by the display's own clock
    return HealthReport(uuid, at, {}, reconnect_count=count, tells_disconnect=True, last_disconnect_at=wrong, **stamp)


def take(connection: Connection, *said: HealthReport, now: datetime = NOW) -> None:
    reports.note_installs(connection, now, [(one.uuid, "i") for one in said])
    reports.record_health(connection, now, CLOCK, said, [])


def lost(connection: Connection) -> list[tuple[str, datetime, int]]:
    """(uuid, at, losses) of every row, the oldest first."""
    query = sa.select(client_losses).order_by(client_losses.c.at, client_losses.c.client_uuid)
    return [(row.client_uuid, row.at, row.losses) for row in connection.execute(query)]


def test_a_loss_is_of_the_moment_at_which_the_report_that_tells_of_it_arrived(connection: Connection) -> None:
    register(connection, U, V)
    take(connection, report(1, 4), report(1, 0, V))

    take(connection, report(2, 5, at=CLOCK - 20), report(2, 3, V), now=NOW + timedelta(minutes=1))

    assert lost(connection) == [(U, NOW + timedelta(seconds=40), 1), (V, NOW + timedelta(minutes=1), 3)]


def test_the_loss_lies_after_the_report_before(connection: Connection) -> None:
    register(connection, U)
    take(connection, report(1, 4))
    take(connection, report(2, 4), now=NOW + timedelta(minutes=1))

    take(connection, report(3, 5), now=NOW + timedelta(minutes=2))

    row = connection.execute(sa.select(client_losses)).one()
    assert (row.since, row.at) == (NOW + timedelta(minutes=1), NOW + timedelta(minutes=2))


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        (None, 26, "first told: nobody knows since when"),
        (5, 5, "nothing was lost"),
        (5, 0, "its player or its machine began anew"),
        (5, None, "it does not say"),
        (None, None, "it never says"),
        (5, 2**31 - 1, "nobody loses so many in a minute"),
        (0, 241, "two devices with one login"),
    ],
)
def test_a_count_that_does_not_rise_or_leaps_is_no_loss(
    connection: Connection, before: int | None, after: int | None, note: str
) -> None:
    register(connection, U)
    take(connection, report(1, before))

    take(connection, report(2, after))

    assert lost(connection) == [], note


def test_a_display_that_lost_the_broker_all_day_long_says_so_once_it_is_heard(connection: Connection) -> None:
    register(connection, U)
    take(connection, report(1, 5))

    take(connection, report(2, 2_005), now=NOW + timedelta(hours=9))

    assert lost(connection) == [(U, NOW + timedelta(hours=9), 2_000)]


def test_one_report_counts_once_however_often_it_comes(connection: Connection) -> None:
    """Repeated, late, and several in one batch after an absence of the bridge."""
    register(connection, U)
    take(connection, report(1, 0))
    take(connection, report(2, 1, at=CLOCK - 3), report(3, 2, at=CLOCK - 2), report(4, 4, at=CLOCK - 1))
    take(connection, report(4, 4, at=CLOCK))
    take(connection, report(2, 9, at=CLOCK))

    assert lost(connection) == [(U, NOW - timedelta(seconds=1), 4)]


def test_a_display_that_raises_its_count_with_every_report_fills_no_disk(connection: Connection) -> None:
    register(connection, U)
    for number in range(300):
        take(connection, report(number, number), now=NOW + timedelta(seconds=10 * number))

    assert len(lost(connection)) == 240


def test_a_display_without_a_stamp_is_counted_too(connection: Connection) -> None:
    register(connection, U)
    take(connection, report(None, 1))

    take(connection, report(None, 2))

    assert lost(connection) == [(U, NOW, 1)]


def test_losses_are_kept_for_a_day(connection: Connection) -> None:
    register(connection, U)
    take(connection, report(1, 0))
    take(connection, report(2, 1), now=NOW)
    take(connection, report(3, 2), now=NOW + timedelta(hours=1))

    dropped = losses_store.drop_before(connection, NOW + timedelta(hours=25) - losses_store.KEPT)

    assert dropped == 1
    assert lost(connection) == [(U, NOW + timedelta(hours=1), 1)]
