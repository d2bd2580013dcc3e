"""What is stored of a broken or hostile display stays bounded, and counts stay exact."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.client_logs import operations as client_logs
from shared.client_logs.rules import Boot, LogLine
from shared.clients.reports import operations as reports
from shared.leadership import dead_letters_store
from shared.leadership import operations as leadership
from shared.postgres.door import database_now
from shared.vocabulary import DeadLetterReason as Reason
from shared.vocabulary import LogLevel

U = "11111111-1111-4111-8111-111111111111"
V = "22222222-2222-4222-8222-222222222222"


def rows(connection: Connection, question: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in connection.execute(sa.text(question), {"u": U})]


def value(connection: Connection, question: str) -> object:
    ((found,),) = rows(connection, question)
    return found


def spoiled(first: int, count: int, topic: str = f"signage/{U}/heartbeat") -> list[tuple[str, bytes, Reason, None]]:
    return [(topic, b"{%d" % number, Reason.NOT_JSON, None) for number in range(first, first + count)]


@pytest.mark.parametrize("at_once", [1000, 70])
def test_of_one_senders_dead_letters_two_hundred_are_kept_and_all_are_counted(
    connection: Connection, at_once: int
) -> None:
    now = database_now(connection)

    for first in range(0, 1000, at_once):
        leadership.put_aside(connection, now, spoiled(first, min(at_once, 1000 - first)))

    assert value(connection, "SELECT sum(count) FROM dead_letters WHERE sender = :u") == 1000
    assert value(connection, "SELECT count(*) FROM dead_letters WHERE sender = :u AND payload <> ''") == 200
    assert rows(connection, "SELECT topic, payload, sha256, count FROM dead_letters WHERE payload = ''") == [
        (f"signage/{U}/heartbeat", b"", "many", 800)
    ]


def test_a_sender_without_room_costs_nobody_else_any(connection: Connection) -> None:
    now = database_now(connection)
    leadership.put_aside(connection, now, spoiled(0, 300))

    leadership.put_aside(connection, now, [*spoiled(300, 5), *spoiled(0, 3, f"signage/{V}/health")])

    kept = "SELECT sender, count(*) FROM dead_letters WHERE payload <> '' GROUP BY sender ORDER BY sender"
    assert rows(connection, kept) == [(U, 200), (V, 3)]


def test_what_is_kept_is_counted_up_though_there_is_no_room_for_another(connection: Connection) -> None:
    now = database_now(connection)
    leadership.put_aside(connection, now, spoiled(0, 300))

    leadership.put_aside(connection, now, spoiled(0, 1) * 7)

    assert value(connection, "SELECT max(count) FROM dead_letters WHERE payload <> ''") == 8
    assert value(connection, "SELECT sum(count) FROM dead_letters") == 307


def test_log_levels_that_nobody_knows_do_not_make_rows_without_end(connection: Connection) -> None:
    topics = [f"signage/{U}/logs/{number}" for number in range(1000)]

    leadership.put_aside(connection, database_now(connection), [(t, b"x", Reason.UNKNOWN_TOPIC, None) for t in topics])

    assert value(connection, "SELECT count(*) FROM dead_letters") == 201
    assert value(connection, "SELECT count FROM dead_letters WHERE topic = 'signage/' || :u || '/logs'") == 800


def test_dead_letters_that_nobody_repeats_go_in_the_end(connection: Connection) -> None:
    now = database_now(connection)
    leadership.put_aside(connection, now - timedelta(days=31), spoiled(0, 2))
    leadership.put_aside(connection, now, spoiled(1, 1))

    assert dead_letters_store.drop(connection, now - timedelta(days=30)) == 1
    assert value(connection, "SELECT sum(count) FROM dead_letters") == 2


def register(connection: Connection) -> None:
    connection.execute(sa.text("INSERT INTO clients (uuid, registered_by) VALUES (:u, 'enrolment')"), {"u": U})


def test_a_display_with_another_installation_in_each_message_keeps_the_newest(connection: Connection) -> None:
    register(connection)
    now = database_now(connection)

    for first in range(0, 100, 20):
        reports.note_installs(connection, now, [(U, f"installation {n}") for n in range(first, first + 20)])

    kept = "SELECT install_id, ordinal FROM client_installs WHERE client_uuid = :u ORDER BY ordinal"
    assert rows(connection, kept) == [(f"installation {n}", n + 1) for n in range(68, 100)]


def test_a_display_that_boots_often_keeps_the_marks_of_a_day_and_of_its_last_boots(connection: Connection) -> None:
    register(connection)
    now = database_now(connection)
    for boot in range(50):
        client_logs.pass_over(connection, now + timedelta(hours=boot), [(Boot(U, "i", boot), 5)])  # behind a gap

    for table in ("log_marks", "log_keys"):
        assert rows(connection, f"SELECT boot_seq FROM {table} ORDER BY boot_seq") == [(n,) for n in range(25, 50)]

    client_logs.pass_over(connection, now + timedelta(days=9), [(Boot(U, "j", boot), 5) for boot in range(10)])

    for table in ("log_marks", "log_keys"):
        kept = rows(connection, f"SELECT install_id, boot_seq FROM {table} ORDER BY install_id, boot_seq")
        assert kept == [*(("i", n) for n in range(44, 50)), *(("j", n) for n in range(10))]


def test_a_display_with_another_boot_in_each_line_keeps_a_thousand_marks(connection: Connection) -> None:
    register(connection)
    now = database_now(connection)
    for first in range(0, 1500, 500):
        at = now + timedelta(seconds=first)
        client_logs.pass_over(connection, at, [(Boot(U, "i", boot), 5) for boot in range(first, first + 500)])

    for table in ("log_marks", "log_keys"):
        found = rows(connection, f"SELECT count(*), min(boot_seq), max(boot_seq) FROM {table}")
        assert found == [(1000, 500, 1499)]


def test_twenty_boots_that_come_again_are_stored_once(connection: Connection) -> None:
    register(connection)
    now = database_now(connection)
    lines = [log_line(boot, seq) for boot in range(1, 21) for seq in (1, 2, 3)]

    counts = [client_logs.record(connection, now, 1000.0, batch).count for batch in (lines[:30], lines[30:], lines)]

    assert counts == [30, 30, 0]
    assert rows(connection, "SELECT count(*) FROM client_logs") == [(60,)]


def log_line(boot_seq: int, seq: int) -> LogLine:
    stamp: dict[str, Any] = {"install_id": "i", "boot_seq": boot_seq, "seq": seq}
    return LogLine(U, 1000.0, LogLevel.INFO, None, f"line {seq} of boot {boot_seq}", **stamp)
