"""Operators control recovery over HTTP: each change takes effect once, is audited, and is shown in full."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from functions.api.app import create_app
from functions.api.services import Services
from shared.config import Config
from shared.postgres.door import database_now
from shared.recovery import operations as recovery
from shared.recovery.breakers import words_rules
from shared.tables import audit_log, recovery_breakers, recovery_events, scheduler_status
from shared.words.sentences import to_row
from tests.api.people import Api
from tests.stores.commands_world import TIMINGS
from tests.stores.recovery_world import ON, crash, fleet, hear

NOWHERE = "00000000-0000-4000-8000-00000000dead"


@pytest.fixture
def crashed(engine: Engine) -> str:
    with engine.begin() as connection:
        now = database_now(connection)
        hear(connection, now)
        return crash(connection, now)


@pytest.fixture
def open_breakers(engine: Engine) -> Iterator[None]:
    """Open breakers of the fleet and of two sites."""
    with engine.begin() as connection:
        now = database_now(connection)
        connection.execute(sa.delete(recovery_breakers))  # a tick keeps the fleet's row
        for site in ("", "Basel", "Bern"):
            why = to_row(words_rules.breaker_open(site=site or None, stale=9, seen=10, percent=20))
            row = {"site": site, "open_since": now, "why": why, "stale": 9, "seen": 10}
            connection.execute(sa.insert(recovery_breakers).values(**row))
    yield
    with engine.begin() as connection:
        connection.execute(sa.delete(recovery_breakers))


def audited(engine: Engine, target: str) -> list[str]:
    with engine.connect() as connection:
        lines = sa.select(audit_log.c.action).where(audit_log.c.target == target).order_by(audit_log.c.id)
        return list(connection.execute(lines).scalars())


def tick(engine: Engine) -> tuple[str, ...]:
    """Run recovery once. Returns the commands that it issued."""
    with engine.begin() as connection:
        now = database_now(connection)
        hear(connection, now)
        return recovery.recover(connection, now, ON, TIMINGS).command_ids


def hold(api: Api, client: str, **body: Any) -> None:
    whole = {"preset": "hold", "scope": "clients", "clients": [client], "reason": "being moved", **body}
    assert api.post("/api/quiet-times", json=whole, role="operator").status_code == 201


def resume(api: Api, client: str) -> dict[str, Any]:
    answer = api.post(f"/api/clients/{client}/recovery/resume", role="operator")
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.get_json()
    return told


def test_a_hold_keeps_recovery_away_until_somebody_resumes(api: Api, engine: Engine, crashed: str) -> None:
    hold(api, crashed)
    told = api.get(f"/api/clients/{crashed}").get_json()["recovery"]
    tick(engine)
    kept_away = api.get(f"/api/clients/{crashed}/commands").get_json()["items"]

    resumed = resume(api, crashed)
    tick(engine)

    assert told["state"] in {"held", "off"}
    assert kept_away == []
    assert resumed["changed"]
    [command] = api.get(f"/api/clients/{crashed}/commands").get_json()["items"]
    assert (command["action"], command["source"]) == ("restart_app", "recovery")


def test_a_hold_of_more_than_the_display_is_not_ended_by_resuming_it(api: Api, engine: Engine, crashed: str) -> None:
    made = {"preset": "hold", "scope": "fleet", "reason": "storm"}
    whole = api.post("/api/quiet-times", json=made, role="operator").get_json()

    assert resume(api, crashed)["changed"] is False
    assert api.get(f"/api/quiet-times/{whole['id']}").get_json()["state"] == "on"
    api.ask("DELETE", f"/api/quiet-times/{whole['id']}", role="operator")


def test_many_who_resume_at_once_do_it_once(api: Api, engine: Engine, crashed: str) -> None:
    hold(api, crashed)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: resume(api, crashed), range(4)))

    assert sorted(answer["changed"] for answer in answers) == [False, False, False, True]
    assert audited(engine, crashed).count("recovery.resume") == 1
    titles = [event["title"] for event in api.get(f"/api/clients/{crashed}/events").get_json()["items"]]
    assert not any("recovery." in title or "quiet_time." in title for title in titles)  # in words
    assert any("Quiet time made, by " in title for title in titles)


@pytest.mark.usefixtures("open_breakers")
def test_every_open_breaker_is_released_at_once_and_once(api: Api, engine: Engine) -> None:
    def release(_: int) -> list[str | None]:
        answer = api.post("/api/recovery/breaker/release", json={}, role="operator").get_json()
        released: list[str | None] = answer["released"]
        return released

    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(release, range(3)))

    assert sorted(map(len, answers)) == [0, 0, 3]
    assert {site for released in answers for site in released} == {None, "Basel", "Bern"}
    for target in ("fleet", "site:Basel", "site:Bern"):
        assert audited(engine, target) == ["recovery.release_breaker"]
    with engine.begin() as connection:
        connection.execute(sa.delete(audit_log))
        connection.execute(sa.delete(recovery_events).where(recovery_events.c.client_uuid.is_(None)))


def test_why_is_told_in_full(api: Api, engine: Engine, crashed: str) -> None:
    tick(engine)

    told = api.get(f"/api/clients/{crashed}/recovery").get_json()

    assert (told["tried"]["step"], told["tried"]["restarts"], told["tried"]["reboots"]) == (1, 1, 0)
    assert told["events"][0]["decision"] == "restart_app"
    why = "The player crashed and the heartbeat that says so is fresh: a restart, attempt 1 of 4."
    [command] = api.get(f"/api/clients/{crashed}/commands").get_json()["items"]
    details = [event["details"] for event in api.get(f"/api/clients/{crashed}/events").get_json()["items"]]
    assert told["events"][0]["why"] == command["reason"] == why
    assert [one.get("why") or one["reason"] for one in details if {"why", "reason"} & one.keys()] == [why, why]
    assert told["recovery"]["why"].endswith(" CRASH_RECOVERY_ENABLED.")
    german = api.get(f"/api/clients/{crashed}/recovery", headers={"Accept-Language": "de"}).get_json()
    assert german["events"][0]["why"].endswith(": Player-Neustart, Versuch 1 von 4.")
    assert told["breaker"] == {"open": False, "why": None, "sites": []}
    assert told["bridge"]["state"] == "listening"


def test_a_breakers_opening_is_among_the_decisions_and_told_of_its_clients(api: Api, engine: Engine) -> None:
    with engine.begin() as connection:
        now = database_now(connection)
        hear(connection, now)
        gone = fleet(connection, now - timedelta(minutes=4), 20, site="Chur")
        recovery.recover(connection, now, ON, TIMINGS)

    [event] = api.get(f"/api/clients/{gone[0]}/recovery").get_json()["breaker_events"]

    assert (event["decision"], event["client_uuid"], event["command_id"]) == ("breaker_open", None, None)
    assert event in api.get("/api/recovery/events").get_json()["items"]


@pytest.mark.usefixtures("open_breakers")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "9 von 10 Displays sind verstummt"),
        ("fr, ja;q=0.5", "10台中9台が応答していません"),
        ("de-AT,en;q=0.8", "9 von 10 Displays sind verstummt"),
        ("de;q=0, *", "9 of 10 displays are silent"),
        ("en-GB", "9 of 10 displays are silent"),
        ("fr", "9 of 10 displays are silent"),
        ("*", "9 of 10 displays are silent"),
        (None, "9 of 10 displays are silent"),
    ],
)
def test_a_sentence_is_in_the_language_of_its_reader(services: Services, asked: str | None, said: str) -> None:
    config = Config({**services.config.values, "CRASH_RECOVERY_ENABLED": True})
    recovers = Api(create_app(Services(config, services.engine)), services.engine)
    headers = {} if asked is None else {"Accept-Language": asked}

    answer = recovers.get("/api/monitoring/overview", headers=headers)

    assert answer.get_json()["breaker"]["why"].startswith(said)
    assert answer.headers["Vary"] == "Accept-Language"


def test_the_overview_tells_what_the_last_tick_did_and_how_long_it_took(api: Api, engine: Engine) -> None:
    with engine.begin() as connection:
        did = {"recover": {"restarts": 2}, "failed": []}
        values = {"last_tick_at": database_now(connection), "duration_ms": 41, "did": did}
        connection.execute(sa.update(scheduler_status).values(**values))

    scheduler = api.get("/api/monitoring/overview").get_json()["scheduler"]

    assert (scheduler["duration_ms"], scheduler["did"], scheduler["late"]) == (41, did, False)
