"""One tick, from the scheduler's call to what it leaves behind: real process, Postgres, broker and queue."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from deploy.local import oidc
from deploy.local.broker import RunningBroker
from deploy.local.layout import REPOSITORY
from deploy.local.probes import free_port
from deploy.local.short_lived import DidNotStart
from functions.scheduler_tick.steps import STEPS, SWEEPS, TICK_LOCK, Moment
from shared.db import database_now
from shared.tables import (
    audit_log,
    bridge_status,
    client_commands,
    client_heartbeats,
    clients,
    conversions,
    event_media,
    scheduler_status,
)
from tests.local.queue_harness import emulator
from tests.rules.oidc_harness import EMAIL, FOREIGN, ISSUER, OURS
from tests.stores.commands_world import committed, issued, new_client, request
from tests.stores.listening_display import listening_display
from tests.tick.conftest import Start, TickFunction


def crashed_client(engine: Engine) -> str:
    """A client, just heard, that says it crashed a minute ago, while the bridge listens."""
    with engine.begin() as connection:
        now = database_now(connection)
        connection.execute(sa.update(bridge_status).values(connected_since=now, canary_at=now))
    minute_ago = now - timedelta(minutes=1)
    return new_client(engine, process_status="crashed", process_status_since=minute_ago, status="crashed")


def commands_of(engine: Engine, client: str) -> list[dict[str, Any]]:
    with engine.connect() as connection:
        query = sa.select(client_commands).where(client_commands.c.client_uuid == client)
        return [dict(row) for row in connection.execute(query).mappings()]


def set_last_tick(engine: Engine, ago: timedelta | None) -> None:
    with engine.begin() as connection:
        at = None if ago is None else database_now(connection) - ago
        connection.execute(sa.update(scheduler_status).values(last_tick_at=at))


def last_tick(engine: Engine) -> dict[str, Any]:
    with engine.connect() as connection:
        return dict(connection.execute(sa.select(scheduler_status)).mappings().one())


def check_problem(reply: Any, status: int, code: str) -> None:
    """An RFC 9457 document that gives nothing away."""
    document = reply.json()
    assert (reply.status_code, reply.headers["Content-Type"]) == (status, "application/problem+json")
    assert set(document) == {"type", "title", "status", "detail", "code", "request_id"}
    assert (document["status"], document["code"]) == (status, code)
    assert document["type"] == f"urn:signage:problem:{code}"
    for given_away in ("Traceback", "Error(", "sqlalchemy", "psycopg", "pg8000", "File "):
        assert given_away not in reply.text


# --- the door ---


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_only_post_ticks(expiring: TickFunction, engine: Engine, method: str) -> None:
    set_last_tick(engine, None)

    reply = expiring.call(method)

    check_problem(reply, 405, "method_not_allowed")
    assert reply.headers["Allow"] == "POST"
    assert last_tick(engine)["last_tick_at"] is None


@pytest.mark.parametrize("fault", ["none", "audience", "email", "issuer", "signature", "expired"])
def test_nobody_but_the_scheduler_ticks(expiring: TickFunction, engine: Engine, fault: str) -> None:
    set_last_tick(engine, None)
    tokens = {
        "none": "",
        "audience": oidc.mint(OURS, "http://127.0.0.1:8082", EMAIL, ISSUER),
        "email": oidc.mint(OURS, expiring.url, "someone@else.test", ISSUER),
        "issuer": oidc.mint(OURS, expiring.url, EMAIL, "https://issuer.test"),
        "signature": oidc.mint(FOREIGN, expiring.url, EMAIL, ISSUER),
        "expired": oidc.mint(OURS, expiring.url, EMAIL, ISSUER, lifetime_seconds=-300),
    }

    reply = expiring.call(token=tokens[fault])

    check_problem(reply, 401, "unauthenticated")
    assert last_tick(engine)["last_tick_at"] is None


def test_a_function_without_its_settings_does_not_start_and_names_them(start: Start) -> None:
    with pytest.raises(DidNotStart, match="SCHEDULER_SERVICE_ACCOUNT"), start(SCHEDULER_SERVICE_ACCOUNT=""):
        pass


def test_without_a_database_the_answer_is_a_problem_document(start: Start) -> None:
    nowhere = f"postgresql://x:y@127.0.0.1:{free_port()}/nothing"

    with start(DATABASE_URL=nowhere) as function:
        reply = function.call()

    check_problem(reply, 503, "database_unavailable")


# --- what it does ---


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
        first = got.get(timeout=5)
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
        assert name.encode() in got.get(timeout=5).payload

    assert committed(engine, name)["state"] == "sent"


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


# --- one at a time, not too late, no step for all ---


@contextmanager
def another_tick(engine: Engine) -> Iterator[None]:
    """Somebody else holds the tick's lock."""
    with engine.begin() as connection:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(TICK_LOCK)))
        yield


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

    assert (late["late"], list(late["did"])) == (True, list(SWEEPS))
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


# --- conversions and retention ---


def forgotten_conversion(engine: Engine) -> int:
    """A conversion that was committed long ago and never enqueued."""
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

    with emulator(database_url, tmp_path) as queue, start(QUEUE_URL=queue.queue_url) as function:
        report = function.tick()
        names = queue.names("projects/local/locations/local/queues/conversions")

    assert report["did"]["conversions"] == {"enqueued": 1, "left": 0}
    assert names == [f"conversion-{conversion_id}-2"]


def test_without_a_queue_the_step_is_named_and_the_tick_goes_on(expiring: TickFunction, engine: Engine) -> None:
    forgotten_conversion(engine)
    set_last_tick(engine, None)

    assert expiring.tick()["failed"] == ["conversions"]


def audit_lines(engine: Engine, at: datetime) -> int:
    with engine.connect() as connection:
        lines = sa.select(sa.func.count()).select_from(audit_log).where(audit_log.c.at == at)
        return int(connection.execute(lines).scalar_one())


def test_the_first_tick_of_an_hour_makes_partitions_ahead_and_drops_what_is_old(
    expiring: TickFunction, engine: Engine
) -> None:
    with engine.begin() as connection:
        now = database_now(connection)
        old, young = now - timedelta(days=366), now - timedelta(days=364)
        for at in (old, young):
            connection.execute(sa.insert(audit_log).values(at=at, actor="x", action="x", target="x", result="ok"))
    set_last_tick(engine, timedelta(hours=1))

    done = expiring.tick()["did"]["retention"]

    assert done["audit"] == 1
    assert (audit_lines(engine, old), audit_lines(engine, young)) == (0, 1)
    assert set(done) >= {"partitions_made", "partitions_dropped", "commands", "recovery_events", "sessions"}


AT = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("last", "opens"),
    [
        (None, True),
        (AT - timedelta(seconds=29), False),  # 12:00:01
        (AT - timedelta(seconds=31), True),  # 11:59:59
        (AT - timedelta(hours=1), True),
        (AT - timedelta(days=1), True),  # the same hour of another day
    ],
)
def test_only_the_first_tick_of_an_hour_retains(last: datetime | None, opens: bool) -> None:
    assert Moment(AT, last).opens_an_hour() is opens


def test_a_tick_that_enqueues_nothing_does_not_pay_for_grpc() -> None:
    heavy = "{'grpc', 'google.cloud.tasks_v2', 'requests'}"
    code = f"import sys, functions.scheduler_tick.steps; print(sorted({heavy} & set(sys.modules)))"

    run = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"
