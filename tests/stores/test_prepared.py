"""Statements kept prepared: one round trip each, and nothing half-kept after whatever goes wrong.

What is asked of pg8000's private names is asked here too, so that an upgrade that moves them fails loudly.
"""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pg8000
import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError

from shared import prepared
from shared.db import engine_for, reading, sqlstate, transaction
from shared.prepared import MOST_KEPT, PreparingConnection

NAMES = "SELECT name FROM pg_prepared_statements ORDER BY name"


@pytest.fixture
def alone(database_url: str) -> Iterator[Engine]:
    """An engine with one connection: whoever comes next gets the same one."""
    engine = engine_for(database_url, "tests", pool_size=1)
    with transaction(engine) as connection:
        connection.execute(sa.text("CREATE TABLE IF NOT EXISTS things (id int PRIMARY KEY, word text)"))
        connection.execute(sa.text("TRUNCATE things"))
    yield engine
    with transaction(engine) as connection:
        connection.execute(sa.text("DROP TABLE things"))
    engine.dispose()


@pytest.fixture
def other(database_url: str) -> Iterator[Engine]:
    """Somebody else, who migrates."""
    engine = engine_for(database_url, "other", pool_size=1)
    yield engine
    engine.dispose()


def echo(connection: Connection, number: int) -> int:
    return int(connection.execute(sa.text("SELECT CAST(:number AS int)"), {"number": number}).scalar_one())


def add(connection: Connection, number: int, word: str = "one") -> None:
    connection.execute(sa.text("INSERT INTO things (id, word) VALUES (:id, :word)"), {"id": number, "word": word})


def word_of(connection: Connection, number: int) -> Any:
    return connection.execute(sa.text("SELECT word FROM things WHERE id = :id"), {"id": number}).scalar_one_or_none()


def raw(connection: Connection) -> PreparingConnection:
    found = connection.connection.dbapi_connection
    assert isinstance(found, PreparingConnection)
    return found


def kept_by_the_server(connection: Connection) -> list[str]:
    return list(connection.execute(sa.text(NAMES)).scalars())


def counting(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One entry for each wait for the server to be ready again: a round trip."""
    trips: list[None] = []
    waiting = PreparingConnection.handle_messages

    def wait(self: PreparingConnection, context: Any) -> None:
        trips.append(None)
        waiting(self, context)

    monkeypatch.setattr(PreparingConnection, "handle_messages", wait)
    return trips


# --- round trips ---


def test_these_tests_were_written_against_this_pg8000() -> None:
    """With another one, read docs/decisions/0012 again: it names what is leant on."""
    assert version("pg8000") == "1.31.6"


def test_a_transaction_of_three_statements_takes_four_round_trips(
    alone: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips = counting(monkeypatch)

    with transaction(alone) as connection:
        assert [echo(connection, number) for number in (1, 2, 3)] == [1, 2, 3]

    assert len(trips) == 4  # the beginning goes with the first statement; the commit is the fourth


def test_a_statement_without_parameters_takes_its_beginning_along(
    alone: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips = counting(monkeypatch)

    with transaction(alone) as connection:
        assert connection.execute(sa.text("SELECT 7")).scalar_one() == 7
        assert raw(connection)._in_transaction

    assert len(trips) == 2


def test_an_empty_transaction_asks_nothing(alone: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    trips = counting(monkeypatch)

    with transaction(alone):
        pass

    assert trips == []


def test_a_connection_that_was_idle_for_long_is_asked_before_it_is_used(
    alone: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction(alone) as connection:
        raw(connection).used_at -= prepared.TRUSTED_FOR_SECONDS + 1
        made = raw(connection)
    made.used_at -= prepared.TRUSTED_FOR_SECONDS + 1
    trips = counting(monkeypatch)

    with transaction(alone) as connection:
        assert raw(connection) is made

    assert len(trips) == 1


# --- what is kept ---


def test_a_statement_is_prepared_once(alone: Engine) -> None:
    with transaction(alone) as connection:
        for number in range(10):
            assert echo(connection, number) == number

        assert len(kept_by_the_server(connection)) == 1


def test_the_oldest_statements_make_room_on_the_server_too(alone: Engine) -> None:
    with transaction(alone) as connection:
        for number in range(MOST_KEPT + 20):
            connection.execute(sa.text(f"SELECT CAST(:value AS int) + {number}"), {"value": 1})
        assert echo(connection, 1) == 1

        assert len(kept_by_the_server(connection)) == MOST_KEPT
        assert connection.execute(sa.text("SELECT CAST(:value AS int) + 0"), {"value": 1}).scalar_one() == 1


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT CAST(:value AS int) /* " + "x" * prepared.LONGEST_KEPT + " */",
        "SELECT CAST(:value AS int) WHERE 1 IN (" + ", ".join(["CAST(:value AS int)"] * 80) + ")",
        "TABLE pg_class LIMIT CAST(:value AS int)",
    ],
    ids=["long text", "long list", "not a plain verb"],
)
def test_what_does_not_come_twice_is_not_kept(alone: Engine, statement: str) -> None:
    with transaction(alone) as connection:
        for _ in range(2):
            assert len(connection.execute(sa.text(statement), {"value": 1}).all()) == 1

        assert kept_by_the_server(connection) == []


def test_a_kept_statement_is_planned_for_its_values_each_time(alone: Engine) -> None:
    """Otherwise Postgres takes one plan for all after five runs: the wrong one for a rare level or one week."""
    with transaction(alone) as connection:
        for number in range(12):
            word_of(connection, number)

        assert plans(connection, "things") == (0, 12)


def planned_once(connection: Connection, divisor: int) -> int:
    text = "SELECT word IS NULL, 7 / CAST(:divisor AS int) FROM things WHERE id = 1 " + prepared.PLANNED_ONCE
    return int(connection.execute(sa.text(text), {"divisor": divisor}).one()[1])


def plans(connection: Connection, like: str) -> Any:
    text = f"SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%{like}%'"
    return tuple(connection.execute(sa.text(text)).one())


def test_a_statement_that_says_so_is_planned_once_and_the_others_still_each_time(alone: Engine) -> None:
    with transaction(alone) as connection:
        add(connection, 1)
        for number in range(1, 13):
            assert planned_once(connection, number) == 7 // number
            assert word_of(connection, number) == ("one" if number == 1 else None)

        assert plans(connection, "planned once") == (12, 0)
        assert plans(connection, "SELECT word FROM things") == (0, 12)


def test_one_plan_is_made_anew_after_a_while(alone: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with transaction(alone) as connection:
        add(connection, 1)
        for number in range(1, 4):
            planned_once(connection, number)
        assert plans(connection, "planned once") == (3, 0)

        monkeypatch.setattr(prepared, "PLAN_SECONDS", -1.0)
        planned_once(connection, 4)

        assert plans(connection, "planned once") == (1, 0)  # of the one that took its place


def test_the_mode_is_set_only_where_it_changes_or_an_error_may_have_taken_it_back(
    alone: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction(alone) as connection:
        add(connection, 1)
    sent: list[int] = []
    sending = PreparingConnection._send

    def send(self: PreparingConnection, data: bytes) -> None:
        sent.append(data.count(b"SET plan_cache_mode"))
        sending(self, data)

    monkeypatch.setattr(PreparingConnection, "_send", send)
    with reading(alone) as connection:
        echo(connection, 1)
        echo(connection, 1)
        for divisor in (2, 1):
            planned_once(connection, divisor)
        with pytest.raises(ProgrammingError):
            planned_once(connection, 0)
        planned_once(connection, 1)
        echo(connection, 1)

    assert sent == [0, 0, 1, 0, 0, 1, 1]


@pytest.mark.parametrize("where", ["in a transaction", "by itself", "in a savepoint"])
def test_when_it_fails_the_others_are_planned_each_time_again(alone: Engine, where: str) -> None:
    with transaction(alone) as connection:
        add(connection, 1)
        planned_once(connection, 1)

    if where == "in a savepoint":
        with transaction(alone) as connection:
            with pytest.raises(ProgrammingError), connection.begin_nested():
                planned_once(connection, 0)
            assert (
                connection.execute(sa.text("SELECT current_setting('plan_cache_mode')")).scalar_one()
                == "force_custom_plan"
            )
    else:
        with pytest.raises(ProgrammingError), (reading if where == "by itself" else transaction)(alone) as connection:
            planned_once(connection, 0)

    with transaction(alone) as connection:
        assert (
            connection.execute(sa.text("SELECT current_setting('plan_cache_mode')")).scalar_one() == "force_custom_plan"
        )
        assert planned_once(connection, 7) == 1


def test_behind_a_pooler_nothing_is_kept_and_a_statement_is_still_one_round_trip(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_for(database_url, "tests", pool_size=1, prepared=False)
    with transaction(engine) as connection:
        echo(connection, 1)
    trips = counting(monkeypatch)

    with transaction(engine) as connection:
        assert echo(connection, 2) == 2
    assert len(trips) == 2
    with transaction(engine) as connection:
        assert kept_by_the_server(connection) == []
    engine.dispose()


# --- what goes wrong ---


def test_a_statement_that_fails_at_its_first_run_is_not_half_kept(alone: Engine) -> None:
    for _ in range(2):
        with transaction(alone) as connection:
            add(connection, 1)
            connection.rollback()
        with pytest.raises(IntegrityError) as caught, transaction(alone) as connection:
            connection.execute(sa.text("INSERT INTO things VALUES (CAST(:id AS int)), (1)"), {"id": 1})
        assert sqlstate(caught.value) == "23505"

    with transaction(alone) as connection:
        add(connection, 2)
        assert len(kept_by_the_server(connection)) == 1  # the INSERT of `add`


def test_a_statement_that_cannot_be_parsed_leaves_nothing_behind(alone: Engine) -> None:
    for _ in range(3):
        with pytest.raises(ProgrammingError) as caught, transaction(alone) as connection:
            connection.execute(sa.text("SELECT nothing FROM things WHERE id = :id"), {"id": 1})
        assert sqlstate(caught.value) == "42703"

    with transaction(alone) as connection:
        assert echo(connection, 5) == 5
        assert len(kept_by_the_server(connection)) == 1


def test_a_savepoint_survives_a_statement_that_fails(alone: Engine) -> None:
    with transaction(alone) as connection:
        add(connection, 1)
        with pytest.raises(IntegrityError), connection.begin_nested():
            add(connection, 1)
        add(connection, 2)

    with transaction(alone) as connection:
        assert [word_of(connection, number) for number in (1, 2, 3)] == ["one", "one", None]


def test_nothing_runs_outside_a_transaction_that_could_not_begin(
    alone: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(prepared, "BEGIN", "SELECT 1 / 0")
        for statement, values in (
            ("INSERT INTO things VALUES (CAST(:id AS int), 'lost')", {"id": 9}),
            ("INSERT INTO things VALUES (9, 'lost')", {}),
        ):
            with pytest.raises(DBAPIError) as caught, transaction(alone) as connection:
                connection.execute(sa.text(statement), values)
            assert sqlstate(caught.value) == "22012"

    with transaction(alone) as connection:
        assert word_of(connection, 9) is None


def test_a_text_that_cannot_be_sent_is_refused_before_anything_is_sent(database_url: str) -> None:
    url = sa.make_url(database_url)
    connection = PreparingConnection(url.username, url.host, url.database, url.port, url.password)
    cursor = connection.cursor()
    for number in range(3):
        with pytest.raises(UnicodeEncodeError):
            cursor.execute("SELECT CAST(%s AS text)", ("\ud800",))
        assert not connection._in_transaction
        cursor.execute("SELECT CAST(%s AS int)", (number,))
        assert cursor.fetchall() == ([number],)
        connection.rollback()
    connection.close()
    with pytest.raises(pg8000.InterfaceError, match="connection is closed"):
        connection.cursor().execute("SELECT CAST(%s AS int)", (1,))


def retype(engine: Engine, kind: str) -> None:
    with transaction(engine) as connection:
        connection.execute(
            sa.text(f"ALTER TABLE things ALTER COLUMN word TYPE {kind} USING length(word)::text::{kind}")
        )


def forget(engine: Engine) -> Callable[[Engine], None]:
    """DISCARD on the connection itself, as a pooler does between two users."""

    def discard(_other: Engine) -> None:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("DISCARD ALL"))

    return discard


@pytest.mark.parametrize("how", ["migrated", "discarded"])
def test_the_first_statement_of_a_transaction_is_prepared_again_when_the_server_lost_it(
    alone: Engine, other: Engine, how: str
) -> None:
    with transaction(alone) as connection:
        add(connection, 1, "four")
        assert word_of(connection, 1) == "four"

    if how == "migrated":
        retype(other, "int")
    else:
        forget(alone)(other)

    with transaction(alone) as connection:
        assert word_of(connection, 1) == (4 if how == "migrated" else "four")


def write_and_read(engine: Engine) -> None:
    with transaction(engine) as connection:
        connection.execute(sa.text("INSERT INTO things (id) VALUES (2)"))
        word_of(connection, 1)


@pytest.mark.parametrize("how", ["migrated", "discarded"])
def test_later_in_a_transaction_it_is_an_error_that_the_callers_next_try_does_not_meet(
    alone: Engine, other: Engine, how: str
) -> None:
    with transaction(alone) as connection:
        add(connection, 1, "four")
        assert (word_of(connection, 1), echo(connection, 1)) == ("four", 1)
    if how == "migrated":
        retype(other, "int")
    else:
        forget(alone)(other)

    with pytest.raises(DBAPIError) as caught:
        write_and_read(alone)
    assert sqlstate(caught.value) in {"0A000", "26000"}

    with transaction(alone) as connection:
        connection.execute(sa.text("SELECT 1"))
        assert word_of(connection, 1) == (4 if how == "migrated" else "four")
        assert word_of(connection, 2) is None


@pytest.mark.parametrize("used", [True, False], ids=["a moment ago", "long ago"])
def test_a_connection_that_the_server_ended_is_replaced_before_it_is_used(
    alone: Engine, other: Engine, used: bool
) -> None:
    with transaction(alone) as connection:
        ended = raw(connection)
        pid = connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
    if not used:
        ended.used_at -= prepared.TRUSTED_FOR_SECONDS + 1
    with transaction(other) as connection:
        assert connection.execute(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid}).scalar_one()

    with transaction(alone) as connection:
        assert echo(connection, 3) == 3
        assert raw(connection) is not ended


# --- the same answers as pg8000's own ---

VALUES: list[tuple[str, Any]] = [
    ("int", 7),
    ("bigint", -(2**40)),
    ("text", "a 'quoted' \\ word % %s $1 é 💡"),
    ("text", ""),
    ("text", None),
    ("bool", True),
    ("float8", 1.5),
    ("numeric", Decimal("1.2300")),
    ("bytea", b"\x00\xff"),
    ("timestamptz", datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)),
    ("date", date(2026, 1, 2)),
    ("interval", timedelta(days=1, seconds=3)),
    ("uuid", UUID(int=5)),
    ("text[]", ["a", 'b"c', None, "{}"]),
    ("int[]", [1, 2, None]),
    ("jsonb", {"a": [1, None, "ü"]}),
]


@pytest.mark.parametrize(("kind", "value"), VALUES)
def test_every_kind_of_value_comes_back_as_from_pg8000_itself(database_url: str, kind: str, value: Any) -> None:
    url = sa.make_url(database_url)
    found = []
    for make in (pg8000.Connection, PreparingConnection):
        connection = make(url.username, url.host, url.database, url.port, url.password)
        cursor = connection.cursor()
        for _ in range(3):
            cursor.execute(f"SELECT CAST(%s AS {kind}) AS it, '50%%' LIKE '5%%', 7 %% 4, '%s'", (value,))
            found.append((cursor.fetchall(), cursor.description, cursor.rowcount))
        connection.close()

    assert all(one == found[0] for one in found)


def test_counts_and_returned_rows_are_those_of_pg8000_itself(database_url: str) -> None:
    url = sa.make_url(database_url)
    found = []
    for make in (pg8000.Connection, PreparingConnection):
        connection = make(url.username, url.host, url.database, url.port, url.password)
        cursor = connection.cursor()
        seen: list[Any] = []
        cursor.execute("CREATE TEMPORARY TABLE counted (id int, word text)")
        for statement, values in (
            ("INSERT INTO counted SELECT n, %s FROM generate_series(1, 5) AS n", ("x",)),
            ("UPDATE counted SET word = %s WHERE id > 2", ("y",)),
            ("DELETE FROM counted WHERE id = %s RETURNING id, word", (3,)),
            ("UPDATE counted SET word = %s WHERE id > 99", ("y",)),
            ("SELECT * FROM counted WHERE id < %s ORDER BY id", (3,)),
            ("SELECT * FROM counted WHERE id < %s ORDER BY id", (0,)),
            ("SET LOCAL work_mem = '8MB'", ()),
        ):
            for _ in range(2):
                cursor.execute(statement, values)
                rows = cursor.fetchall() if cursor.description else None
                seen.append((cursor.rowcount, cursor.description, rows))
        cursor.setinputsizes(25, 23)
        cursor.execute("SELECT %s, %s", ("a", 1))
        seen.append((cursor.description, cursor.fetchall()))
        cursor.executemany("INSERT INTO counted VALUES (%s, %s)", [(7, "a"), (8, "b")])
        seen.append(cursor.rowcount)
        connection.close()
        found.append(seen)

    assert found[0] == found[1]


def test_rows_can_be_read_through_a_cursor_of_the_server(alone: Engine) -> None:
    with transaction(alone) as connection:
        many = sa.select(sa.func.generate_series(1, 35))
        rows = connection.execution_options(stream_results=True, max_row_buffer=10).execute(many)

        assert [row[0] for row in rows] == list(range(1, 36))
        assert kept_by_the_server(connection) == []


def test_other_work_is_done_while_the_server_works_and_not_after_it_has_answered(alone: Engine) -> None:
    done: list[float] = []

    def work() -> bool:
        done.append(time.monotonic())
        time.sleep(0.001)
        return True

    with transaction(alone) as connection, prepared.meanwhile(connection, work):
        began = time.monotonic()
        connection.execute(sa.text("SELECT pg_sleep(CAST(:seconds AS float8))"), {"seconds": 0.2})
        ended, count = time.monotonic(), len(done)
        time.sleep(0.02)
        assert len(done) == count >= 20
        assert done[0] - began < 0.1
        assert done[-1] - began > 0.15
        assert ended - done[-1] < 0.1
    with transaction(alone) as connection:
        echo(connection, 1)
        assert raw(connection).meanwhile is None


def test_a_commit_that_is_refused_takes_the_mode_back_too(alone: Engine) -> None:
    """What is checked at the end fails there: the server is in the mode of before the transaction again."""
    with transaction(alone) as connection:
        connection.execute(sa.text("ALTER TABLE things ADD UNIQUE (word) DEFERRABLE INITIALLY DEFERRED"))
        add(connection, 1)

    def refused() -> None:
        with transaction(alone) as connection:
            planned_once(connection, 1)
            add(connection, 2)
            planned_once(connection, 1)

    with pytest.raises(DBAPIError, match="things_word_key"):
        refused()
    with reading(alone) as connection:
        planned_once(connection, 1)
        assert connection.execute(sa.text("SHOW plan_cache_mode")).scalar_one() == "force_generic_plan"


def test_a_long_answer_is_put_together_once(alone: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Piece by piece it would be copied for each piece: ten times as long, it would take a hundred times as much."""
    with reading(alone) as connection:
        echo(connection, 1)
        plainly, asked = raw(connection)._sock, list[int]()

        def counted(read: Callable[[int], bytes], size: int) -> bytes:
            asked.append(size)
            return read(size)

        with monkeypatch.context() as during:
            reads = SimpleNamespace(read=partial(counted, plainly.read), read1=partial(counted, plainly.read1))
            during.setattr(raw(connection), "_sock", reads)
            long = connection.execute(sa.text("SELECT repeat('word', CAST(:times AS int))"), {"times": 1_000_000})
            assert echo(connection, 2) == 2

    assert long.scalar_one() == "word" * 1_000_000
    assert len(asked) < 10


def test_work_that_has_come_to_its_end_is_not_asked_again_for_that_statement(alone: Engine) -> None:
    asked: list[int] = []

    def work() -> bool:
        asked.append(1)
        return False

    with transaction(alone) as connection, prepared.meanwhile(connection, work):
        for times in (1, 2):
            connection.execute(sa.text("SELECT pg_sleep(CAST(:seconds AS float8))"), {"seconds": 0.05})
            assert asked == [1] * times
        add(connection, 1)
    with transaction(alone) as connection:
        assert word_of(connection, 1) == "one"


def test_work_that_fails_costs_the_connection_and_never_gives_one_statement_the_answer_of_another(
    alone: Engine,
) -> None:
    def work() -> bool:
        raise RuntimeError("a fault of ours")

    def half_way() -> None:
        with transaction(alone) as connection:
            add(connection, 1)
            with prepared.meanwhile(connection, work):
                connection.execute(sa.text("SELECT pg_sleep(CAST(:seconds AS float8))"), {"seconds": 0.2})

    with pytest.raises(RuntimeError):
        half_way()
    for number in range(3):
        with transaction(alone) as connection:
            assert echo(connection, number) == number
            assert word_of(connection, 1) is None
