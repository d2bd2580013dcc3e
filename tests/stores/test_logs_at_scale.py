"""Queries on weeks of logs: an index serves each, and retention drops whole weeks.

The plans are those of the statements that the store functions send, with their parameters.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from deploy.local import postgres
from extensions.history import store as history
from shared.client_logs import feed_store, hourly_counts_store, store
from shared.client_logs import operations as client_logs
from shared.leadership import dead_letters_store
from shared.vocabulary import LogLevel
from tests.stores.query_plans import plan_of, planned_before, read_in_sequence, rows_read, statements_of
from tests.stores.weeks_of_logs import CLIENTS, FILL, FULL_WEEK, LINES, LOUD, NOW, QUIET, SHARE, WEEKS


@pytest.fixture(scope="module")
def filled(engine: Engine, postgres_server: postgres.Cluster) -> Engine:
    """Six weeks of logs; one client has three of ten lines, the others share the rest evenly."""
    numbers = {"clients": CLIENTS, "weeks": WEEKS, "lines": LINES, "share": SHARE}
    with postgres.superuser(postgres_server, str(engine.url.database)) as connection:
        connection.run("SET session_replication_role = replica")  # no checks of foreign keys: half the time
        connection.run(f"SET ROLE {postgres.OWNER}")
        for statement in FILL:  # in parts, because on a busy machine one statement would exceed the socket's timeout
            for first in range(1, LINES, SHARE) if ":first" in statement else (1,):
                connection.run(statement, **{**numbers, "first": first})
    return engine


@pytest.fixture
def scaled(filled: Engine) -> Iterator[Connection]:
    """A connection to that database whose changes are rolled back."""
    with filled.connect() as opened, opened.begin() as begun:
        yield opened
        begun.rollback()


def page(uuid: str, **wanted: Any) -> Callable[[Connection], Any]:
    asked: dict[str, Any] = {"levels": (), "since": None, "until": None, "text": None, "limit": 101, "cursor": None}
    return lambda connection: store.page_of_client(connection, uuid, **{**asked, **wanted})


HOW = pytest.mark.parametrize("kept", [False, True], ids=["the first time", "kept"])
SERIOUS = (LogLevel.ERROR, LogLevel.CRITICAL)
PAGES: list[tuple[str, str, dict[str, Any]]] = [
    ("the newest", LOUD, {}),
    ("of a quiet client", QUIET, {}),
    ("errors only", LOUD, {"levels": SERIOUS}),
    ("one routine level", LOUD, {"levels": (LogLevel.WARNING,)}),
    ("a time range", LOUD, {"since": timedelta(days=20), "until": timedelta(days=19)}),
    ("from a cursor on", LOUD, {"cursor": timedelta(days=15)}),
    ("a text that is common", LOUD, {"text": "PLAYER"}),
    ("a text within a time range", LOUD, {"text": "999 of", "since": timedelta(days=3)}),
    ("a text and a level of a quiet client", QUIET, {"text": "nowhere", "levels": SERIOUS}),
]


@HOW
@pytest.mark.parametrize(("what", "uuid", "wanted"), PAGES, ids=[what for what, _, _ in PAGES])
def test_a_page_of_a_clients_logs_reads_no_partition_from_end_to_end(
    scaled: Connection, what: str, uuid: str, wanted: dict[str, Any], kept: bool
) -> None:
    moments = {name: NOW - value if isinstance(value, timedelta) else value for name, value in wanted.items()}
    if "cursor" in wanted:
        moments["cursor"] = (moments["cursor"], 0)

    plan = plan_of(scaled, page(uuid, **moments), kept=kept)

    assert read_in_sequence(plan) == []


@HOW
def test_a_page_reads_about_as_many_lines_as_it_shows(scaled: Connection, kept: bool) -> None:
    assert rows_read(plan_of(scaled, page(LOUD), kept=kept)) < 1000
    assert rows_read(plan_of(scaled, page(LOUD, levels=SERIOUS), kept=kept)) < 1000


def test_a_client_who_is_none_has_no_page(scaled: Connection) -> None:
    nobody = "00000000-0000-4000-8000-00000000dead"
    assert page(nobody)(scaled) is None
    assert page(QUIET)(scaled)

    scaled.execute(sa.text("UPDATE clients SET deleted_at = now() WHERE uuid = :uuid"), {"uuid": QUIET})

    assert page(QUIET)(scaled) is None


PLANNED_BEFORE: list[tuple[str, Callable[[datetime], Callable[[Connection], Any]]]] = [
    ("a page", lambda _now: page(QUIET)),
    ("the next page", lambda now: page(QUIET, cursor=(now + timedelta(weeks=30), 0))),
]


@pytest.mark.parametrize(("what", "asks"), PLANNED_BEFORE, ids=[what for what, _ in PLANNED_BEFORE])
def test_a_plan_that_was_made_before_a_week_began_reads_little_when_it_is_full(
    scaled: Connection, what: str, asks: Callable[[datetime], Callable[[Connection], Any]]
) -> None:
    """A generic plan may be used until the week is analysed, so it must be good without statistics of the week."""
    then = NOW + timedelta(weeks=20)
    store.ensure_partitions(scaled, then, 0)
    with planned_before(scaled, asks(then - timedelta(days=1))) as plan:
        scaled.execute(sa.text(FULL_WEEK), {"then": then, "loud": LOUD, "quiet": QUIET})

        assert rows_read(plan()) < 1000, what
        assert read_in_sequence(plan()) == []


@HOW
@pytest.mark.parametrize("hours", [1, 24, 24 * 30])
def test_recent_errors_are_found_by_an_index_and_without_routine_partitions(
    scaled: Connection, hours: int, kept: bool
) -> None:
    since = NOW - timedelta(hours=hours)

    plan = plan_of(scaled, lambda connection: store.recent_errors(connection, since, 101, None), kept=kept)

    assert read_in_sequence(plan) == []
    assert not [node for node in plan if "routine" in node.get("Relation Name", "") and node["Actual Loops"]]
    assert rows_read(plan) < 2000


@HOW
def test_the_next_lines_of_all_displays_are_found_by_an_index(scaled: Connection, kept: bool) -> None:
    newest = feed_store.horizon(scaled).newest
    middle = newest - newest // 2

    end = plan_of(scaled, feed_store.horizon, kept=False)  # it has no values
    page = plan_of(scaled, lambda connection: feed_store.between(connection, middle, newest, 500), kept=kept)

    assert read_in_sequence(page) == []
    assert rows_read(end) < 100
    assert rows_read(page) < 5_000


@HOW
def test_the_next_page_of_recent_errors_too(scaled: Connection, kept: bool) -> None:
    plan = plan_of(
        scaled,
        lambda connection: store.recent_errors(connection, NOW - timedelta(days=40), 101, (NOW - timedelta(days=9), 0)),
        kept=kept,
    )

    assert read_in_sequence(plan) == []
    assert rows_read(plan) < 2000


@HOW
def test_the_summary_reads_the_roll_up_of_its_hours_and_no_line(scaled: Connection, kept: bool) -> None:
    since = NOW - timedelta(hours=24)

    plan = plan_of(scaled, lambda connection: hourly_counts_store.summary(connection, since), kept=kept)

    assert read_in_sequence(plan) == []
    assert {node["Relation Name"] for node in plan if "Relation Name" in node} == {"client_log_hours", "clients"}


@HOW
def test_the_summary_of_one_client_reads_its_own_hours_and_nobody_elses(scaled: Connection, kept: bool) -> None:
    since = NOW - timedelta(days=30)

    plan = plan_of(scaled, lambda connection: hourly_counts_store.summary(connection, since, LOUD), kept=kept)

    assert read_in_sequence(plan) == []
    own = scaled.execute(sa.text("SELECT count(*) FROM client_log_hours WHERE client_uuid = :loud"), {"loud": LOUD})
    assert rows_read(plan) <= 2 * own.scalar_one() + 2  # each counts twice: in the index and in the table


@HOW
@pytest.mark.parametrize("hours", [None, 2])
def test_dead_letters_are_read_by_their_index(scaled: Connection, hours: int | None, kept: bool) -> None:
    cursor = (NOW - timedelta(hours=hours), 5) if hours else None

    plan = plan_of(scaled, lambda connection: dead_letters_store.page(connection, 26, cursor), kept=kept)

    assert read_in_sequence(plan) == []
    assert rows_read(plan) < 100


@HOW
def test_uptime_reads_the_changes_of_its_client_by_their_index(scaled: Connection, kept: bool) -> None:
    since = NOW - timedelta(days=3)

    plan = plan_of(scaled, lambda connection: history.state_changes(connection, LOUD, since, 50_000), kept=kept)

    assert read_in_sequence(plan) == []
    assert rows_read(plan) < 300


@HOW
@pytest.mark.parametrize("days", [None, 11])
def test_a_timeline_reads_no_logs_from_end_to_end(scaled: Connection, days: int | None, kept: bool) -> None:
    after = (NOW - timedelta(days=days), "log", "") if days else None

    plan = plan_of(scaled, lambda connection: history.timeline(connection, LOUD, 26, after), kept=kept)

    assert read_in_sequence(plan) == []
    assert rows_read(plan) < 1000


def test_these_tests_see_a_question_that_no_index_serves(scaled: Connection) -> None:
    question = sa.text("SELECT count(*) FROM client_logs WHERE logger = 'nobody'")

    plan = plan_of(scaled, lambda connection: connection.execute(question).scalar_one())

    assert len(read_in_sequence(plan)) >= 2 * WEEKS
    assert rows_read(plan) >= LINES


# --- retention ---


def test_retention_drops_partitions_class_by_class_and_deletes_no_line(scaled: Connection) -> None:
    before = set(store.weekly_partitions(scaled))
    oldest = scaled.execute(sa.text("SELECT min(received_at) FROM client_logs WHERE level = 'error'")).scalar_one()

    sent = statements_of(scaled, lambda connection: client_logs.drop_expired(connection, NOW, 14))

    gone = before - set(store.weekly_partitions(scaled))
    assert {name.rpartition("_")[0] for name in gone} == {"client_logs_routine"}
    assert len(gone) == WEEKS - 2
    assert [statement for statement in sent if "DELETE FROM client_logs" in statement] == []
    serious = scaled.execute(sa.text("SELECT min(received_at) FROM client_logs WHERE level = 'error'")).scalar_one()
    routine = scaled.execute(sa.text("SELECT min(received_at) FROM client_logs WHERE level = 'debug'")).scalar_one()
    assert serious == oldest
    assert NOW - timedelta(days=21) <= routine <= NOW - timedelta(days=14)


def test_partitions_are_there_weeks_before_they_are_needed(scaled: Connection) -> None:
    store.ensure_partitions(scaled, NOW, 3)

    for class_name in ("routine", "serious"):
        for weeks in range(4):
            name = (NOW + timedelta(weeks=weeks)).strftime(f"client_logs_{class_name}_%Gw%V")
            assert name in store.weekly_partitions(scaled)


def test_what_came_for_a_week_without_a_partition_moves_into_it_when_it_is_made(scaled: Connection) -> None:
    then = NOW + timedelta(weeks=40)
    stray = sa.text(
        "INSERT INTO client_logs (client_uuid, level, message, received_at) VALUES (:uuid, 'error', 'stray', :at),"
        " (:uuid, 'debug', 'stray', :at), (:uuid, 'error', 'long ago', :past)"
    )
    past = NOW - timedelta(weeks=30)
    scaled.execute(stray, {"uuid": QUIET, "at": then, "past": past})
    assert lines_in(scaled, "client_logs_serious_other") == 2

    made = store.ensure_partitions(scaled, then, 1)

    assert made == 5  # two classes of two weeks, and the old week
    for class_name in ("routine", "serious"):
        assert lines_in(scaled, f"client_logs_{class_name}_other") == 0
        assert lines_in(scaled, then.strftime(f"client_logs_{class_name}_%Gw%V")) == 1
    assert lines_in(scaled, past.strftime("client_logs_serious_%Gw%V")) == 1
    assert store.ensure_partitions(scaled, then, 1) == 0
    dropped = client_logs.drop_expired(scaled, then - timedelta(weeks=40), 30)
    assert past.strftime("client_logs_serious_%Gw%V") in dropped


def test_a_partition_that_was_made_late_is_like_every_other(scaled: Connection) -> None:
    then = NOW + timedelta(weeks=50)
    stray = sa.text(
        "INSERT INTO client_logs (client_uuid, level, message, received_at) VALUES (:uuid, 'error', 's', :at)"
    )
    scaled.execute(stray, {"uuid": QUIET, "at": then})
    store.ensure_partitions(scaled, then, 1)

    late, normal = (
        scaled.execute(
            sa.text(
                "SELECT (SELECT array_agg(regexp_replace(pg_get_indexdef(indexrelid), '[0-9]{4}w[0-9]{2}\\w*', '', 'g')"
                " ORDER BY 1) FROM pg_index WHERE indrelid = t.oid),"
                " (SELECT array_agg(pg_get_constraintdef(oid) ORDER BY contype, conname)"
                " FROM pg_constraint WHERE conrelid = t.oid)"
                " FROM (SELECT CAST(:name AS regclass)::oid AS oid) AS t"
            ),
            {"name": at.strftime("client_logs_serious_%Gw%V")},
        ).one()
        for at in (then, then + timedelta(weeks=1))
    )

    assert sorted(late[1]) == sorted(normal[1])
    assert len(late[0]) == len(normal[0]) == 3
    with pytest.raises(sa.exc.DBAPIError, match="foreign key"), scaled.begin_nested():
        scaled.execute(stray, {"uuid": "00000000-0000-4000-8000-00000000dead", "at": then})


def lines_in(connection: Connection, table: str) -> int:
    return int(connection.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar_one())
