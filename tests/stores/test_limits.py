"""Limits of health from the report to the message: columns, the tick's judgement, lists, gauges, notifications."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from unittest.mock import patch

import msgspec
import pytest
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy import Connection

from shared import config
from shared.clients import limits_operations, limits_store, store
from shared.clients.repeats import operations as repeats
from shared.clients.repeats.operations import ReportsMemory
from shared.clients.reports import operations as reports
from shared.clients.reports.rules import HealthReport
from shared.clients.store import ClientFilter
from shared.overview import operations as overview
from shared.overview import store as overview_store
from shared.overview import summary_store
from shared.overview.gauges import store as gauges_store
from shared.postgres import set_back
from shared.tables import client_health, client_limits, clients
from tests.stores.commands_world import add_client
from tests.stores.incidents_world import change, listen, observe, site
from tests.stores.notifications_world import MINUTE, channel, decide, deliver_all, display, messages, told

SETTINGS: Final = config.load({})
DISK = "Disk of Lobby (Rome) is 94 % full; the limit is 90 %"


def report(connection: Connection, at: datetime, uuid: str, **values: Any) -> None:
    """Store a health report of this display."""
    reports.record_health(connection, at, 0.0, [HealthReport(uuid, 0.0, {}, **values)], [])


def judge(connection: Connection, at: datetime) -> tuple[int, int]:
    """Judge the limits. Returns how many troubles began and ended."""
    judged = limits_operations.judge(connection, at)
    return judged.passed, judged.ended


def live(connection: Connection, at: datetime, uuid: str, minutes: int, **values: Any) -> datetime:
    """Report these values each minute, with a tick after each. Returns the next minute."""
    for minute in range(minutes):
        report(connection, at + minute * MINUTE, uuid, **values)
        judge(connection, at + minute * MINUTE)
        decide(connection, at + minute * MINUTE)
        deliver_all(connection, at + minute * MINUTE)
    return at + minutes * MINUTE


def passed(connection: Connection) -> list[tuple[str, float]]:
    """(kind, value) of each limit that is passed now."""
    rows = sa.select(client_limits.c.kind, client_limits.c.value).where(client_limits.c.passed_at.is_not(None))
    return sorted((kind, value) for kind, value in connection.execute(rows))


# --- from the report to the columns ---


def test_a_report_brings_what_the_machine_measures(connection: Connection, now: datetime) -> None:
    uuid = add_client(connection, now)
    ends_at = now + timedelta(days=9)

    said = now.timestamp() - 90
    report(connection, now, uuid, certificate_ends_at=ends_at.timestamp(), under_voltage=True, said_at=said)

    row = connection.execute(sa.select(client_health)).one()
    assert (row.certificate_ends_at, row.under_voltage, row.clock_ahead_seconds) == (ends_at, True, -90.0)
    report(connection, now + MINUTE, uuid)
    row = connection.execute(sa.select(client_health)).one()
    assert (row.certificate_ends_at, row.under_voltage, row.clock_ahead_seconds) == (None, None, None)


def test_a_report_that_only_repeats_brings_the_same_values(connection: Connection, now: datetime) -> None:
    """The quick way of the bridge: one statement for reports that change nothing but measurements."""
    uuid = add_client(connection, now)
    stamp: dict[str, Any] = {"install_id": "i", "boot_seq": 1}
    first = HealthReport(uuid, 0.0, {}, **stamp, seq=1)
    reports.record_health(connection, now, 0.0, [first], [])
    memory = ReportsMemory()
    memory.cursor = repeats.forget_changed(connection, memory)
    repeats.recall(connection, [uuid], memory)
    at, ends_at = now + MINUTE, now + timedelta(days=3)
    second = HealthReport(uuid, 0.0, {}, disk_percent=94.0, **stamp, seq=2)
    second = replace(second, said_at=at.timestamp() + 75, under_voltage=False, certificate_ends_at=ends_at.timestamp())
    second = replace(second, disk_writable=False, refused="hours:unknown_zone,log_level:not_understood")

    batch = repeats.sorted_health([second], memory)
    left = repeats.repeat_health(connection, at, 0.0, batch, memory)

    assert left.others == []
    row = connection.execute(sa.select(client_health)).one()
    assert (row.received_at, row.disk_percent, row.clock_ahead_seconds) == (at, 94.0, 75.0)
    assert (row.certificate_ends_at, row.under_voltage) == (ends_at, False)
    assert (row.disk_writable, row.refused) == (False, "hours:unknown_zone,log_level:not_understood")


# --- the tick's judgement ---

Values = Callable[[datetime], dict[str, Any]]
"""What a display reports at this time."""
AT_THE_LIMIT: Final[Mapping[str, tuple[Values, Values]]] = {
    "disk": (lambda _: {"disk_percent": 90.0}, lambda _: {"disk_percent": 89.9}),
    "memory": (lambda _: {"memory_percent": 95.0}, lambda _: {"memory_percent": 94.9}),
    "heat": (lambda _: {"temperature_celsius": 80.0}, lambda _: {"temperature_celsius": 79.9}),
    "read_only": (lambda _: {"disk_writable": False}, lambda _: {"disk_writable": True}),
    "refused": (lambda _: {"refused": "hours:unknown_zone"}, lambda _: {"refused": ""}),
    "voltage": (lambda _: {"under_voltage": True}, lambda _: {"under_voltage": False}),
    "certificate": (
        lambda at: {"certificate_ends_at": at.timestamp() + 14 * 86_400},
        lambda at: {"certificate_ends_at": at.timestamp() + 14 * 86_400 + 60},
    ),
    "clock": (
        lambda at: {"said_at": at.timestamp() - 60},
        lambda at: {"said_at": at.timestamp() - 59},
    ),
}
"""Each limit's own value, and the next better one."""


@pytest.mark.parametrize("kind", AT_THE_LIMIT)
def test_a_limit_is_passed_when_its_value_was_reported_for_five_minutes(
    connection: Connection, now: datetime, kind: str
) -> None:
    uuid, better = add_client(connection, now), add_client(connection, now)
    value, next_better = AT_THE_LIMIT[kind]

    counts = []
    for minute in range(7):
        at = now + minute * MINUTE
        report(connection, at, uuid, **value(at))
        report(connection, at, better, **next_better(at))
        counts.append(judge(connection, at))

    assert counts == [(0, 0)] * 5 + [(1, 0), (0, 0)]
    [row] = connection.execute(sa.select(client_limits).where(client_limits.c.passed_at.is_not(None))).all()
    assert (row.kind, row.client_uuid, row.over_since) == (kind, uuid, now)


def test_a_backlog_after_a_silence_of_ours_is_no_wrong_clock(connection: Connection, now: datetime) -> None:
    """The broker hands over reports that are minutes old, and a minute later a new one comes."""
    uuid = add_client(connection, now)

    for minute in range(10):
        at = now + minute * MINUTE
        report(connection, at, uuid, said_at=at.timestamp() - (280 if minute < 2 else 1))
        judge(connection, at)

    assert passed(connection) == []


def test_a_tick_writes_nothing_where_nothing_changed(connection: Connection, now: datetime) -> None:
    """A steady trouble costs no row a minute, and no reader of the overview gets its display again."""
    uuid, calm = add_client(connection, now), add_client(connection, now)
    report(connection, now, calm, disk_percent=20.0)
    live(connection, now, uuid, 6, disk_percent=94.2)

    with patch.object(limits_store, "put", side_effect=AssertionError):
        for minute, value in enumerate((94.3, 94.9, 94.0, 91.5 - 2, 94.1), 6):
            report(connection, now + minute * MINUTE, uuid, disk_percent=value)
            assert judge(connection, now + minute * MINUTE) == (0, 0)


def test_values_that_no_machine_has_are_counted_with_the_reason(connection: Connection, now: datetime) -> None:
    """The bridge refuses them; a restored or repaired database may hold them."""
    uuid = add_client(connection, now)
    report(connection, now, uuid)
    connection.execute(sa.update(client_health).values(disk_percent=1e12, memory_percent=float("nan")))

    judged = limits_operations.judge(connection, now)

    assert judged.ignored == {
        "disk: not a value between 0 and 100": 1,
        "memory: not a value between 0 and 100": 1,
    }
    assert (judged.passed, passed(connection)) == (0, [])


def test_a_deleted_display_is_judged_and_counted_no_more(connection: Connection, now: datetime) -> None:
    uuid = add_client(connection, now)
    live(connection, now, uuid, 6, disk_percent=94.0)
    assert (gauges_store.over_limits(connection), overview_store.counts(connection).limit_passed) == ({"disk": 1}, 1)

    store.tombstone(connection, now, uuid)

    assert (gauges_store.over_limits(connection), overview_store.counts(connection).limit_passed) == ({}, 0)
    assert judge(connection, now + 7 * MINUTE) == (0, 0)


def test_after_the_clock_was_set_back_no_time_of_a_limit_is_in_the_future(
    connection: Connection, now: datetime
) -> None:
    uuid = add_client(connection, now)
    live(connection, now, uuid, 6, disk_percent=94.0)
    report(connection, now + 6 * MINUTE, uuid, disk_percent=10.0)
    judge(connection, now + 6 * MINUTE)

    set_back.forget_the_future(connection, now - MINUTE, "client_limits")

    [row] = limits_store.known(connection)
    assert (row.over_since, row.passed_at, row.left_since) == (now - MINUTE,) * 3


# --- what the page reads ---


def test_every_view_of_a_display_has_the_limits_that_it_passes(connection: Connection, now: datetime) -> None:
    uuid, other = add_client(connection, now), add_client(connection, now)
    report(connection, now, other, disk_percent=20.0)
    live(connection, now, uuid, 6, disk_percent=94.0, temperature_celsius=85.5)

    listed = {row.uuid: row.limits for row in store.page(connection, ClientFilter(), 10, None)}
    whole = store.get(connection, uuid)
    rows = msgspec.json.decode(f"[{overview_store.whole_fleet(connection, {})}]")
    shown = {row[0]: row[list(overview_store.COLUMNS).index("limits")] for row in rows}

    assert [(one.limit, one.value, one.at, one.since) for one in listed[uuid]] == [
        ("disk", 94.0, 90.0, now),
        ("heat", 85.5, 80.0, now),
    ]
    assert listed[other] == []
    assert whole is not None
    assert whole.limits == listed[uuid]
    assert whole.measured is not None
    assert (whole.measured.disk, whole.measured.heat, whole.measured.memory) == (94.0, 85.5, None)
    assert shown[other] == []
    assert [(one["limit"], one["value"], one["at"]) for one in shown[uuid]] == [("disk", 94, 90), ("heat", 85.5, 80)]
    assert datetime.fromisoformat(shown[uuid][0]["since"]) == now.replace(microsecond=0)


def test_a_reader_of_changes_learns_that_a_limit_is_passed_and_that_it_is_not(
    connection: Connection, now: datetime
) -> None:
    uuid = add_client(connection, now)
    since = summary_store.summary(connection, now, None, 1, 1).xid

    at = live(connection, now, uuid, 6, disk_percent=94.0)
    assert summary_store.summary(connection, now, since, 1, 1).changed == [uuid]
    live(connection, at, uuid, 16, disk_percent=20.0)

    assert connection.execute(sa.select(sa.func.count()).select_from(client_limits)).scalar_one() == 1
    found = overview.overview(connection, now, SETTINGS, None, with_heartbeats=False)
    assert found.counts["limit_passed"] == 0


# --- what people are told ---


def test_a_passed_limit_is_told_once_and_when_it_is_over(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    uuid = display(connection, now)

    at = live(connection, now + MINUTE, uuid, 8, disk_percent=94.2)
    assert told(connection) == [("opened", DISK)]
    at = live(connection, at, uuid, 20, disk_percent=95.0)
    live(connection, at, uuid, 16, disk_percent=20.0)

    assert told(connection) == [("opened", DISK), ("recovered", f"Over: {DISK}")]
    first = messages(connection)[0]
    assert (first["facts"]["event"], first["facts"]["limit"], first["facts"]["uuid"]) == ("limit_passed", "disk", uuid)


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_value_that_is_not_reported_any_more_ends_without_a_word(
    connection: Connection, now: datetime, is_deleted: bool
) -> None:
    channel(connection, now)
    uuid = display(connection, now)
    at = live(connection, now + MINUTE, uuid, 8, disk_percent=94.0)

    if is_deleted:
        store.tombstone(connection, at, uuid)
        decide(connection, at)
    else:
        live(connection, at, uuid, 30)

    assert is_deleted or passed(connection) == []
    assert told(connection) == [("opened", DISK)]


def test_many_displays_are_one_message(connection: Connection, now: datetime) -> None:
    """The air conditioning of a site fails."""
    channel(connection, now)
    uuids = [display(connection, now, f"Shop {number}") for number in range(5)]
    for minute in range(1, 9):
        at = now + minute * MINUTE
        for uuid in uuids:
            report(connection, at, uuid, temperature_celsius=88.0)
        judge(connection, at)
        decide(connection, at)
        deliver_all(connection, at)

    [(phase, title)] = told(connection)
    assert (phase, title) == ("opened", "5 displays pass a limit of health")
    assert "Shop 3 (Rome) is 88 °C hot; the limit is 80 °C" in messages(connection)[0]["text"]


def test_two_limits_of_one_display_are_two_matters(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    uuid = display(connection, now)

    at = live(connection, now + MINUTE, uuid, 8, disk_percent=94.0, memory_percent=97.0)
    live(connection, at, uuid, 16, disk_percent=94.0, memory_percent=50.0)

    memory = "Memory of Lobby (Rome) is 97 % full; the limit is 95 %"
    assert sorted(told(connection)) == [("opened", DISK), ("opened", memory), ("recovered", f"Over: {memory}")]


def test_a_silent_display_is_told_as_silent_alone(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    uuid = display(connection, now)
    for minute in range(1, 8):
        report(connection, now + minute * MINUTE, uuid, disk_percent=94.0)
        judge(connection, now + minute * MINUTE)
    connection.execute(sa.update(clients).values(status="stale", status_since=now + 7 * MINUTE))

    decide(connection, now + 10 * MINUTE)

    assert told(connection) == []


def test_displays_of_an_incident_are_told_as_the_incident_alone(connection: Connection, now: datetime) -> None:
    channel(connection, now)
    listen(connection, now)
    shops = site(connection, now, "Rome", 5)
    for minute in range(1, 8):
        for uuid in shops:
            report(connection, now + minute * MINUTE, uuid, disk_percent=94.0)
        judge(connection, now + minute * MINUTE)
    change(connection, now + 8 * MINUTE, shops, "crashed")
    observe(connection, now + 8 * MINUTE)

    decide(connection, now + 12 * MINUTE)

    assert [title for _, title in told(connection)] == ["5 displays at Rome failed together"]
