"""Admins who sign in at the proxy can add people, although they never had a password here."""

import secrets
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Engine

from functions.api.app import create_app
from functions.api.services import Services
from shared.config import load
from tests import migrated
from tests.api.people import OURS, Api
from tests.rules.proxy_harness import AUDIENCE, asserted, proxy_keys


@pytest.fixture
def proxied(database_url: str, engine: Engine) -> Iterator[FlaskClient]:
    """A client of an app behind a proxy."""
    with proxy_keys():
        settings = {
            "DATABASE_URL": migrated.address_for("api", database_url),
            "IAP_AUDIENCE": AUDIENCE,
        }
        yield create_app(Services(load(settings), engine)).test_client()


def test_an_admin_who_was_added_by_address_adds_and_shows_out_and_not_themselves(
    proxied: FlaskClient, api: Api
) -> None:
    email = f"anna.{secrets.token_hex(4)}@example.com"
    me = api.post("/api/users", "admin", json={"username": email, "role": "admin"}).json
    assert me is not None
    headers = {"X-Goog-IAP-JWT-Assertion": asserted(email=email), **OURS}

    other = proxied.post("/api/users", json={"username": f"b{email}", "role": "admin"}, headers=headers).json
    assert other is not None
    path = f"/api/users/{other['user']['id']}"
    disabled = proxied.patch(path, json={"disabled": True}, headers=headers)
    mine = proxied.delete(f"/api/users/{me['user']['id']}", headers=headers)

    assert (disabled.status_code, mine.status_code) == (200, 409)
    assert mine.json is not None
    assert mine.json["code"] == "own_account"
    assert proxied.delete(path, headers=headers).status_code == 204
