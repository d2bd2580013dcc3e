"""The health history on real Postgres: which samples are kept, for how long; a repeat changes nothing."""

import secrets
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from extensions.history import health_operations, health_store
from extensions.history.health_rules import BUNCHES, EVERY, TURNS, due
from shared.errors import ClientNotFound
from shared.postgres.door import database_now, transaction
from shared.tables import client_health, client_health_history, clients
from tests.stores.commands_world import add_client
from tests.stores.query_plans import plan_of

WEEK = timedelta(days=7)
MEASURES = {"cpu_percent": 12.3, "memory_percent": 45.6, "disk_percent": 78.9, "temperature_celsius": -4.5}


@pytest.fixture(autouse=True)
def nothing_kept(connection: Connection) -> None:
    connection.execute(sa.delete(client_health_history))
    connection.execute(sa.delete(client_health))


def report(connection: Connection, uuid: str, at: datetime, measures: Mapping[str, float | None] = MEASURES) -> None:
    """Store a client's newest health report."""
    connection.execute(sa.delete(client_health).where(client_health.c.client_uuid == uuid))
    connection.execute(sa.insert(client_health).values(client_uuid=uuid, received_at=at, body={}, **measures))


def sample_all(connection: Connection, now: datetime) -> int:
    """Sample every turn once, as a first tick does. Returns the number of rows."""
    return sum(health_operations.sample(connection, now, turn, at)[0] for turn, at in due(None, now))


def cpu_of(connection: Connection, uuid: str, now: datetime) -> list[float | None]:
    """The processor loads kept for the last hour, without gaps."""
    found = health_operations.history(connection, now, uuid, now - timedelta(hours=1), now + EVERY)
    return [point.cpu_percent for point in found.points if point.cpu_percent is not None]


def test_what_was_reported_comes_back_as_it_was_for_each_display_its_own(connection: Connection, now: datetime) -> None:
    """There are many displays, so that they share rows; some values have decimals, some are negative."""
    told = {add_client(connection, now): float(number % 1000) / 10 for number in range(200)}
    for uuid, cpu in told.items():
        report(connection, uuid, now, {**MEASURES, "cpu_percent": cpu, "memory_percent": 100.0 - cpu})

    rows = sample_all(connection, now)

    assert 100 < rows < 200  # the hash decides: some displays share a row, and not all share one
    for uuid, cpu in told.items():
        (one,) = health_store.samples_of(connection, uuid, now - EVERY, now + EVERY)
        assert (one.cpu_percent, one.disk_percent, one.temperature_celsius) == (cpu, 78.9, -4.5)
        assert one.memory_percent == pytest.approx(100.0 - cpu)


def test_each_turn_samples_its_own_displays_and_all_turns_together_everybody(
    connection: Connection, now: datetime
) -> None:
    everybody = {add_client(connection, now) for _ in range(100)}
    for uuid in everybody:
        report(connection, uuid, now)

    seen: list[str] = []
    for turn, at in due(None, now):
        before = set(seen)
        health_operations.sample(connection, now, turn, at)
        rows = connection.execute(sa.select(client_health_history).where(client_health_history.c.at == at)).all()
        assert {row.bunch % TURNS for row in rows} == {turn}
        assert not before & {uuid for row in rows for uuid in row.clients}
        seen += [uuid for row in rows for uuid in row.clients]

    assert sorted(seen) == sorted(everybody)


def test_doing_it_again_changes_nothing(connection: Connection, now: datetime, client: str) -> None:
    report(connection, client, now)
    sample_all(connection, now)
    report(connection, client, now, {**MEASURES, "cpu_percent": 99.0})

    assert sample_all(connection, now) == 0

    assert cpu_of(connection, client, now) == [12.3]


def test_two_at_once_keep_it_once(engine: Engine) -> None:
    with transaction(engine) as connection:
        now = database_now(connection)
        uuid = add_client(connection, now)
        report(connection, uuid, now)

    def tick(_: int) -> int:
        with transaction(engine) as connection:
            return sample_all(connection, now)

    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(tick, range(4)))

    with transaction(engine) as connection:
        assert sum(rows) == 1
        assert cpu_of(connection, uuid, now) == [12.3]
        connection.execute(sa.delete(client_health_history))
        connection.execute(sa.delete(client_health))


def test_a_display_that_fell_silent_leaves_a_gap(connection: Connection, now: datetime, client: str) -> None:
    for minutes, heard in ((20, 20), (15, 15), (10, 15), (5, 15), (0, 0)):
        moment = now - timedelta(minutes=minutes)
        report(connection, client, now - timedelta(minutes=heard), {**MEASURES, "cpu_percent": float(heard)})
        sample_all(connection, moment)

    found = health_operations.history(connection, now, client, now - timedelta(minutes=30), now)

    told = [point.cpu_percent for point in found.points]
    assert [value for value in told if value is not None] in ([20.0, 15.0, 0.0], [20.0, 15.0])  # its turn may be now
    assert told[told.index(15.0) + 1 :][:2] == [None, None]


def test_a_display_that_measures_nothing_takes_no_room(connection: Connection, now: datetime, client: str) -> None:
    report(connection, client, now, dict.fromkeys(MEASURES))

    assert sample_all(connection, now) == 0


def test_a_measure_that_is_not_told_stays_unknown_among_others_that_are(
    connection: Connection, now: datetime, client: str
) -> None:
    report(connection, client, now, {**MEASURES, "temperature_celsius": None})
    sample_all(connection, now)

    found = health_operations.history(connection, now, client, now - timedelta(hours=1), now)

    assert found.summary.temperature_celsius is None
    cpu = found.summary.cpu_percent
    assert cpu is None or cpu.last == 12.3


def test_whatever_the_bridge_lets_in_can_be_kept(connection: Connection, now: datetime) -> None:
    hot, cold = add_client(connection, now), add_client(connection, now)
    report(connection, hot, now, {**MEASURES, "cpu_percent": 99.99999, "temperature_celsius": 300.0})
    report(connection, cold, now, {**MEASURES, "cpu_percent": 1e-300, "temperature_celsius": -100.0})

    sample_all(connection, now)

    assert [one.temperature_celsius for one in health_store.samples_of(connection, hot, now - EVERY, now + EVERY)] == [
        300.0
    ]
    assert cpu_of(connection, cold, now + EVERY) == [0.0]


def fill(connection: Connection, now: datetime, days: int) -> None:
    """Store a sample each hour for two bunches of turn 0 and one bunch of turn 1."""
    connection.execute(
        sa.text(
            """
            INSERT INTO client_health_history (bunch, at, clients, cpu, memory, disk, temperature)
            SELECT bunch, CAST(:now AS timestamptz) - n * interval '1 hour', '{}', '{}', '{}', '{}', '{}'
            FROM generate_series(0, 24 * :days - 1) AS n, unnest(ARRAY[0, 5, 1]) AS bunch
            """
        ),
        {"now": now, "days": days},
    )


def ages(connection: Connection, now: datetime, bunch: int) -> list[timedelta]:
    at = client_health_history.c.at
    rows = connection.execute(sa.select(at).where(client_health_history.c.bunch == bunch).order_by(at.desc()))
    return [now - row.at for row in rows]


def test_what_is_too_old_goes_with_its_turn_and_little_by_little(connection: Connection, now: datetime) -> None:
    """After weeks without ticks, one tick must not do all the work."""
    fill(connection, now, 10)

    dropped = [health_operations.sample(connection, now, 0, now)[1] for _ in range(5)]

    assert dropped == [2 * health_store.AT_MOST] * 2 + [2 * (3 * 24 - 1 - 2 * health_store.AT_MOST)] + [
        0,
        0,
    ]
    for bunch in (0, 5):
        assert max(ages(connection, now, bunch)) == WEEK
    assert len(ages(connection, now, 1)) == 240


def test_more_is_dropped_than_can_come(connection: Connection) -> None:
    """A tick adds at most one row to each bunch of its turn, and drops up to AT_MOST of each."""
    assert BUNCHES % TURNS == 0
    assert health_store.AT_MOST > 1


def test_a_history_is_told_as_far_as_it_is_kept_and_only_of_a_known_client(
    connection: Connection, now: datetime, client: str
) -> None:
    found = health_operations.history(connection, now, client, now - timedelta(days=4000), now + timedelta(days=1))
    over = health_operations.history(connection, now, client, now - timedelta(days=40), now - timedelta(days=30))

    assert (found.since, found.until) == (now - WEEK, now)
    assert over.points == []
    with pytest.raises(ClientNotFound):
        health_operations.history(connection, now, f"{secrets.token_hex(4)}-0000-4000-8000-000000000000", now, now)
    connection.execute(sa.update(clients).where(clients.c.uuid == client).values(deleted_at=now))
    with pytest.raises(ClientNotFound):
        health_operations.history(connection, now, client, now - WEEK, now)


def test_one_display_is_read_by_its_bunchs_key(connection: Connection, now: datetime, client: str) -> None:
    connection.execute(
        sa.text(
            """
            INSERT INTO client_health_history (bunch, at, clients, cpu, memory, disk, temperature)
            SELECT bunch, CAST(:now AS timestamptz) - n * interval '5 minutes', '{}', '{}', '{}', '{}', '{}'
            FROM generate_series(1, 20) AS n, generate_series(0, 999) AS bunch
            """
        ),
        {"now": now},
    )
    connection.execute(sa.text("ANALYZE client_health_history"))

    since = now - timedelta(hours=24)
    plan = plan_of(connection, lambda c: health_store.samples_of(c, client, since, now))

    assert any(node.get("Index Name") == "pk_client_health_history" for node in plan), plan
    assert not any(node["Node Type"] == "Seq Scan" for node in plan), plan


def test_nothing_was_put_in_the_way_of_a_report(connection: Connection) -> None:
    """Sampling reads rows that the bridge writes anyway: one index, and no trigger except the foreign key's."""
    question = """
        SELECT (SELECT count(*) FROM pg_index WHERE indrelid = 'client_health'::regclass),
            (SELECT count(*) FROM pg_trigger WHERE tgrelid = 'client_health'::regclass AND NOT tgisinternal)
    """

    assert tuple(connection.execute(sa.text(question)).one()) == (1, 0)
