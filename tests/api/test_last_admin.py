"""An admin who can add people always remains: nobody can remove their own rights or those of the last admin."""

import secrets
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine

from shared.postgres.door import transaction
from shared.tables import user_sessions, users
from shared.vocabulary import Role
from tests.api.accounts import added, audited, by_cookie, id_of, new_name, set_own
from tests.api.people import Api, add_user, ask_by_cookie, cookie_of, sign_in


@pytest.fixture
def keeper(engine: Engine) -> str:
    """The name of a further admin, so that another one always remains."""
    name = f"keeper-{secrets.token_hex(4)}"
    add_user(engine, name, Role.ADMIN)
    return name


@pytest.fixture
def keeper_cookie(app: Flask, keeper: str) -> str:
    return cookie_of(sign_in(app, keeper))


REQUESTS: dict[str, tuple[str, str, Callable[[str], Any]]] = {
    "demote": ("PATCH", "", lambda _: {"role": "viewer"}),
    "disable": ("PATCH", "", lambda _: {"disabled": True}),
    "remove": ("DELETE", "", lambda _: None),
    "reset": ("POST", "/reset-password", lambda name: {"username": name}),
}


@pytest.mark.parametrize("change", REQUESTS)
def test_nobody_locks_themselves_out(app: Flask, engine: Engine, keeper: str, keeper_cookie: str, change: str) -> None:
    add_user(engine, new_name(), Role.ADMIN)

    method, below, body = REQUESTS[change]
    answer = by_cookie(app, method, f"/api/users/{id_of(engine, keeper)}{below}", keeper_cookie, json=body(keeper))

    assert (answer.status_code, answer.json and answer.json["code"]) == (409, "own_account")
    assert ask_by_cookie(app, "GET", "/api/users", keeper_cookie).status_code == 200
    assert sign_in(app, keeper).status_code == 201


@pytest.fixture
def alone(engine: Engine, keeper: str) -> int:
    """The id of the only admin."""
    with transaction(engine) as connection:
        connection.execute(sa.delete(user_sessions))
        connection.execute(sa.delete(users).where(users.c.username != keeper))
    return id_of(engine, keeper)


def test_the_last_admin_is_neither_demoted_nor_disabled_nor_removed(
    api: Api, app: Flask, keeper: str, alone: int
) -> None:
    added(api, "admin")  # never signed in, so nobody could add people
    path, body = f"/api/users/{alone}", {"role": "viewer", "disabled": True}

    for answer in (api.patch(path, "admin", json=body), api.delete(path)):
        assert (answer.status_code, answer.json and answer.json["code"]) == (409, "last_admin")

    assert ask_by_cookie(app, "GET", "/api/users", cookie_of(sign_in(app, keeper))).status_code == 200
    assert audited(api, f"user:{keeper}") == []


def test_the_only_admin_who_forgot_their_password_is_let_in_again_by_a_token(
    api: Api, app: Flask, keeper: str, alone: int
) -> None:
    handed = api.post(f"/api/users/{alone}/reset-password", "admin", json={"username": keeper}).json
    assert handed is not None

    cookie = cookie_of(sign_in(app, keeper, handed["one_time_password"]))

    assert set_own(app, cookie, handed["one_time_password"]) == 204
    assert ask_by_cookie(app, "GET", "/api/users", cookie).status_code == 200
