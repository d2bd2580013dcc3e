"""People change their own password with the present one as proof; a first admin must do so before anything else."""

import hashlib
import secrets
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from functions.api.app import create_app
from functions.api.services import Services
from shared.config import Config
from shared.tables import users
from shared.vocabulary import Role
from tests.api.accounts import audited
from tests.api.people import OURS, PASSWORD, Api, add_user, ask_by_cookie, cookie_of, cookies, new_address, sign_in


def change(app: Flask, cookie: str, current: str, new: str) -> TestResponse:
    client = app.test_client(use_cookies=False)
    headers = {"Cookie": cookies(cookie), "X-Forwarded-For": new_address(), **OURS}
    return client.post(
        "/api/users/me/password", json={"current_password": current, "new_password": new}, headers=headers
    )


def test_a_new_password_replaces_the_old_one_and_ends_other_sessions(
    app: Flask, api: Api, anna: str, cookie: str
) -> None:
    elsewhere = cookie_of(sign_in(app, anna))

    assert change(app, cookie, PASSWORD, "another fine password").status_code == 204

    assert sign_in(app, anna).status_code == 401
    assert sign_in(app, anna, "another fine password").status_code == 201
    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 200
    assert ask_by_cookie(app, "GET", "/api/session", elsewhere).status_code == 401
    assert audited(api, f"user:{anna}") == [("user.password", "user")]


@pytest.mark.parametrize(
    ("current", "new", "status"),
    [("wrong", "another fine password", 401), (PASSWORD, "short", 422), (PASSWORD, PASSWORD, 422)],
)
def test_a_password_that_may_not_be_set_changes_nothing(
    app: Flask, anna: str, cookie: str, current: str, new: str, status: int
) -> None:
    assert change(app, cookie, current, new).status_code == status
    assert sign_in(app, anna).status_code == 201


def test_one_that_leaked_somewhere_is_not_taken(services: Services, anna: str, cookie: str, tmp_path: Path) -> None:
    leaked = tmp_path / "leaked.txt"
    leaked.write_text(hashlib.sha1(b"another fine password", usedforsecurity=False).hexdigest().upper() + ":7\n")
    told = Config({**services.config.values, "LEAKED_PASSWORDS_FILE": str(leaked)})
    app = create_app(Services(told, services.engine))

    refused = change(app, cookie, PASSWORD, "another fine password")

    assert refused.status_code == 422
    assert "list of leaked passwords" in refused.get_data(as_text=True)
    assert change(app, cookie, PASSWORD, "a password of my own").status_code == 204


def test_guessing_the_present_password_is_limited_too(app: Flask, cookie: str) -> None:
    codes = [change(app, cookie, "wrong", "another fine password").status_code for _ in range(6)]

    assert codes == [401] * 5 + [429]


def test_a_first_admin_works_once_a_password_is_set(services: Services, engine: Engine) -> None:
    boxed = create_app(Services(Config({**services.config.values, "DEPLOYMENT_MODE": "box"}), services.engine))
    name = f"first-{secrets.token_hex(4)}"
    add_user(engine, name, Role.ADMIN, must_change_password=True)
    answer = sign_in(boxed, name)
    cookie = cookie_of(answer)
    assert answer.json is not None
    assert answer.json["must_change_password"]
    assert ask_by_cookie(boxed, "GET", "/api/settings", cookie).status_code == 403

    assert change(boxed, cookie, PASSWORD, "a password of my own").status_code == 204

    assert ask_by_cookie(boxed, "GET", "/api/settings", cookie).status_code == 200
    with engine.connect() as connection:
        flag = sa.select(users.c.must_change_password).where(users.c.username == name)
        assert connection.execute(flag).scalar_one() is False


def test_in_local_mode_a_first_admin_may_go_on_with_the_given_password(app: Flask, engine: Engine) -> None:
    name = f"first-{secrets.token_hex(4)}"
    add_user(engine, name, Role.ADMIN, must_change_password=True)

    answer = sign_in(app, name)

    assert answer.json is not None
    assert not answer.json["must_change_password"]
    assert ask_by_cookie(app, "GET", "/api/tokens", cookie_of(answer)).status_code == 200
