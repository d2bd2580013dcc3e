"""One tick and its effects, with a real process, Postgres, broker and queue."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from deploy.parts.broker import RunningBroker
from deploy.parts.probes import free_port
from functions.scheduler_tick.steps import LATE_STEPS, STEPS, TICK_LOCK
from shared.postgres.door import database_now
from shared.tables import (
    bridge_status,
    client_commands,
    client_heartbeats,
    client_recovery,
    clients,
    conversions,
    event_media,
    incident_members,
    incidents,
    recovery_breakers,
    uploads,
)
from shared.typed import convert
from shared.words.reader import english
from shared.words.sentences import Sentence
from tests.local.queue_harness import QUEUE_SECRET, emulator
from tests.stores.commands_world import committed, issued, new_client, request
from tests.stores.listening_display import listening_display
from tests.tick.conftest import Start, TickFunction
from tests.tick.world import commands_of, crashed_client, last_tick, set_last_tick


def test_a_tick_does_every_step_and_writes_down_what_it_did(recovering: TickFunction, engine: Engine) -> None:
    set_last_tick(engine, None)

    report = recovering.tick()

    assert (list(report["did"]), report["failed"], report["late"]) == (list(STEPS), [], False)
    written = last_tick(engine)
    assert written["did"] == {**report["did"], "failed": [], "late": False}
    assert written["duration_ms"] == report["duration_ms"]


def test_a_silent_displays_command_expires_with_recovery_off(expiring: TickFunction, engine: Engine) -> None:
    name = issued(engine, request(new_client(engine)))
    with engine.begin() as connection:
        past = database_now(connection) - timedelta(minutes=5)
        connection.execute(
            sa.update(client_commands)
            .where(client_commands.c.id == name)
            .values(created_at=past, expires_at=past + timedelta(minutes=1))
        )
    set_last_tick(engine, None)

    report = expiring.tick()

    row = committed(engine, name)
    assert report["did"]["expire"]["expired"] >= 1
    assert (row["state"], row["outcome_reason"]) == ("expired", "never_published")


def test_with_recovery_off_a_crashed_display_gets_nothing(expiring: TickFunction, engine: Engine) -> None:
    client = crashed_client(engine)
    set_last_tick(engine, None)

    expiring.tick()

    assert commands_of(engine, client) == []


def test_a_crashed_display_is_restarted_once_by_overlapping_ticks(
    recovering: TickFunction, engine: Engine, broker: RunningBroker
) -> None:
    client = crashed_client(engine)
    set_last_tick(engine, None)

    with listening_display(broker, client) as got:
        with ThreadPoolExecutor(2) as pool:
            replies = list(pool.map(lambda _: recovering.call(), range(2)))
        first = got.get(timeout=60)
        recovering.tick()

    assert [reply.status_code for reply in replies] == [200, 200]
    [row] = commands_of(engine, client)
    assert (row["source"], row["state"], row["publish_attempts"]) == ("recovery", "sent", 1)
    assert row["id"].encode() in first.payload
    assert got.empty()


def test_a_crashed_display_that_nobody_listens_for_is_not_locked(recovering: TickFunction, engine: Engine) -> None:
    client = crashed_client(engine)
    set_last_tick(engine, None)

    recovering.tick()

    [row] = commands_of(engine, client)
    assert (row["state"], row["outcome_reason"]) == ("cancelled", "no_subscriber")
    with engine.connect() as connection:
        until = sa.select(clients.c.lockout_until).where(clients.c.uuid == client)
        assert connection.execute(until).scalar_one() is None


def test_what_the_api_left_over_is_published(expiring: TickFunction, engine: Engine, broker: RunningBroker) -> None:
    client = new_client(engine)
    name = issued(engine, request(client))
    set_last_tick(engine, None)

    with listening_display(broker, client) as got:
        expiring.tick()
        assert name.encode() in got.get(timeout=60).payload

    assert committed(engine, name)["state"] == "sent"


def test_displays_that_fell_silent_together_are_one_incident_after_overlapping_ticks(
    expiring: TickFunction, engine: Engine
) -> None:
    fleet = [new_client(engine, status="running", process_status="running", site="Rome") for _ in range(4)]
    with engine.begin() as connection:
        now = database_now(connection)
        connection.execute(sa.update(bridge_status).values(connected_since=now - timedelta(hours=1), canary_at=now))
        silent = sa.update(client_heartbeats).where(client_heartbeats.c.client_uuid.in_(fleet))
        connection.execute(silent.values(last_heartbeat_at=now - timedelta(minutes=4)))
    set_last_tick(engine, None)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: expiring.tick(), range(3)))

    with engine.connect() as connection:
        [incident] = connection.execute(sa.select(incidents).where(incidents.c.key == "Rome")).mappings()
        members = sa.select(incident_members.c.client_uuid).where(incident_members.c.incident_id == incident["id"])
        assert set(connection.execute(members).scalars()) == set(fleet)
    assert english(convert(incident["cause"], Sentence)).startswith("4 of 4 displays at site Rome went silent at once")


def test_without_a_broker_the_tick_goes_on_and_the_command_waits(start: Start, engine: Engine) -> None:
    name = issued(engine, request(new_client(engine)))
    set_last_tick(engine, None)

    with start(MQTT_URL=f"mqtt://127.0.0.1:{free_port()}") as function:
        report = function.tick()

    assert report["failed"] == []
    assert report["did"]["publish"]["waiting"] >= 1
    assert committed(engine, name)["state"] == "queued"


def test_the_stored_states_follow_time_without_a_bridge(expiring: TickFunction, engine: Engine) -> None:
    client = new_client(engine, status="running", process_status="running")
    with engine.begin() as connection:
        now = database_now(connection)
        connection.execute(sa.update(bridge_status).values(connected_since=now - timedelta(hours=1), canary_at=now))
        silent = sa.update(client_heartbeats).where(client_heartbeats.c.client_uuid == client)
        connection.execute(silent.values(last_heartbeat_at=now - timedelta(minutes=10)))
    set_last_tick(engine, None)

    expiring.tick()

    with engine.connect() as connection:
        status = sa.select(clients.c.status).where(clients.c.uuid == client)
        assert connection.execute(status).scalar_one() == "stale"


# --- one tick at a time, late ticks, failing steps ---


@contextmanager
def another_tick(engine: Engine) -> Iterator[None]:
    """Another tick holds the lock."""
    with engine.begin() as connection:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(TICK_LOCK)))
        yield


def test_after_the_clock_was_set_back_nobody_counts_as_heard_in_the_future(
    expiring: TickFunction, engine: Engine
) -> None:
    half_an_hour = timedelta(minutes=30)
    mine = client_heartbeats.c.client_uuid == new_client(engine)
    with engine.begin() as connection:
        now = database_now(connection)
        connection.execute(sa.update(client_heartbeats).where(mine).values(last_heartbeat_at=now + half_an_hour))

    set_last_tick(engine, -half_an_hour)
    report = expiring.tick()
    again = expiring.tick()

    assert report["did"]["clock"] == {"client_heartbeats": 1}
    assert again["did"]["clock"] == {}
    with engine.connect() as connection:
        heard = connection.execute(sa.select(client_heartbeats.c.last_heartbeat_at).where(mine)).scalar_one()
    assert now <= heard <= now + timedelta(minutes=1)


def test_after_the_clock_was_set_back_no_step_goes_by_the_future(recovering: TickFunction, engine: Engine) -> None:
    seen, noted = ("process_status_since", "service_failed_at"), ("unheard_at", "healthy_since")
    client = crashed_client(engine)
    with engine.begin() as connection:
        ahead = database_now(connection) + timedelta(days=1)
        fresh = sa.update(clients).where(clients.c.uuid == client)
        connection.execute(fresh.values(**dict.fromkeys(seen, ahead), service_failed_unit="x"))
        connection.execute(sa.insert(client_recovery).values(client_uuid=client, **dict.fromkeys(noted, ahead)))
        released = {"site": "Rome", "released_at": ahead, "released_by": "anna"}
        connection.execute(sa.insert(recovery_breakers).values(**released))
        sent = {"id": "u", "filename": "a.pptx", "bytes": 1, "created_by": "anna", "writer_until": ahead}
        connection.execute(sa.insert(uploads).values(**sent, created_at=ahead, expires_at=ahead + timedelta(days=1)))

    set_last_tick(engine, -timedelta(days=1))
    report = recovering.tick()

    assert report["failed"] == []
    with engine.connect() as connection:
        assert connection.execute(sa.select(uploads.c.writer_until)).scalar_one() < ahead - timedelta(hours=23)
        mine = sa.select(clients, client_recovery).join(client_recovery).where(clients.c.uuid == client)
        row = connection.execute(mine).mappings().one()
        breaker = sa.select(recovery_breakers.c.released_at).where(recovery_breakers.c.site == "Rome")
        moments = [*(row[name] for name in (*seen, *noted)), connection.execute(breaker).scalar_one()]
        assert [at for at in moments if at is not None and at > database_now(connection)] == []


def test_while_another_tick_runs_this_one_is_skipped(recovering: TickFunction, engine: Engine) -> None:
    set_last_tick(engine, None)

    with another_tick(engine):
        assert recovering.tick() == {"skipped": "another tick is running"}

    assert last_tick(engine)["last_tick_at"] is None


def test_a_tick_that_comes_much_too_late_only_sweeps_and_the_next_one_acts(
    recovering: TickFunction, engine: Engine
) -> None:
    client = crashed_client(engine)
    set_last_tick(engine, timedelta(seconds=3 * 60 + 1))

    late = recovering.tick()
    untouched = commands_of(engine, client)
    next_one = recovering.tick()

    assert (late["late"], list(late["did"])) == (True, list(LATE_STEPS))
    assert untouched == []
    assert next_one["late"] is False
    assert len(commands_of(engine, client)) == 1


def test_a_tick_three_periods_after_the_last_still_acts(recovering: TickFunction, engine: Engine) -> None:
    set_last_tick(engine, timedelta(seconds=3 * 60 - 5))

    assert recovering.tick()["late"] is False


@pytest.mark.parametrize(
    ("table", "step"), [("client_commands", "expire"), ("conversions", "conversions"), ("bridge_status", "recover")]
)
def test_a_step_that_fails_is_named_and_the_others_go_on(
    recovering: TickFunction, engine: Engine, table: str, step: str
) -> None:
    set_last_tick(engine, None)
    with engine.begin() as connection:
        connection.execute(sa.text(f"ALTER TABLE {table} RENAME TO away"))
    try:
        reply = recovering.call()
    finally:
        with engine.begin() as connection:
            connection.execute(sa.text(f"ALTER TABLE away RENAME TO {table}"))

    report = reply.json()
    assert step in report["failed"]
    assert {*report["failed"], *report["did"]} == set(STEPS)
    assert report["did"]
    assert "does not exist" not in reply.text
    assert last_tick(engine)["did"]["failed"] == report["failed"]


# --- conversions ---


def forgotten_conversion(engine: Engine) -> int:
    """An old committed conversion that was never enqueued."""
    with engine.begin() as connection:
        long_ago = database_now(connection) - timedelta(hours=1)
        media = sa.insert(event_media).values(
            filename="a.pptx", kind="pptx", bytes=1, sha256="0" * 64, path="x", uploaded_at=long_ago, uploaded_by="x"
        )
        media_id = connection.execute(media.returning(event_media.c.id)).scalar_one()
        row = sa.insert(conversions).values(
            source_event_media_id=media_id, file_hash="0" * 64, created_at=long_ago, target_format="pdf"
        )
        return int(connection.execute(row.returning(conversions.c.id)).scalar_one())


def test_a_forgotten_conversion_is_put_back_on_the_queue(
    start: Start, engine: Engine, database_url: str, tmp_path: Path
) -> None:
    conversion_id = forgotten_conversion(engine)
    set_last_tick(engine, None)

    with (
        emulator(database_url, tmp_path) as queue,
        start(QUEUE_URL=queue.queue_url, QUEUE_SECRET=QUEUE_SECRET) as function,
    ):
        report = function.tick()
        names = queue.names("projects/local/locations/local/queues/conversions")

    assert report["did"]["conversions"] == {"enqueued": 1, "left": 0}
    assert names == [f"conversion-{conversion_id}-2"]


def test_without_a_queue_the_step_is_named_and_the_tick_goes_on(expiring: TickFunction, engine: Engine) -> None:
    forgotten_conversion(engine)
    set_last_tick(engine, None)

    assert expiring.tick()["failed"] == ["conversions"]
