"""Somebody is on it: who looks after an incident or a failed service, over HTTP."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.clients import failures_operations
from shared.clients.failures_rules import ServiceFailure
from shared.incidents import operations
from shared.postgres.door import database_now, transaction
from shared.tables import audit_log, client_health, clients, incident_members, incidents
from shared.vocabulary import Role
from tests.api.people import Api
from tests.api.site_world import token_for
from tests.api.test_fleet_routes import add
from tests.stores.incidents_world import MINUTE, come_back, go_silent, listen, site

FAILED_AT = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=20)
FREE = {"taken_by": None, "taken_at": None, "note": None}


@pytest.fixture
def dark(engine: Engine) -> int:
    """The incident of the displays of Rome, which have just gone dark."""
    with transaction(engine) as connection:
        now = database_now(connection)
        listen(connection, now)
        connection.execute(sa.update(incidents).values(closed_at=now - timedelta(days=1)))
        connection.execute(sa.update(incident_members).values(left_at=now - timedelta(days=1)))
        go_silent(connection, now, site(connection, now))
        operations.observe(connection, now)
        found: int = connection.execute(sa.select(incidents.c.id).where(incidents.c.closed_at.is_(None))).scalar_one()
    return found


@pytest.fixture
def failed(engine: Engine) -> str:
    """A display with a failed service."""
    facts: dict[str, Any] = {"service_failed_at": FAILED_AT, "service_failed_unit": "player.service"}
    return add(engine, site="Rome", status="running", **facts)


def held(thing: dict[str, Any]) -> dict[str, Any]:
    return {name: thing[name] for name in FREE}


def take(api: Api, incident_id: int, token: str | None = None, **body: Any) -> Any:
    return api.post(f"/api/incidents/{incident_id}/take", json=body, token=token)


def shown(api: Api, incident_id: int) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/incidents/{incident_id}").get_json()
    return found


def titles(api: Api, incident_id: int) -> list[str]:
    """What the timeline says of who is on it, the oldest first."""
    events = shown(api, incident_id)["timeline"]["items"]
    return [one["title"] for one in reversed(events) if one["kind"] == "taken"]


def test_who_takes_an_incident_is_shown_and_taking_it_twice_changes_nothing(
    api: Api, engine: Engine, dark: int
) -> None:
    first = take(api, dark, instead_of="user:nobody").get_json()
    again = take(api, dark, note="on\u200b my way").get_json()
    kept = take(api, dark).get_json()

    assert first["taken_by"].startswith("token:test operator")
    assert again == kept == {**first, "note": "on my way"}
    overview = api.get("/api/monitoring/overview").get_json()
    assert [held(one) for one in overview["incidents"]] == [kept] == [held(shown(api, dark))]
    assert titles(api, dark) == ["test operator is on it."]
    with transaction(engine) as connection:
        lines = sa.select(audit_log.c.action, audit_log.c.details).where(audit_log.c.target == f"incident:{dark}")
        assert [tuple(line) for line in connection.execute(lines)] == [("incident.take", {"was": None})]


def test_the_second_person_learns_who_was_first_and_takes_over_on_purpose(api: Api, dark: int) -> None:
    first = take(api, dark, note="calling the shop").get_json()
    other = api.tokens["admin"]

    refused = take(api, dark, other)
    wrong = take(api, dark, other, instead_of="user:nobody")
    over = take(api, dark, other, instead_of=first["taken_by"])

    assert [refused.status_code, wrong.status_code, over.status_code] == [409, 409, 200]
    problem = refused.get_json()
    assert (problem["code"], problem["taken_by"], problem["taken_at"]) == (
        "already_taken",
        first["taken_by"],
        first["taken_at"],
    )
    assert problem["detail"].startswith("test operator is on it already")
    assert over.get_json()["taken_by"].startswith("token:test admin")
    assert over.get_json()["note"] is None
    assert titles(api, dark) == ["test operator is on it.", "test admin took over from test operator."]
    back = api.post(f"/api/incidents/{dark}/give_back")
    assert (back.status_code, back.get_json()["code"]) == (409, "already_taken")


def test_of_two_people_at_once_one_is_first(api: Api, dark: int) -> None:
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda token=api.tokens[role]: answers.append(take(api, dark, token).status_code))
        for role in ("operator", "admin")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answers) == [200, 409]
    assert len(titles(api, dark)) == 1


def test_an_incident_that_is_given_back_is_nobodys(api: Api, dark: int) -> None:
    take(api, dark)

    answers = [api.post(f"/api/incidents/{dark}/give_back").get_json()["changed"] for _ in range(2)]

    assert answers == [True, False]
    assert held(shown(api, dark)) == FREE
    assert titles(api, dark) == ["test operator is on it.", "test operator gave it back."]


def test_it_ends_with_the_incident_and_a_reopened_one_is_nobodys(api: Api, engine: Engine, dark: int) -> None:
    take(api, dark)
    with transaction(engine) as connection:
        now = database_now(connection)
        uuids = list(connection.execute(sa.select(clients.c.uuid).where(clients.c.status == "stale")).scalars())
        come_back(connection, now, uuids)
        operations.observe(connection, now)
        listen(connection, now + 6 * MINUTE)
        operations.observe(connection, now + 6 * MINUTE)

    over = take(api, dark, api.tokens["admin"])

    assert (over.status_code, over.get_json()["code"]) == (409, "nothing_to_take")
    assert shown(api, dark)["taken_by"].startswith("token:test operator")
    with transaction(engine) as connection:
        go_silent(connection, now + 10 * MINUTE, uuids)
        listen(connection, now + 10 * MINUTE)
        operations.observe(connection, now + 10 * MINUTE)
    assert held(api.get("/api/incidents?open=true").get_json()["items"][0]) == FREE


def test_people_of_other_sites_cannot_take_an_incident_or_see_its_note(api: Api, engine: Engine, dark: int) -> None:
    take(api, dark, note="calling the shop")
    rome, oslo = (token_for(engine, Role.OPERATOR, [name]) for name in ("Rome", "Oslo"))
    with transaction(engine) as connection:
        now = database_now(connection)
        go_silent(connection, now, site(connection, now, "Oslo", 1))
    by = shown(api, dark)["taken_by"]

    none = take(api, dark, oslo, instead_of=by)
    own = take(api, dark, rome, instead_of=by, note="I live next door")
    with transaction(engine) as connection:
        beyond = sa.select(clients.c.uuid).where(clients.c.site == "Oslo")
        row = {"incident_id": dark, "joined_at": now, "failed_at": now, "symptom": "silent"}
        connection.execute(
            sa.insert(incident_members), [{**row, "client_uuid": uuid} for uuid in connection.execute(beyond).scalars()]
        )
    wider = take(api, dark, rome, note="changed")
    seen = api.get(f"/api/incidents/{dark}", token=oslo).get_json()

    assert [none.status_code, own.status_code, wider.status_code] == [404, 200, 403]
    assert own.get_json()["note"] == "I live next door"
    assert (seen["taken_by"], seen["note"]) == (own.get_json()["taken_by"], None)
    assert shown(api, dark)["note"] == "I live next door"


def failures(api: Api) -> dict[str, Any]:
    """Who looks after each failure of the overview."""
    return {one["uuid"]: held(one) for one in api.get("/api/monitoring/overview").get_json()["service_failed"]}


def take_failure(api: Api, uuid: str, at: datetime = FAILED_AT, role: str = "operator", **body: Any) -> Any:
    return api.post(
        f"/api/clients/{uuid}/service_failed/take", role, json={"service_failed_at": at.isoformat(), **body}
    )


def test_a_failed_service_is_taken_taken_over_and_given_back(api: Api, engine: Engine, failed: str) -> None:
    first = take_failure(api, failed, note="spare part").get_json()
    refused = take_failure(api, failed, role="admin")
    over = take_failure(api, failed, role="admin", instead_of=first["taken_by"]).get_json()
    seen = failures(api)[failed]
    path = f"/api/clients/{failed}/service_failed/give_back"
    answers = [api.post(path, role) for role in ("operator", "admin", "operator")]

    assert (first["note"], refused.status_code, refused.get_json()["taken_by"]) == (
        "spare part",
        409,
        first["taken_by"],
    )
    assert seen == over
    assert [answer.status_code for answer in answers] == [409, 200, 200]
    assert failures(api)[failed] == FREE
    with transaction(engine) as connection:
        told = sa.select(audit_log.c.action).where(audit_log.c.target == failed).order_by(audit_log.c.id)
        kept = list(connection.execute(told).scalars())
    assert kept == ["service_failed.take", "service_failed.take", "service_failed.give_back"]


def test_whoever_has_a_failed_service_has_it_no_longer_when_it_fails_again(
    api: Api, engine: Engine, failed: str
) -> None:
    take_failure(api, failed, note="spare part")
    with transaction(engine) as connection:
        again = ServiceFailure(failed, 1000.0, "player.service", ("install", 1, 7), True)
        failures_operations.record(connection, database_now(connection), 1000.0, [again])

    assert failures(api)[failed] == FREE
    assert take_failure(api, failed).status_code == 412


def test_whoever_has_a_failed_service_has_it_no_longer_when_it_is_mended(api: Api, engine: Engine, failed: str) -> None:
    take_failure(api, failed)
    with transaction(engine) as connection:
        now = database_now(connection)
        health = {"client_uuid": failed, "received_at": now, "body": {"service_failed": None}}
        connection.execute(sa.insert(client_health).values(**health))
        assert failures_operations.end_mended(connection, now) == 1

    assert failures(api)[failed] == FREE
    over = take_failure(api, failed)
    assert (over.status_code, over.get_json()["code"]) == (409, "nothing_to_take")


def test_whoever_has_a_failed_service_has_it_no_longer_when_it_is_acknowledged(
    api: Api, engine: Engine, failed: str
) -> None:
    take_failure(api, failed)

    api.post(f"/api/clients/{failed}/clear_service_failed")

    with transaction(engine) as connection:
        row = sa.select(clients.c.service_failed_taken_by).where(clients.c.uuid == failed)
        assert connection.execute(row).scalar_one() is None
    over = take_failure(api, failed)
    assert (over.status_code, over.get_json()["code"]) == (409, "nothing_to_take")


@pytest.mark.parametrize("kind", ["incidents", "clients"])
def test_a_note_has_at_most_500_characters(kind: str, api: Api, dark: int, failed: str) -> None:
    paths = {"incidents": f"{dark}/take", "clients": f"{failed}/service_failed/take"}
    more = {} if kind == "incidents" else {"service_failed_at": FAILED_AT.isoformat()}
    path = f"/api/{kind}/{paths[kind]}"

    assert api.post(path, json={**more, "note": "x" * 500}).status_code == 200
    assert api.post(path, json={**more, "note": "x" * 501}).status_code == 400
