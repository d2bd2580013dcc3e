"""People who sign in at the proxy: identified by e-mail address, with the role that an admin gave them."""

import secrets
import time
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Engine

from functions.api.app import create_app
from functions.api.services import Services
from shared.config import load
from shared.tables import audit_log, users
from tests import migrated
from tests.api.people import add_user, cookie_of, sign_in
from tests.rules.proxy_harness import AUDIENCE, asserted, proxy_keys

HEADER = "X-Goog-IAP-JWT-Assertion"
OWN_PAGE = {"X-Requested-With": "signage"}


@pytest.fixture(scope="module")
def client(database_url: str, engine: Engine) -> Iterator[FlaskClient]:
    """A client of an app behind a proxy; a real server on loopback has the proxy's keys."""
    with proxy_keys():
        settings = {
            "DATABASE_URL": migrated.address_for("api", database_url),
            "IAP_AUDIENCE": AUDIENCE,
            "TASKS_SERVICE_ACCOUNT": "tasks@signage.test",
        }
        yield create_app(Services(load(settings), engine)).test_client()


@pytest.fixture
def email(engine: Engine) -> str:
    """The e-mail address of this test's own operator."""
    address = f"Anna.{secrets.token_hex(4)}@example.com"
    add_user(engine, address)
    return address


def test_a_person_has_the_role_that_an_admin_gave_to_their_address(client: FlaskClient, email: str) -> None:
    until = int(time.time()) + 300
    answer = client.get("/api/session", headers={HEADER: asserted(email=email.lower(), exp=until)})

    assert answer.status_code == 200, answer.text
    assert answer.json is not None
    assert answer.json["principal"] == {"kind": "user", "name": email, "role": "operator", "sites": None}
    assert answer.json["expires_at"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(until))
    assert answer.json["must_change_password"] is False


def test_whoever_is_not_known_is_told_so_and_named_when_they_try_a_change(client: FlaskClient, engine: Engine) -> None:
    headers = {HEADER: asserted(email="stranger@example.com")}

    for answer in (client.get("/api/clients", headers=headers), client.post("/api/users", headers=headers, json={})):
        assert (answer.status_code, answer.json and answer.json["code"]) == (403, "person_unknown")
        assert "stranger@example.com" in (answer.json or {})["detail"]
    with engine.connect() as connection:
        named = audit_log.c.actor == "unknown:stranger@example.com"
        [line] = connection.execute(sa.select(audit_log.c.result, audit_log.c.details).where(named))
    assert (line.result, line.details["code"]) == ("refused", "person_unknown")


def test_a_disabled_person_is_a_stranger(client: FlaskClient, email: str, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(sa.update(users).where(users.c.username == email).values(disabled_at=sa.func.now()))

    assert client.get("/api/clients", headers={HEADER: asserted(email=email)}).status_code == 403


def test_a_forged_word_is_nobodys_even_beside_a_good_cookie(client: FlaskClient, email: str) -> None:
    forged = asserted(email=email, aud="/projects/1/global/backendServices/3")
    cookie = cookie_of(sign_in(client.application, email))
    browser = client.application.test_client()
    browser.set_cookie("signage_session", cookie)

    assert browser.get("/api/clients").status_code == 200
    assert browser.get("/api/clients", headers={HEADER: forged}).status_code == 401


def test_a_token_beside_the_proxys_word_is_judged_alone(client: FlaskClient, email: str) -> None:
    headers = {HEADER: asserted(email=email), "Authorization": "Bearer sgn_nonsense"}

    assert client.get("/api/clients", headers=headers).status_code == 401


def test_a_change_must_come_from_our_own_page(client: FlaskClient, email: str) -> None:
    """A page of another site can make the browser send the proxy's cookie, but not our header."""
    path = "/api/clients/00000000-0000-4000-8000-000000000000/clear_service_failed"
    theirs, ours = (
        client.post(path, headers={HEADER: asserted(email=email), **headers}, json={}) for headers in ({}, OWN_PAGE)
    )

    assert (theirs.status_code, (theirs.json or {})["code"]) == (403, "cross_site_request")
    assert (ours.status_code, (ours.json or {})["code"]) == (404, "client_not_found")


def test_passwords_and_sign_out_are_the_proxys(client: FlaskClient, email: str) -> None:
    answer = client.delete("/api/session", headers={HEADER: asserted(email=email), **OWN_PAGE})

    assert answer.status_code == 422
    assert "proxy" in (answer.json or {})["detail"]


def test_without_a_proxy_in_the_settings_its_header_says_nothing(database_url: str, engine: Engine, email: str) -> None:
    app = create_app(Services(load({"DATABASE_URL": database_url}), engine))

    assert app.test_client().get("/api/clients", headers={HEADER: asserted(email=email)}).status_code == 401


def test_a_page_may_ask_how_people_sign_in_before_anybody_is_here(client: FlaskClient, app: Flask) -> None:
    assert client.get("/api/session/method").json == {"method": "proxy", "provider": None}
    assert app.test_client().get("/api/session/method").json == {"method": "password", "provider": None}
