"""Live, ready, settings and dead letters: what the service reveals about itself, and what it does not."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from deploy.parts.probes import free_port, wait_until
from functions.api.app import create_app
from functions.api.readiness import Readiness
from functions.api.services import Services
from shared.config import SETTINGS, Config
from shared.leadership import dead_letters_store
from shared.leadership import store as leadership
from shared.leadership.rules import NO_PAYLOAD
from shared.overview import store as overview
from shared.postgres.door import database_now, engine_for, transaction
from shared.tables import dead_letters, scheduler_status
from shared.vocabulary import Role
from tests.api.people import Api, issue_token
from tests.local.queue_harness import emulator


@pytest.fixture(scope="module")
def queue_url(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running task queue with the queue `conversions`."""
    with emulator(database_url, tmp_path_factory.mktemp("queue")) as running:
        yield f"grpc://127.0.0.1:{running.port}/projects/local/locations/local"


def asked(services: Services, engine: Engine | None = None, **settings: Any) -> tuple[int, dict[str, Any]]:
    """Status and body of `ready` of an app with these settings changed."""
    config = Config({**services.config.values, **settings})
    app = create_app(Services(config, engine or services.engine))
    answer = app.test_client().get("/api/health/ready")
    assert answer.json is not None
    return answer.status_code, dict(answer.json)


@pytest.fixture
def ticked(engine: Engine) -> Iterator[None]:
    """Record a tick of the scheduler now."""
    with transaction(engine) as connection:
        overview.record_tick(connection, database_now(connection), 5, {"expired": 0})
    yield
    with transaction(engine) as connection:
        connection.execute(sa.update(scheduler_status).values(last_tick_at=None))


def test_live_answers_without_a_database(services: Services) -> None:
    nowhere = engine_for(f"postgresql://u:p@127.0.0.1:{free_port()}/x", "tests")
    app = create_app(Services(services.config, nowhere))

    answer = app.test_client().get("/api/health/live")

    assert (answer.status_code, answer.json) == (200, {"status": "ok"})


@pytest.mark.usefixtures("ticked")
def test_ready_when_everything_is_there(services: Services, queue_url: str) -> None:
    status, body = asked(services, QUEUE_URL=queue_url)

    assert status == 200, body
    assert body["status"] == "ready"
    assert list(body["checks"]) == ["database", "migrations", "media_volume", "task_queue", "last_tick"]
    assert all(check["ok"] for check in body["checks"].values())


@pytest.mark.usefixtures("ticked")
def test_each_missing_part_is_named_and_the_others_are_still_looked_at(services: Services, queue_url: str) -> None:
    _, no_queue = asked(services)
    _, no_volume = asked(services, QUEUE_URL=queue_url, MEDIA_ROOT=Path("/nonexistent/media"))

    assert failing(no_queue) == ["task_queue"]
    assert failing(no_volume) == ["media_volume"]


def failing(body: dict[str, Any]) -> list[str]:
    assert body["status"] == "not_ready"
    return [name for name, check in body["checks"].items() if not check["ok"]]


def test_a_database_that_is_away_is_a_503_that_tells_no_address(services: Services, queue_url: str) -> None:
    port = free_port()
    nowhere = engine_for(f"postgresql://u:p@127.0.0.1:{port}/x", "tests")

    status, body = asked(services, nowhere, QUEUE_URL=queue_url)

    assert status == 503
    assert failing(body) == ["database", "migrations", "last_tick"]
    assert str(port) not in str(body)
    assert "Error" not in str(body)


STRANGER = {"REMOTE_ADDR": "198.51.100.7"}


def test_a_stranger_is_told_that_it_is_not_ready_and_nothing_of_its_parts(services: Services, engine: Engine) -> None:
    """A stranger has no credentials or wrong ones, also behind the gateway. A viewer sees the parts."""
    viewer = {"Authorization": f"Bearer {issue_token(engine, Role.VIEWER)}"}
    wrong = {"Authorization": "Bearer somebody-elses"}
    ask = partial(create_app(services).test_client(use_cookies=False).get, "/api/health/ready")

    strangers = [
        ask(environ_base=STRANGER),
        ask(environ_base=STRANGER, headers=wrong),
        ask(headers={"X-Forwarded-For": STRANGER["REMOTE_ADDR"]}),
    ]
    told = ask(environ_base=STRANGER, headers=viewer).json

    assert [answer.json for answer in strangers] == [{"status": "not_ready", "checks": {}}] * 3
    assert told is not None
    assert "task_queue" in failing(told)


def test_while_one_caller_looks_a_crowd_gets_the_last_findings(services: Services) -> None:
    ask = create_app(services).test_client().get
    before = ask("/api/health/ready").json
    slow_look = services.once("readiness", lambda: Readiness(services))._lock

    with ThreadPoolExecutor(1) as pool, slow_look:
        answer = pool.submit(ask, "/api/health/ready")
        wait_until(answer.done, 20)

    assert answer.result().json == before


def test_a_tick_that_never_came_or_is_overdue_is_named(services: Services, engine: Engine, queue_url: str) -> None:
    _, never = asked(services, QUEUE_URL=queue_url)
    with transaction(engine) as connection:
        overview.record_tick(connection, database_now(connection) - timedelta(hours=1), 5, {})
    _, late = asked(services, QUEUE_URL=queue_url)
    with transaction(engine) as connection:
        connection.execute(sa.update(scheduler_status).values(last_tick_at=None))

    assert (failing(never), never["checks"]["last_tick"]["why"]) == (["last_tick"], "there was no tick yet")
    assert (failing(late), late["checks"]["last_tick"]["why"]) == (["last_tick"], "overdue")


@pytest.mark.usefixtures("ticked")
@pytest.mark.parametrize(
    ("revision", "why", "ready"),
    [("0064_delivery_sentences", "behind", False), ("9999_from_the_future", "ahead of this code", True)],
)
def test_migrations_behind_are_named_and_ahead_are_survived(
    services: Services, engine: Engine, queue_url: str, revision: str, why: str, ready: bool
) -> None:
    with transaction(engine) as connection:
        head = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one()
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :r"), {"r": revision})
    try:
        status, body = asked(services, QUEUE_URL=queue_url)
    finally:
        with transaction(engine) as connection:
            connection.execute(sa.text("UPDATE alembic_version SET version_num = :r"), {"r": head})

    assert (status == 200) == ready
    assert body["checks"]["migrations"]["why"].startswith(why)


def test_settings_show_every_one_that_is_no_secret(api: Api, services: Services) -> None:
    answer = api.get("/api/settings")

    assert answer.json is not None
    shown = answer.json["settings"]
    assert set(shown) == {setting.name for setting in SETTINGS if not setting.secret}
    assert shown["HEARTBEAT_STALE_SECONDS"] == {
        "value": 180,
        "default": 180,
        "unit": "s",
        "meaning": next(s.meaning for s in SETTINGS if s.name == "HEARTBEAT_STALE_SECONDS"),
    }
    assert services.config["MQTT_PASSWORD"] not in answer.text
    assert services.config["DATABASE_URL"] not in answer.text
    assert "postgresql" not in answer.text


@pytest.mark.usefixtures("ticked")
def test_settings_tell_what_the_last_tick_did_and_how_the_bridge_is(api: Api, engine: Engine) -> None:
    with transaction(engine) as connection:
        epoch = leadership.next_epoch(connection, "bridge-test")
        now = database_now(connection)
        leadership.connected(connection, now, epoch)
        leadership.record_canary(connection, epoch, now)

    body = api.get("/api/settings").json

    assert body is not None
    assert body["scheduler"]["did"] == {"expired": 0}
    assert body["scheduler"]["duration_ms"] == 5
    assert not body["scheduler"]["late"]
    assert body["bridge"]["state"] == "listening"
    assert body["bridge"]["instance"] == "bridge-test"
    assert body["bridge"]["connected_since"].endswith("Z")
    assert body["bridge"]["silent_since"] is None


def test_dead_letters_are_paged_and_shown_as_text(api: Api, engine: Engine) -> None:
    payloads = [b"{broken", b"\xff\x00bytes", b"<script>"]
    with transaction(engine) as connection:
        now = database_now(connection)
        for number, payload in enumerate(payloads):
            letter = dead_letters_store.NewDeadLetter(
                topic=f"signage/x/{number}",
                payload=payload.hex(),
                payload_bytes=len(payload),
                sha256=hashlib.sha256(payload).hexdigest(),
                reason="not_json",
                detail=None,
                count=1,
            )
            dead_letters_store.add(connection, now + timedelta(seconds=number), [letter])

    first = api.get("/api/dead-letters?limit=2", role="operator").json
    assert first is not None
    second = api.get("/api/dead-letters", role="operator", query_string={"cursor": first["next_cursor"]}).json

    assert second is not None
    shown = [item["payload"] for item in (*first["items"], *second["items"])]
    assert shown == ["<script>", "\\xff\x00bytes", "{broken"]
    assert second["next_cursor"] is None


def test_a_dead_letter_that_counts_further_ones_says_so_in_the_readers_language(api: Api, engine: Engine) -> None:
    counts = dead_letters_store.NewDeadLetter("signage/many/health", "", 0, NO_PAYLOAD, "not_json", None, 3)
    with transaction(engine) as connection:
        dead_letters_store.add(connection, database_now(connection) + timedelta(days=1), [counts])

    [first, *_] = api.get("/api/dead-letters", role="operator", headers={"Accept-Language": "de"}).get_json()["items"]

    assert (first["topic"], first["count"]) == ("signage/many/health", 3)
    assert first["detail"] == "mehr als 200 verschiedene von diesem Absender: nur noch gezählt"
    with transaction(engine) as connection:
        connection.execute(sa.delete(dead_letters).where(dead_letters.c.topic == counts.topic))
