"""Enrolment from an admin's code to a display that a real broker accepts, and revocation."""

import secrets
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from deploy.parts.broker import RunningBroker
from deploy.parts.layout import write_file
from deploy.parts.probes import connect_code, wait_until
from functions.api.app import create_app
from functions.api.services import Services
from shared.access import operations
from shared.access.rules import mosquitto_hash
from shared.config import Config
from shared.postgres.door import database_now, transaction
from shared.tables import audit_repeats, display_logins
from tests.api.people import Api


def issue_code(api: Api, name: str) -> str:
    answer = api.post(f"/api/clients/{name}/enrolment", role="admin")
    assert answer.status_code == 201
    assert answer.json is not None
    assert answer.json["expires_at"].endswith("Z")
    return str(answer.json["code"])


def enroll(api: Api, code: str) -> dict[str, Any]:
    answer = api.post("/api/enroll", role=None, json={"code": code})
    assert answer.status_code == 201
    assert answer.json is not None
    return dict(answer.json)


def test_a_code_is_exchanged_once_for_all_that_a_display_needs(api: Api) -> None:
    name = str(uuid.uuid4())
    code = issue_code(api, name.upper())  # the case of a uuid does not matter

    login = enroll(api, code)
    again = api.post("/api/enroll", role=None, json={"code": code})

    assert login["uuid"] == login["username"] == name
    assert len(login["password"]) >= 43
    assert login["mqtt"] == {"host": "127.0.0.1", "port": 1883, "tls": False, "ca_pem": None}
    assert login["topic_root"] == "signage"
    assert again.status_code == 422
    assert again.json is not None
    assert again.json["code"] == "enrolment_code_invalid"


@pytest.mark.parametrize("body", [{}, {"code": ""}, {"code": 5}, {"code": "x" * 101}, {"code": "x", "uuid": "y"}])
def test_what_is_no_code_by_form_is_a_400(api: Api, body: dict[str, Any]) -> None:
    assert api.post("/api/enroll", role=None, json=body).status_code == 400


@pytest.mark.parametrize("code", ["nonsense", "000000-000000-000000-000000", "\u0000", "日本語"])
def test_a_code_that_nobody_issued_is_refused(api: Api, code: str) -> None:
    assert api.post("/api/enroll", role=None, json={"code": code}).status_code == 422


def test_a_name_that_is_no_uuid_is_no_address(api: Api) -> None:
    assert api.post("/api/clients/lobby-3/enrolment", role="admin").status_code == 404


def test_the_display_is_told_the_ca_it_must_trust(services: Services, api: Api, tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text("-----BEGIN CERTIFICATE-----\n")
    values = {
        **services.config.values,
        "DISPLAYS_CA_FILE": str(ca),
        "DISPLAYS_MQTT_URL": "mqtts://broker.example",
    }
    told = Api(create_app(Services(Config(values), services.engine)), services.engine)

    login = enroll(told, issue_code(told, str(uuid.uuid4())))

    assert login["mqtt"] == {
        "host": "broker.example",
        "port": 8883,
        "tls": True,
        "ca_pem": "-----BEGIN CERTIFICATE-----\n",
    }


def test_an_unreadable_ca_costs_no_code(services: Services, api: Api, tmp_path: Path) -> None:
    values = {**services.config.values, "DISPLAYS_CA_FILE": str(tmp_path / "none.pem")}
    broken = Api(create_app(Services(Config(values), services.engine)), services.engine)
    code = issue_code(api, str(uuid.uuid4()))

    answer = broken.post("/api/enroll", role=None, json={"code": code})

    assert answer.status_code == 500
    assert str(tmp_path) not in answer.text
    assert enroll(api, code)["password"]


def test_enrolment_stands_in_the_audit_log_without_code_or_password(api: Api) -> None:
    name = str(uuid.uuid4())
    code = issue_code(api, name)
    login = enroll(api, code)
    api.delete(f"/api/clients/{name}/enrolment")

    answer = api.get("/api/audit", role="admin", query_string={"target": name})

    assert answer.json is not None
    assert [(item["action"], item["result"]) for item in answer.json["items"]] == [
        ("enrolment.delete", "done"),
        ("enrolment.use", "done"),
        ("enrolment.create", "done"),
    ]
    assert code not in answer.text
    assert login["password"] not in answer.text
    assert api.delete(f"/api/clients/{name}/enrolment").status_code == 204  # no longer a login, and still a client


def rotate(api: Api, login: dict[str, Any], new: str) -> TestResponse:
    body = {"uuid": login["uuid"], "password": login["password"], "new_password": new}
    return api.post("/api/enroll/rotate", role=None, json=body)


def a_minute_passes(engine: Engine, uuid: str) -> None:
    with transaction(engine) as connection:
        past = display_logins.c.rotated_at - timedelta(minutes=1)
        connection.execute(
            sa.update(display_logins).where(display_logins.c.client_uuid == uuid).values(rotated_at=past)
        )


def an_hour_passes(engine: Engine) -> None:
    """Let an hour pass and a tick run: counted refusals become a line of the audit log."""
    with transaction(engine) as connection:
        past = audit_repeats.c.began_at - timedelta(hours=1)
        connection.execute(sa.update(audit_repeats).values(began_at=past))
        operations.flush_repeats(connection, database_now(connection))


@pytest.mark.parametrize(
    ("new", "status"),
    [("p" * 43, 422), ("p" * 42, 400), ("p" * 42 + "\n", 400), ("p" * 43 + "\n", 400), ("ä" * 43, 400)],
    ids=["the same", "too short", "a line end in its place", "a line end behind it", "no base64url"],
)
def test_a_password_that_no_display_should_make_is_refused(api: Api, new: str, status: int) -> None:
    assert rotate(api, {"uuid": str(uuid.uuid4()), "password": "p" * 43}, new).status_code == status


def test_a_real_mosquitto_lets_in_what_we_hash_and_nothing_else(broker: RunningBroker) -> None:
    password = "p" * 43
    line = f"display:{mosquitto_hash(password, b'twelve bytes')}\n"
    place = broker.broker
    write_file(place.displays_password_file, line)

    wait_until(lambda: connect_code(place.displays_port, "display", password) == 0, 60)
    wait_until(lambda: connect_code(place.displays_port, "display", password[:-1]) == 0x87, 60)


def test_a_display_changes_its_password_once_a_minute_and_repeats_share_one_line(api: Api, engine: Engine) -> None:
    login = enroll(api, issue_code(api, str(uuid.uuid4())))
    current = login["password"]
    for _ in range(4):
        new = secrets.token_urlsafe(32)
        assert rotate(api, {**login, "password": current}, new).status_code == 204
        refused = rotate(api, {**login, "password": new}, secrets.token_urlsafe(32))
        assert refused.status_code == 429
        assert 50 <= int(refused.headers["Retry-After"]) <= 60
        assert rotate(api, {**login, "password": current}, new).status_code == 204  # as if its answer was lost
        a_minute_passes(engine, login["uuid"])
        current = new

    assert rotate(api, login, secrets.token_urlsafe(32)).status_code == 401  # with an old password

    def lines() -> list[tuple[str, int | None]]:
        query = {"target": login["uuid"], "action": "enrolment.rotate"}
        log = api.get("/api/audit", role="admin", query_string=query)
        assert not any(secret in log.text for secret in (current, login["password"]))
        return [(item["actor"], item["details"].get("repeats")) for item in (log.json or {})["items"]]

    itself = f"display:{login['uuid']}"
    assert lines() == [(itself, None)]
    an_hour_passes(engine)
    assert lines() == [(itself, 3), (itself, None)]


def test_a_display_that_is_enrolled_anew_need_not_wait_to_change_its_password(api: Api) -> None:
    name = str(uuid.uuid4())
    login = enroll(api, issue_code(api, name))
    assert rotate(api, login, secrets.token_urlsafe(32)).status_code == 204

    login = enroll(api, issue_code(api, name))

    assert rotate(api, login, secrets.token_urlsafe(32)).status_code == 204
