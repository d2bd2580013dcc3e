"""Client logs on real Postgres: stored once, counted by hour, read newest first, dropped by week."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy import Connection

from shared.client_logs import hourly_counts_store, marks_store, rules, store
from shared.client_logs import operations as client_logs
from shared.client_logs.rules import Boot, LogLine, Mark
from shared.clients.reports import operations as reports
from shared.clients.reports.rules import Heartbeat
from shared.postgres.door import database_now
from shared.tables import client_heartbeats, client_log_hours, clients, log_gaps, log_keys, log_marks
from shared.tables import client_logs as table
from shared.vocabulary import SERIOUS_LEVELS, LogLevel

CLOCK = 1000.0
U = "0b54ad5e-3a8b-4a3f-9d0e-000000000001"
V = "0b54ad5e-3a8b-4a3f-9d0e-000000000002"
BOOT = Boot(U, "i", 1)
MISSING = "may be missing before this one: numbers up to"


@pytest.fixture
def now(connection: Connection) -> datetime:
    reports.admit(connection, database_now(connection), [U, V], [U, V], auto_register=True)
    return database_now(connection)


def line(seq: int | None = None, *, uuid: str = U, at: float = CLOCK, **fields: Any) -> LogLine:
    stamp: dict[str, Any] = {} if seq is None else {"install_id": "i", "boot_seq": 1, "seq": seq}
    given: dict[str, Any] = {"level": LogLevel.INFO, "raw_level": None, "message": f"m{seq}", **fields}
    return LogLine(uuid, at, **given, **stamp)


def messages(connection: Connection, uuid: str = U) -> Sequence[str]:
    query = sa.select(table.c.message).where(table.c.client_uuid == uuid).order_by(table.c.id)
    return connection.execute(query).scalars().all()


def mark(connection: Connection) -> int:
    return int(connection.execute(sa.select(log_marks.c.seq)).scalar_one())


def boots(connection: Connection) -> Sequence[int]:
    return connection.execute(sa.select(log_marks.c.boot_seq).order_by(log_marks.c.boot_seq)).scalars().all()


def keys(connection: Connection) -> Sequence[int]:
    return connection.execute(sa.select(log_keys.c.seq).order_by(log_keys.c.seq)).scalars().all()


def test_numbered_lines_are_stored_once_in_their_order_of_arrival(connection: Connection, now: datetime) -> None:
    first = client_logs.record(connection, now, CLOCK, [line(2), line(1), line(2)])
    again = client_logs.record(connection, now, CLOCK, [line(1), line(3)])

    assert messages(connection) == ["m2", "m1", "m3"]
    assert (first.count, first.duplicates, first.committed) == (2, 1, {BOOT: 2})
    assert (again.count, again.duplicates, again.committed) == (1, 1, {BOOT: 3})
    assert keys(connection) == []


def test_what_comes_behind_a_gap_is_kept_until_the_gap_closes(connection: Connection, now: datetime) -> None:
    gap = client_logs.record(connection, now, CLOCK, [line(1), line(3), line(5)])
    assert (mark(connection), list(keys(connection)), gap.committed) == (1, [3, 5], {BOOT: 1})
    assert marks_store.marks(connection, [BOOT]) == {BOOT: Mark(1, ((3, 3), (5, 5)))}

    client_logs.record(connection, now, CLOCK, [line(2), line(3)])
    assert (mark(connection), list(keys(connection))) == (3, [5])

    closed = client_logs.record(connection, now, CLOCK, [line(4)])
    assert (mark(connection), list(keys(connection)), closed.committed) == (5, [], {BOOT: 5})
    assert messages(connection) == ["m1", "m3", "m5", "m2", "m4"]


def test_boots_installations_and_clients_have_marks_of_their_own(connection: Connection, now: datetime) -> None:
    said = [line(1), line(1, uuid=V), line(1), line(1)]
    said[2].boot_seq, said[3].install_id = 2, "j"

    stored = client_logs.record(connection, now, CLOCK, said)

    assert stored.count == 4
    assert stored.committed == {BOOT: 1, (V, "i", 1): 1, (U, "i", 2): 1, (U, "j", 1): 1}


@pytest.mark.parametrize("is_told", [True, False], ids=["its life is over", "by the time of its line alone"])
def test_numbers_of_the_life_before_do_not_count_in_the_next_one(
    connection: Connection, now: datetime, is_told: bool
) -> None:
    """They came in one batch: what waited while the database was away, then the display's first lines after a boot."""
    client_logs.record(connection, now, CLOCK, [line(1, client_time=100.0), line(2, client_time=101.0)])
    if is_told:
        client_logs.end_lives(connection, now, [BOOT])
    waiting = [line(seq, client_time=200.0 + seq, message=f"old {seq}") for seq in (3, 4, 5)]
    begun = [line(seq, client_time=900.0 + seq, message=f"new {seq}") for seq in (1, 2)]

    client_logs.record(connection, now, CLOCK, [*waiting, *begun])
    client_logs.record(connection, now, CLOCK, [line(3, client_time=903.0, message="new 3")])

    assert messages(connection) == ["m1", "m2", "old 3", "old 4", "old 5", "new 1", "new 2", "new 3"]
    assert (mark(connection), keys(connection)) == (3, [])


def test_lines_without_a_number_are_all_stored(connection: Connection, now: datetime) -> None:
    stored = client_logs.record(connection, now, CLOCK, [line(message="same"), line(message="same")])

    assert messages(connection) == ["same", "same"]
    assert (stored.duplicates, stored.committed) == (0, {})


@settings(max_examples=25)
@given(batches=st.lists(st.lists(st.integers(1, 15), min_size=1, max_size=10), max_size=6))
def test_whatever_the_batches_the_tables_say_what_the_rule_says(
    connection: Connection, now: datetime, batches: list[list[int]]
) -> None:
    with connection.begin_nested() as savepoint:
        expected = Mark()
        for batch in batches:
            client_logs.record(connection, now, CLOCK, [line(seq) for seq in batch])
            expected = rules.settle(expected, batch).mark

        assert sorted(messages(connection)) == sorted(f"m{n}" for n in {n for batch in batches for n in batch})
        assert marks_store.marks(connection, [BOOT])[BOOT] == expected
        savepoint.rollback()


def test_a_line_was_received_when_it_arrived_and_counts_in_that_hour(connection: Connection, now: datetime) -> None:
    client_logs.record(
        connection,
        now,
        CLOCK,
        [line(1, at=CLOCK - 3600, level=LogLevel.ERROR), line(2, level=LogLevel.ERROR), line(3, at=CLOCK - 3600)],
    )
    client_logs.record(connection, now, CLOCK, [line(4, level=LogLevel.ERROR)])

    received = connection.execute(sa.select(table.c.received_at).order_by(table.c.id)).scalars().all()
    assert received == [now - timedelta(hours=1), now, now - timedelta(hours=1), now]
    h = client_log_hours.c
    rows = connection.execute(sa.select(h.hour, h.info, h.error, h.last_error_at).order_by(h.hour)).all()
    hour = now.replace(minute=0, second=0, microsecond=0)
    assert [tuple(row) for row in rows] == [
        (hour - timedelta(hours=1), 1, 1, now - timedelta(hours=1)),
        (hour, 0, 2, now),
    ]


# --- gaps that never close ---


def beat(connection: Connection, at: datetime) -> None:
    reports.record_heartbeats(connection, at, CLOCK, [Heartbeat(U, CLOCK)])


def look(connection: Connection, at: datetime, hours: int) -> list[int]:
    """Close gaps each hour. Returns the committed numbers that are published to the display."""
    moments = [at + timedelta(hours=n) for n in range(1, hours + 1)]
    return [seq for moment in moments for seq in client_logs.close_gaps(connection, moment).committed.values()]


def heard_and_looked_at(connection: Connection, at: datetime, hours: int) -> list[int]:
    told = []
    for n in range(hours):
        beat(connection, at + timedelta(hours=n, minutes=30))
        told += look(connection, at + timedelta(hours=n), 1)
    return told


def test_a_spool_whose_mark_was_lost_goes_on_after_a_day(connection: Connection, now: datetime) -> None:
    client_logs.record(connection, now, CLOCK, [line(501), line(502), line(504)])

    assert heard_and_looked_at(connection, now, 24) == []
    assert heard_and_looked_at(connection, now + timedelta(days=1), 1) == [502]
    assert (mark(connection), list(keys(connection))) == (502, [504])
    assert messages(connection)[3:] == [f"500 log lines {MISSING} 500 of start 1 never came."]
    assert client_logs.record(connection, now, CLOCK, [line(503)]).committed == {BOOT: 504}


def test_numbers_that_are_given_up_for_too_many_lines_behind_them_are_told(
    connection: Connection, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules.settle, "__defaults__", (2,))

    client_logs.record(connection, now, CLOCK, [line(1), line(4), line(5), line(6)])

    assert messages(connection) == [f"2 log lines {MISSING} 6 of start 1 never came.", "m1", "m4", "m5", "m6"]


@pytest.mark.parametrize("wild", [2**63 - 1, 2**32], ids=["as high as can be", "one bit is wrong"])
def test_lines_after_a_number_that_leapt_once_are_stored_after_any_quiet_time(
    connection: Connection, now: datetime, wild: int
) -> None:
    client_logs.record(connection, now, CLOCK, [line(1), line(wild), line(2)])

    assert heard_and_looked_at(connection, now, 30) == []
    later = client_logs.record(connection, now + timedelta(days=2), CLOCK, [line(3), line(wild)])

    assert (later.count, later.committed) == (1, {BOOT: 3})
    assert messages(connection) == ["m1", f"m{wild}", "m2", "m3"]


def test_hours_in_which_a_display_is_not_heard_do_not_count(connection: Connection, now: datetime) -> None:
    client_logs.record(connection, now, CLOCK, [line(501)])

    assert heard_and_looked_at(connection, now, 20) == []
    assert look(connection, now + timedelta(hours=20), 100) == []
    assert heard_and_looked_at(connection, now + timedelta(hours=120), 3) == []
    assert heard_and_looked_at(connection, now + timedelta(hours=123), 2) == [501]


def test_a_gap_below_which_lines_still_come_has_its_day_anew(connection: Connection, now: datetime) -> None:
    client_logs.record(connection, now, CLOCK, [line(1), line(501)])

    assert heard_and_looked_at(connection, now, 24) == []
    client_logs.record(connection, now, CLOCK, [line(2)])
    assert heard_and_looked_at(connection, now + timedelta(days=1), 24) == []
    assert heard_and_looked_at(connection, now + timedelta(days=2), 1) == [501]


def test_looks_that_come_too_soon_count_once(connection: Connection, now: datetime) -> None:
    client_logs.record(connection, now, CLOCK, [line(501)])

    for minute in range(60):
        beat(connection, now + timedelta(minutes=minute))
        assert client_logs.close_gaps(connection, now + timedelta(minutes=minute)).committed == {}

    assert connection.execute(sa.select(log_gaps.c.hours)).scalar_one() == 0


# --- reads ---


@pytest.fixture
def some_logs(connection: Connection, now: datetime) -> datetime:
    """Store five lines a minute apart, the newest last, and one line of V."""
    for number, level in enumerate(LogLevel):
        at = now - timedelta(minutes=5 - number)
        client_logs.record(connection, at, CLOCK, [line(level=level, message=f"{level} 100%", logger="player")])
    client_logs.record(connection, now, CLOCK, [line(uuid=V, level=LogLevel.ERROR, message="of V")])
    connection.execute(sa.update(clients).where(clients.c.uuid == U).values(name="lobby"))
    return now


def read(connection: Connection, **wanted: Any) -> list[str]:
    asked = {"levels": (), "since": None, "until": None, "text": None, "limit": 10, "cursor": None, **wanted}
    return [row.message for row in store.page_of_client(connection, U, **asked) or ()]


def test_a_page_is_newest_first_and_goes_on_where_it_ended(connection: Connection, some_logs: datetime) -> None:
    first = store.page_of_client(connection, U, (), None, None, None, 2, None) or []
    last = (first[-1].received_at, first[-1].id)

    assert [row.level for row in first] == ["critical", "error"]
    assert read(connection, cursor=last) == ["warning 100%", "info 100%", "debug 100%"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"levels": (LogLevel.DEBUG, LogLevel.ERROR)}, ["error 100%", "debug 100%"]),
        ({"text": "WARN"}, ["warning 100%"]),
        ({"text": "0%"}, ["critical 100%", "error 100%", "warning 100%", "info 100%", "debug 100%"]),
        ({"text": "r_o"}, []),  # not a wildcard
        ({"text": "play", "limit": 1}, ["critical 100%"]),
    ],
)
def test_a_page_can_be_narrowed(
    connection: Connection, some_logs: datetime, wanted: dict[str, Any], found: list[str]
) -> None:
    assert read(connection, **wanted) == found


def test_since_is_included_and_until_is_not(connection: Connection, some_logs: datetime) -> None:
    since, until = some_logs - timedelta(minutes=4), some_logs - timedelta(minutes=2)

    assert read(connection, since=since, until=until) == ["warning 100%", "info 100%"]


def test_recent_errors_are_the_serious_ones_of_the_whole_fleet(connection: Connection, some_logs: datetime) -> None:
    rows = store.recent_errors(connection, some_logs - timedelta(hours=1), 2, None)
    rest = store.recent_errors(connection, some_logs - timedelta(hours=1), 10, (rows[-1].received_at, rows[-1].id))

    assert [(row.message, row.client_uuid, row.client_name) for row in [*rows, *rest]] == [
        ("of V", V, ""),
        ("critical 100%", U, "lobby"),
        ("error 100%", U, "lobby"),
    ]
    assert store.recent_errors(connection, some_logs, 10, None)[0].message == "of V"


def test_serious_lines_are_read_without_the_partitions_of_routine_ones(connection: Connection, now: datetime) -> None:
    query = sa.select(table.c.id).where(table.c.level.in_(SERIOUS_LEVELS), table.c.received_at >= now)
    literal = query.compile(connection.engine, compile_kwargs={"literal_binds": True})

    plan = "\n".join(connection.execute(sa.text(f"EXPLAIN {literal}")).scalars())

    assert "client_logs_serious" in plan
    assert "client_logs_routine" not in plan


def test_the_summary_counts_by_client_and_level(connection: Connection, some_logs: datetime) -> None:
    rows = {row.uuid: row for row in hourly_counts_store.summary(connection, some_logs - timedelta(hours=1))}

    assert rows[U].counts == {"debug": 1, "info": 1, "warning": 1, "error": 1, "critical": 1}
    assert (rows[U].name, rows[U].last_error_at) == ("lobby", some_logs - timedelta(minutes=1))
    assert rows[V].counts == {"error": 1}
    assert hourly_counts_store.summary(connection, some_logs + timedelta(hours=2)) == []
    [only] = hourly_counts_store.summary(connection, some_logs - timedelta(hours=1), V)
    assert (only.uuid, only.counts) == (V, {"error": 1})


def test_the_estimate_needs_no_count(connection: Connection, some_logs: datetime) -> None:
    assert store.estimated_count(connection) >= 0
    connection.execute(sa.text("ANALYZE client_logs"))

    assert store.estimated_count(connection) == 6


# --- partitions ---


def test_partitions_are_made_ahead_and_only_once(connection: Connection, now: datetime) -> None:
    later = datetime(2031, 1, 1, tzinfo=UTC)

    made = store.ensure_partitions(connection, later, 2)

    assert made == 6  # two classes, three weeks
    assert store.ensure_partitions(connection, later, 2) == 0
    assert "client_logs_routine_2031w01" in store.weekly_partitions(connection)


def test_whole_weeks_are_dropped_when_their_class_has_been_kept_long_enough(
    connection: Connection, now: datetime
) -> None:
    old = datetime(2025, 3, 5, tzinfo=UTC)
    store.ensure_partitions(connection, old, 0)
    said = [line(1), line(2, level=LogLevel.ERROR)]
    client_logs.record(connection, old, CLOCK, said)
    client_logs.pass_over(connection, old, [(Boot(U, "i", 2), 1)])
    connection.execute(sa.update(log_marks).values(updated_at=old))
    client_logs.record(connection, now, CLOCK, [line(uuid=V, message="new")])

    after_routine = client_logs.drop_expired(connection, old + timedelta(days=40), 30)
    assert after_routine == ["client_logs_routine_2025w10"]
    assert messages(connection) == ["m2"]
    assert boots(connection) == [1, 2]

    after_serious = client_logs.drop_expired(connection, old + timedelta(days=100), 30)
    assert after_serious == ["client_logs_serious_2025w10"]
    assert (messages(connection), messages(connection, V)) == ([], ["new"])
    hours = connection.execute(sa.select(client_log_hours.c.client_uuid)).scalars().all()
    assert hours == [V]
    assert boots(connection) == [2]  # it may continue


def test_a_boot_that_logs_nothing_for_longer_than_logs_are_kept_goes_on_where_it_was(
    connection: Connection, now: datetime
) -> None:
    client_logs.record(connection, now, CLOCK, [line(seq) for seq in range(1, 6)])
    connection.execute(sa.update(log_marks).values(updated_at=now - timedelta(days=91)))

    client_logs.drop_expired(connection, now, 30)
    stored = client_logs.record(connection, now, CLOCK, [line(6)])

    assert list(stored.committed.values()) == [6]


def test_of_old_boots_the_running_one_and_the_last_to_speak_keep_their_marks(
    connection: Connection, now: datetime
) -> None:
    beats = {"client_uuid": U, "last_heartbeat_at": now, "install_id": "i", "boot_seq": 2, "seq": 1}
    connection.execute(sa.insert(client_heartbeats).values(**beats))
    for boot, days in ((1, 95), (2, 94), (3, 93)):  # its machine was restored to this boot
        client_logs.record(connection, now, CLOCK, [replace(line(1), boot_seq=boot)])
        theirs = log_marks.c.boot_seq == boot
        connection.execute(sa.update(log_marks).where(theirs).values(updated_at=now - timedelta(days=days)))

    client_logs.drop_expired(connection, now, 30)

    assert connection.execute(sa.select(log_marks.c.boot_seq).order_by(log_marks.c.boot_seq)).scalars().all() == [2, 3]


def test_the_mark_of_the_boot_that_a_display_is_in_stays_however_quiet_it_is(
    connection: Connection, now: datetime
) -> None:
    reports.record_heartbeats(connection, now, CLOCK, [Heartbeat(U, CLOCK, install_id="i", boot_seq=1, seq=9)])
    client_logs.record(connection, now, CLOCK, [line(seq) for seq in range(1, 501)])
    client_logs.pass_over(connection, now + timedelta(days=1), [(Boot(U, "i", 0), 1)])  # a late line of before

    client_logs.drop_expired(connection, now + timedelta(days=400), 30)
    after = client_logs.record(connection, now + timedelta(days=400), CLOCK, [line(501)])

    assert after.committed == {BOOT: 501}
