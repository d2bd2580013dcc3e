"""Maintenance windows on real Postgres: planned, queried, ended, kept as history."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.clients import operations as clients
from shared.errors import ClientsUnknown, MaintenanceTimesRefused, MaintenanceWindowNotFound
from shared.maintenance import operations, store
from shared.maintenance.operations import NewWindow
from shared.maintenance.rules import KeptWindow, Schedule, WeeklyRecurrence
from shared.maintenance.store import WindowFilter
from shared.tables import maintenance_window_clients, maintenance_windows
from shared.vocabulary import MaintenanceScope, Weekday
from tests.stores.commands_world import NOWHERE, add_client

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
FLEET, SITE, CLIENTS = MaintenanceScope.FLEET, MaintenanceScope.SITE, MaintenanceScope.CLIENTS


def plan(connection: Connection, now: datetime, scope: MaintenanceScope = FLEET, **more: Any) -> KeptWindow:
    """Plan a window that starts now and lasts an hour, unless its schedule differs."""
    facts = {"name": "Rollout", "reason": "new players", "site": None, "clients": (), **more}
    wanted = NewWindow(scope=scope, **{"schedule": Schedule(now, now + HOUR), **facts})
    return operations.plan(connection, now, wanted, "user:anna")


def quiet(connection: Connection, now: datetime, *uuids: str) -> set[str]:
    return operations.quiet_uuids(connection, now, uuids)


def test_without_a_window_nobody_is_quiet(connection: Connection, now: datetime, client: str) -> None:
    assert quiet(connection, now, client) == set()
    assert quiet(connection, now) == set()


def test_each_scope_covers_its_own(connection: Connection, now: datetime) -> None:
    rome, oslo, nowhere = (add_client(connection, now, site=site) for site in ("Rome", "Oslo", None))

    plan(connection, now, SITE, site="Rome")
    assert quiet(connection, now, rome, oslo, nowhere) == {rome}
    plan(connection, now, CLIENTS, clients=[oslo])
    assert quiet(connection, now, rome, oslo, nowhere) == {rome, oslo}
    plan(connection, now)
    assert quiet(connection, now, rome, oslo, nowhere) == {rome, oslo, nowhere}
    assert quiet(connection, now, rome) == {rome}
    assert quiet(connection, now, NOWHERE) == set()


def test_it_is_quiet_from_the_start_up_to_the_end_only(connection: Connection, now: datetime, client: str) -> None:
    plan(connection, now, schedule=Schedule(now + HOUR, now + 2 * HOUR))
    moments = (now, now + HOUR, now + 1.5 * HOUR, now + 2 * HOUR)

    assert [bool(quiet(connection, at, client)) for at in moments] == [False, True, True, False]


def test_people_are_told_why_by_whom_and_until_when(connection: Connection, now: datetime, client: str) -> None:
    plan(connection, now, name="Short", schedule=Schedule(now, now + HOUR))
    longest = plan(connection, now, name="Long", schedule=Schedule(now, now + 2 * HOUR))
    plan(connection, now, name="Middle", schedule=Schedule(now, now + 1.5 * HOUR))

    told = operations.quiet_of(connection, now, [client])[client]

    assert (told.window_id, told.name, told.by, told.until) == (longest.id, "Long", "user:anna", now + 2 * HOUR)
    assert "“Long” (new players)" in told.why


def test_a_repeated_window_is_quiet_each_week_at_its_local_time(connection: Connection, client: str) -> None:
    rome = ZoneInfo("Europe/Rome")
    first = datetime(2026, 3, 22, 2, tzinfo=rome)
    every = WeeklyRecurrence("Europe/Rome", frozenset({Weekday.SUNDAY, Weekday.WEDNESDAY}))
    plan(connection, first.astimezone(UTC), schedule=Schedule(first, first + 2 * HOUR, every))

    def is_quiet(day: int, hour: int) -> bool:
        return bool(quiet(connection, datetime(2026, 3, day, hour, 30, tzinfo=rome), client))

    assert [is_quiet(22, hour) for hour in (1, 2, 3, 4)] == [False, True, True, False]
    assert [is_quiet(25, hour) for hour in (1, 2, 3, 4)] == [False, True, True, False]  # a Wednesday
    assert [is_quiet(29, hour) for hour in (0, 3, 4)] == [False, True, False]  # 2 o'clock does not exist
    assert not is_quiet(26, 3)


def test_a_window_that_is_ended_is_quiet_no_more_and_stays_as_history(
    connection: Connection, now: datetime, client: str
) -> None:
    window = plan(connection, now)

    assert operations.end(connection, now + HOUR / 2, window.id, "user:ben") is True
    assert operations.end(connection, now + HOUR / 2, window.id, "user:carl") is False

    assert quiet(connection, now + HOUR / 2, client) == set()
    [kept] = store.page(connection, now, WindowFilter(), 10, None)
    assert (kept.id, kept.ended_at, kept.ended_by) == (window.id, now + HOUR / 2, "user:ben")


def test_one_that_is_over_is_not_ended_any_more(connection: Connection, now: datetime) -> None:
    window = plan(connection, now)

    assert operations.end(connection, now + HOUR, window.id, "user:ben") is False
    with pytest.raises(MaintenanceWindowNotFound):
        operations.end(connection, now, window.id + 1, "user:ben")


def test_clients_that_do_not_exist_are_named_and_nothing_is_kept(connection: Connection, now: datetime) -> None:
    live, deleted = add_client(connection, now), add_client(connection, now)
    clients.delete(connection, now, deleted)

    with pytest.raises(ClientsUnknown) as refused, connection.begin_nested():
        plan(connection, now, CLIENTS, clients=[live, live, deleted, NOWHERE])

    assert refused.value.extras["uuids"] == sorted([deleted, NOWHERE])
    assert store.page(connection, now, WindowFilter(), 10, None) == []


def test_times_that_make_no_sense_are_not_kept(connection: Connection, now: datetime) -> None:
    with pytest.raises(MaintenanceTimesRefused):
        plan(connection, now, schedule=Schedule(now, now))


def test_lists_are_narrowed_to_what_is_current_or_covers_a_client(connection: Connection, now: datetime) -> None:
    rome = add_client(connection, now, site="Rome")
    every = WeeklyRecurrence("UTC", frozenset(Weekday))
    over = plan(connection, now - DAY, schedule=Schedule(now - DAY, now - HOUR))
    repeated = plan(connection, now - DAY, SITE, site="Rome", schedule=Schedule(now - DAY, now - DAY + HOUR, every))
    ended = plan(connection, now, SITE, site="Oslo")
    operations.end(connection, now, ended.id, "user:ben")

    def listed(**wanted: Any) -> list[int]:
        return [row.id for row in store.page(connection, now, WindowFilter(**wanted), 10, None)]

    assert listed() == [ended.id, repeated.id, over.id]
    assert listed(current=True) == [repeated.id]
    assert listed(current=False) == [ended.id, over.id]
    assert listed(client_uuid=rome) == [repeated.id, over.id]


def test_history_is_dropped_by_age_and_what_repeats_without_end_never(connection: Connection, now: datetime) -> None:
    client = add_client(connection, now)
    every = WeeklyRecurrence("UTC", frozenset(Weekday))
    plan(connection, now, CLIENTS, clients=[client])
    ended = plan(connection, now, schedule=Schedule(now, now + HOUR, every))
    operations.end(connection, now + HOUR, ended.id, "user:ben")
    endless = plan(connection, now, schedule=Schedule(now, now + HOUR, every))

    assert store.drop_history(connection, now + HOUR) == 0
    assert store.drop_history(connection, now + HOUR + timedelta.resolution) == 2

    assert connection.execute(sa.select(maintenance_windows.c.id)).scalars().all() == [endless.id]
    assert connection.execute(sa.select(maintenance_window_clients)).all() == []


def test_of_a_large_fleet_the_quiet_ones_are_found_at_once(connection: Connection, now: datetime) -> None:
    connection.execute(
        sa.text(
            "INSERT INTO clients (uuid, registered_by, site) SELECT '00000000-0000-4000-8000-'"
            " || lpad(to_hex(n), 12, '0'), 'enrolment', 'site ' || n % 50 FROM generate_series(1, 20000) AS n"
        )
    )
    uuids = connection.execute(sa.text("SELECT uuid FROM clients WHERE uuid LIKE '00000000%'")).scalars().all()
    plan(connection, now, SITE, site="site 7")
    plan(connection, now, CLIENTS, clients=uuids[:10_000])

    before = statements(connection)
    found = quiet(connection, now, *uuids)

    assert statements(connection) - before == 2
    assert len(found) == 10_000 + len([u for u in uuids[10_000:] if int(u[-12:], 16) % 50 == 7])


def statements(connection: Connection) -> int:
    """How many statements this connection has run since the first call."""
    counter: list[int] = connection.info.setdefault("statements", [])
    if not counter:
        counter.append(0)

        def count(*_: Any) -> None:
            counter[0] += 1

        sa.event.listen(connection, "before_cursor_execute", count)
    return counter[0]
